//! Go's package `fmt`: `print`, `println` and `printf`, and how values are written.

mod verbs;

use crate::gotemplate::functions::Failure;
use crate::gotemplate::limits::Budget;
use crate::gotemplate::value::Value;
use verbs::{Flags, Printer};

/// Formats like `fmt.Sprint`: blanks separate values if neither is a string.
pub(crate) fn print(budget: &mut Budget, values: &[Value]) -> Result<Vec<u8>, Failure> {
    let mut printer = Printer::new(budget);
    let mut is_after_string = false;
    for (index, value) in values.iter().enumerate() {
        let is_string = matches!(value, Value::String(_));
        if index > 0 && !is_string && !is_after_string {
            printer.out.push(b' ');
        }
        printer.argument(value, 'v')?;
        is_after_string = is_string;
    }
    Ok(printer.out)
}

/// Formats like `fmt.Sprintln`.
pub(crate) fn print_line(budget: &mut Budget, values: &[Value]) -> Result<Vec<u8>, Failure> {
    let mut printer = Printer::new(budget);
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            printer.out.push(b' ');
        }
        printer.argument(value, 'v')?;
    }
    printer.out.push(b'\n');
    Ok(printer.out)
}

/// The largest width and precision.
const NUMBER_MAX: i64 = 1_000_000;

/// Formats like `fmt.Sprintf`.
pub(crate) fn printf(budget: &mut Budget, format: &[u8], values: &[Value]) -> Result<Vec<u8>, Failure> {
    let mut printer = Printer::new(budget);
    let mut arguments =
        Arguments { format, values, position: 0, next: 0, is_reordered: false, is_good: true };
    while let Some(verb_start) = arguments.literal() {
        printer.out.extend_from_slice(&format[verb_start..arguments.position]);
        if arguments.position >= format.len() {
            break;
        }
        arguments.position += 1;
        printer.flags = Flags::default();
        arguments.verb(&mut printer)?;
        printer.check()?;
    }
    if !arguments.is_reordered && arguments.next < values.len() {
        printer.flags = Flags::default();
        printer.out.extend_from_slice(b"%!(EXTRA ");
        for (index, value) in values[arguments.next..].iter().enumerate() {
            if index > 0 {
                printer.out.extend_from_slice(b", ");
            }
            if !matches!(value, Value::Nil) {
                printer.out.extend_from_slice(value.type_name().as_bytes());
                printer.out.push(b'=');
            }
            printer.argument(value, 'v')?;
        }
        printer.out.push(b')');
    }
    Ok(printer.out)
}

/// The format and its arguments.
struct Arguments<'a> {
    format: &'a [u8],
    values: &'a [Value],
    position: usize,
    next: usize,
    is_reordered: bool,
    /// Whether the numbers of arguments of the current verb (`%[2]d`) are valid.
    is_good: bool,
}

impl Arguments<'_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.position).copied()
    }

    /// Skips up to the next `%`. Returns the beginning of the skipped bytes.
    fn literal(&mut self) -> Option<usize> {
        let start = self.position;
        if start >= self.format.len() {
            return None;
        }
        while self.peek().is_some_and(|byte| byte != b'%') {
            self.position += 1;
        }
        Some(start)
    }

    /// Formats one verb after `%`.
    fn verb(&mut self, printer: &mut Printer<'_>) -> Result<(), Failure> {
        self.is_good = true;
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => printer.flags.is_sharp = true,
                b'0' => printer.flags.is_zero = true,
                b'+' => printer.flags.has_plus = true,
                b'-' => printer.flags.is_left = true,
                b' ' => printer.flags.has_space = true,
                _ => break,
            }
            self.position += 1;
        }
        let mut is_after_index = self.index();
        if self.peek() == Some(b'*') {
            self.position += 1;
            match self.integer() {
                Some(width) => {
                    printer.flags.width = Some(usize::try_from(width.unsigned_abs()).unwrap_or(0));
                    if width < 0 {
                        printer.flags.is_left = true;
                        printer.flags.is_zero = false;
                    }
                }
                None => printer.out.extend_from_slice(b"%!(BADWIDTH)"),
            }
            is_after_index = false;
        } else {
            printer.flags.width = self.number();
            if is_after_index && printer.flags.width.is_some() {
                self.is_good = false;
            }
        }
        if self.peek() == Some(b'.') && self.position + 1 < self.format.len() {
            self.position += 1;
            if is_after_index {
                self.is_good = false;
            }
            is_after_index = self.index();
            if self.peek() == Some(b'*') {
                self.position += 1;
                let precision = self.integer().and_then(|precision| usize::try_from(precision).ok());
                if precision.is_none() {
                    printer.out.extend_from_slice(b"%!(BADPREC)");
                }
                printer.flags.precision = precision;
                is_after_index = false;
            } else {
                printer.flags.precision = Some(self.number().unwrap_or(0));
            }
        }
        if !is_after_index {
            self.index();
        }
        if self.position >= self.format.len() {
            printer.out.extend_from_slice(b"%!(NOVERB)");
            return Ok(());
        }
        let (verb, length) = crate::gotemplate::unicode::decode(&self.format[self.position..]);
        self.position += length;
        self.print(printer, verb)
    }

    fn print(&mut self, printer: &mut Printer<'_>, verb: char) -> Result<(), Failure> {
        let mut problem = |text: &str| {
            printer.out.extend_from_slice(format!("%!{verb}({text})").as_bytes());
            Ok(())
        };
        if verb == '%' {
            printer.out.push(b'%');
            return Ok(());
        }
        if !self.is_good {
            return problem("BADINDEX");
        }
        let Some(value) = self.values.get(self.next) else { return problem("MISSING") };
        self.next += 1;
        if matches!(verb, 'v' | 'w') {
            printer.flags.is_sharp_v = std::mem::take(&mut printer.flags.is_sharp);
            printer.flags.has_plus_v = std::mem::take(&mut printer.flags.has_plus);
        }
        printer.argument(value, verb)
    }

    /// Parses a number. `None` if there is none, or if it is too large.
    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            let value = number.unwrap_or(0);
            if value > NUMBER_MAX {
                self.position = self.format.len();
                return None;
            }
            number = Some(value * 10 + i64::from(digit - b'0'));
            self.position += 1;
        }
        number.and_then(|number| usize::try_from(number).ok())
    }

    /// Takes an argument for `*`.
    fn integer(&mut self) -> Option<i64> {
        let value = self.values.get(self.next)?;
        self.next += 1;
        let number = value.as_integer().or_else(|| i64::try_from(value.as_unsigned()?).ok())?;
        (-NUMBER_MAX..=NUMBER_MAX).contains(&number).then_some(number)
    }

    /// Parses the number of an argument: `[2]`. Returns whether there is one.
    fn index(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.is_reordered = true;
        let rest = &self.format[self.position..];
        let Some(end) = rest.iter().position(|byte| *byte == b']').filter(|_| rest.len() >= 3) else {
            self.is_good = false;
            self.position += 1;
            return false;
        };
        let digits =
            std::str::from_utf8(&rest[1..end]).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse::<usize>().ok());
        self.position += end + 1;
        match number.and_then(|number| number.checked_sub(1)) {
            Some(index) if index < self.values.len() => {
                self.next = index;
                true
            }
            _ => {
                self.is_good = false;
                number.is_some()
            }
        }
    }
}

#[cfg(test)]
mod tests;
