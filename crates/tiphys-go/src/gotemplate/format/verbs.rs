//! Verbs: how one value is written.

use crate::versions::Version;

use crate::gotemplate::functions::Failure;
use crate::gotemplate::limits::Budget;
use crate::gotemplate::number::{self, Form};
use crate::gotemplate::reflected::Reflected;
use crate::gotemplate::unicode::{characters, is_print};
use crate::gotemplate::value::{List, Map, Named, Special, Value};
use crate::strconv::{Unescaped, quote_with};

/// Flags of a verb.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the language")]
pub(super) struct Flags {
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    /// `-`
    pub(super) is_left: bool,
    /// `+`
    pub(super) has_plus: bool,
    /// `#`
    pub(super) is_sharp: bool,
    /// A blank.
    pub(super) has_space: bool,
    /// `0`
    pub(super) is_zero: bool,
    /// `%+v`
    pub(super) has_plus_v: bool,
    /// `%#v`
    pub(super) is_sharp_v: bool,
}

/// Digits that are written in lower or upper case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
}

/// Writes values.
pub(super) struct Printer<'a> {
    pub(super) out: Vec<u8>,
    pub(super) flags: Flags,
    budget: &'a mut Budget,
    checked: usize,
}

type Written = Result<(), Failure>;

impl<'a> Printer<'a> {
    pub(super) fn new(budget: &'a mut Budget) -> Self {
        Self { out: Vec::new(), flags: Flags::default(), budget, checked: 0 }
    }

    /// Takes the steps for what was written.
    pub(super) fn check(&mut self) -> Written {
        self.budget.take_bytes(self.out.len().saturating_sub(self.checked))?;
        self.checked = self.out.len();
        // The whole is limited too, without steps for what is paid.
        self.budget.check_bytes(self.out.len())?;
        Ok(())
    }

    /// Writes an argument.
    pub(super) fn argument(&mut self, value: &Value, verb: char) -> Written {
        match (value, verb) {
            (Value::Nil, 'T' | 'v') => self.pad(b"<nil>"),
            (_, 'T') => self.string(value.type_name().as_bytes()),
            (Value::Nil, _) | (Value::List(_) | Value::Map(_) | Value::Special(_), 'w') => {
                self.bad(value, verb)
            }
            (Value::List(_) | Value::Map(_) | Value::Special(Special(Named::Version(_))), 'p') => {
                Err(Failure::Message("%p would print an address".to_owned()))
            }
            _ => self.value(value, verb, 0),
        }
    }

    fn value(&mut self, value: &Value, verb: char, level: usize) -> Written {
        self.check()?;
        self.budget.check_depth(level)?;
        match value {
            Value::Nil => self.raw(b"<nil>"),
            Value::Bool(flag) if matches!(verb, 't' | 'v') => {
                let written: &[u8] = if *flag { b"true" } else { b"false" };
                self.pad(written)
            }
            Value::Int(number) | Value::Int64(number) => {
                self.integer(value, number.unsigned_abs(), *number < 0, true, verb)
            }
            Value::Byte(number) => self.integer(value, (*number).into(), false, false, verb),
            Value::Unsigned(number) => self.integer(value, *number, false, false, verb),
            Value::Float(number) => self.float(value, *number, verb),
            Value::String(string) => self.text(value, string, verb),
            Value::Special(special) => self.special(value, &special.0, verb),
            Value::List(list) => self.list(list, verb, level),
            Value::Map(map) => self.map(map, verb, level),
            Value::Bool(_) => self.bad(value, verb),
        }
    }

    /// Writes an element whose static type may be `interface {}`.
    fn element(&mut self, element: &Reflected, verb: char, level: usize) -> Written {
        match element {
            Reflected::Interface(Value::Nil) if self.flags.is_sharp_v => self.raw(b"interface {}(nil)"),
            element => self.value(&element.value(), verb, level + 1),
        }
    }

