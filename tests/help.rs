//! What does every `--help` teach? And what else describes the command: completions, manual pages,
//! its version.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const VERBS: [&str; 40] = [
    "list",
    "search",
    "pick",
    "tree",
    "show",
    "resume",
    "context",
    "new",
    "append",
    "name",
    "label",
    "branch",
    "fork",
    "migrate",
    "export",
    "delete",
    "report",
    "blame",
    "log",
    "commit",
    "secrets",
    "sql",
    "sync",
    "watch",
    "serve",
    "mcp",
    "setup",
    "skill",
    "rebuild",
    "roots",
    "archive",
    "status",
    "verify",
    "config",
    "clean",
    "init",
    "team",
    "completions",
    "man",
    "help",
];

#[test]
fn help_of_the_whole() {
    assert_snapshot!(Sandbox::new().run(&["--help"]), @r#"
    Find and read back every session you ever had with a coding agent

    Without a command it opens the picker, or prints a short overview where there is no terminal.

    Usage: sessionary [OPTIONS] [COMMAND]

    Every day:
      pick         Pick a session from a list that is searched as you type
      list, ls     List the sessions of this repository, or all sessions
      search       Search everything that was said, thought, run and printed
      show         Read back a session, or one entry of it
      tree         Show the tree of a session: branches, labels, the active leaf
      resume       Continue a session with its agent, in its directory

    Reading:
      context      Show what the model would see of a session
      export       Export a branch of a session as Markdown, an HTML page or a session file
      blame        Find out which session wrote each line of a file
      log          List the sessions that read or changed a file
      commit       Find out which session made a commit
      report       Report what was spent, by day, project, model, agent or host, or which tools were called
      secrets      Find the sessions that hold keys and tokens
      sql          Query the catalogue in SQL, read-only

    Writing:
      new          Start a session with a user message
      append       Add an entry to a session
      name         Name a session
      label        Label an entry of a session
      branch       Copy one branch of a session into a new one
      fork         Copy a session with all its branches into a new one
      migrate      Upgrade a session file of an old version
      delete, rm   Move sessions to the system's trash

    The index:
      sync         Bring the index up to date, words included
      watch        Keep the index up to date while sessions are written, until Ctrl-C
      status       Show the roots, the stores, and how fresh they are
      roots        List the folders in the index, or forget those that are no longer named
      archive      Keep sessions that their agents delete
      verify       Read all session files again and compare both stores with them
      rebuild      Delete the index and rebuild it from the session files

    Other programs:
      serve        Answer other programs, in lines of JSON on standard input and output
      mcp          Let an agent look into earlier sessions (Model Context Protocol)
      setup        Give an agent the tools of `mcp`, by the agent's own command
      skill        Print a skill (SKILL.md) that tells an agent how to look into earlier sessions

    Setup:
      init         Print the lines that set up a shell: completions, a key for the picker, and a short name
      team         Share the sessions of chosen repositories with other machines, by `sessionary-team`
      completions  Print completions for a shell
      config       Show the settings and where each comes from
      clean        Remove everything that sessionary ever wrote; never a session
      man          Print the manual page of sessionary or of one command
      help         Explain a command

    Options for every command:
          --index <DIR>
              Keep the index in DIR [default: $SESSIONARY_INDEX_DIR, else `index` in the configuration
              file, else the user's cache folder]

          --root <FORMAT:DIR[=LABEL]>
              Also read the sessions in DIR; FORMAT is the name of an agent or a format

          --no-default-roots
              Read only what --root names: neither the agents' usual places nor `roots` in the
              configuration file

          --follow-links
              Follow symbolic links that lead out of the session folders, for this command only

          --demo
              Use made-up sessions in a temporary folder; yours are neither read nor written

          --dir
              Narrow "here" from the repository to this directory alone

      -j, --json
              Print JSON

          --reveal
              Show keys and tokens instead of redacting them; see `redact` in `config --help`

          --utc
              Show times and cut days in UTC instead of your time zone; see `timezone` in `config
              --help`

          --no-pager
              Do not show long output in a pager; see `pager` in `config --help`

          --color <WHEN>
              When to use colours; `auto` means on a terminal, unless NO_COLOR is set
              
              [default: auto]
              [possible values: auto, always, never]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Examples:
      sessionary                         pick a session, and go on with it
      sessionary ls -a                   every session, newest first, unlisted ones last (list --all)
      sessionary search tokenizer bug    where was that said?
      sessionary show last               read back the newest session of this repository
      sessionary resume last             continue it with its agent
      sessionary sql 'SELECT local_day, round(cost_total, 2) FROM usage_by_local_day'

    Session files are written by new, append, name, label, branch, fork, migrate, `archive restore`,
    resume (a fork of another machine's session) and the picker's actions; delete moves them to the
    trash, and back. The index is a cache: delete it and nothing is lost.
    Exit codes: 0 found or done; 1 nothing found, a question answered with no, or what `verify` or
    `secrets` found; 2 error.
    "#);
}

#[test]
fn help_of_every_command() {
    let sandbox = Sandbox::new();
    let mut all = String::new();
    for verb in &VERBS[..VERBS.len() - 1] {
        let help = sandbox.run(&[verb, "--help"]);
        let (own, shared) = help
            .split_once("Options for every command:")
            .expect("shared options");
        let (_, after) = shared.split_once("\n\n").expect("what follows them");
        let after = after.split_once("Examples:").expect("examples").1;
        all.push_str(&format!(
            "{}\n\nExamples:{}\n",
            own.trim_end(),
            after.trim_end()
        ));
        all.push_str("----\n");
    }
    assert_snapshot!(all, @r#"
    List the sessions of this repository, or all sessions

    Usage: sessionary list [OPTIONS]

    Options:
      -a, --all                 List the sessions of every directory
      -A, --agent <NAME>        Only sessions of this agent
      -p, --project <TEXT|DIR>  Only sessions of directories whose name contains TEXT; a path means
                                itself and everything below it
          --model <TEXT>        Only sessions that used a model whose name contains TEXT
          --named               Only sessions with a name
          --only-live           Leave out archived sessions: those whose files are gone
      -e, --errors              Only sessions in which something failed
          --cost <USD>          Only sessions that cost at least this many US dollars
      -s, --since <WHEN>        Only sessions last modified at WHEN or later
      -u, --until <WHEN>        Only sessions last modified at WHEN or earlier; with --since, those in
                                which something happened between the two
          --subagents           List sessions of subagents as rows, not as a count on their parent
      -S, --sort <KEY>          Sort by KEY, largest or newest first [possible values: modified,
                                created, messages, tokens, cost, size, errors]
      -r, --reverse             Reverse the order
      -n, --limit <N>           At most N sessions; 0 for all
          --page <P>            Show page P, with N sessions per page [default: 1]
          --jsonl               Print one line of JSON per session
          --provisional         While files are still being read, print what is known so far: one whole
                                list per line, the last of which is the answer
          --with-text           Include the text of all messages in the JSON
          --max-bytes <N>       Print at most N bytes of JSON; `cursor` fetches the rest, `cut` names
                                what was shortened
          --cursor <CURSOR>     Continue after the page whose JSON had this `cursor`
          --fields <NAMES>      Print only these fields, named as in the JSON and separated by commas
          --tsv                 Print the fields as tab-separated values, one line each; \t, \n, \\ and
                                \u001b are escapes
          --header              Print the names of the fields as the first line
      -h, --help                Print help

    An agent's own list:
          --as <NAME>          Print the list that this agent itself would show, in its order and with
                               its fields; what it leaves out is left out. For pi and indusagi, with
                               --jsonl
          --in <DIR>           Its list for this working directory, instead of all
          --sessions <DIR>     Its sessions folder, with a folder for each working directory [default:
                               the first root]
          --session-dir <DIR>  The one folder in which it keeps the sessions of all working directories

    Examples:
      sessionary list                              sessions of this repository, in all its work trees
      sessionary list --dir                        only those that were started in this directory
      sessionary list --all --limit 20 --page 2    skip the newest twenty
      sessionary list --all --since 2w --errors    what went wrong in the last two weeks
      sessionary list --all --sort cost --limit 5  the five most expensive
      sessionary list --project app --named        named sessions in directories like `app`
      sessionary list --agent clido --json
      sessionary list --all --jsonl | head -1      one session per line

    Outside of a repository, and where it is the home folder, this directory counts with all below it;
    the home folder alone.
    First come the sessions that the agents themselves would list, in their order; then those they would
    not list, marked with the reason. --sort puts all of them in a single order.
    WHEN is 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026, 2026-10, 2026-10-05 or
    2026-10-05T14:30, in your time zone.
    ----
    Search everything that was said, thought, run and printed

    Usage: sessionary search [OPTIONS] <QUERY>...

    Arguments:
      <QUERY>...  Words, "phrases", filters; see below

    Options:
      -H, --here             Only sessions of this repository, as `list` takes it
      -N, --newest           Newest first instead of best first; of several words, the sessions that
                             contain them all
      -n, --limit <N>        At most N hits; 0 for all [default: 20]
      -x, --exact            Only the words as typed, without typos or other endings
          --every-copy       Also show entries that repeat the text of a hit
          --only-live        Leave out archived sessions: those whose files are gone
          --passages         Rank single passages instead of sessions; each must contain all of the
                             words
      -C, --context <N>      Show N entries before and after each hit, along its branch [default: 0]
          --facets           Count the entries that match by agent, project, role and day
          --explain          Explain each hit's score
          --jsonl            Print one line of JSON per hit
          --max-bytes <N>    Print at most N bytes of JSON; `cursor` fetches the rest, `cut` names what
                             was shortened
          --cursor <CURSOR>  Continue after the page whose JSON had this `cursor`
          --redact           Redact keys and tokens, whatever is configured
          --fields <NAMES>   Print only these fields, named as in the JSON and separated by commas
          --tsv              Print the fields as tab-separated values, one line each; \t, \n, \\ and
                             \u001b are escapes
          --header           Print the names of the fields as the first line
      -h, --help             Print help

    Examples:
      sessionary search '"off by one" -test role:user'
      sessionary search --here --newest 'tool:bash is:error since:2w'
      sessionary search 'file:lexer.rs -is:branch'

    Quote what the shell would interpret, and put -- before a word that starts with a hyphen.
    System prompts and tool schemas are found only with kind:system.
    `sessionary show ADDRESS` prints a hit in full, `sessionary resume SESSION` continues its session.
    In JSON the highlights of a snippet are byte offsets into its UTF-8 text: start and end.
    ----
    Pick a session from a list that is searched as you type

    Usage: sessionary pick [OPTIONS] [QUERY]...

    Arguments:
      [QUERY]...
              What stands in the query line at the beginning

    Options:
          --print <WHAT>
              Print this of the chosen sessions instead of continuing one

              Possible values:
              - id:      Its id
              - path:    The path of its file
              - command: The command that resumes it, quoted for the shell
              - json:    The rows of `list --json`

          --height <N>
              Take so many lines, or so much of the terminal, below the prompt: 15, 40%

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      sessionary pick                        as `sessionary` alone: Enter continues the session
      sessionary pick linker error           begin with a query
      sessionary pick --print id             print the id of what is chosen, for another program
      sessionary pick --height 40%           below the prompt, as fzf does, instead of the whole screen

    F1 lists its keys. What is typed is a query as `search` takes it.
    With --print, what is chosen goes to standard output, a line each; the picker itself is drawn on the
    terminal.
    Exit codes: 0 something was chosen; 1 nothing was; 2 error.
    ----
    Show the tree of a session: branches, labels, the active leaf

    Usage: sessionary tree [OPTIONS] [SESSION]

    Arguments:
      [SESSION]
              Session id, the start of one, a path, a name or title, `last`, or `last~N`

    Options:
          --filter <WHICH>
              Which entries to show

              Possible values:
              - default:      What pi shows by default
              - no-tools:     Without what tools were told and gave back
              - user-only:    Only what the user said
              - labeled-only: Only labelled entries
              - all:          Every entry
              
              [default: default]

          --ascii
              Draw with ASCII characters

          --max-bytes <N>
              Print at most N bytes of JSON; `cursor` fetches the rest, `cut` names what was shortened

          --cursor <CURSOR>
              Continue after the page whose JSON had this `cursor`

          --fields <NAMES>
              Print only these fields, named as in the JSON and separated by commas

          --tsv
              Print the fields as tab-separated values, one line each; \t, \n, \\ and \u001b are escapes

          --header
              Print the names of the fields as the first line

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      sessionary tree last
      sessionary tree 019b3f2a --filter user-only
      sessionary tree ~/.pi/agent/sessions/--code--/2026-01-05T09-00-00-250Z_019b.jsonl --filter all

    Only branches are indented. ● and ◆ are on the active branch; ◆ is its leaf.
    ----
    Read back a session, or one entry of it

    Usage: sessionary show [OPTIONS] [SESSION[:ENTRY]]

    Arguments:
      [SESSION[:ENTRY]]  Session id, the start of one, a path, a name or title, `last`, or `last~N`;
                         `:ENTRY` names one entry (an id, the start of one, or L<line>)

    Options:
      -C, --context <N>        Show N entries before and after ENTRY too [default: 0]
      -b, --branch <LEAF>      Show the branch that ends at this entry instead of the active one
      -a, --all                Show all entries in file order, those that say nothing, and bytes that
                               are not entries
          --raw                Print the exact bytes of the file
          --full               Do not cut long tool output and system prompts
          --highlight <QUERY>  Make what QUERY finds stand out, where there are colours
          --max-bytes <N>      Print at most N bytes of JSON; `cursor` fetches the rest, `cut` names
                               what was shortened
          --cursor <CURSOR>    Continue after the page whose JSON had this `cursor`
          --fields <NAMES>     Print only these fields, named as in the JSON and separated by commas
          --tsv                Print the fields as tab-separated values, one line each; \t, \n, \\ and
                               \u001b are escapes
          --header             Print the names of the fields as the first line
      -h, --help               Print help

    Examples:
      sessionary show last                        the active branch of the newest session here
      sessionary show 019b3f2a:c1d2e3f4           one entry, as `search` prints its address
      sessionary show 019b3f2a:L17 --context 3    line 17, three entries before and three after
      sessionary show 019b3f2a --raw > copy.jsonl the exact bytes
      sessionary show last --json --max-bytes 20000    for a program: the rest follows by --cursor

    On a terminal long tool output and system prompts are cut. --full shows all of them, and so does a
    pipe or naming the entry.
    ----
    Continue a session with its agent, in its directory

    Usage: sessionary resume [OPTIONS] [SESSION]

    Arguments:
      [SESSION]  Session id, the start of one, a path, a name or title, `last`, or `last~N`

    Options:
          --print     Print the command for the shell instead of running it
          --in <DIR>  Start in DIR instead of the session's directory
      -h, --help      Print help

    Examples:
      sessionary resume last              continue the newest session of this repository
      sessionary resume last~1            the one before it
      sessionary resume "fix the linker"  by its name or title
      sessionary resume 019b3f2a --print  print the command instead, quoted for the shell
      sessionary resume 019b3f2a --in .   start it here, not where it was

    Rows of `list --json`, `search --json` and `show --json` hold the same command in `resume`.
    ----
    Show what the model would see of a session

    Usage: sessionary context [OPTIONS] <SESSION[:ENTRY]>

    Arguments:
      <SESSION[:ENTRY]>  A session; with :ENTRY, the context at that entry instead of at the leaf

    Options:
          --llm              Only messages of user, model and tools, as they go to the model
          --max-bytes <N>    Print at most N bytes of JSON; `cursor` fetches the rest, `cut` names what
                             was shortened
          --cursor <CURSOR>  Continue after the page whose JSON had this `cursor`
          --fields <NAMES>   Print only these fields, named as in the JSON and separated by commas
          --tsv              Print the fields as tab-separated values, one line each; \t, \n, \\ and
                             \u001b are escapes
          --header           Print the names of the fields as the first line
      -h, --help             Print help

    Examples:
      sessionary context last
      sessionary context 019b3f2a:c1d2e3f4       as it was at that entry
      sessionary context last --llm --json       the messages as they go to the model

    Compactions, summaries and edits are taken into account.
    ----
    Start a session with a user message

    Usage: sessionary new [OPTIONS] <TEXT>

    Arguments:
      <TEXT>  The user's message

    Options:
      -A, --agent <NAME>  The agent whose session it is: pi or clido (indusagi's sessions start with an
                          answer) [default: pi]
          --in <DIR>      The session's directory [default: this one]
          --dry-run       Show what would be written and where, without writing it
      -h, --help          Print help

    Examples:
      sessionary new "Fix the flaky test in tests/clock.rs"
      sessionary new "Look around" --in ~/code/parser --dry-run
      sessionary new "Write the release notes" --agent clido

    Then `sessionary resume` has the agent answer it.
    ----
    Add an entry to a session

    Usage: sessionary append [OPTIONS] <SESSION[:ENTRY]>

    Arguments:
      <SESSION[:ENTRY]>  A session; with :ENTRY, append below that entry instead of at the leaf

    Options:
          --user <TEXT>             A user message
          --assistant <TEXT>        An answer of the current model
          --model <PROVIDER/MODEL>  Change the model
          --thinking <LEVEL>        Change the thinking level
          --dry-run                 Show what would be written and where, without writing it
      -h, --help                    Print help

    Examples:
      sessionary append last --user "And now the tests"
      sessionary append 019b3f2a:c1d2e3f4 --user "Another way"   below that entry: a new branch
      sessionary append last --model anthropic/claude-opus-4-5
      echo '{"type":"custom","customType":"todo","data":[]}' | sessionary append last

    Without an option, an entry is read as JSON from standard input. It keeps its type and members and
    gets a new id, parent and time. What its agent could not read is refused.
    For a session of clido it is a line as clido writes it:

      echo '{"type":"title","title":"Parser"}' | sessionary append f47ac10b
    ----
    Name a session

    Usage: sessionary name [OPTIONS] <SESSION> <NAME>

    Arguments:
      <SESSION>  Session id, the start of one, a path, a name or title, `last`, or `last~N`
      <NAME>     The name; an empty one removes it

    Options:
          --dry-run  Show what would be written and where, without writing it
      -h, --help     Print help

    Examples:
      sessionary name last "Refactor the parser"
      sessionary name 019b3f2a ""                remove the name
      sessionary name last Parser --dry-run

    The name is one entry at the end of the session's file; the agent shows it too. In a session of
    clido it is a title: clido's list shows the last one, a resumed session the first. indusagi
    passes over empty names: there a name is replaced, not removed.
    ----
    Label an entry of a session

    Usage: sessionary label [OPTIONS] <SESSION[:ENTRY]> [LABEL]

    Arguments:
      <SESSION[:ENTRY]>  An entry of a session; without :ENTRY, the last one that `tree` shows
      [LABEL]            The label

    Options:
          --clear    Remove the label
          --dry-run  Show what would be written and where, without writing it
      -h, --help     Print help

    Examples:
      sessionary label 019b3f2a:c1d2e3f4 "tests are green"
      sessionary label last "good"                 the session's last entry
      sessionary label 019b3f2a:c1d2e3f4 --clear   remove its label
    ----
    Copy one branch of a session into a new one

    Usage: sessionary branch [OPTIONS] <SESSION[:ENTRY]>

    Arguments:
      <SESSION[:ENTRY]>  A session and the last entry to copy; without :ENTRY, the session's leaf

    Options:
          --dry-run  Show what would be written and where, without writing it
      -h, --help     Print help

    Examples:
      sessionary branch 019b3f2a:c1d2e3f4    from the start to that entry
      sessionary branch last                 the active branch

    Labels on the branch are copied too. The new session names the old one as its parent.
    ----
    Copy a session with all its branches into a new one

    Usage: sessionary fork [OPTIONS] <SESSION>

    Arguments:
      <SESSION>  Session id, the start of one, a path, a name or title, `last`, or `last~N`

    Options:
          --in <DIR>  The copy's directory [default: this one]
          --dry-run   Show what would be written and where, without writing it
      -h, --help      Print help

    Examples:
      sessionary fork last                     a copy for this directory
      sessionary fork 019b3f2a --in ~/other    for another one

    The new session names the old one as its parent. `sessionary branch` copies a single branch;
    sessions of clido have no branches.
    ----
    Upgrade a session file of an old version

    Usage: sessionary migrate [OPTIONS] <SESSION>

    Arguments:
      <SESSION>  Session id, the start of one, a path, a name or title, `last`, or `last~N`

    Options:
          --dry-run  Show what would be written and where, without writing it
      -h, --help     Print help

    Examples:
      sessionary migrate 019b3f2a --dry-run
      sessionary migrate ./old.jsonl

    The first append does the same. A copy of the old file is kept in sessionary/backups in your data
    folder; every byte that need not change stays the same.
    ----
    Export a branch of a session as Markdown, an HTML page or a session file

    Usage: sessionary export [OPTIONS] <SESSION[:ENTRY]>

    Arguments:
      <SESSION[:ENTRY]>  A session; with :ENTRY, the branch that ends at that entry instead of the
                         active one

    Options:
          --format <FORMAT>  The format to write [possible values: markdown, html, jsonl]
      -o, --out <FILE>       Write to FILE instead of standard output
      -f, --force            Replace FILE if it exists
          --dry-run          Show what would be written and where, without writing it
      -h, --help             Print help

    Examples:
      sessionary export last > talk.md
      sessionary export last --out talk.html                a page that loads and runs nothing
      sessionary export 019b3f2a:c1d2e3f4 --out way.jsonl   its branch, byte for byte
      sessionary export last --out talk.html --dry-run      what would be written

    The extension of --out decides the format; without one it is Markdown. In HTML and Markdown, the
    session's own HTML, links, images, control characters and marks that reorder text appear as plain
    text and do nothing. Keys and tokens are redacted in both (see --reveal, and `redact` in the
    configuration file); JSONL is exact.
    ----
    Move sessions to the system's trash

    Usage: sessionary delete [OPTIONS] <SESSION>...

    Arguments:
      <SESSION>...  Session ids (8 letters of one are enough), paths, or whole names

    Options:
      -y, --yes      Do not ask
      -f, --force    Also move what changed in the last minute, and what a fork begins in
          --dry-run  Show what would be moved and where, without moving it
          --restore  Move sessions back from the trash
      -h, --help     Print help

    Examples:
      sessionary delete 019b3f2a --dry-run       what would be moved, and where
      sessionary delete 019b3f2a 01KE6P4Y --yes  two sessions, without asking
      sessionary delete --restore 019b3f2a       move it back from the trash

    All files of a session are moved. Subagents in its folder, as those of agentuse and Claude Code,
    go with it and are listed first. Forks stay, and so do other subagents.
    What changed in the last minute may still be in use, and a fork of Codex may begin in what is to
    be moved: that is moved only with --force.

    --restore moves back what has these letters of an id in the names of its files, on Linux and
    Windows. By hand: move the files from the trash to where they were, and the next command finds
    them.
    ----
    Report what was spent, by day, project, model, agent or host, or which tools were called

    Usage: sessionary report [OPTIONS]

    Options:
          --by <KEY>            Add up by KEY [default: day] [possible values: day, week, month,
                                project, model, agent, host, tool]
      -A, --agent <NAME>        Only sessions of this agent
      -p, --project <TEXT|DIR>  Only sessions of directories whose name contains TEXT; a path means
                                itself and everything below it
      -s, --since <WHEN>        Only what happened at WHEN or later
      -u, --until <WHEN>        Only what happened at WHEN or earlier
          --csv                 Print CSV
          --html                Print an HTML page with bars, which loads nothing and runs nothing
      -h, --help                Print help

    Examples:
      sessionary report                              by day, all sessions
      sessionary report --by month --since 2026
      sessionary report --by model --project app
      sessionary report --by tool --since 2w         calls, and how many of them failed
      sessionary report --by week --csv > weeks.csv
      sessionary report --html > report.html         one page that loads nothing

    The sessions of every directory count, and answers that forks repeat count once. COST is what
    agents record with their answers. Where they record tokens alone, ESTIMATED is what these cost by a
    table of prices, which may have differed on the day. The bar is of both; without a cost it is of
    tokens. Days come in their order, everything else with the longest bar first. Days are those of
    your time zone; a week is called by its Monday. --since and --until go by when an answer was given,
    to a quarter of an hour; of tools by when they were called.
    WHEN is 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026, 2026-10, 2026-10-05 or
    2026-10-05T14:30.
    ----
    Find out which session wrote each line of a file

    Usage: sessionary blame [OPTIONS] <FILE[:LINE]>

    Arguments:
      <FILE[:LINE]>  The file, and `:LINE` for one of its lines

    Options:
      -h, --help  Print help

    Examples:
      sessionary blame src/main.rs              each line with the call that wrote it
      sessionary blame src/main.rs:120          this line: call, session, and what was asked for
      sessionary blame src/main.rs --json       for a program: lines, and the calls that wrote them

    The edits, writes and patches of all sessions are made again on the file, in order of time. A line
    is a session's only where nobody else can have written it; the others have no address. `~` marks a
    line that differs in white space from what the session wrote, as after a formatter, and `$` a line
    that stands in a command which fills the file. Exit code 1: no session is known to have written any
    line that was asked for.
    ----
    List the sessions that read or changed a file

    Usage: sessionary log [OPTIONS] <FILE>

    Arguments:
      <FILE>  The file

    Options:
      -h, --help  Print help

    Examples:
      sessionary log src/main.rs            the session that touched it last first
      sessionary log src/main.rs --json     for a program: sessions, counts, times

    Counted is what agents' tools for files were told to do with it, also where that failed; what
    commands did to it is not known. The file need not be there any more. Exit code 1: no session is
    known to have touched it.
    ----
    Find out which session made a commit

    Usage: sessionary commit [OPTIONS] [COMMIT]

    Arguments:
      [COMMIT]  The commit's SHA-1 or the beginning of it, a branch or a tag [default: HEAD]

    Options:
      -h, --help  Print help

    Examples:
      sessionary commit                     the commit that is checked out
      sessionary commit 1a2b3c4             another one of this repository
      sessionary commit 1a2b3c4 --json      for a program: session, evidence, lines

    A session made it that ran `git commit` and was told this name of it; else the only session that
    wrote lines of it, if it wrote half of them or more. Git's objects are read, git is not run. Exit
    code 1: no session is known to have made it.
    ----
    Find the sessions that hold keys and tokens

    Usage: sessionary secrets [OPTIONS]

    Options:
      -A, --agent <NAME>        Only sessions of this agent
      -p, --project <TEXT|DIR>  Only sessions of directories whose name contains TEXT; a path means
                                itself and everything below it
      -s, --since <WHEN>        Only what happened at WHEN or later
      -u, --until <WHEN>        Only what happened at WHEN or earlier
      -h, --help                Print help

    Examples:
      sessionary secrets                        in all sessions
      sessionary secrets --project app --since 2w
      sessionary secrets --json                 for a program: sessions, entries, rules, counts

    Every entry is read whole, also of branches that were given up and of system prompts, and what is
    no entry; all but pictures and what is encrypted is looked through by the rules of redaction.
    Named are session, entry, and each rule with how many it found where these are several. A value is
    never printed, unless it is part of an id or a path. A fork that only refers to its parent's
    entries is named for its own: where --project, --agent or a time leaves the parent out, the
    parent's are not looked through. --since and --until go by when a session was last modified, both
    together by what happened in between.
    Exit code 0 says that all was looked through and nothing found, 1 that there are some, 2 that
    none were found, but no session fits or not all could be read.
    A key that was in a session is best taken as known to others: withdraw it where it was issued;
    `delete` removes the session.
    WHEN is 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026, 2026-10, 2026-10-05 or
    2026-10-05T14:30.
    ----
    Query the catalogue in SQL, read-only

    Usage: sessionary sql [OPTIONS] [QUERY]

    Arguments:
      [QUERY]  One SELECT; - reads it from standard input

    Options:
          --schema           Print every view and its columns
          --csv              Print CSV
          --jsonl            Print one line of JSON per row
          --snapshot <FILE>  Save the whole catalogue to a new, private file, for containers and other
                             users
          --path             Print the path of the catalogue, for tools that read it themselves
          --at <WHERE>       Ask the team's database: docs/team.md [possible values: team]
      -h, --help             Print help

    Examples:
      sessionary sql 'SELECT agent, count(*) FROM sessions GROUP BY agent'
      sessionary sql 'SELECT local_day, round(cost_total, 2) FROM usage_by_local_day'
      sessionary sql --schema
      sessionary sql - < report.sql
      sessionary sql --csv 'SELECT * FROM usage' > usage.csv
      sessionary sql --jsonl 'SELECT id, cost FROM sessions'
      sessionary --json sql 'SELECT * FROM problems'
      sessionary sql --snapshot /srv/share/sessions.sqlite
      sqlite3 "file:$(sessionary sql --path)?mode=ro"
      sessionary sql --at team 'SELECT host, count(*) FROM sessions GROUP BY host'

    CSV (RFC 4180): NULL is an empty field, an empty text is "". JSON Lines: one object per row.
    Rows are printed as they are found; only a table waits for all rows, to align its columns.
    raw(entry) is an entry's record as it stands in its file: json_extract(raw(entry), '$.type').
    preview(entry) is its text on one line, cut after 200 characters, without keys and tokens.
    local_day(ms) and local_time(ms) are day and time of a moment in your time zone.
    docs/sql.md describes every view and column. Tables whose names start with _ may change at any time.
    ----
    Bring the index up to date, words included

    Usage: sessionary sync [OPTIONS]

    Options:
          --purge    Also wipe from the index's files what is gone from the sessions
          --no-wait  Fail at once if another process is writing the index, instead of waiting
      -h, --help     Print help

    Examples:
      sessionary sync
      sessionary sync --json
      sessionary sync --purge   after a secret was removed from a session
      sessionary sync --root pi:~/backup/sessions=laptop

    Exit code 1 of --purge: some of what is gone could not be wiped and is in the index's files still.
    ----
    Keep the index up to date while sessions are written, until Ctrl-C

    Usage: sessionary watch [OPTIONS]

    Options:
          --poll       Scan all files again and again instead of waiting for notifications
          --no-wait    Fail at once if another process is writing the index, instead of waiting
          --install    Have systemd (macOS: launchd) start it now and at every login; shows the file
                       first and asks
          --uninstall  Undo --install
          --print      With --install: only show the file
      -y, --yes        With --install: do not ask
      -h, --help       Print help

    Examples:
      sessionary watch
      sessionary watch --json | jq -r .path
      sessionary watch --install    from now on, and after every login
      sessionary watch --uninstall
    ----
    Answer other programs, in lines of JSON on standard input and output

    Usage: sessionary serve [OPTIONS]

    Options:
          --schema  Print the JSON Schema of all that can be asked and answered
      -h, --help    Print help

    Examples:
      sessionary serve
      sessionary serve --schema > serve.schema.json
      echo '{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1}}' | sessionary serve
    ----
    Let an agent look into earlier sessions (Model Context Protocol)

    Usage: sessionary mcp [OPTIONS]

    Options:
      -a, --all   Sessions of every directory, not only of the client's repository
      -h, --help  Print help

    Examples:
      sessionary mcp          sessions of the client's repository
      sessionary mcp --all    sessions of every directory, for an agent that may read all of them

    An agent gets it by its own command, for example: claude mcp add sessionary -- sessionary mcp
    ----
    Give an agent the tools of `mcp`, by the agent's own command

    Usage: sessionary setup [OPTIONS] <AGENT>

    Arguments:
      <AGENT>  The agent [possible values: claude, codex, copilot, cursor, gemini, opencode, pi, qwen]

    Options:
      -a, --all    Let it see the sessions of every directory, not only of the repository in which it
                   works
      -y, --yes    Run the command without a question
          --print  Print the command, and run nothing
      -h, --help   Print help

    Examples:
      sessionary setup claude            shows the command, and runs it after a yes
      sessionary setup codex --yes       without a question
      sessionary setup gemini --print    only shows it

    The agent then starts `sessionary mcp` by itself, and finds earlier sessions of the repository in
    which it works; docs/mcp.md says what it may see. --index, --root, --no-default-roots and
    --follow-links are passed on. `sessionary skill` prints the same as a skill, for agents that run
    commands.
    ----
    Print a skill (SKILL.md) that tells an agent how to look into earlier sessions

    Usage: sessionary skill [OPTIONS]

    Options:
      -h, --help  Print help

    Examples:
      sessionary skill                           print it
      mkdir -p ~/.claude/skills/sessionary       where Claude Code looks for it
      sessionary skill > ~/.claude/skills/sessionary/SKILL.md

    It is for agents that run commands; `sessionary setup` gives others the same as tools. Agents look
    for skills in folders of their own, many in `skills` of their configuration folder.
    ----
    Delete the index and rebuild it from the session files

    Usage: sessionary rebuild [OPTIONS]

    Options:
          --no-wait  Fail at once if another process is writing the index, instead of waiting
      -h, --help     Print help

    Examples:
      sessionary rebuild
      sessionary rebuild --json
    ----
    List the folders in the index, or forget those that are no longer named

    Usage: sessionary roots [OPTIONS] [COMMAND]

    Commands:
      forget  Forget folders that are no longer named and what was read from them; never a session file
      help    Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help

    Examples:
      sessionary roots
      sessionary roots forget               all that are no longer named
      sessionary roots forget /mnt/old      only this one
    ----
    Keep sessions that their agents delete

    Usage: sessionary archive [OPTIONS] [COMMAND]

    Commands:
      on        Keep the sessions of these agents from now on, or of all
      off       Keep them no longer; what is kept already stays
      status    Show how much is kept of whose sessions
      verify    Prove every byte that is kept
      versions  List what a session's files held at what time
      restore   Write the files of a session back that are gone
      forget    Forget all that is kept of a session, and never keep it again
      help      Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help

    Examples:
      sessionary archive on                 from now on, every agent's
      sessionary archive on opencode        also those in the database of OpenCode
      sessionary archive off clido          but not those of clido
      sessionary archive                    as `archive status`
      sessionary archive restore 019b3f2a   write its file back
      sessionary archive restore 019b3f2a --number 1 --to old.jsonl
    ----
    Show the roots, the stores, and how fresh they are

    Usage: sessionary status [OPTIONS]

    Options:
          --roots  Only the places where sessions are looked for, after a scan
      -h, --help   Print help

    Examples:
      sessionary status
      sessionary status --roots     every place where sessions could be, why, and what is there
      sessionary status --json
    ----
    Read all session files again and compare both stores with them

    Usage: sessionary verify [OPTIONS]

    Options:
      -h, --help  Print help

    Examples:
      sessionary verify
      sessionary verify --json
    ----
    Show the settings and where each comes from

    Usage: sessionary config [OPTIONS] [COMMAND]

    Commands:
      show  Print every value and its source
      path  Print where the file is, or would be
      help  Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help

    Examples:
      sessionary config              as `config show`
      sessionary config show --json
      sessionary config path
    ----
    Remove everything that sessionary ever wrote; never a session

    Usage: sessionary clean [OPTIONS]

    Options:
      -y, --yes      Do not ask
          --config   Remove the configuration file too
          --data     Remove what was learned of work trees, and your pins, too
          --archive  Remove the archive too, with the sessions that are nowhere else
          --no-wait  Fail at once if another process is writing the index, instead of waiting
      -h, --help     Print help

    Examples:
      sessionary clean
      sessionary clean --yes --config --data   without asking, the configuration and that too
    ----
    Print the lines that set up a shell: completions, a key for the picker, and a short name

    Usage: sessionary init [OPTIONS] <SHELL>

    Arguments:
      <SHELL>  The shell [possible values: bash, zsh, fish]

    Options:
          --alias <NAME>  Also let NAME stand for sessionary
          --key <KEY>     The key that opens the picker: alt- or ctrl-, and a letter [default: alt-i]
          --no-key        Without a key for the picker
          --pi            Also define `pir`, which opens the picker on pi's sessions, as `pi -r` opens
                          pi's own list
      -h, --help          Print help

    Examples:
      sessionary init bash              in ~/.bashrc: eval "$(sessionary init bash)"
      sessionary init zsh --alias sy    in ~/.zshrc: eval "$(sessionary init zsh --alias sy)"
      sessionary init fish              in ~/.config/fish/config.fish: sessionary init fish | source
      sessionary init zsh --key ctrl-g  another key for the picker; --no-key: none

    Alt-I opens the picker, and puts the command that continues the chosen session into the command
    line, where the cursor is. bash, zsh and fish leave that key free; Alt-S, for one, is taken in zsh
    and fish, Ctrl-G in bash and zsh.

    Completions know sessions by id (zsh and fish show their titles) and by title, agents, projects,
    labels and the filters of a query. They answer from the index as it is, and scan nothing.
    ----
    Share the sessions of chosen repositories with other machines, by `sessionary-team`

    Usage: sessionary team [OPTIONS] [ARGUMENTS]...

    Arguments:
      [ARGUMENTS]...  What `sessionary-team` is asked for

    Options:
      -h, --help  Print help

    Examples:
      sessionary team init dir:/home/ada/Sync/sessions   name a folder that something else synchronises
      sessionary team share .                            share the sessions of this repository
      sessionary team push                               send what is new
      sessionary team pull                               bring what other machines share
      sessionary team help                               every command, as `sessionary-team` explains it

    It runs `sessionary-team`, which stands beside this program or on the PATH.
    Exit codes: those of `sessionary-team`; 2 where it is missing.
    ----
    Print completions for a shell

    Usage: sessionary completions [OPTIONS] <SHELL>

    Arguments:
      <SHELL>  The shell [possible values: bash, elvish, fish, powershell, zsh]

    Options:
      -h, --help  Print help

    Examples:
      sessionary completions bash > ~/.local/share/bash-completion/completions/sessionary
      sessionary completions zsh > ~/.zfunc/_sessionary
      sessionary completions fish > ~/.config/fish/completions/sessionary.fish
      sessionary completions powershell >> $PROFILE
      sessionary completions elvish >> ~/.config/elvish/rc.elv
    ----
    Print the manual page of sessionary or of one command

    Usage: sessionary man [OPTIONS] [COMMAND]

    Arguments:
      [COMMAND]  The command

    Options:
          --to <DIR>  Write one page per command into DIR instead
      -h, --help      Print help

    Examples:
      sessionary man | man -l -
      sessionary man search | man -l -
      sessionary man --to ~/.local/share/man/man1   one page per command
    ----
    "#);
}

#[test]
fn the_version_says_what_it_is_made_of() {
    let version = Sandbox::new().run(&["--version"]);
    let lines: Vec<&str> = version.lines().collect();
    assert_eq!(lines[0], concat!("sessionary ", env!("CARGO_PKG_VERSION")));
    let generation = format!(
        "index generation {}, SQL contract {}, JSON schema 1",
        sessionary::GENERATION,
        sessionary::CONTRACT_VERSION
    );
    assert_eq!(lines[1], generation);
    assert!(
        lines[2].starts_with("SQLite 3.") && lines[2].contains("tantivy v0."),
        "{version}"
    );
    assert_eq!(Sandbox::new().run(&["-V"]).trim(), lines[0]);
}

#[test]
fn five_shells_and_a_manual() {
    let home = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = home.run(&["completions", shell]);
        assert!(script.contains("SESSIONARY_COMPLETE"), "{shell}: {script}");
        // It is found where the shell finds it.
        assert!(
            !script.contains(env!("CARGO_BIN_EXE_sessionary")),
            "{script}"
        );
    }
    let page = home.run(&["man", "list"]);
    assert!(
        page.contains(".TH sessionary-list 1") && page.contains("--subagents")
            || page.contains("\\-\\-subagents"),
        "{page}"
    );
    assert!(home.run(&["man"]).contains(".SH SUBCOMMANDS"));
    let _ = home.run(&["man", "--to", "man1"]);
    for verb in &VERBS[..VERBS.len() - 1] {
        assert!(
            home.cwd.join(format!("man1/sessionary-{verb}.1")).is_file(),
            "{verb}"
        );
    }
    assert_eq!(home.output(&["man", "nope"]).status.code(), Some(2));
    assert_eq!(home.output(&["completions", "cmd"]).status.code(), Some(2));
}
