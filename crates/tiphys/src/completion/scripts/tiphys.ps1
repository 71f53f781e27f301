# Completion of tiphys in PowerShell: the program is asked at each Tab.
#   tiphys completion powershell >> $PROFILE

Register-ArgumentCompleter -Native -CommandName tiphys -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @()
    $word = ''
    foreach ($element in $commandAst.CommandElements) {
        $start = $element.Extent.StartOffset
        $text = $element.Extent.Text
        if ($start -ge $cursorPosition) {
            break
        } elseif ($element.Extent.EndOffset -ge $cursorPosition) {
            # What is being typed is taken as text and never run.
            $word = $text.Substring(0, $cursorPosition - $start)
        } else {
            $words += "=$text"
        }
    }
    $words += "=$word"
    $tiphys = Get-Command -Name tiphys -CommandType Application -ErrorAction SilentlyContinue |
        Select-Object -First 1
    if ($null -eq $tiphys) {
        return
    }
    & $tiphys __complete powershell @words 2>$null | ForEach-Object {
        $value, $shown, $tip = $_.Split("`t", 3)
        [System.Management.Automation.CompletionResult]::new($value, $shown, 'ParameterValue', $tip)
    }
}
