_sessionary_pick() {
    local picked
    picked=$(sessionary pick --print command </dev/tty) && LBUFFER+=$picked
    zle reset-prompt
}
if [[ -o interactive ]]; then
    zle -N _sessionary_pick
    bindkey -M emacs 'KEY' _sessionary_pick
    bindkey -M viins 'KEY' _sessionary_pick
fi
