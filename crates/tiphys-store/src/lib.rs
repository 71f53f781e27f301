//! The folder of YAML: finding applications and their positions.
