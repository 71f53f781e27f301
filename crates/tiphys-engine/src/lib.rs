//! Pure decisions: source translation, override files, normalising of manifests, tracking.
