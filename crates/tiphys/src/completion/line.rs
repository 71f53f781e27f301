//! The command line up to the cursor, parsed by the definitions of the arguments.

use clap::{Arg, Command};

/// A command line up to the cursor.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// The names of the command and its subcommands.
    pub(super) path: Vec<&'a str>,
    /// The command's definition.
    pub(super) command: &'a Command,
    /// The arguments with their values. The value of a switch is empty.
    given: Vec<(&'a Arg, String)>,
    /// The expected kind of word.
    pub(super) expected: Expected<'a>,
    /// The part of the word before the cursor.
    pub(super) word: String,
}

/// The kind of word that is expected at the cursor.
#[derive(Debug)]
pub(super) enum Expected<'a> {
    /// A value of an option, after the text before it in the same word.
    Value {
        /// The option.
        option: &'a Arg,
        /// `--name=` or `-n` if it is part of the word.
        before: String,
    },
    /// The name of an option.
    Option,
    /// A subcommand.
    Subcommand,
    /// A positional argument; `None` if there are no more.
    Positional(Option<&'a Arg>),
}

/// The state of the parser between two words.
struct Reader<'a> {
    path: Vec<&'a str>,
    command: &'a Command,
    given: Vec<(&'a Arg, String)>,
    positionals: usize,
    /// The option whose value is the next word.
    pending: Option<&'a Arg>,
    /// Whether `--` has been read.
    escaped: bool,
}

impl<'a> Line<'a> {
    /// Parses the words, which start with the program's name, and the word at the cursor. `root` must have been built.
    pub(super) fn read(root: &'a Command, words: &[String], word: &str) -> Self {
        let mut reader = Reader {
            path: Vec::new(),
            command: root,
            given: Vec::new(),
            positionals: 0,
            pending: None,
            escaped: false,
        };
        for word in words.iter().skip(1) {
            reader.take(word);
        }
        let expected = reader.expected(word);
        Self {
            path: reader.path,
            command: reader.command,
            given: reader.given,
            expected,
            word: word.to_owned(),
        }
    }

    /// The values of an argument by its id.
    pub(super) fn values(&self, id: &str) -> impl Iterator<Item = &str> {
        self.given.iter().filter(move |(arg, _)| arg.get_id() == id).map(|(_, value)| value.as_str())
    }

    /// Whether an argument is present.
    pub(super) fn has(&self, arg: &Arg) -> bool {
        self.given.iter().any(|(given, _)| given.get_id() == arg.get_id())
    }
}

impl<'a> Reader<'a> {
    fn take(&mut self, word: &str) {
        if let Some(option) = self.pending.take() {
            self.given.push((option, word.to_owned()));
        } else if self.escaped {
            self.take_positional(word);
        } else if word == "--" {
            self.escaped = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            if let Some(option) = self.long(name) {
                self.take_option(option, value);
            }
        } else if word.len() > 1 && word.starts_with('-') {
            self.take_shorts(&word[1..]);
        } else if let Some(command) = self.subcommand(word) {
            self.command = command;
            self.path.push(command.get_name());
        } else {
            self.take_positional(word);
        }
    }

    fn take_option(&mut self, option: &'a Arg, value: Option<&str>) {
        match value {
            Some(value) => self.given.push((option, value.to_owned())),
            None if waits_for_value(option) => self.pending = Some(option),
            None => self.given.push((option, String::new())),
        }
    }

    /// `-vv`, `-ojson`, `-o=json`, `-vo`.
    fn take_shorts(&mut self, mut rest: &str) {
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let Some(option) = self.short(letter) else { return };
            if takes_value(option) {
                let value = rest.strip_prefix('=').unwrap_or(rest);
                self.take_option(option, Some(value).filter(|_| !rest.is_empty()));
                return;
            }
            self.take_option(option, None);
        }
    }

    fn take_positional(&mut self, word: &str) {
        if let Some(positional) = self.positional() {
            self.given.push((positional, word.to_owned()));
            self.positionals += usize::from(!takes_many(positional));
        }
    }

    fn expected(&self, word: &str) -> Expected<'a> {
        if let Some(option) = self.pending {
            return Expected::Value { option, before: String::new() };
        }
        if self.escaped {
            return Expected::Positional(self.positional());
        }
        if let Some(long) = word.strip_prefix("--") {
            if let Some((name, _)) = long.split_once('=')
                && let Some(option) = self.long(name)
            {
                return Expected::Value { option, before: format!("--{name}=") };
            }
            return Expected::Option;
        }
        let mut letters = word.chars();
        if letters.next() == Some('-') {
            let option = letters.next().and_then(|letter| self.short(letter));
            return match option.filter(|option| takes_value(option) && word.len() > 2) {
                Some(option) => {
                    let letters = if word[2..].starts_with('=') { 3 } else { 2 };
                    Expected::Value { option, before: word[..letters].to_owned() }
                }
                None => Expected::Option,
            };
        }
        if self.positionals == 0 && self.command.has_subcommands() {
            return Expected::Subcommand;
        }
        Expected::Positional(self.positional())
    }

    fn subcommand(&self, word: &str) -> Option<&'a Command> {
        if self.positionals == 0 { self.command.find_subcommand(word) } else { None }
    }

    fn positional(&self) -> Option<&'a Arg> {
        self.command.get_positionals().nth(self.positionals)
    }

    fn long(&self, name: &str) -> Option<&'a Arg> {
        let named =
            |arg: &&Arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name));
        self.command.get_arguments().find(named)
    }

    fn short(&self, letter: char) -> Option<&'a Arg> {
        let named =
            |arg: &&Arg| arg.get_short_and_visible_aliases().is_some_and(|letters| letters.contains(&letter));
        self.command.get_arguments().find(named)
    }
}

/// Whether an option has a value.
pub(super) fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// Whether an option's value may be the next word.
fn waits_for_value(arg: &Arg) -> bool {
    takes_value(arg)
        && !arg.is_require_equals_set()
        && arg.get_num_args().is_none_or(|range| range.min_values() > 0)
}

/// Whether a positional argument takes all words that follow.
fn takes_many(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|range| range.max_values() > 1)
}

#[cfg(test)]
mod tests;
