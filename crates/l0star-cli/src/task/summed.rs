//! The moments of rows in files, summed piece by piece.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use l0star::problem::Moments;
use l0star_data::{DataError, RawTable, Wanted};
use l0star_record::MomentFile;
use l0star_record::cv::Dealer;

use super::TaskArgs;
use super::stream::{Batch, Recipe, Survey};
use crate::failure::Failure;

/// Pieces of a file that wait to be summed.
const WAITING: usize = 2;

/// Files with the same columns, and how they are read.
struct Stream<'a> {
    args: &'a TaskArgs,
    files: &'a [PathBuf],
    quiet: bool,
}

/// The moments of the rows of all files, of which there is at least one. `tell` hears what the user should know.
pub fn sum(
    args: &TaskArgs,
    files: &[PathBuf],
    quiet: bool,
    tell: &dyn Fn(&[String]),
) -> Result<MomentFile, Failure> {
    let (made, _) = sum_folds(args, files, quiet, tell, 1)?;
    Ok(made)
}

/// [`sum`], and the moments of so many folds of the rows.
pub(super) fn sum_folds(
    args: &TaskArgs,
    files: &[PathBuf],
    quiet: bool,
    tell: &dyn Fn(&[String]),
    count: usize,
) -> Result<(MomentFile, Vec<Moments>), Failure> {
    let stream = Stream { args, files, quiet };
    let mut first = None;
    let mut keep = |piece: RawTable| {
        first = Some(piece);
        Ok(false)
    };
    let input = &args.input;
    input.stream(&files[0], &Wanted::default(), true, &mut keep)?;
    let Some(first) = first else {
        return Err(Failure::BadData(format!(
            "{}: there are no rows",
            files[0].display()
        )));
    };
    let mut recipe = Recipe::new(args, first).map_err(|failure| failure.in_file(&files[0]))?;
    stream.check_schemas(&recipe)?;
    tell(&recipe.notes);
    if let Some(reason) = recipe.needs_survey() {
        tell(&[format!("all rows are read twice: {reason}")]);
    }
    if recipe.needs_survey().is_some() {
        let mut survey = Survey::default();
        stream.each_piece(&recipe, |piece| recipe.survey(&mut survey, piece))?;
        recipe.settle(&survey)?;
    }
    let mut folds = vec![Moments::new(recipe.names().to_vec())?; count];
    let mut dealer = Dealer::new(count, args.seed);
    let mut dropped = 0;
    stream.each_piece(&recipe, |piece| {
        let file = piece.file().to_path_buf();
        let (batch, gone) = recipe.apply(piece)?;
        dropped += gone;
        if let Some(batch) = batch {
            let added = add(&mut folds, &mut dealer, &batch);
            added.map_err(|error| Failure::BadData(format!("{}: {error}", file.display())))?;
        }
        Ok(())
    })?;
    let mut moments = folds[0].clone();
    for fold in &folds[1..] {
        moments.merge(fold)?;
    }
    if moments.rows() == 0 {
        return Err(Failure::BadData(format!(
            "{}: no row is left: all have missing values, or no weight; drop the columns that miss the most",
            files[0].display()
        )));
    }
    let files = files.iter().map(|file| file.display().to_string());
    let about = recipe.about(files.collect(), dropped);
    Ok((MomentFile { moments, about }, folds))
}

/// Adds rows to the folds that they are dealt to.
fn add(folds: &mut [Moments], dealer: &mut Dealer, batch: &Batch) -> l0star::Result<()> {
    let Batch {
        design,
        response,
        weights,
    } = batch;
    if let [all] = folds {
        return all.add(design, response, weights.as_deref());
    }
    let mut shares = vec![vec![0.0; response.len()]; folds.len()];
    for row in 0..response.len() {
        let weight = weights.as_ref().map_or(1.0, |weights| weights[row]);
        if weight > 0.0 {
            shares[dealer.next_fold()][row] = weight;
        }
    }
    for (fold, share) in folds.iter_mut().zip(shares) {
        fold.add(design, response, Some(&share))?;
    }
    Ok(())
}

impl Stream<'_> {
    /// Refuses files with other columns than the first, before the long part.
    fn check_schemas(&self, recipe: &Recipe) -> Result<(), Failure> {
        let first = self.files[0].display().to_string();
        for file in &self.files[1..] {
            let mut check = |piece: RawTable| recipe.check_schema(&first, &piece).map(|()| false);
            self.args
                .input
                .stream(file, &Wanted::default(), true, &mut check)?;
        }
        Ok(())
    }

    /// Reads all files, and takes their pieces on a thread of its own while the next are read.
    fn each_piece(
        &self,
        recipe: &Recipe,
        mut take: impl FnMut(RawTable) -> Result<(), Failure> + Send,
    ) -> Result<(), Failure> {
        let (used, texts) = (&recipe.used, &recipe.texts);
        let wanted = Wanted {
            columns: Some(used),
            texts,
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
