//! Helm's messages, in the forms of Helm 3 and 4.

use std::fmt;

/// Begins each layer of an error of Go's templates, after its place.
const EXECUTING: &str = "executing \"";

/// Begins errors of values that a schema refuses.
const SCHEMA: &str = "values don't meet the specifications of the schema(s) in the following chart(s):";

/// Layers of an error of YAML, which name programs that read it.
const YAML_LAYERS: [&str; 4] =
    ["error converting YAML to JSON: ", "error unmarshaling JSON: while decoding JSON: ", "yaml: ", "json: "];

/// A message of helm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message<'a> {
    /// The template that failed.
    pub(super) template: Option<TemplatePlace<'a>>,
    /// The template that includes it, if another one does.
    included: Option<TemplatePlace<'a>>,
    text: String,
}

/// A template, and where in it helm failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TemplatePlace<'a> {
    /// The path below the chart's directory. Charts below `charts` have their names there.
    pub(super) path: &'a str,
    /// Counts from 1.
    pub(super) line: Option<usize>,
    column: Option<usize>,
}

impl<'a> Message<'a> {
    /// Parses a message about a chart of this name. The text of an unknown message stays as it is.
    pub(super) fn parse(text: &'a str, chart: &str) -> Self {
        None.or_else(|| Self::of_call(text))
            .or_else(|| Self::of_layers(text))
            .or_else(|| Self::of_yaml(text))
            .or_else(|| Self::of_schema(text, chart))
            .unwrap_or_else(|| Self { template: None, included: None, text: lines(text) })
    }

    /// `execution error at (web/templates/web.yaml:1:3): …` of `fail` and `required`, and `parse error at (…): …`.
    fn of_call(text: &'a str) -> Option<Self> {
        let begins = ["execution error at (", "parse error at ("];
        let (place, text) = begins.iter().find_map(|begin| text.strip_prefix(begin))?.split_once("): ")?;
        Some(Self { template: Some(TemplatePlace::parse(place)?), included: None, text: lines(text) })
    }

    /// An error of Go's templates: a layer for each template that another one includes, the innermost last. Helm 4 writes most of them as
    /// several lines.
    fn of_layers(text: &'a str) -> Option<Self> {
        let places = || {
            let layers = text.match_indices(EXECUTING);
            layers.filter_map(|(at, _)| {
                let place = text[..at].split_whitespace().next_back()?.trim_end_matches(':');
                Some((at, TemplatePlace::parse(place)?))
            })
        };
        let (at, template) = places().last()?;
        let (_, message) = text[at..].split_once("\" at ")?;
        let included = places().next().map(|(_, place)| place).filter(|place| *place != template);
        let text = message.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Self { template: Some(template), included, text })
    }

    /// `YAML parse error on web/templates/web.yaml: …`. The line is one of the output, not of the template.
    fn of_yaml(text: &'a str) -> Option<Self> {
        let (place, text) = text.strip_prefix("YAML parse error on ")?.split_once(": ")?;
        let text = YAML_LAYERS.iter().fold(text, |text, layer| text.strip_prefix(layer).unwrap_or(text));
        let text = format!("its output is not valid YAML: {}", lines(text));
        Some(Self { template: Some(TemplatePlace::parse(place)?), included: None, text })
    }

    /// The problems of values, those of each chart below its name.
    fn of_schema(text: &'a str, chart: &str) -> Option<Self> {
        let (mut subchart, mut problems) = (String::new(), Vec::new());
        for line in text.strip_prefix(SCHEMA)?.lines().filter(|line| !line.trim().is_empty()) {
            match line.strip_suffix(':').filter(|name| !name.starts_with(['-', ' '])) {
                Some(name) if name == chart => subchart.clear(),
                Some(name) => subchart = format!("chart {name}: "),
                None => problems
                    .push(format!("{subchart}{}", without_value(line.trim().trim_start_matches("- ")))),
            }
        }
        let text = format!("values do not match values.schema.json: {}", problems.join("; "));
        Some(Self { template: None, included: None, text })
    }
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(template) = self.template {
            write!(f, "{template}: ")?;
        }
        f.write_str(&self.text)?;
        match self.included {
            Some(place) => write!(f, ", included at {place}"),
            None => Ok(()),
        }
    }
}

impl<'a> TemplatePlace<'a> {
    /// Parses `web/templates/web.yaml`, with or without `:LINE` and `:COLUMN`. The name of the chart comes first.
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(':');
        let (_, path) = parts.next()?.split_once('/')?;
        let mut number = || parts.next().map(str::parse).transpose().ok();
        let (line, column) = (number()?, number()?);
        Some(Self { path, line, column })
    }
}

impl fmt::Display for TemplatePlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// Removes the value from a problem that quotes it: `at '/password': 'hunter2' does not match pattern '^[A-Z]+$'`. It may be secret.
fn without_value(problem: &str) -> String {
    const RULES: [&str; 2] = ["' does not match pattern", "' is not valid "];
    let of_value = problem.split_once(": '").and_then(|(place, quoted)| {
        let end = RULES.iter().find_map(|rule| quoted.rfind(rule))?;
        Some(format!("{place}: the value{}", &quoted[end + 1..]))
    });
    of_value.unwrap_or_else(|| problem.to_owned())
}

/// Removes empty lines: one ends the cause.
pub(super) fn lines(text: &str) -> String {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}
