//! Licence expressions: names joined by `OR`, `AND` and parentheses, with `WITH` for an exception. An old `/` means `OR`.

#[cfg(test)]
mod tests;

/// Whether an expression can be met with licences that `accepts` knows: all of an `AND`, one of an `OR`. A name with its exception
/// is asked for as one (`Apache-2.0 WITH LLVM-exception`). `None` if the expression is malformed.
pub(super) fn is_met(expression: &str, accepts: &dyn Fn(&str) -> bool) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, accepts };
    let met = parser.alternatives()?;
    parser.words.is_empty().then_some(met)
}

struct Parser<'a> {
    words: &'a [&'a str],
    accepts: &'a dyn Fn(&str) -> bool,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn skip(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    fn alternatives(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.skip("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.skip("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.skip("(") {
            let met = self.alternatives()?;
            return self.skip(")").then_some(met);
        }
        let name = self.next().filter(|name| !["OR", "AND", "WITH", ")"].contains(name))?;
        if self.skip("WITH") {
            let exception = self.next()?;
            return Some((self.accepts)(&format!("{name} WITH {exception}")));
        }
        Some((self.accepts)(name))
    }
}
