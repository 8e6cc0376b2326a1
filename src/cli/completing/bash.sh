# What a word says without its quotes goes to `plain`, and the quote that is still open to `quote`.
_sessionary_unquote() {
    local i=0 letter next
    plain='' quote=''
    while ((i < ${#1})); do
        letter=${1:i:1}
        case $quote$letter in
            "'" | '"') quote=$letter ;;
            "''" | '""') quote='' ;;
            '\' | '"\')
                i=$((i + 1))
                next=${1:i:1}
                # Between double quotes a backslash before any other letter is a letter itself.
                [[ -z $quote || $next == [\$\`\"\\] ]] || plain+=$letter
                plain+=$next
                ;;
            *) plain+=$letter ;;
        esac
        i=$((i + 1))
    done
}

# Bash splits words at colons, of which addresses and filters hold some: what no blank separates is
# put together again, and of an answer only what stands behind the last colon is inserted.
_sessionary() {
    local rest=${COMP_LINE:0:COMP_POINT} word reply before glued i plain quote letter
    local -a words=() found=()
    COMPREPLY=()
    # The shell takes so long to read a long line letter by letter that nobody would wait for it.
    ((COMP_POINT > 2000)) && return
    for ((i = 0; i <= COMP_CWORD; i++)); do
        glued=$((i > 0))
        while [[ $rest == [[:blank:]]* ]]; do
            rest=${rest#?}
            glued=0
        done
        word=${COMP_WORDS[i]}
        ((i == COMP_CWORD)) && word=$rest
        rest=${rest#"$word"}
        if ((glued)); then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
    done
    word=${words[${#words[@]} - 1]}
    # What the shell itself would run is no word of ours.
    case $word in
        *'$('* | *'<('* | *'>('* | *'`'*) return ;;
    esac
    before=${word%"$2"}
    for i in "${!words[@]}"; do
        _sessionary_unquote "${words[i]}"
        words[i]=$plain
    done
    _sessionary_unquote "$before"
    before=$plain
    IFS=$'\013' read -r -d '' -a found < <(
        VARIABLE=bash _CLAP_IFS=$'\013' _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) \
            PROGRAM -- "${words[@]}" 2> /dev/null
    )
    for reply in "${found[@]}"; do
        reply=${reply#"$before"}
        [[ -n $reply ]] || continue
        # What the shell would interpret is quoted, but for the home folder; where a quote is open,
        # as that quote wants it.
        case $quote$reply in
            "'"*) reply=${reply//"'"/"'\\''"} ;;
            # Between double quotes nothing keeps the shell from reading a `!`.
            '"'*'!'*) continue ;;
            '"'*)
                for letter in '\' '"' '$' '`'; do
                    reply=${reply//"$letter"/"\\$letter"}
                done
                ;;
            "~/"*) printf -v word '%q' "${reply#"~/"}" && reply="~/$word" ;;
            *) printf -v reply '%q' "$reply" ;;
        esac
        # Readline closes the quote, but not behind another of its kind.
        [[ -z $quote || $reply != *"$quote" ]] || reply+=$quote
        COMPREPLY+=("$reply")
    done
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o nosort -F _sessionary sessionary 2> /dev/null || complete -F _sessionary sessionary
