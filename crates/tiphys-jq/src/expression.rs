//! Expressions: compiled once, run on a thread of their own with a time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use jaq_core::load::lex::{Tok, Token};
use jaq_core::load::parse::Def;
use jaq_core::load::{Arena, File, Lexer, Loader, lex};
use jaq_core::native::{bome, run, v};
use jaq_core::{Compiler, Ctx, Cv, Error, Filter, ValXs, Vars, compile, load};
use jaq_json::{Val, read};
use jaq_std::ValT as _;
use regex::RegexBuilder;
use serde_json::Value;

use crate::budget::{self, Budget, Metered, RunData};
use crate::metered::metered;
use crate::selection::Selection;

/// Time limit for one expression and one object, as in Argo CD.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(1);

/// Maximum length of an expression in bytes.
pub const EXPRESSION_BYTES_MAX: usize = 4096;

/// Maximum keys and indices in all paths that an expression selects in one object.
const SELECTED_STEPS_MAX: usize = 1 << 16;

/// Bytes of the stack of a thread: enough for the deepest expression of [`EXPRESSION_BYTES_MAX`].
const STACK_BYTES: usize = 64 << 20;

/// Name of the function whose body is the expression. An expression that called itself could exhaust the stack.
const EXPRESSION: &str = "__expression";

/// Keywords that could run forever or define a function that does, and the repetition of strings, which is not counted while it runs.
const REFUSED: [&str; 7] = ["def", "reduce", "foreach", "label", "*", "*=", EXPRESSION];

/// Functions of jaq that do not belong into a path expression, or that gojq defines otherwise.
const REFUSED_FUNCTIONS: [&str; 4] = ["range", "halt", "last", "fromjson"];

/// Objects for which an expression may exceed a limit. It is not applied to others, because each takes about as long as the time limit.
const EXCEEDED_MAX: usize = 3;

/// Removes fields from a value. The error is an exceeded limit, with the remedy; the value is then as it was.
pub type Removal = Arc<dyn Fn(&mut Value) -> Result<(), String> + Send + Sync>;

/// A jq expression that selects fields, such as `.spec.containers[] | select(.name == "x") | .image`.
#[derive(Clone)]
pub struct PathExpression {
    filter: Arc<Filter<Metered>>,
    time_limit: Duration,
    exceeded: Arc<AtomicUsize>,
}

/// An expression is invalid jq, or uses features that path expressions may not use. Syntax errors are in gojq's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidExpression(String);

/// An expression could not be applied to an object. Argo CD then compares the object as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoveError {
    /// The object does not have the structure that the expression expects, or the expression does not select fields.
    #[error("the expression does not select fields of the object")]
    Failed,
    /// The expression needs more time, or builds or selects more, than is permitted for one object. Its thread ends at the next value.
    #[error(
        "needs more than {0:?}, or builds or selects too many values; use a simpler expression, such as `.spec.replicas`"
    )]
    Exceeded(Duration),
}

/// Compiles an expression with [`DEFAULT_TIME_LIMIT`]. The returned function removes what it selects; as in Argo CD, a value that it does not
/// fit stays as it is. That is not an error, but an exceeded limit is one. The error of this function is in gojq's words.
pub fn removal(expression: &str) -> Result<Removal, String> {
    let expression =
        PathExpression::new(expression, DEFAULT_TIME_LIMIT).map_err(|error| error.to_string())?;
    Ok(Arc::new(move |value: &mut Value| match expression.remove_from(value) {
        Err(error @ RemoveError::Exceeded(_)) => Err(error.to_string()),
        Ok(()) | Err(RemoveError::Failed) => Ok(()),
    }))
}

impl PathExpression {
    /// Parses and compiles an expression. `time_limit` applies to each object.
    pub fn new(expression: &str, time_limit: Duration) -> Result<Self, InvalidExpression> {
        if expression.len() > EXPRESSION_BYTES_MAX {
            let message = format!("the expression has more than {EXPRESSION_BYTES_MAX} bytes");
            return Err(InvalidExpression(message));
        }
        // Argo CD builds `del(EXPRESSION)` in the same way: the same closing parenthesis is unexpected.
        let code = format!("path({expression})");
        let compiled = on_thread(move || compile(&code)).recv();
        let failed = |_| Err("the expression is too complex".to_owned());
        let filter = compiled.unwrap_or_else(failed).map_err(InvalidExpression)?;
        Ok(Self { filter: Arc::new(filter), time_limit, exceeded: Arc::default() })
    }

