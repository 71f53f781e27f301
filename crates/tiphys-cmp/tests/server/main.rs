//! Calls of the plugin server by clients that are wrong, slow, disconnected, or many.

mod archives;
mod connections;
mod ending;
mod generated;
mod processes;
mod protocol;
mod room;
mod sharing;
mod stalls;
mod test_server;
mod uploads;
mod wire;
