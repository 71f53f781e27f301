# Completion of tiphys in bash: the program is asked at each Tab.
#   tiphys completion bash > ~/.local/share/bash-completion/completions/tiphys

_tiphys() {
    local space='' reply
    COMPREPLY=()
    while IFS= read -r reply; do
        if [[ -z $space ]]; then space=$reply; else COMPREPLY+=("$reply"); fi
    done < <(command tiphys __complete bash "$2" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
    # Bash before 4 has no compopt, and then always a blank.
    if [[ $space == nospace ]]; then compopt -o nospace 2>/dev/null; fi
    return 0
}

# Bash before 4.4 cannot leave the order alone.
complete -o nosort -F _tiphys tiphys 2>/dev/null || complete -F _tiphys tiphys
