//! What the system passes to a new program at most: arguments and environment.

/// Pages that one text may have (`MAX_ARG_STRLEN` of Linux).
#[cfg(target_os = "linux")]
const TEXT_PAGES_MAX: usize = 32;

/// What all texts together may have however small the stack may be (`ARG_MAX` of Linux).
#[cfg(target_os = "linux")]
const TOTAL_BYTES_MIN: u64 = 128 * 1024;

/// What all texts together may have however large the stack may be: three quarters of the usual stack.
#[cfg(target_os = "linux")]
const TOTAL_BYTES_MAX: u64 = 6 * 1024 * 1024;

/// The part of the stack that they may fill.
#[cfg(target_os = "linux")]
const STACK_PART: u64 = 4;

/// What all texts together may have on a system without the rules above (`ARG_MAX` of macOS).
#[cfg(not(target_os = "linux"))]
const TOTAL_BYTES: usize = 1024 * 1024;

/// Bytes of all texts that are kept free: the path of the program is passed, too, and for a script its interpreter and its own path.
const HEAD_ROOM_BYTES: usize = 16 * 1024;

/// Bytes of the pointer that belongs to each text.
const POINTER_BYTES: usize = size_of::<usize>();

/// Bounds of the arguments and the environment of a program that this process or its launchers start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecLimits {
    /// Bytes of one text with its final NUL: an argument, or a variable's name, `=` and value.
    pub text_bytes_max: usize,
    /// Bytes of all texts, each with its final NUL and its pointer.
    pub total_bytes_max: usize,
}

impl ExecLimits {
    /// The bounds now, by the rules of `execve(2)`: they depend on the limit of the stack.
    pub fn of_this_process() -> Self {
        let (text_bytes_max, total_bytes_max) = bounds();
        Self { text_bytes_max, total_bytes_max: total_bytes_max - HEAD_ROOM_BYTES }
    }

    /// What a text takes of [`ExecLimits::total_bytes_max`], from its length without the final NUL.
    pub fn cost(length: usize) -> usize {
        length + 1 + POINTER_BYTES
    }
}

#[cfg(target_os = "linux")]
fn bounds() -> (usize, usize) {
    let stack = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    (TEXT_PAGES_MAX * rustix::param::page_size(), total_bytes(stack))
}

#[cfg(not(target_os = "linux"))]
fn bounds() -> (usize, usize) {
    (TOTAL_BYTES, TOTAL_BYTES)
}

/// What all texts may have with this limit of the stack; `None` is no limit.
#[cfg(target_os = "linux")]
fn total_bytes(stack: Option<u64>) -> usize {
    let part = stack.map_or(TOTAL_BYTES_MAX, |stack| stack / STACK_PART);
    usize::try_from(part.clamp(TOTAL_BYTES_MIN, TOTAL_BYTES_MAX)).unwrap_or(usize::MAX)
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
