//! Any arguments of Helm's `--set` and its relatives are applied or refused; a name that is read can be written, and sets its path.

use tiphys_helm_values::{
    Assignment, Chart, Flag, HelmVersion, Inputs, LIMITS, Limits, Map, MergeError, Value, ValuesFile,
    coalesce, escape_name, merged, parse_name,
};

/// The first byte chooses the option and the version; lines are arguments, and the first may be a values file.
pub(crate) fn body(bytes: &[u8]) {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let flag = Flag::ALL[usize::from(choice & 0x3f) % Flag::ALL.len()];
    let version = if choice & 0x40 == 0 { HelmVersion::V4 } else { HelmVersion::V3 };
    let (base, arguments) = match text.split_once('\n') {
        Some((base, arguments)) if choice & 0x80 != 0 => (base, arguments),
        _ => ("", text.as_ref()),
    };
    let arguments: Vec<_> = arguments.split('\n').collect();
    if let Ok(values) = apply(version, base, flag, &arguments) {
        let unchanged = coalesce(&Chart::default(), values.clone(), version);
        assert_eq!(unchanged.as_ref(), Ok(&values), "a chart without defaults changes nothing");
        let chart = Chart { values, ..Chart::default() };
        let defaults = coalesce(&chart, Map::new(), version).expect("there are no subcharts");
        if version == HelmVersion::V4 {
            assert!(!has_null_entry(&defaults), "{defaults:?}");
        }
    }
    for argument in arguments {
        let Ok(path) = parse_name(argument) else { continue };
        let name = escape_name(&path).expect("what was read has a name");
        assert_eq!(parse_name(&name).as_ref(), Ok(&path), "{name}");
        let assignment = format!("{name}=x");
        match apply(version, "", Flag::Set, &[&assignment]) {
            Ok(values) => assert_eq!(values.len(), 1, "{name}"),
            Err(error) => assert!(path.len() > 1, "{name}: {error}"),
        }
    }
}

fn apply(version: HelmVersion, base: &str, flag: Flag, arguments: &[&str]) -> Result<Map, MergeError> {
    let assignments: Vec<_> = arguments.iter().map(|&text| Assignment { flag, text }).collect();
    merged(&Inputs {
        version,
        values_files: &[ValuesFile { name: "base", text: base.as_bytes() }],
        assignments: &assignments,
        read_file: &|path| Ok(path.to_owned()),
        // Lists of full length would take most of the time.
        limits: Limits { added_items_max: 1_000, ..LIMITS },
    })
}

fn has_null_entry(map: &Map) -> bool {
    map.values().any(|value| match value {
        Value::Null => true,
        Value::Map(inner) => has_null_entry(inner),
        _ => false,
    })
}
