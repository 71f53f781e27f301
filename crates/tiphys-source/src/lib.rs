//! Sources of trees: local folders and git repositories.
