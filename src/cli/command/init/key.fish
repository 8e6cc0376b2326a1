function _sessionary_pick
    set -l picked (sessionary pick --print command </dev/tty | string collect)
    and commandline --insert -- $picked
    commandline --function repaint
end
if status is-interactive
    bind KEY _sessionary_pick
    bind -M insert KEY _sessionary_pick
end
