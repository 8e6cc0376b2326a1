# Bash splits words at colons, of which addresses and filters hold some: what no blank separates is
# put together again, and of an answer only what stands behind the last colon is inserted.
_sessionary() {
    local rest=${COMP_LINE:0:COMP_POINT} word reply before glued i
    local -a words=() found=()
    COMPREPLY=()
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
    IFS=$'\013' read -r -d '' -a found < <(
        VARIABLE=bash _CLAP_IFS=$'\013' _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) \
            PROGRAM -- "${words[@]}" 2> /dev/null
    )
    for reply in "${found[@]}"; do
        reply=${reply#"$before"}
        [[ -n $reply ]] || continue
        # What the shell would interpret is quoted, but for the home folder.
        case $reply in
            "~/"*) printf -v word '%q' "${reply#"~/"}" && reply="~/$word" ;;
            *) printf -v reply '%q' "$reply" ;;
        esac
        COMPREPLY+=("$reply")
    done
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o nosort -F _sessionary sessionary 2> /dev/null || complete -F _sessionary sessionary
