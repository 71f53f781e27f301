//! Limits of the arguments and the environment of a new program (`execve(2)`).

/// Pages of one string (`MAX_ARG_STRLEN` of Linux).
#[cfg(target_os = "linux")]
const STRING_PAGES_MAX: usize = 32;

/// Minimum for all strings together, however small the stack is (`ARG_MAX` of Linux).
#[cfg(target_os = "linux")]
const TOTAL_BYTES_MIN: u64 = 128 * 1024;

/// Maximum for all strings together, however large the stack is: three quarters of the default stack.
#[cfg(target_os = "linux")]
const TOTAL_BYTES_MAX: u64 = 6 * 1024 * 1024;

/// Divisor of the stack size that gives the bytes for all strings.
#[cfg(target_os = "linux")]
const STACK_DIVISOR: u64 = 4;

/// Bytes of all strings together on a system without the rules above (`ARG_MAX` of macOS).
#[cfg(not(target_os = "linux"))]
const TOTAL_BYTES: usize = 1024 * 1024;

/// Reserved bytes: the path of the program counts, too, and for a script its interpreter and its own path.
const HEAD_ROOM_BYTES: usize = 16 * 1024;

/// Bytes of the pointer to each string.
const POINTER_BYTES: usize = size_of::<usize>();

/// Limits of the arguments and the environment of programs that this process or its launchers start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecLimits {
    /// Bytes of one string with its final NUL: an argument, or a variable's name, `=` and value.
    pub text_bytes_max: usize,
    /// Bytes of all strings, each with its final NUL and its pointer.
    pub total_bytes_max: usize,
}

impl ExecLimits {
    /// Returns the current limits by the rules of `execve(2)`. They depend on the stack limit.
    pub fn current() -> Self {
        let (text_bytes_max, total_bytes_max) = limits();
        Self { text_bytes_max, total_bytes_max: total_bytes_max - HEAD_ROOM_BYTES }
    }

    /// Returns the bytes of [`ExecLimits::total_bytes_max`] that a string takes, from its length without the final NUL.
    pub fn cost(length: usize) -> usize {
        length + 1 + POINTER_BYTES
    }
}

#[cfg(target_os = "linux")]
fn limits() -> (usize, usize) {
    let stack = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    (STRING_PAGES_MAX * rustix::param::page_size(), total_bytes(stack))
}

#[cfg(not(target_os = "linux"))]
fn limits() -> (usize, usize) {
    (TOTAL_BYTES, TOTAL_BYTES)
}

/// Bytes of all strings for a stack limit; `None` means unlimited.
#[cfg(target_os = "linux")]
fn total_bytes(stack: Option<u64>) -> usize {
    let part = stack.map_or(TOTAL_BYTES_MAX, |stack| stack / STACK_DIVISOR);
    usize::try_from(part.clamp(TOTAL_BYTES_MIN, TOTAL_BYTES_MAX)).unwrap_or(usize::MAX)
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
