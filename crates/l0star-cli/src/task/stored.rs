//! Writes the columns of files to a column store, in pieces.

use std::path::{Path, PathBuf};

use l0star_data::ColumnStore;
use l0star_data::store::{Precision, Shape};
use l0star_record::moments::About;

use super::TaskArgs;
use super::pieces::Stream;
use crate::failure::Failure;

/// Summary of a column store that was written.
pub struct Stored {
    pub names: Vec<String>,
    pub rows: usize,
    pub about: About,
}

/// Writes the features of all files (at least one), followed by the target if one is named. Notes for the user go
/// to `tell`.
pub fn store(
    args: &TaskArgs,
    files: &[PathBuf],
    out: &Path,
    precision: Precision,
    quiet: bool,
    tell: &dyn Fn(&[String]),
) -> Result<Stored, Failure> {
    let stream = Stream { args, files, quiet };
    let mut recipe = stream.recipe(true)?;
    tell(&recipe.notes);
    // The store needs the number of rows before the first is written.
    let survey = stream.survey(&mut recipe)?;
    if survey.rows == 0 {
        return Err(Failure::BadData(format!(
            "{}: no row is left: all have missing values; drop the columns that miss the most",
            files[0].display()
        )));
    }
    let mut names = recipe.names().to_vec();
    names.extend(Some(args.target.clone()).filter(|name| !name.is_empty()));
    let mut about = recipe.about(
        files
            .iter()
            .map(|file| file.display().to_string())
            .collect(),
        0,
    );
    about.rows_dropped = survey.dropped;
    let note = serde_json::to_string(&about).unwrap_or_default();
    let shape = Shape {
        names: &names,
        rows: survey.rows,
        precision,
        note: &note,
    };
    ColumnStore::write(out, &shape, |file| {
        stream.each_piece(&recipe, |piece| {
            let (Some(batch), _) = recipe.apply(piece)? else {
                return Ok(());
            };
            let mut columns: Vec<&[f64]> = batch.values.chunks_exact(batch.rows).collect();
            if !batch.response.is_empty() {
                columns.push(&batch.response);
            }
            Ok(file.append(&columns)?)
        })
    })?;
    Ok(Stored {
        names,
        rows: survey.rows,
        about,
    })
}