    /// Removes from a value what the expression selects. After an error the value is as it was. A value that is removed as a whole
    /// becomes `null`.
    pub fn remove_from(&self, value: &mut Value) -> Result<(), RemoveError> {
        if self.exceeded.load(Ordering::Relaxed) >= EXCEEDED_MAX {
            return Err(RemoveError::Exceeded(self.time_limit));
        }
        let (filter, json) = (Arc::clone(&self.filter), value.to_string());
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let budget_flag = Arc::clone(&is_abandoned);
        let paths = on_thread(move || paths(&filter, &json, &Budget::new(budget_flag)));
        let paths = match paths.recv_timeout(self.time_limit) {
            Ok(Ok(paths)) => paths,
            Ok(Err(Unselected::Failed)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(RemoveError::Failed);
            }
            Ok(Err(Unselected::Exceeded)) | Err(RecvTimeoutError::Timeout) => {
                is_abandoned.store(true, Ordering::Relaxed);
                self.exceeded.fetch_add(1, Ordering::Relaxed);
                return Err(RemoveError::Exceeded(self.time_limit));
            }
        };
        let mut selection = Selection::default();
        for path in &paths {
            selection.add(value, path).ok_or(RemoveError::Failed)?;
        }
        selection.remove_from(value);
        Ok(())
    }
}

/// Runs a function on a thread that nothing waits for. Without a thread or after a panic, the receiver is disconnected.
fn on_thread<T: Send + 'static>(function: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = channel();
    let run = move || {
        // The receiver may have given up.
        sender.send(function()).unwrap_or_default();
    };
    drop(Builder::new().name("jq".to_owned()).stack_size(STACK_BYTES).spawn(run));
    receiver
}

/// Why there are no paths.
enum Unselected {
    Failed,
    Exceeded,
}

/// Returns the paths that a filter selects in a JSON text.
fn paths(filter: &Filter<Metered>, json: &str, budget: &Budget) -> Result<Vec<Vec<Value>>, Unselected> {
    let value = read::parse_single(json.as_bytes()).map_err(|_| Unselected::Failed)?;
    let context = Ctx::<Metered>::new(RunData { lut: &filter.lut, budget }, Vars::new([]));
    let (mut paths, mut steps) = (Vec::new(), 0);
    for path in filter.id.run((context, value)) {
        let failed = if budget.is_exceeded() { Unselected::Exceeded } else { Unselected::Failed };
        let Ok(path) = path else { return Err(failed) };
        let Ok(path) = serde_json::from_str::<Vec<Value>>(&path.to_string()) else { return Err(failed) };
        steps += path.len() + 1;
        if steps > SELECTED_STEPS_MAX {
            return Err(Unselected::Exceeded);
        }
        paths.push(path);
    }
    // An operator may have swallowed the exception.
    if budget.is_exceeded() { Err(Unselected::Exceeded) } else { Ok(paths) }
}