    fn raw(&mut self, bytes: &[u8]) -> Written {
        self.budget.check_bytes(self.out.len() + bytes.len())?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn list(&mut self, list: &List, verb: char, level: usize) -> Written {
        let is_go = self.flags.is_sharp_v;
        if is_go {
            self.raw(list.list_type().name().as_bytes())?;
            if list.is_nil() {
                return self.raw(b"(nil)");
            }
        }
        self.raw(if is_go { b"{" } else { b"[" })?;
        for (index, item) in list.items().into_iter().enumerate() {
            if index > 0 {
                self.raw(if is_go { b", " } else { b" " })?;
            }
            self.element(&Reflected::element(list, item), verb, level)?;
        }
        self.raw(if is_go { b"}" } else { b"]" })
    }

    fn map(&mut self, map: &Map, verb: char, level: usize) -> Written {
        let is_go = self.flags.is_sharp_v;
        if is_go {
            self.raw(map.type_name().as_bytes())?;
            if map.is_nil() {
                return self.raw(b"(nil)");
            }
        }
        self.raw(if is_go { b"{" } else { b"map[" })?;
        for (index, (key, value)) in map.entries().into_iter().enumerate() {
            if index > 0 {
                self.raw(if is_go { b", " } else { b" " })?;
            }
            self.value(&Value::String(key), verb, level + 1)?;
            self.raw(b":")?;
            self.element(&Reflected::entry(map, value), verb, level)?;
        }
        self.raw(if is_go { b"}" } else { b"]" })
    }

    fn special(&mut self, value: &Value, named: &Named, verb: char) -> Written {
        match named {
            Named::Struct(of) => {
                let is_plain = matches!(verb, 'v' | 's') && !self.flags.is_sharp_v && !self.flags.has_plus_v;
                return match of.text.as_ref().filter(|_| is_plain) {
                    Some(text) => self.raw(text.as_bytes()),
                    None => Err(Failure::unsupported(format!("printing {} is not supported", of.type_name))),
                };
            }
            Named::Bytes(bytes) if matches!(verb, 's' | 'x' | 'X' | 'q') => {
                return self.text(value, bytes, verb);
            }
            _ => {}
        }
        if matches!(verb, 'v' | 's' | 'x' | 'X' | 'q') && !self.flags.is_sharp_v {
            return self.text(value, named.to_string().as_bytes(), verb);
        }
        match named.integer() {
            Some(number) => self.integer(value, number.unsigned_abs(), number < 0, true, verb),
            None => match named {
                Named::Version(version) | Named::VersionValue(version) => {
                    let reference = if matches!(named, Named::Version(_)) { "&" } else { "" };
                    self.raw(reference.as_bytes())?;
                    self.version(version, verb)
                }
                _ if verb == 'v' => self.raw(named.to_string().as_bytes()),
                _ => self.bad(value, verb),
            },
        }
    }

    /// Writes the fields of a version.
    fn version(&mut self, version: &Version, verb: char) -> Written {
        let is_go = self.flags.is_sharp_v;
        let [major, minor, patch] = version.numbers();
        let fields: [(&str, Value); 6] = [
            ("major", Value::Unsigned(major)),
            ("minor", Value::Unsigned(minor)),
            ("patch", Value::Unsigned(patch)),
            ("pre", version.pre_release().into()),
            ("metadata", version.metadata().into()),
            ("original", version.text().into()),
        ];
        self.raw(if is_go { b"semver.Version{" } else { b"{" })?;
        for (index, (name, value)) in fields.iter().enumerate() {
            let separator = match (index, is_go) {
                (0, _) => "",
                (_, true) => ", ",
                (_, false) => " ",
            };
            self.raw(separator.as_bytes())?;
            if is_go || self.flags.has_plus_v {
                self.raw(format!("{name}:").as_bytes())?;
            }
            self.value(value, verb, 1)?;
        }
        self.raw(b"}")
    }

    /// Writes a value with a verb that does not fit: `%!d(string=a)`.
    fn bad(&mut self, value: &Value, verb: char) -> Written {
        self.raw(format!("%!{verb}(").as_bytes())?;
        if matches!(value, Value::Nil) {
            self.raw(b"<nil>")?;
        } else {
            self.raw(format!("{}=", value.type_name()).as_bytes())?;
            self.value(value, 'v', 0)?;
        }
        self.raw(b")")
    }

    /// Writes characters, filled up to the width.
    fn pad(&mut self, bytes: &[u8]) -> Written {
        let width = self.flags.width.unwrap_or(0);
        let missing = width.saturating_sub(characters(bytes).count());
        if self.flags.is_left {
            self.out.extend_from_slice(bytes);
            self.fill(missing)
        } else {
            self.fill(missing)?;
            self.raw(bytes)
        }
    }

    fn fill(&mut self, count: usize) -> Written {
        self.budget.check_bytes(self.out.len() + count)?;
        let byte = if self.flags.is_zero && !self.flags.is_left { b'0' } else { b' ' };
        self.out.extend(std::iter::repeat_n(byte, count));
        Ok(())
    }

    /// Writes with blanks instead of zeros.
    fn pad_blank(&mut self, bytes: &[u8]) -> Written {
        let is_zero = std::mem::take(&mut self.flags.is_zero);
        let result = self.pad(bytes);
        self.flags.is_zero = is_zero;
        result
    }

    fn text(&mut self, value: &Value, bytes: &[u8], verb: char) -> Written {
        match verb {
            'v' if self.flags.is_sharp_v => self.quoted(bytes),
            'v' | 's' => self.string(bytes),
            'x' => self.hexadecimal(bytes, Case::Lower),
            'X' => self.hexadecimal(bytes, Case::Upper),
            'q' => self.quoted(bytes),
            _ => self.bad(value, verb),
        }
    }

    fn truncated<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let end = self.flags.precision.and_then(|precision| characters(bytes).nth(precision));
        end.map_or(bytes, |(position, ..)| &bytes[..position])
    }

