//! Replacements of images in parameters of kustomize.

use std::collections::BTreeMap;

use tiphys_engine::{KUSTOMIZE_PLUGIN, SourceType, image_replacement};
use tiphys_model::params::{Assignment, Edited, ParameterValue, Part};

use super::ParameterSource;
use crate::error::{ServiceError, chain};

/// The parameter with the replacements of images.
const IMAGES: &str = "images";

impl ParameterSource {
    /// Completes replacements of images that have no name: they are the tag or the digest.
    pub(super) fn complete_images(
        &self,
        assignments: &mut [Assignment<ParameterValue>],
        edited: &Edited<'_>,
    ) -> Result<(), ServiceError> {
        if !self.is_kustomize() {
            return Ok(());
        }
        let current = current_images(edited);
        let complete = |image: &str, value: &mut String| {
            let completed = image_replacement(image, value, current.get(image).map(|text| text.as_str()));
            *value = completed.map_err(|error| {
                ServiceError::invalid_input(format!("{}: {}", self.stored.full_name(), chain(&error)))
            })?;
            Ok(())
        };
        for Assignment { target, value } in assignments.iter_mut().filter(|one| one.target.name == IMAGES) {
            match (&target.part, value) {
                (Part::Item(image), Some(ParameterValue::String(text))) => complete(image, text)?,
                (Part::Whole, Some(ParameterValue::Map(map))) => {
                    map.iter_mut().try_for_each(|(image, text)| complete(image, text))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether the plugin for kustomize gets the parameters. If it was not asked, its name in the Application decides.
    fn is_kustomize(&self) -> bool {
        let named = || self.source().plugin.as_ref().map(|block| block.name.as_str());
        self.source_type == SourceType::Kustomize || self.plugin().or_else(named) == Some(KUSTOMIZE_PLUGIN)
    }
}

/// Returns the replacements in effect: the set ones, else the announced ones.
fn current_images<'a>(edited: &Edited<'a>) -> BTreeMap<&'a str, &'a String> {
    let announced =
        edited.announcements.iter().find(|one| one.name == IMAGES).and_then(|one| one.map.as_ref());
    let set = edited.parameters.iter().rfind(|one| one.name == IMAGES).and_then(|one| one.map.as_ref());
    announced.into_iter().chain(set).flatten().map(|(image, text)| (image.as_str(), text)).collect()
}
