//! The values under `global`, which every subchart inherits from its parent.

use super::Mode;
use super::tables::{Nulls, put_below};
use crate::{HelmVersion, Map, Value};

const GLOBAL: &str = "global";

/// Merges the parent's globals into a subchart's values. The parent's win. An object never replaces another value, nor the reverse. If the
/// globals of either are not an object, nothing is inherited.
pub(super) fn hand_down(mut own: Map, parent: &Map, version: HelmVersion) -> Map {
    let handed = match parent.get(GLOBAL) {
        None => &Map::new(),
        Some(Value::Map(handed)) => handed,
        Some(_) => return own,
    };
    let globals = own.entry(GLOBAL.to_owned()).or_insert_with(|| Value::Map(Map::new()));
    let Value::Map(globals) = globals else { return own };
    for (key, value) in handed {
        match (value, globals.get_mut(key)) {
            (Value::Map(above), Some(Value::Map(below))) => {
                let mut above = above.clone();
                put_below(&mut above, std::mem::take(below), Nulls { version, mode: Mode::Merge });
                *below = above;
            }
            (Value::Map(_), Some(_)) | (_, Some(Value::Map(_))) => {}
            (value, _) => {
                globals.insert(key.clone(), value.clone());
            }
        }
    }
    own
}

/// Applies changes that a subchart's defaults made to objects shared with its parent. Helm copies each global object only at the top level,
/// so changes in nested objects affect the parent and its later subcharts, too.
pub(super) fn hand_up(own: &Map, parent: &mut Map) {
    let (Some(Value::Map(from)), Some(Value::Map(to))) = (own.get(GLOBAL), parent.get_mut(GLOBAL)) else {
        return;
    };
    for (key, value) in to {
        let (Value::Map(objects), Some(Value::Map(changed))) = (value, from.get(key)) else { continue };
        for (key, object) in objects {
            if let (Value::Map(_), Some(Value::Map(changed))) = (&object, changed.get(key)) {
                *object = Value::Map(changed.clone());
            }
        }
    }
}
