//! Recorded answers of Argo CD for sets with `list`, `matrix` and `merge` generators and trivial templates: `{{.a.b}}`, `{{a}}`,
//! `{{ . | toJson }}`.

use serde_json::{Value, json};
use tiphys_api::{
    APPLICATION_SET_GENERATOR, ApplicationSet, Generator, GeneratorEntry, GeneratorKind, ListGenerator,
    map_strings,
};
use tiphys_appset::{
    Engine, ParameterSelector, ParameterSet, RenderOptions, RenderPlace, TemplateMode, combine_matrix,
    combine_merge, flatten, go_string, merge_template, render_application,
};
use tiphys_testkit::oracle::{self, Difference};
use tiphys_yaml::{read_document, read_json, write_go_json};

#[test]
fn sets_with_trivial_templates_generate_recorded_applications() {
    let mut compared = 0;
    oracle::check("appset-generate.trivial", |case| {
        let answer = answer(&case["input"]["applicationSet"])?;
        let recorded = recorded(&case["output"]);
        compared += 1;
        Some(if answer == recorded { Ok(()) } else { Err(Difference::new(answer, recorded)) })
    });
    assert_eq!(compared, 105, "cases that the toys below can generate");
}

/// The reason and the error, or the applications in the order of their JSON.
fn recorded(output: &Value) -> Value {
    if let Some(error) = output.get("error") {
        // The messages of Go's JSON parser are not ours.
        return json!([
            output["reason"],
            error.as_str().expect("an error is a string").replace("unexpected end of JSON input", "")
        ]);
    }
    sorted(output["applications"].as_array().expect("applications are a list").clone())
}

fn sorted(mut applications: Vec<Value>) -> Value {
    applications.sort_by_cached_key(write_go_json);
    Value::from(applications)
}

/// Returns what [`recorded`] should be; `None` for sets that the toys below cannot generate.
fn answer(manifest: &Value) -> Option<Value> {
    let text = manifest.to_string();
    let set = ApplicationSet::decode(&read_json(text.as_bytes()).ok()?).ok()?.value;
    if !set.go_template_options.is_empty() || !has_known_tags(&text, set.go_template) {
        return None;
    }
    let mode = if set.go_template { TemplateMode::Go } else { TemplateMode::Fast };
    let mut applications = Vec::new();
    for entry in &set.generators {
        let sets = match entry_sets(&set, mode, entry)? {
            Ok(sets) => sets,
            Err(error) => return Some(json!(["ApplicationGenerationFromParamsError", error])),
        };
        let template = merge_template(entry.generators[0].template.as_ref()?, &set.template);
        let options = RenderOptions {
            template_patch: set.template_patch.as_deref(),
            preserves_resources_on_deletion: set.preserves_resources_on_deletion,
            namespace: &set.metadata.namespace,
        };
        for parameters in &sets {
            match render_application(&template, parameters, &options, &Toy { mode, parameters }) {
                Ok(application) => applications.push(application),
                Err(error) if error.message.ends_with(UNKNOWN) => return None,
                Err(error) => {
                    assert_eq!(error.place, RenderPlace::TemplatePatch);
                    let message =
                        error.message.replace("line 1, column 10: expected a value, the text ends", "");
                    return Some(json!(["RenderTemplateParamsError", message]));
                }
            }
        }
    }
    Some(sorted(applications))
}

type Sets = Option<Result<Vec<ParameterSet>, String>>;

fn entry_sets(set: &ApplicationSet, mode: TemplateMode, entry: &GeneratorEntry) -> Sets {
    let [generator] = entry.generators.as_slice() else { return None };
    let selector = match entry.selector.as_ref().map(ParameterSelector::new) {
        Some(Err(error)) => return Some(Err(error.to_string())),
        selector => selector.and_then(Result::ok).unwrap_or_default(),
    };
    Some(generator_sets(set, mode, generator)?.map(|sets| {
        sets.into_iter().filter(|parameters| selector.matches(&flatten(&parameters.values))).collect()
    }))
}

