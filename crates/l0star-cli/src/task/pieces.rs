//! [`Stream`]: files with the same columns, read piece by piece.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use l0star_data::{DataError, RawTable, Wanted};

use super::TaskArgs;
use super::stream::{Recipe, Survey};
use crate::failure::Failure;

/// Pieces of a file that wait to be taken.
const WAITING: usize = 2;

/// Files with the same columns, at least one, and how they are read.
pub(super) struct Stream<'a> {
    pub args: &'a TaskArgs,
    pub files: &'a [PathBuf],
    pub quiet: bool,
}

impl<'a> Stream<'a> {
    /// What becomes of the rows, as the first of them show it; `labels`: the target may have labels.
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

    /// Reads all rows once, for what only all of them can say.
    pub(super) fn survey(&self, recipe: &mut Recipe<'a>) -> Result<Survey, Failure> {
        let mut survey = Survey::default();
        self.each_piece(recipe, |piece| recipe.survey(&mut survey, piece))?;
        recipe.settle(&survey)?;
        Ok(survey)
    }

    /// Refuses files with other columns than the first, or columns of other types, before the long part.
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

    /// Reads all files, and takes their pieces on a thread of its own while the next are read.
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
                // Dropped with the first failure, so that the reader stops.
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
