//! Replacements of images in parameters of kustomize.

use std::collections::{BTreeMap, BTreeSet};

use tiphys_engine::{KUSTOMIZE_PLUGIN, SourceType, image_replacement};
use tiphys_model::params::{ApplyError, Assignment, Edited, Image, ParameterValue, Part, suggest};

use super::ParameterSource;
use crate::error::{Remedy, ServiceError};

/// The parameter with the replacements of images.
const IMAGES: &str = "images";

impl ParameterSource {
    /// Completes replacements of images that have no name: they are the tag or the digest. Refuses an image that the kustomization does not
    /// have.
    pub(super) fn complete_images(
        &self,
        assignments: &mut [Assignment<ParameterValue>],
        edited: &Edited<'_>,
    ) -> Result<(), ServiceError> {
        if !self.is_kustomize() {
            return Ok(());
        }
        let (current, announced) = (current_images(edited), announced_images(edited));
        let references = current.iter().flat_map(|(image, text)| [*image, text.as_str()]);
        let names: BTreeSet<&str> = references.map(|reference| Image::parse(reference).name).collect();
        let complete = |image: &str, value: &mut String| {
            // Without any announced image, it is not known which ones there are.
            if announced.is_some() && !names.contains(Image::parse(image).name) {
                let suggestions = suggest(image, current.keys().copied()).into_iter().map(str::to_owned);
                let (name, key, suggestions) = (IMAGES.to_owned(), image.to_owned(), suggestions.collect());
                let refused = self.refused(&ApplyError::NoKey { name, key, suggestions });
                return Err(refused.with_remedy(Remedy::SkipAnnouncement));
            }
            let completed = image_replacement(image, value, current.get(image).map(|text| text.as_str()));
            *value = completed
                .map_err(|error| ServiceError::invalid_input(self.stored.full_name()).because(error))?;
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
        self.source_type == SourceType::KUSTOMIZE || self.plugin().or_else(named) == Some(KUSTOMIZE_PLUGIN)
    }
}

/// Returns the replacements in effect: the set ones, else the announced ones.
fn current_images<'a>(edited: &Edited<'a>) -> BTreeMap<&'a str, &'a String> {
    let set = edited.parameters.iter().rfind(|one| one.name == IMAGES).and_then(|one| one.map.as_ref());
    let all = announced_images(edited).into_iter().chain(set).flatten();
    all.map(|(image, text)| (image.as_str(), text)).collect()
}

/// Returns the announced images, each with what is used instead.
fn announced_images<'a>(edited: &Edited<'a>) -> Option<&'a BTreeMap<String, String>> {
    edited.announcements.iter().find(|one| one.name == IMAGES)?.map.as_ref()
}
