//! Recorded answers of Argo CD and kubectl.

mod appset;
mod oracles;
