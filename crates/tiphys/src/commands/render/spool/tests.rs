//! The output of a spool.

use std::io::Read as _;

use serde_json::{Value, json};
use tiphys_engine::Manifest;

use super::{Form, Spool};
use crate::output;

fn printed(form: Form, objects: &[Value]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::new(folder.path(), form).unwrap();
    for object in objects {
        spool.add(vec![Manifest::new(object.as_object().unwrap().clone())]).unwrap();
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "the file has no name");
    let mut text = String::new();
    spool.text().unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn json_output_is_one_list() {
    let object =
        |name: &str| json!({"kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "x\ny [] "}});
    let all = [object("a"), object("b\n[]"), object("c")];
    for objects in [&all[..0], &all[..1], &all[..]] {
        assert_eq!(printed(Form::Json, objects), output::json(&output::list(objects)));
        assert_eq!(printed(Form::Yaml, objects), output::documents(objects));
    }
    assert_eq!(printed(Form::Name, &all), "configmap/a\nconfigmap/b\\n[]\nconfigmap/c\n");
}