fn generator_sets(set: &ApplicationSet, mode: TemplateMode, generator: &Generator) -> Sets {
    // An error of a nested generator is wrapped by the code that runs generators.
    let nested = |entry: &GeneratorEntry| entry_sets(set, mode, entry)?.ok();
    match &generator.kind {
        GeneratorKind::List(list) => Some(Ok(elements(mode, list)?)),
        GeneratorKind::Matrix(children) => {
            let [first, second] = children.as_slice() else { return None };
            let mut products = Vec::new();
            for parameters in nested(first)? {
                let mut value = second.value.clone();
                let toy = Toy { mode, parameters: &parameters };
                if !parameters.values.is_empty() {
                    map_strings(&APPLICATION_SET_GENERATOR, &mut value, &mut |site| toy.render(site.text))
                        .ok()?;
                }
                for other in nested(&set.generator_entry(second.path.clone(), value).ok()?)? {
                    match combine_matrix(mode, &parameters, &other) {
                        Ok(product) => products.push(product),
                        Err(error) => return Some(Err(error.to_string())),
                    }
                }
            }
            Some(Ok(products))
        }
        GeneratorKind::Merge(merge) if merge.generators.len() > 1 => {
            let sets = merge.generators.iter().map(nested).collect::<Option<_>>()?;
            Some(combine_merge(mode, &merge.merge_keys, sets).map_err(|error| error.to_string()))
        }
        _ => None,
    }
}

fn elements(mode: TemplateMode, list: &ListGenerator) -> Option<Vec<ParameterSet>> {
    let mut sets = Vec::new();
    for element in &list.elements {
        let element = element.as_object()?;
        if mode == TemplateMode::Fast && !element.values().all(Value::is_string) {
            return None;
        }
        sets.push(ParameterSet { values: element.clone(), ..ParameterSet::default() });
    }
    if let Some(items) = read_document(list.elements_yaml.as_bytes()).ok()? {
        for item in items.to_value().as_array()? {
            sets.push(ParameterSet { values: item.as_object()?.clone(), ..ParameterSet::default() });
        }
    }
    Some(sets)
}

/// The error for tags that [`Toy`] does not know.
const UNKNOWN: &str = "no such tag";

/// Replaces tags that [`has_known_tags`] accepts.
struct Toy<'a> {
    mode: TemplateMode,
    parameters: &'a ParameterSet,
}

impl Engine for Toy<'_> {
    fn render(&self, text: &str) -> Result<String, String> {
        let mut parts = text.split("{{");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (tag, rest) = part.split_once("}}").ok_or(UNKNOWN)?;
            out.push_str(&self.tag(tag).ok_or(UNKNOWN)?);
            out.push_str(rest);
        }
        Ok(out)
    }
}

impl Toy<'_> {
    fn tag(&self, tag: &str) -> Option<String> {
        let values = &self.parameters.values;
        Some(match (self.mode, tag.trim()) {
            (TemplateMode::Fast, name) => match values.get(name) {
                Some(Value::String(value)) => value.clone(),
                _ => format!("{{{{{tag}}}}}"),
            },
            (TemplateMode::Go, ". | toJson") => write_go_json(&Value::from(values.clone())),
            (TemplateMode::Go, path) => {
                let mut steps = path.split('.').skip(1);
                let first = steps.next().and_then(|name| values.get(name));
                let found = steps.try_fold(first, |value, name| Some(value?.as_object()?.get(name)))?;
                found.filter(|value| !value.is_null()).map_or_else(|| "<no value>".to_owned(), go_string)
            }
        })
    }
}

fn has_known_tags(text: &str, go_template: bool) -> bool {
    text.split("{{").skip(1).all(|part| {
        let Some((tag, _)) = part.split_once("}}") else { return false };
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match (go_template, tag.trim()) {
            (true, ". | toJson") => true,
            (true, path) => path.strip_prefix('.').is_some_and(|path| path.split('.').all(is_name)),
            (false, name) => name.split('.').all(is_name),
        }
    })
}
