//! The form of an application's parameters: what is shown, what a browser posts, and the change that this asks for.

mod control;
mod draft;
mod groups;
mod view;

pub(crate) use draft::OPERATION;
pub(crate) use groups::{Filter, shown_name};
pub(crate) use view::{ControlView, Form, Problem, without_dot};
