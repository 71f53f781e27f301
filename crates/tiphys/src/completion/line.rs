//! What has been typed, read by the definitions of the arguments: what is given already, and what is wanted at the cursor.

use clap::{Arg, Command};

/// A command line up to the cursor.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// The command that the words name; its own name comes last.
    pub(super) path: Vec<&'a str>,
    /// The command's definition.
    pub(super) command: &'a Command,
    /// The arguments with their values; of switches the value is empty.
    given: Vec<(&'a Arg, String)>,
    /// What may come at the cursor.
    pub(super) wanted: Wanted<'a>,
    /// The word at the cursor, up to it.
    pub(super) word: String,
}

/// What may stand where the cursor is.
#[derive(Debug)]
pub(super) enum Wanted<'a> {
    /// A value of an option, behind the text that is before it in the same word.
    Value {
        /// The option.
        option: &'a Arg,
        /// `--name=` or `-n`, if they are in the same word.
        before: String,
    },
    /// The name of an option.
    Option,
    /// A subcommand.
    Subcommand,
    /// A positional argument; `None` if there are enough.
    Positional(Option<&'a Arg>),
}

/// What is between two words.
struct Reader<'a> {
    path: Vec<&'a str>,
    command: &'a Command,
    given: Vec<(&'a Arg, String)>,
    positionals: usize,
    /// The option that waits for its value.
    pending: Option<&'a Arg>,
    /// Whether `--` has come.
    escaped: bool,
}

impl<'a> Line<'a> {
    /// Reads words, the program's name first, and the word at the cursor. `root` has been built.
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
        let wanted = reader.wanted(word);
        Self {
            path: reader.path,
            command: reader.command,
            given: reader.given,
            wanted,
            word: word.to_owned(),
        }
    }

    /// The values of an argument, by its id.
    pub(super) fn values(&self, id: &str) -> impl Iterator<Item = &str> {
        self.given.iter().filter(move |(arg, _)| arg.get_id() == id).map(|(_, value)| value.as_str())
    }

    /// Whether an argument is given.
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

    fn wanted(&self, word: &str) -> Wanted<'a> {
        if let Some(option) = self.pending {
            return Wanted::Value { option, before: String::new() };
        }
        if self.escaped {
            return Wanted::Positional(self.positional());
        }
        if let Some(long) = word.strip_prefix("--") {
            if let Some((name, _)) = long.split_once('=')
                && let Some(option) = self.long(name)
            {
                return Wanted::Value { option, before: format!("--{name}=") };
            }
            return Wanted::Option;
        }
        let mut letters = word.chars();
        if letters.next() == Some('-') {
            let option = letters.next().and_then(|letter| self.short(letter));
            return match option.filter(|option| takes_value(option) && word.len() > 2) {
                Some(option) => {
                    let letters = if word[2..].starts_with('=') { 3 } else { 2 };
                    Wanted::Value { option, before: word[..letters].to_owned() }
                }
                None => Wanted::Option,
            };
        }
        if self.positionals == 0 && self.command.has_subcommands() {
            return Wanted::Subcommand;
        }
        Wanted::Positional(self.positional())
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

/// Whether an option has values at all.
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
