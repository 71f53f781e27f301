//! Findings about ignored commands, and about scripts in the file.

use tiphys_yaml::Node;

use super::super::CommandFields;
use super::{Findings, PluginFile, ProgramState, Rule, nearest, programs};

/// Programs whose option `-c` takes a script.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "zsh", "ksh"];

pub(super) fn check(
    document: &Node,
    file: &PluginFile,
    program_state: &dyn Fn(&str) -> ProgramState,
    findings: &mut Findings<'_>,
) {
    let commands: [(&[&str], &CommandFields); 5] = [
        (&["spec", "init"], &file.init),
        (&["spec", "generate"], &file.generate),
        (&["spec", "discover", "find"], &file.discover_find),
        (&["spec", "parameters", "dynamic"], &file.parameters_dynamic),
        (&["spec", "parameters", "explain"], &file.parameters_explain),
    ];
    for (path, command) in commands {
        let (words, args) =
            (command.command.as_deref().unwrap_or_default(), command.args.as_deref().unwrap_or_default());
        let name = path.join(".");
        let at = |key: &str| {
            let mut path = path.to_vec();
            path.push(key);
            nearest(document, &path)
        };
        if words.is_empty() && !args.is_empty() {
            let message = format!("{name}.args has no effect without {name}.command");
            findings.add(Rule::ArgsWithoutCommand, Some(at("args").position), message);
        }
        if let Some(program) = words.first().filter(|program| !program.is_empty()) {
            let position = item(at("command"), 0).position;
            programs::check(&format!("{name}.command"), program, program_state(program), position, findings);
        }
        let Some(index) = script_index(words.iter().chain(args)) else { continue };
        let (script, node) = match index.checked_sub(words.len()) {
            None => (&words[index], item(at("command"), index)),
            Some(index) => (&args[index], item(at("args"), index)),
        };
        check_script(&name, script, node, findings);
    }
}

/// Returns the index of a shell's script: the word after the first option that contains `c`.
fn script_index<'a>(words: impl Iterator<Item = &'a String>) -> Option<usize> {
    let words: Vec<&str> = words.map(String::as_str).collect();
    let program = words.first()?.rsplit('/').next()?;
    if !SHELLS.contains(&program) {
        return None;
    }
    let is_option = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    let option = words.iter().skip(1).position(|word| is_option(word))? + 1;
    (option + 1 < words.len()).then_some(option + 1)
}

fn item(list: &Node, index: usize) -> &Node {
    match &list.data {
        tiphys_yaml::Data::Sequence(items) => items.get(index).unwrap_or(list),
        _ => list,
    }
}

fn check_script(name: &str, script: &str, node: &Node, findings: &mut Findings<'_>) {
    let position = Some(node.position);
    if script.trim().contains('\n') {
        let message = format!(
            "{name} contains a script of several lines; put it into a file of its own, where editors and scanners check it"
        );
        findings.add(Rule::EmbeddedScript, position, message);
    }
    let commands = simple_commands(script);
    if commands.iter().any(|command| command.first().is_some_and(|word| word == "eval")) {
        let message = format!("the script of {name} uses `eval`: the value of a parameter can run commands");
        findings.add(Rule::EvalInScript, position, message);
    }
    if commands.iter().any(|command| splits_words(command)) {
        let message = format!(
            "the script of {name} uses `xargs`, which splits values at spaces and quotes; use an array, or `xargs -0`"
        );
        findings.add(Rule::XargsInScript, position, message);
    }
}

fn splits_words(command: &[String]) -> bool {
    let is_separator_option = |word: &String| {
        word == "--null"
            || word.starts_with("--delimiter")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['0', 'd']))
    };
    command.first().is_some_and(|word| word == "xargs") && !command.iter().skip(1).any(is_separator_option)
}

/// Returns the words of each simple command of a script, approximately: a quoted string is one opaque word, comments are omitted, and so
/// are words that only introduce a command (`then`, `!`, `NAME=value`). Only for warnings, so it may be wrong for unusual scripts.
fn simple_commands(script: &str) -> Vec<Vec<String>> {
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    let mut word = String::new();
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                // A line continuation; any other escaped character is part of its word.
                match chars.next() {
                    Some('\n') | None => {}
                    Some(escaped) => word.push(escaped),
                }
            }
            '\'' => word.extend(chars.by_ref().take_while(|c| *c != '\'').map(|_| '\'')),
            '"' => {
                while let Some(quoted) = chars.next() {
                    match quoted {
                        '"' => break,
                        '\\' => drop(chars.next()),
                        _ => word.push('"'),
                    }
                }
            }
            '#' if word.is_empty() => while chars.next_if(|c| *c != '\n').is_some() {},
            ' ' | '\t' => end_word(&mut commands, &mut word),
            '\n' | ';' | '|' | '&' | '(' | ')' | '`' => {
                end_word(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            c => word.push(c),
        }
    }
    end_word(&mut commands, &mut word);
    commands.retain(|command| !command.is_empty());
    commands
}

fn end_word(commands: &mut [Vec<String>], word: &mut String) {
    const INTRODUCING: [&str; 11] =
        ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "exec", "command"];
    let word = std::mem::take(word);
    let Some(command) = commands.last_mut() else { return };
    let introduces = command.is_empty() && (INTRODUCING.contains(&word.as_str()) || is_assignment(&word));
    if !word.is_empty() && !introduces {
        command.push(word);
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
