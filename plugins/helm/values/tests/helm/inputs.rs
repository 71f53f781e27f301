//! Random inputs with fixed seeds.

use std::fs;
use std::path::Path;

use serde_json::{Map as JsonMap, Value as Json, json};
use tiphys_helm_values::{Chart, Dependency, Flag, HelmVersion, Import, read_values};

use crate::program::TEMPLATE;

/// Random numbers from a seed (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let bound = u64::try_from(bound).expect("the limit fits");
        usize::try_from(mixed % bound).expect("the result is below the limit")
    }

    fn one_of<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }

    /// Concatenates zero to `most` strings.
    fn several(&mut self, most: usize, mut one: impl FnMut(&mut Self) -> String) -> String {
        (0..self.below(most + 1)).map(|_| one(self)).collect()
    }

    fn flag(&mut self) -> Flag {
        if self.below(8) == 0 { Flag::SetString } else { Flag::Set }
    }

    /// The argument of an assignment: mostly realistic, sometimes arbitrary.
    fn argument(&mut self) -> String {
        const SIGNS: &[&str] =
            &["a", "b", "0", "1", ".", "[", "]", "{", "}", "=", ",", "\\", " ", "\"", "é", "\n", "\u{7f}"];
        if self.below(4) == 0 {
            return self.several(12, |random| random.one_of(SIGNS).to_owned());
        }
        let one = |random: &mut Self| format!("{}={}", random.name(), random.value());
        let more =
            self.several(2, |random| format!("{}{}", random.one_of(&[",", ",", ",", "", ", "]), one(random)));
        one(self) + &more
    }

    fn name(&mut self) -> String {
        const KEYS: &[&str] = &["a", "b", "c", "a\\.b", "a\\=b", "é", "", "a", "b"];
        const INDEXES: &[&str] = &["[0]", "[1]", "[2]", "[+1]", "[-1]", "[x]", "[65537]", "[0][1]", "["];
        let mut name = self.one_of(KEYS).to_owned();
        while self.below(2) == 0 {
            match self.below(3) {
                0 if self.below(6) == 0 => name += self.one_of(INDEXES),
                0 => name += self.one_of(&INDEXES[..3]),
                _ => name = name + "." + self.one_of(KEYS),
            }
        }
        name
    }

    fn value(&mut self) -> String {
        const VALUES: &[&str] = &[
            "x",
            "1",
            "007",
            "-5",
            "1.5",
            "true",
            "FALSE",
            "null",
            "",
            "a b",
            "\\,",
            "a\\,b",
            "{",
            "{}",
            "{a,b}",
            "{1,null,x\\}}",
            "9223372036854775807",
            "9223372036854775808",
            "1000000",
            "<&>",
            "\"q\"",
            "0",
            "\\",
        ];
        self.one_of(VALUES).to_owned()
    }

    /// The content of a values file: objects of this depth, with keys that are also names of subcharts.
    pub(crate) fn values(&mut self, depth: usize) -> String {
        Json::Object(self.object(depth)).to_string()
    }

    fn object(&mut self, depth: usize) -> JsonMap<String, Json> {
        const KEYS: &[&str] = &["a", "b", "m", "global", "s", "t", "u", "al", "exports", "tags"];
        let count = self.below(5);
        (0..count).map(|_| (self.one_of(KEYS).to_owned(), self.json(depth))).collect()
    }

    fn json(&mut self, depth: usize) -> Json {
        match self.below(if depth == 0 { 7 } else { 15 }) {
            0 => json!(1_000_000),
            5 => json!(true),
            6 => json!(false),
            1 | 2 => Json::Null,
            3 => json!("x"),
            4 => json!([null, {"a": null}]),
            _ => Json::Object(self.object(depth - 1)),
        }
    }
}

/// Arguments of `helm template`.
#[derive(Debug)]
pub(crate) struct CommandLine {
    pub(crate) base: Option<String>,
    pub(crate) assignments: Vec<(Flag, String)>,
}

impl CommandLine {
    pub(crate) fn random(random: &mut Random) -> Self {
        const BASES: &[&str] = &[
            "a: {b: 1, c: x}\nb: [1, null, {a: 2}, [3]]\nc: null\n",
            "'': {a: 1}\na: [[1], {b: null}]\n",
            "a: 1\n---\nb: 1000000\n---\na: {b: 2}\n",
        ];
        let base = (random.below(2) == 0).then(|| random.one_of(BASES).to_owned());
        let count = 1 + random.below(3);
        let assignments = (0..count)
            .map(|_| {
                let flag = random.flag();
                (flag, random.argument())
            })
            .collect();
        Self { base, assignments }
    }

    /// Returns assignments that may follow one another in one call. Half of them have a unique key, so that no later one hides the result.
    pub(crate) fn batch(random: &mut Random, size: usize, is_taken: impl Fn(&Self) -> bool) -> Self {
        let mut line = Self { assignments: Vec::new(), ..Self::random(random) };
        while line.assignments.len() < size {
            let flag = random.flag();
            let argument = random.argument();
            let place =
                if random.below(2) == 0 { format!("k{}.", line.assignments.len()) } else { String::new() };
            line.assignments.push((flag, place + &argument));
            if !is_taken(&line) {
                line.assignments.pop();
            }
        }
        line
    }
}

