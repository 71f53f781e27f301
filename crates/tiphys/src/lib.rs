//! The tiphys program.
