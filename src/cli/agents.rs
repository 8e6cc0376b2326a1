//! Does an agent run this? A shell of its own may have a terminal, and what is printed there goes
//! to a model all the same.

/// Variables that agents set in the shells they start, whatever they hold. Those that a person sets
/// for an agent (`*_HOME`, `*_CONFIG_DIR`, keys, models) are none, nor is `AGENT`, which build
/// systems have too; who sets it sets one of these besides.
///
/// Where no version stands the source is the table of mise-agent-env 2026.10.1, a crate for the
/// same question.
const VARIABLES: &[&str] = &[
    // Claude Code 2.1.330
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "AI_AGENT",
    // pi 0.74.2
    "PI_CODING_AGENT",
    // opencode 1.18.34
    "OPENCODE",
    // Gemini CLI 0.61.0
    "GEMINI_CLI",
    // Qwen Code 0.15.10
    "QWEN_CODE",
    // Auggie 0.36.0
    "AUGMENT_AGENT",
    // Codex
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "CODEX_CI",
    // Cursor
    "CURSOR_AGENT",
    // GitHub Copilot
    "COPILOT_CLI",
    "COPILOT_AGENT_SESSION_ID",
    // Amp
    "AMP_CURRENT_THREAD_ID",
    // Cline
    "CLINE_ACTIVE",
    // Roo Code
    "ROO_CODE_TASK_ID",
    // goose
    "GOOSE_TERMINAL",
    // Crush
    "CRUSH",
    // iFlow
    "IFLOW_CLI",
    // Antigravity
    "ANTIGRAVITY_AGENT",
    // Trae
    "TRAE_AI_SHELL_ID",
    // CodeBuddy
    "CODEBUDDY",
    // Grok
    "GROK_AGENT",
    // Firebender
    "FIREBENDER_TERMINAL",
];

/// Whether one of them is set, and not empty.
pub fn runs_this() -> bool {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    VARIABLES.iter().any(is_set)
}

#[cfg(test)]
mod tests {
    use super::VARIABLES;

    #[test]
    fn no_variable_is_one_that_a_person_sets_for_an_agent() {
        for name in VARIABLES {
            let is_setting = ["_HOME", "_DIR", "_KEY", "_MODEL", "_PATH"]
                .iter()
                .any(|end| name.ends_with(end));
            assert!(!is_setting, "{name}");
        }
    }
}
