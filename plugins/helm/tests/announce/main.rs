//! `tiphys-helm announce` on small charts, on recorded ones, and given back to `tiphys-helm generate` with the real helm.

mod charts;
mod failures;
mod oracle;
mod round_trip;
mod subcharts;
mod types;
mod values;
mod world;
