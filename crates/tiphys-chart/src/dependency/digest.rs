//! The digest of a lock file, with which Helm recognizes that the list of dependencies has changed.

use sha2::{Digest as _, Sha256};
use tiphys_yaml::write_go_string;

use super::Dependency;

/// Returns the digests that a lock file of these dependencies may have: that of Helm 3 and 4, and that of Helm 2, which `requirements.lock` of
/// old charts has.
pub fn lock_digests(listed: &[Dependency], locked: &[Dependency]) -> [String; 2] {
    let (listed, locked) = (list(listed), list(locked));
    [format!("[{listed},{locked}]"), format!("{{\"dependencies\":{listed}}}")].map(|json| {
        let digest = Sha256::digest(json.as_bytes());
        format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat())
    })
}

/// Returns a list as Go's `json.Marshal` writes it.
fn list(dependencies: &[Dependency]) -> String {
    let items: Vec<String> = dependencies.iter().map(Dependency::to_json).collect();
    format!("[{}]", items.join(","))
}

impl Dependency {
    /// Returns JSON with the fields in the order of Helm's type.
    fn to_json(&self) -> String {
        let Self { name, repository, version, alias, condition, tags, import_values, enabled, .. } = self;
        let string = |text: &str| {
            let mut out = String::new();
            write_go_string(&mut out, text);
            out
        };
        let unless_empty = |text: &str| Some(text).filter(|text| !text.is_empty()).map(string);
        let unless_no_items =
            |items: Vec<String>| (!items.is_empty()).then(|| format!("[{}]", items.join(",")));
        let fields = [
            ("name", Some(string(name))),
            ("version", unless_empty(version.as_str())),
            ("repository", Some(string(repository))),
            ("condition", unless_empty(condition)),
            ("tags", unless_no_items(tags.iter().map(|tag| string(tag)).collect())),
            ("enabled", enabled.then(|| "true".to_owned())),
            ("import-values", unless_no_items(import_values.clone())),
            ("alias", unless_empty(alias)),
        ];
        let fields = fields.into_iter().filter_map(|(key, value)| Some(format!("\"{key}\":{}", value?)));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    }
}
