//! Systems without a parent-death signal: programs are started directly.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use tokio::process::Command;

use super::{NOT_STARTED_CODE, Token};
use crate::children::OwnChild;

pub(super) fn is_available() -> bool {
    false
}

pub(super) fn wrapped(program: &Path, name: &Path, _token: Token) -> Command {
    super::Start::Direct.command(program, name)
}

pub(super) fn spawn_on_parent_thread(mut command: Command) -> io::Result<OwnChild> {
    OwnChild::spawn(&mut command)
}

pub(super) fn execute(_arguments: &[OsString]) -> u8 {
    NOT_STARTED_CODE
}
