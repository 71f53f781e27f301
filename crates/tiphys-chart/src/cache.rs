//! Parsed templates, which many releases of a chart share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tiphys_go::gotemplate::{Dialect, Limits, ParseError, Template};

/// Bytes of the sources of cached templates, and of what each takes besides. Parsed, sources have some ten times as many.
const BYTES_MAX: usize = 8 << 20;

/// Bytes that a template takes besides its source.
const ENTRY_BYTES: usize = 1024;

/// The dialect, name and source of a template.
type Key = (Dialect, String, Arc<[u8]>);

/// Parsed templates.
#[derive(Debug, Default)]
pub struct TemplateCache(Mutex<Parsed>);

#[derive(Debug, Default)]
struct Parsed {
    templates: HashMap<Key, Arc<Template>>,
    /// Bytes of all of them.
    bytes: usize,
}

impl TemplateCache {
    /// Returns a parsed template.
    pub(crate) fn parse(
        &self,
        name: &str,
        source: &Arc<[u8]>,
        dialect: Dialect,
        limits: Limits,
    ) -> Result<Arc<Template>, ParseError> {
        let key = (dialect, name.to_owned(), Arc::clone(source));
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(template) = lock().templates.get(&key) {
            return Ok(Arc::clone(template));
        }
        let template = Arc::new(Template::parse_of_chart(name, source, dialect, limits)?);
        let mut parsed = lock();
        let bytes = source.len() + name.len() + ENTRY_BYTES;
        if parsed.bytes + bytes > BYTES_MAX {
            *parsed = Parsed::default();
        }
        parsed.bytes += bytes;
        parsed.templates.insert(key, Arc::clone(&template));
        Ok(template)
    }
}
