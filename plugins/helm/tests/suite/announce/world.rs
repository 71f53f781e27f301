//! A chart and its announcements.

use tiphys_model::params::{Announcement, ItemType, decode_dynamic_output};

pub(crate) use crate::world::{Answer, Helm, World};

/// The directory of the chart in its repository.
pub(crate) const CHART: &str = "charts/web";

impl World {
    /// A repository with a chart with these values.
    pub(crate) fn with_values(values: &str) -> Self {
        Self::new(CHART)
            .file(&format!("{CHART}/Chart.yaml"), "apiVersion: v2\nname: web\nversion: 0.1.0\n")
            .file(&format!("{CHART}/values.yaml"), values)
    }

    /// Adds a file of the chart.
    pub(crate) fn chart_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.file(&format!("{CHART}/{path}"), &content)
    }

    /// Runs `announce` without a helm, since it must not run one.
    pub(crate) fn announce(&self) -> Answer {
        let mut command = self.command(Helm::Four, "announce");
        command.env("TIPHYS_HELM", self.folder().join("no-such-helm"));
        self.answer(command)
    }

    pub(crate) fn announced(&self) -> Vec<Announcement> {
        list(&self.announce())
    }

    /// The announcements of values, with an installed helm.
    pub(crate) fn values_with(&self, helm: Helm) -> Vec<Announcement> {
        values_of(list(&self.run(helm, "announce")))
    }

    /// The announced values, each as `title (type) default`, in order. The type of strings and missing defaults are omitted.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.announced_values().iter().map(line).collect()
    }

    /// The announcements of values.
    pub(crate) fn announced_values(&self) -> Vec<Announcement> {
        values_of(self.announced())
    }

    /// The announcement with this title.
    pub(crate) fn value(&self, title: &str) -> Announcement {
        let found = self.announced_values().into_iter().find(|one| one.title.as_deref() == Some(title));
        found.unwrap_or_else(|| panic!("{title} is not announced"))
    }

    /// The message of a failure.
    pub(crate) fn error(&self) -> String {
        self.failure(1)
    }

    /// The message of a failure because of a limit: helm may accept the chart.
    pub(crate) fn limit_error(&self) -> String {
        self.failure(3)
    }

    fn failure(&self, code: i32) -> String {
        let answer = self.announce();
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(code), ""), "{}", answer.stderr);
        answer.stderr
    }
}

/// Whether a line is a warning about text that helm ignores.
pub(crate) fn is_ignored_text(line: &str) -> bool {
    line.starts_with("warning: ") && line.contains("the text from this line on is lost")
}

fn list(answer: &Answer) -> Vec<Announcement> {
    let is_expected = |line: &&str| line.starts_with("warning: the values of ") || is_ignored_text(line);
    let others: Vec<&str> = answer.stderr.lines().filter(|line| !is_expected(line)).collect();
    assert_eq!((answer.code, others), (Some(0), Vec::new()));
    let read =
        decode_dynamic_output(answer.stdout.as_bytes()).expect("the output is a list of announcements");
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    read.list
}

fn values_of(list: Vec<Announcement>) -> Vec<Announcement> {
    list.into_iter().filter(|one| one.name.starts_with("set.")).collect()
}

fn line(one: &Announcement) -> String {
    let mut line = one.title.clone().unwrap_or_default();
    match &one.item_type {
        None => line.push_str(" (any)"),
        Some(ItemType::String(_)) => {}
        Some(item_type) => line.extend([" (", &item_type.word(), ")"]),
    }
    if one.required == Some(true) {
        line.push_str(" required");
    }
    if let Some(text) = &one.string {
        line.extend([" ", text]);
    }
    line
}