fn compile(code: &str) -> Result<Filter<Metered>, String> {
    let tokens =
        Lexer::new(code).lex().map_err(|errors| errors.first().map_or_else(String::new, lex_error))?;
    if let Some(refused) = refused(&tokens) {
        return Err(format!("{refused} is not supported in path expressions"));
    }
    let arena = Arena::default();
    let Some(defs) = load::parse(include_str!("defs.jq"), |parser| parser.defs()) else {
        return Err("the built-in functions are invalid".to_owned());
    };
    let parse_errors = |errors: load::Errors<&str, ()>| match errors.into_iter().next() {
        Some((_, load::Error::Lex(errors))) => errors.first().map_or_else(String::new, lex_error),
        Some((_, load::Error::Parse(errors))) => unexpected(errors.first().map_or("", |error| error.1)),
        Some((_, load::Error::Io(_))) | None => "modules are not supported".to_owned(),
    };
    Loader::new([]).load(&arena, File { code, path: () }).map_err(parse_errors)?;
    let Some(body) = load::parse(code, |parser| parser.term()) else {
        return Err("invalid expression".to_owned());
    };
    let mut defs: Vec<Def<&str>> = defs;
    defs.push(Def { name: EXPRESSION, args: Vec::new(), body });
    let main = File { code: EXPRESSION, path: () };
    let modules = Loader::new(metered(defs)).load(&arena, main).map_err(parse_errors)?;
    let builtin = jaq_core::funs().chain(jaq_std::base_funs()).chain(jaq_json::funs());
    let builtin = builtin.filter(|(name, ..)| !REFUSED_FUNCTIONS.contains(name));
    // Unlike gojq, jaq accepts values of different types.
    let builtin = builtin.map(|(name, arguments, function)| {
        let name = match name {
            "contains" => "contains_same_type",
            "indices" => "indices_of",
            other => other,
        };
        (name, arguments, function)
    });
    let functions = builtin.chain(budget::funs()).chain([run::<Metered>(("test", v(2), test))]);
    Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
        match errors.into_iter().flat_map(|(_, errors)| errors).next() {
            Some((name, compile::Undefined::Filter(arity))) => {
                format!("function not defined: {name}/{arity}")
            }
            Some((name, kind)) => format!("{} not defined: {name}", kind.as_str()),
            None => "invalid expression".to_owned(),
        }
    })
}

/// Returns the first keyword or operator of [`REFUSED`].
fn refused<'a>(tokens: &[Token<&'a str>]) -> Option<&'a str> {
    tokens.iter().find_map(|Token(word, kind)| match kind {
        Tok::Word | Tok::Sym => REFUSED.contains(word).then_some(*word),
        Tok::Block(tokens) => refused(tokens),
        Tok::Str(parts) => parts.iter().find_map(|part| match part {
            lex::StrPart::Term(token) => refused(std::slice::from_ref(token)),
            _ => None,
        }),
        _ => None,
    })
}

/// Returns gojq's words for an error of the lexer.
fn lex_error((expected, rest): &lex::Error<&str>) -> String {
    match expected {
        lex::Expect::Delim("\"") => "unterminated string literal".to_owned(),
        lex::Expect::Escape | lex::Expect::Unicode => {
            let end = rest.chars().next().map_or(0, char::len_utf8);
            format!("invalid escape sequence \"\\{}\" in string literal", &rest[..end])
        }
        _ => unexpected(rest),
    }
}

/// Returns gojq's words for an unexpected token at the beginning of a string.
fn unexpected(rest: &str) -> String {
    let rest = rest.trim_start();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = rest.strip_prefix(['.', '$', '@']).unwrap_or(rest);
    let word_end = rest.len() - word.trim_start_matches(is_word).len();
    let end = word_end.max(rest.chars().next().map_or(0, char::len_utf8));
    match &rest[..end] {
        "" => "unexpected EOF".to_owned(),
        token => format!("unexpected token {}", Value::from(token)),
    }
}

/// `test(re; flags)`: regular expressions as in Go, with gojq's flags.
fn test(mut cv: Cv<'_, Metered>) -> ValXs<'_, Val> {
    let (flags, pattern) = (cv.0.pop_var(), cv.0.pop_var());
    let is_match = || {
        let text = |value: &Val| {
            let bytes = value.as_utf8_bytes().ok_or_else(|| Error::typ(value.clone(), "string"))?;
            String::from_utf8(bytes.to_vec()).map_err(Error::str)
        };
        let flags = if matches!(flags, Val::Null) { String::new() } else { text(&flags)? };
        if let Some(flag) = flags.chars().find(|flag| !"gix".contains(*flag)) {
            return Err(Error::str(format_args!("unsupported regular expression flag: {flag}")));
        }
        let mut builder = RegexBuilder::new(&text(&pattern)?);
        builder.case_insensitive(flags.contains('i')).ignore_whitespace(flags.contains('x'));
        Ok(Val::Bool(builder.build().map_err(Error::str)?.is_match(&text(&cv.1)?)))
    };
    bome(is_match())
}

#[cfg(test)]
mod tests;
