//! Systems without a signal at the end of a parent: there are no tethers.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use tokio::process::Command;

use super::{NOT_STARTED_CODE, Token};
use crate::own::OwnChild;

pub(super) fn is_there() -> bool {
    false
}

pub(super) fn tethered(program: &Path, name: &Path, _token: Token) -> Command {
    super::Start::Direct.command(program, name)
}

pub(super) fn spawn_by_the_parent(mut command: Command) -> io::Result<OwnChild> {
    OwnChild::spawn(&mut command)
}

pub(super) fn become_program(_arguments: &[OsString]) -> u8 {
    NOT_STARTED_CODE
}
