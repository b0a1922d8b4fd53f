//! Sums the moments of rows in files, in pieces.

use std::path::PathBuf;

use l0star::Design;
use l0star::problem::Moments;
use l0star_record::MomentFile;
use l0star_record::cv::Dealer;

use super::TaskArgs;
use super::pieces::Stream;
use super::stream::Batch;
use crate::failure::Failure;

/// Sums the moments of the rows of all files (at least one). Notes for the user go to `tell`.
pub fn sum(
    args: &TaskArgs,
    files: &[PathBuf],
    quiet: bool,
    tell: &dyn Fn(&[String]),
) -> Result<MomentFile, Failure> {
    let (made, _) = sum_folds(args, files, quiet, tell, 1)?;
    Ok(made)
}

/// Sums the moments of all rows, and those of each of `count` folds.
pub(super) fn sum_folds(
    args: &TaskArgs,
    files: &[PathBuf],
    quiet: bool,
    tell: &dyn Fn(&[String]),
    count: usize,
) -> Result<(MomentFile, Vec<Moments>), Failure> {
    let stream = Stream { args, files, quiet };
    let mut recipe = stream.recipe(false)?;
    tell(&recipe.notes);
    if let Some(reason) = recipe.needs_survey() {
        tell(&[format!("all rows are read twice: {reason}")]);
        stream.survey(&mut recipe)?;
    }
    let mut folds = vec![Moments::new(recipe.names().to_vec())?; count];
    let mut dealer = Dealer::new(count, args.seed);
    let mut dropped = 0;
    stream.each_piece(&recipe, |piece| {
        let file = piece.file().to_path_buf();
        let (batch, gone) = recipe.apply(piece)?;
        dropped += gone;
        if let Some(batch) = batch {
            let added = add(&mut folds, &mut dealer, batch);
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

/// Deals the rows of a batch to the folds and adds them there.
fn add(folds: &mut [Moments], dealer: &mut Dealer, batch: Batch) -> l0star::Result<()> {
    let Batch {
        rows,
        values,
        response,
        weights,
    } = batch;
    let design = Design::dense(rows, values.len() / rows, values)?;
    if let [all] = folds {
        return all.add(&design, &response, weights.as_deref());
    }
    let mut shares = vec![vec![0.0; response.len()]; folds.len()];
    for row in 0..response.len() {
        let weight = weights.as_ref().map_or(1.0, |weights| weights[row]);
        if weight > 0.0 {
            shares[dealer.next_fold()][row] = weight;
        }
    }
    for (fold, share) in folds.iter_mut().zip(shares) {
        fold.add(&design, &response, Some(&share))?;
    }
    Ok(())
}
