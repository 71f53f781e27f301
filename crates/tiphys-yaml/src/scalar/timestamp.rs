//! Strings that go-yaml resolves to a time. This matters only for scalars with a tag such as `!!timestamp`: without a tag, a time stays a
//! string.

/// Returns whether the string is a date (`2006-1-2`), a date and a time without a zone after a blank, or a date and a time with a zone
/// after `T` or `t`.
pub(super) fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut rest = Rest { bytes };
    let date = (|| {
        let year = rest.digits(4, 4)?;
        rest.byte(b'-')?;
        let month = rest.digits(1, 2)?;
        rest.byte(b'-')?;
        let day = rest.digits(1, 2)?;
        (1..=12).contains(&month).then_some(())?;
        (1..=days(year, month)).contains(&day).then_some(())
    })();
    if date.is_none() {
        return false;
    }
    match rest.bytes.first() {
        None => true,
        Some(b' ') => rest.byte(b' ').and_then(|()| rest.clock()).is_some() && rest.bytes.is_empty(),
        Some(b'T' | b't') => {
            rest.bytes = rest.bytes.get(1..).unwrap_or_default();
            rest.clock().and_then(|()| rest.zone()).is_some() && rest.bytes.is_empty()
        }
        Some(_) => false,
    }
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The remaining input.
struct Rest<'a> {
    bytes: &'a [u8],
}

impl Rest<'_> {
    fn byte(&mut self, wanted: u8) -> Option<()> {
        self.bytes = self.bytes.strip_prefix(&[wanted])?;
        Some(())
    }

    fn digits(&mut self, min: usize, max: usize) -> Option<u32> {
        let count = self.bytes.iter().take(max).take_while(|byte| byte.is_ascii_digit()).count();
        if count < min {
            return None;
        }
        let (digits, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
    }

    /// Parses `15:4:5`, with an optional fraction after `.` or `,`.
    fn clock(&mut self) -> Option<()> {
        let hour = self.digits(1, 2)?;
        self.byte(b':')?;
        let minute = self.digits(1, 2)?;
        self.byte(b':')?;
        let second = self.digits(1, 2)?;
        if let [b'.' | b',', b'0'..=b'9', ..] = self.bytes {
            let fraction = self.bytes.get(1..)?;
            let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            self.bytes = fraction.get(count..)?;
        }
        (hour < 24 && minute < 60 && second < 60).then_some(())
    }

    /// Parses `Z` or `+07:00`.
    fn zone(&mut self) -> Option<()> {
        if self.byte(b'Z').is_some() {
            return Some(());
        }
        self.bytes = self.bytes.strip_prefix(b"+").or_else(|| self.bytes.strip_prefix(b"-"))?;
        let hour = self.digits(2, 2)?;
        self.byte(b':')?;
        let minute = self.digits(2, 2)?;
        (hour <= 24 && minute < 60).then_some(())
    }
}
