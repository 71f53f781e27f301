//! Go templates: recorded answers of Go and Argo CD.

mod flatten;
mod oracles;
