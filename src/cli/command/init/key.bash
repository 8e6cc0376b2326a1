_sessionary_pick() {
    local picked
    picked=$(sessionary pick --print command </dev/tty) || return
    READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$picked${READLINE_LINE:READLINE_POINT}
    READLINE_POINT=$((READLINE_POINT + ${#picked}))
}
if [[ $- == *i* ]]; then
    bind -m emacs -x '"KEY": _sessionary_pick'
    bind -m vi-insert -x '"KEY": _sessionary_pick'
fi