/// A chart with its subcharts.
#[derive(Debug)]
pub(crate) struct ChartFolder {
    name: &'static str,
    values: String,
    subcharts: Vec<(Listed, ChartFolder)>,
}

/// Whether `Chart.yaml` names a subchart.
#[derive(Debug)]
enum Listed {
    No,
    Yes { alias: Option<&'static str>, imports: Json, condition: &'static str, tags: Json },
}

impl ChartFolder {
    pub(crate) fn empty() -> Self {
        Self { name: "chart", values: String::new(), subcharts: Vec::new() }
    }

    pub(crate) fn random(random: &mut Random) -> Self {
        let mut chart = Self { name: "chart", values: random.values(3), subcharts: Vec::new() };
        let listed = random.below(2) == 0;
        for (name, alias) in [("s", Some("al")), ("t", None)] {
            // Helm orders unlisted subcharts at random, which may affect the result; so there is at most one.
            if random.below(3) == 0 || !listed && !chart.subcharts.is_empty() {
                continue;
            }
            let mut subchart = Self { name, values: random.values(3), subcharts: Vec::new() };
            if random.below(3) == 0 {
                let inner = Self { name: "u", values: random.values(2), subcharts: Vec::new() };
                subchart.subcharts.push((Self::listed(random, listed, None), inner));
            }
            let alias = alias.filter(|_| random.below(3) == 0);
            chart.subcharts.push((Self::listed(random, listed, alias), subchart));
        }
        chart
    }

    fn listed(random: &mut Random, listed: bool, alias: Option<&'static str>) -> Listed {
        if !listed {
            return Listed::No;
        }
        let imports = match random.below(6) {
            0 => json!(["a"]),
            1 => json!([{"child": "m", "parent": "b"}]),
            2 => json!([{"child": "m.a", "parent": "."}]),
            3 => json!([{"child": "exports", "parent": "m.b"}]),
            _ => json!([]),
        };
        let condition = random.one_of(&["", "a", "m.a,b", "s.a", "t.b", "global.a"]);
        let tags = if random.below(3) == 0 { json!(["a", "b"]) } else { json!([]) };
        Listed::Yes { alias, imports, condition, tags }
    }

    /// Writes the chart's files.
    pub(crate) fn write(&self, folder: &Path) {
        fs::create_dir_all(folder.join("templates")).expect("the chart's directories are created");
        let mut metadata = json!({"apiVersion": "v2", "name": self.name, "version": "0.1.0"});
        let mut dependencies = Vec::new();
        for (listed, subchart) in &self.subcharts {
            subchart.write(&folder.join("charts").join(subchart.name));
            if let Listed::Yes { alias, imports, condition, tags } = listed {
                let mut entry = json!({
                    "name": subchart.name, "version": "0.1.0", "repository": "",
                    "import-values": imports, "condition": condition, "tags": tags
                });
                if let Some(alias) = alias {
                    entry["alias"] = json!(alias);
                }
                dependencies.push(entry);
            }
        }
        if !dependencies.is_empty() {
            metadata["dependencies"] = Json::Array(dependencies);
        }
        let files = [
            ("Chart.yaml", metadata.to_string()),
            ("values.yaml", self.values.clone()),
            ("templates/x.yaml", TEMPLATE.to_owned()),
        ];
        for (path, text) in files {
            fs::write(folder.join(path), text).expect("the chart's files are writable");
        }
    }

    /// Returns the chart as a value of this crate.
    pub(crate) fn chart(&self, version: HelmVersion) -> Chart {
        let mut dependencies = Vec::new();
        let mut subcharts = Vec::new();
        for (listed, subchart) in &self.subcharts {
            let mut subchart = subchart.chart(version);
            if let Listed::Yes { alias, imports, condition, tags } = listed {
                if let Some(alias) = alias {
                    (*alias).clone_into(&mut subchart.name);
                }
                dependencies.push(Dependency {
                    name: subchart.name.clone(),
                    condition: (*condition).to_owned(),
                    tags: texts(tags),
                    imports: imports.as_array().into_iter().flatten().map(import).collect(),
                });
            }
            subcharts.push(subchart);
        }
        Chart {
            name: self.name.to_owned(),
            values: read_values(self.values.as_bytes(), version).expect("the random values are YAML"),
            subcharts,
            dependencies: (!dependencies.is_empty()).then_some(dependencies),
        }
    }
}

fn texts(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

fn import(entry: &Json) -> Import {
    match entry {
        Json::String(name) => Import { child: format!("exports.{name}"), parent: ".".to_owned() },
        entry => {
            let text = |key: &str| entry[key].as_str().expect("a string").to_owned();
            Import { child: text("child"), parent: text("parent") }
        }
    }
}
