//! The protocol between the program and each shell's script.

use std::fmt::Write as _;

use super::quoting::{Quote, bash_words, fish_text, for_bash, for_powershell, powershell_text};
use super::{Candidate, End};
use crate::args::Shell;
use crate::terminal::{prose, without_controls};

/// Maximum characters of a description.
const DESCRIPTION_CHARS_MAX: usize = 80;

/// A request of a completion script.
#[derive(Debug)]
pub(super) struct Request {
    form: Form,
    /// The words before the cursor's, including the program's name.
    pub(super) words: Vec<String>,
    /// The part of the word before the cursor.
    pub(super) word: String,
}

/// The format of the answer.
#[derive(Debug)]
enum Form {
    /// `space` or `nospace`, then the replies. They replace what readline considers the word, which is only a part of it if it contains a
    /// `:` or `=`.
    Bash {
        /// Readline's word as it was typed.
        replaced: String,
        /// The quotation that is open at the cursor.
        open: Option<Quote>,
    },
    /// `+` if more of the word follows, `.` if not; the value, a tab, the description. The script quotes.
    Marked,
    /// The value, a tab, the description. The shell quotes.
    Fish,
    /// The quoted value, a tab, the value, a tab, the description.
    Powershell,
}

/// The script of a shell.
pub(crate) fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("scripts/tiphys.bash"),
        Shell::Elvish => include_str!("scripts/tiphys.elv"),
        Shell::Fish => include_str!("scripts/tiphys.fish"),
        Shell::Powershell => include_str!("scripts/tiphys.ps1"),
        Shell::Zsh => include_str!("scripts/_tiphys.zsh"),
    }
}

impl Request {
    /// Parses a script's arguments: the shell, then the words in the shell's format.
    pub(super) fn read(arguments: &[String]) -> Option<Self> {
        let (shell, given) = arguments.split_first()?;
        match shell.as_str() {
            "bash" => {
                let [seen, line] = given else { return None };
                let (words, last) = bash_words(line);
                if last.expands {
                    return None;
                }
                let replaced = if last.raw.ends_with(seen.as_str()) { seen.clone() } else { last.raw };
                Some(Self {
                    form: Form::Bash { replaced, open: last.open },
                    words: words.into_iter().map(|word| word.text).collect(),
                    word: last.text,
                })
            }
            "zsh" | "elvish" => Self::of_words(Form::Marked, given.to_vec()),
            "fish" => {
                let mut words = given.to_vec();
                let last = words.last_mut()?;
                *last = fish_text(last);
                // Assignments of variables may precede the program's name.
                let assigned = words.iter().take_while(|word| word.contains('=')).count();
                Self::of_words(Form::Fish, words.split_off(assigned))
            }
            "powershell" => {
                // Each word has a prefix, because old versions drop empty arguments.
                let words: Option<Vec<String>> =
                    given.iter().map(|word| Some(powershell_text(word.strip_prefix('=')?))).collect();
                Self::of_words(Form::Powershell, words?)
            }
            _ => None,
        }
    }

    fn of_words(form: Form, mut words: Vec<String>) -> Option<Self> {
        let word = words.pop()?;
        Some(Self { form, words, word })
    }

    /// Formats the candidates that start with the typed word, without those that contain control characters.
    pub(super) fn print(&self, candidates: Vec<Candidate>) -> String {
        let mut fitting: Vec<Candidate> = candidates
            .into_iter()
            .filter(|candidate| candidate.value.starts_with(&self.word))
            .filter(|candidate| !candidate.value.contains(char::is_control))
            .collect();
        for candidate in &mut fitting {
            candidate.description = described(&candidate.description);
        }
        let mut text = String::new();
        if let Form::Bash { .. } = self.form {
            let open = matches!(fitting.as_slice(), [only] if only.end == End::Open);
            text.push_str(if open { "nospace\n" } else { "space\n" });
        }
        for Candidate { value, description, end } in &fitting {
            // Writing to a string does not fail.
            let _ = match &self.form {
                Form::Bash { replaced, open } => {
                    writeln!(text, "{replaced}{}", for_bash(&value[self.word.len()..], *open))
                }
                Form::Marked => {
                    let mark = if *end == End::Open { '+' } else { '.' };
                    writeln!(text, "{mark}{value}\t{description}")
                }
                Form::Fish => writeln!(text, "{value}\t{description}"),
                Form::Powershell => {
                    let tip = if description.is_empty() { value } else { description };
                    writeln!(text, "{}\t{value}\t{tip}", for_powershell(value))
                }
            };
        }
        text
    }
}

/// A description on one short line.
fn described(text: &str) -> String {
    let line = prose(&without_controls(text));
    match line.chars().count() {
        0..=DESCRIPTION_CHARS_MAX => line,
        _ => line.chars().take(DESCRIPTION_CHARS_MAX - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests;