    fn string(&mut self, bytes: &[u8]) -> Written {
        let bytes = self.truncated(bytes);
        self.pad(bytes)
    }

    fn quoted(&mut self, bytes: &[u8]) -> Written {
        let bytes = self.truncated(bytes);
        if self.flags.is_sharp && can_backquote(bytes) {
            return self.pad(&[b"`", bytes, b"`"].concat());
        }
        let unescaped = if self.flags.has_plus { Unescaped::Ascii } else { Unescaped::Printable };
        self.pad(quote_with(bytes, '"', unescaped).as_bytes())
    }

    fn hexadecimal(&mut self, bytes: &[u8], case: Case) -> Written {
        let bytes = &bytes[..self.flags.precision.unwrap_or(usize::MAX).min(bytes.len())];
        let prefix = match (self.flags.is_sharp, case) {
            (false, _) => "",
            (true, Case::Lower) => "0x",
            (true, Case::Upper) => "0X",
        };
        let mut written = String::new();
        for (index, byte) in bytes.iter().enumerate() {
            if self.flags.has_space && index > 0 {
                written.push(' ');
            }
            if index == 0 || self.flags.has_space {
                written.push_str(prefix);
            }
            let digits = match case {
                Case::Lower => b"0123456789abcdef",
                Case::Upper => b"0123456789ABCDEF",
            };
            written.push(char::from(digits[usize::from(byte >> 4)]));
            written.push(char::from(digits[usize::from(byte & 15)]));
        }
        self.pad(written.as_bytes())
    }

    fn integer(
        &mut self,
        value: &Value,
        magnitude: u64,
        is_negative: bool,
        is_signed: bool,
        verb: char,
    ) -> Written {
        let digits = match verb {
            'v' if self.flags.is_sharp_v && !is_signed => {
                self.flags.is_sharp = true;
                let result = self.integer(value, magnitude, is_negative, is_signed, 'x');
                self.flags.is_sharp = false;
                return result;
            }
            'v' | 'd' => magnitude.to_string(),
            'b' => format!("{magnitude:b}"),
            'o' | 'O' => format!("{magnitude:o}"),
            'x' => format!("{magnitude:x}"),
            'X' => format!("{magnitude:X}"),
            'c' | 'q' | 'U' => return self.character(magnitude, is_negative, verb),
            _ => return self.bad(value, verb),
        };
        if self.flags.precision == Some(0) && magnitude == 0 {
            return self.pad_blank(b"");
        }
        let has_sign = is_negative || self.flags.has_plus || self.flags.has_space;
        let minimum = match (self.flags.precision, self.flags.width) {
            (Some(precision), _) => precision,
            (None, Some(width)) if self.flags.is_zero && !self.flags.is_left => {
                width - usize::from(has_sign && width > 0)
            }
            _ => 0,
        };
        self.budget.check_bytes(minimum)?;
        let mut written = format!("{digits:0>minimum$}");
        if self.flags.is_sharp {
            match verb {
                'b' => written.insert_str(0, "0b"),
                'o' | 'O' if !written.starts_with('0') => written.insert(0, '0'),
                'x' => written.insert_str(0, "0x"),
                'X' => written.insert_str(0, "0X"),
                _ => {}
            }
        }
        if verb == 'O' {
            written.insert_str(0, "0o");
        }
        if is_negative {
            written.insert(0, '-');
        } else if self.flags.has_plus {
            written.insert(0, '+');
        } else if self.flags.has_space {
            written.insert(0, ' ');
        }
        self.pad_blank(written.as_bytes())
    }

