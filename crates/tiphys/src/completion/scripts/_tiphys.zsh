#compdef tiphys
# Completion of tiphys in zsh: the program is asked at each Tab.
#   tiphys completion zsh > "${fpath[1]}/_tiphys"

_tiphys() {
    emulate -L zsh
    local line value description
    local -a given open shown_open closed shown_closed
    # Quotes are taken off, and nothing is expanded.
    given=("${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}")
    # A tilde must stay unquoted, so it is put aside.
    local home=''
    if [[ $PREFIX == \~/* ]]; then
        compset -P '\~/'
        home='~/'
    fi
    for line in "${(@f)$(command tiphys __complete zsh "${given[@]}" 2>/dev/null </dev/null)}"; do
        [[ -n $line ]] || continue
        value=${${line[2,-1]%%$'\t'*}#$home}
        description=${line#*$'\t'}
        if [[ -n $description ]]; then
            description="$value  -- $description"
        else
            description=$value
        fi
        if [[ $line[1] == '+' ]]; then
            open+=("$value")
            shown_open+=("$description")
        else
            closed+=("$value")
            shown_closed+=("$description")
        fi
    done
    local found=1
    if (( $#open )); then
        compadd -V open -l -S '' -d shown_open -a open && found=0
    fi
    if (( $#closed )); then
        compadd -V closed -l -d shown_closed -a closed && found=0
    fi
    return found
}

# As a file of fpath it is the function itself, else it is sourced.
if [[ $funcstack[1] == _tiphys ]]; then
    _tiphys "$@"
else
    compdef _tiphys tiphys
fi
