# Completion of tiphys in fish: the program is asked at each Tab.
#   tiphys completion fish > ~/.config/fish/completions/tiphys.fish

function __tiphys_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    command tiphys __complete fish $words "$word" 2>/dev/null </dev/null
end

complete -c tiphys -f -k -a '(__tiphys_complete)'
