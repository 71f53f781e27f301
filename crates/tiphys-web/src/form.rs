//! The form of an application's parameters: what is shown, what a browser posts, and the change that this asks for.

mod added;
mod control;
mod controls;
mod draft;
mod groups;
mod layers;
mod prose;
mod view;

pub(crate) use added::{ADDED, Added};
pub(crate) use controls::ControlView;
pub(crate) use draft::{OPERATION, is_set_here};
pub(crate) use groups::{Filter, shown_name};
pub(crate) use layers::without_dot;
pub(crate) use prose::parts;
pub(crate) use view::{Form, Problem};
