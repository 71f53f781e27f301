//! Calls of the plugin server as a client makes them who is wrong, slow, gone, or one of many.

mod archives;
mod connections;
mod ending;
mod processes;
mod room;
mod sharing;
mod stalls;
mod uploads;
mod wire;
mod world;