    /// Writes the character with this number.
    fn character(&mut self, magnitude: u64, is_negative: bool, verb: char) -> Written {
        let number = if is_negative { magnitude.wrapping_neg() } else { magnitude };
        let character = u32::try_from(number).ok().and_then(char::from_u32);
        if verb == 'U' {
            let digits = self.flags.precision.unwrap_or(4).max(4);
            self.budget.check_bytes(digits)?;
            let mut written = format!("U+{number:0digits$X}");
            if let Some(c) = character.filter(|c| self.flags.is_sharp && is_print(*c)) {
                written.extend([' ', '\'', c, '\'']);
            }
            return self.pad_blank(written.as_bytes());
        }
        let c = character.unwrap_or(crate::gotemplate::unicode::ERROR);
        let mut buffer = [0; 4];
        let encoded = c.encode_utf8(&mut buffer).as_bytes();
        if verb == 'c' {
            return self.pad(encoded);
        }
        let unescaped = if self.flags.has_plus { Unescaped::Ascii } else { Unescaped::Printable };
        self.pad(quote_with(encoded, '\'', unescaped).as_bytes())
    }

    fn float(&mut self, value: &Value, number: f64, verb: char) -> Written {
        let (form, precision) = match verb {
            'v' | 'g' | 'G' => (Form::General, None),
            'b' => (Form::Binary, None),
            'x' | 'X' => (Form::Hexadecimal, None),
            'f' | 'F' => (Form::Fixed, Some(6)),
            'e' | 'E' => (Form::Exponent, Some(6)),
            _ => return self.bad(value, verb),
        };
        let precision = self.flags.precision.or(precision);
        self.budget.check_bytes(precision.unwrap_or(0))?;
        let mut written = number::format(number, form, precision);
        if verb.is_ascii_uppercase() && verb != 'F' && number.is_finite() {
            written.make_ascii_uppercase();
        }
        if !written.starts_with(['+', '-']) {
            written.insert(0, '+');
        }
        if self.flags.has_space && !self.flags.has_plus && written.starts_with('+') {
            written.replace_range(..1, " ");
        }
        if !number.is_finite() {
            let is_plain = number.is_nan() && !self.flags.has_space && !self.flags.has_plus;
            return self.pad_blank(&written.as_bytes()[usize::from(is_plain)..]);
        }
        if self.flags.is_sharp && verb != 'b' {
            written = with_point(&written, verb, precision);
        }
        let shows_sign = self.flags.has_plus || !written.starts_with('+');
        if !shows_sign {
            return self.pad(&written.as_bytes()[1..]);
        }
        let missing = self.flags.width.unwrap_or(0).saturating_sub(written.len());
        if self.flags.is_zero && !self.flags.is_left && missing > 0 {
            self.raw(&written.as_bytes()[..1])?;
            self.fill(missing)?;
            return self.raw(&written.as_bytes()[1..]);
        }
        self.pad(written.as_bytes())
    }
}

/// Adds the decimal point, and for `%g` the trailing zeros, that the flag `#` requires. The number has a sign.
fn with_point(written: &str, verb: char, precision: Option<usize>) -> String {
    let mut digits = match verb {
        'v' | 'g' | 'G' | 'x' => precision.unwrap_or(6),
        _ => 0,
    };
    let exponent: &[char] = if matches!(verb, 'x' | 'X') { &['p', 'P'] } else { &['e', 'E', 'p', 'P'] };
    let (number, tail) = written.split_at(written.find(exponent).unwrap_or(written.len()));
    let mut is_significant = false;
    for c in number[1..].chars().filter(|c| *c != '.') {
        is_significant |= c != '0';
        digits = digits.saturating_sub(usize::from(is_significant));
    }
    let mut out = number.to_owned();
    if !number.contains('.') {
        digits = digits.saturating_sub(usize::from(&number[1..] == "0"));
        out.push('.');
    }
    out.extend(std::iter::repeat_n('0', digits));
    out + tail
}

/// Whether a string can be written between backquotes.
fn can_backquote(bytes: &[u8]) -> bool {
    characters(bytes).all(|(_, c, length)| match length {
        1 => c != crate::gotemplate::unicode::ERROR && (c == '\t' || (c >= ' ' && c != '`' && c != '\u{7f}')),
        _ => c != '\u{feff}',
    })
}
