//! The message of a panic.

use std::any::Any;

/// Returns the message of a panic for the answer to the caller, as Argo CD's server does.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("the plugin server failed").to_owned()
}
