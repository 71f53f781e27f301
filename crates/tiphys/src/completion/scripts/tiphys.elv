# Completion of tiphys in elvish: the program is asked at each Tab.
#   tiphys completion elvish >> ~/.config/elvish/rc.elv

use str

set edit:completion:arg-completer[tiphys] = {|@words|
  e:tiphys __complete elvish $@words 2>/dev/null </dev/null | each {|line|
    var value description = (str:split &max=2 "\t" $line)
    var suffix = ' '
    if (str:has-prefix $value '+') {
      set suffix = ''
    }
    set value = $value[1..]
    var shown = $value
    if (not-eq $description '') {
      set shown = $value'  -- '$description
    }
    edit:complex-candidate $value &display=$shown &code-suffix=$suffix
  }
}
