//! `tiphys-helm announce` on small and recorded charts, and round trips through `tiphys-helm generate` with the real helm.

mod built;
mod charts;
mod explain;
mod failures;
mod in_effect;
mod oracle;
mod round_trip;
mod several;
mod structures;
mod subcharts;
mod types;
mod values;
mod versions;
mod world;
