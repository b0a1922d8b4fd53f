//! [`Stream`]: files with the same columns, read in pieces.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use l0star_data::{DataError, RawTable, Wanted};

use super::TaskArgs;
use super::stream::{Recipe, Survey};
use crate::failure::Failure;

/// Number of pieces that may wait to be processed.
const WAITING: usize = 2;

/// Files with the same columns, at least one, and the options for reading them.
pub(super) struct Stream<'a> {
    pub args: &'a TaskArgs,
    pub files: &'a [PathBuf],
    pub quiet: bool,
}

impl<'a> Stream<'a> {
    /// Derives the recipe for the features from the first rows. With `labels`, the target may have labels.
    pub(super) fn recipe(&self, labels: bool) -> Result<Recipe<'a>, Failure> {
        let (args, file) = (self.args, &self.files[0]);
        let mut first = None;
        let mut keep = |piece: RawTable| {
            first = Some(piece);
            Ok(false)
        };
        args.input
            .stream(file, &Wanted::default(), true, &mut keep)?;
        let Some(first) = first else {
            return Err(Failure::BadData(format!(
                "{}: there are no rows",
                file.display()
            )));
        };
        let recipe = Recipe::new(args, first, labels);
        let recipe = recipe.map_err(|failure| failure.in_file(file))?;
        self.check_schemas(&recipe)?;
        Ok(recipe)
    }

    /// Surveys all rows in a first pass, for properties that depend on all of them.
    pub(super) fn survey(&self, recipe: &mut Recipe<'a>) -> Result<Survey, Failure> {
        let mut survey = Survey::default();
        self.each_piece(recipe, |piece| recipe.survey(&mut survey, piece))?;
        recipe.settle(&survey)?;
        Ok(survey)
    }

    /// Refuses files whose columns differ from the first file in name or type, before the long part.
    fn check_schemas(&self, recipe: &Recipe) -> Result<(), Failure> {
        let first = self.files[0].display().to_string();
        let wanted = Wanted {
            columns: None,
            texts: &recipe.as_text,
        };
        for file in &self.files[1..] {
            let mut check = |piece: RawTable| recipe.check_schema(&first, piece).map(|()| false);
            self.args.input.stream(file, &wanted, true, &mut check)?;
        }
        Ok(())
    }

    /// Reads all files, and processes their pieces on another thread while the next ones are read.
    pub(super) fn each_piece(
        &self,
        recipe: &Recipe,
        mut take: impl FnMut(RawTable) -> Result<(), Failure> + Send,
    ) -> Result<(), Failure> {
        let wanted = Wanted {
            columns: Some(&recipe.used),
            texts: &recipe.as_text,
        };
        let (sender, receiver) = mpsc::sync_channel::<RawTable>(WAITING);
        thread::scope(|scope| {
            let taker = scope.spawn(move || {
                // The receiver is dropped at the first failure, so that the reader stops.
                let receiver = receiver;
                while let Ok(piece) = receiver.recv() {
                    let file = piece.file().to_path_buf();
                    take(piece).map_err(|failure| failure.in_file(&file))?;
                }
                Ok(())
            });
            let read = |file: &Path| -> Result<bool, DataError> {
                let mut goes_on = true;
                let mut send = |piece: RawTable| {
                    goes_on = sender.send(piece).is_ok();
                    Ok(goes_on)
                };
                self.args
                    .input
                    .stream(file, &wanted, self.quiet, &mut send)?;
                Ok(goes_on)
            };
            let mut outcome = Ok(());
            for file in self.files {
                match read(file) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        outcome = Err(error.into());
                        break;
                    }
                }
            }
            drop(sender);
            let taken = taker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            taken.and(outcome)
        })
    }
}
