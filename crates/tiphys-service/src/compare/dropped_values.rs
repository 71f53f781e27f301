//! Values that an Application sets, and that only the old chart reads.

use std::collections::HashSet;

use tiphys_engine::{ChartValue, shown_announcements};
use tiphys_model::resources::Application;
use tiphys_render::{RenderedApplication, RenderedSource, Renderer};

/// Returns a message for each value that had an effect at the base and has none any more, because its chart differs. `renderer` asks the
/// plugins of the base. Failures of plugins are ignored.
pub(super) async fn dropped_values(
    renderer: &Renderer,
    base: &Application,
    before: &RenderedApplication,
    after: &RenderedApplication,
) -> Vec<String> {
    let mut messages = Vec::new();
    for source in &after.sources {
        let Some(old) = counterpart(before, source) else { continue };
        let found = Box::pin(dropped_of_source(renderer, base, old, source)).await.unwrap_or_default();
        let place =
            if after.sources.len() > 1 { format!("source {}: ", source.position) } else { String::new() };
        messages.extend(found.iter().map(|message| format!("{place}{message}")));
    }
    messages
}

/// Returns the source of the base that has the name or, without one, the position of a source.
fn counterpart<'a>(before: &'a RenderedApplication, source: &RenderedSource) -> Option<&'a RenderedSource> {
    let is_named = |old: &&RenderedSource| old.name == source.name;
    let is_there = |old: &&RenderedSource| old.position == source.position;
    let mut old = before.sources.iter();
    if source.name.is_empty() { old.find(is_there) } else { old.find(is_named) }
}

async fn dropped_of_source(
    renderer: &Renderer,
    base: &Application,
    old: &RenderedSource,
    new: &RenderedSource,
) -> Option<Vec<String>> {
    let (chart_before, chart_after) = (old.rendered_chart.as_ref()?, new.rendered_chart.as_ref()?);
    if chart_before.is_equal(chart_after) {
        return None;
    }
    let (keys, keys_before) = (chart_after.keys()?, chart_before.keys()?);
    let mut values = keys.without_effect(&new.source, new.plugin.as_deref());
    values.retain(|value| keys_before.can_read(&value.path));
    if values.is_empty() {
        return None;
    }
    let announced = announced_names(renderer, base, old.position).await?;
    values.retain(|value| value.names().any(|name| announced.contains(&name)));
    let then = match keys_before.chart() {
        same if same == keys.chart() => "at the base".to_owned(),
        _ if keys_before.name() == keys.name() => format!("in {}", keys_before.version()),
        other => format!("in {other}"),
    };
    let message = |value: &ChartValue| {
        format!("{} has no effect in {} (had one {then})", value.shown_name(), keys.chart())
    };
    Some(values.iter().map(message).collect())
}

/// Returns the names that the plugin of a source announces at the base; `None` if it fails.
async fn announced_names(
    renderer: &Renderer,
    base: &Application,
    position: usize,
) -> Option<HashSet<String>> {
    let asking = renderer.announce(base, |one, _| one == position);
    let sources = Box::pin(asking).await.ok()?;
    let shown = |source: tiphys_render::AnnouncedSource| {
        shown_announcements(source.plugin.as_deref(), source.announcements)
    };
    Some(sources.into_iter().flat_map(shown).map(|one| one.name).collect())
}
