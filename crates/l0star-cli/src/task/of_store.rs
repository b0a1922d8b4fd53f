//! A task from a column store: its features stay in the file.

use std::sync::Arc;

use l0star::loss::{self, Loss};
use l0star_data::{RawColumn, RawTable};
use l0star_record::StoreFile;
use l0star_record::names::Known;

use super::roles::Roles;
use super::{Task, TaskArgs, features, of_moments};
use crate::failure::Failure;
use crate::progress::ReadingBar;

pub(super) fn read(args: &TaskArgs, quiet: bool) -> Result<Task, Failure> {
    let file = args.data.display();
    if let Some(option) = of_moments::of_making(args) {
        return Err(Failure::Usage(format!(
            "{file}: this is a column store, and {option} is about how one is made; give it to l0star convert"
        )));
    }
    if args.holdout.is_some() {
        return Err(Failure::Usage(format!(
            "{file}: this is a column store, whose rows cannot be held out; use a column of --weights that is 0 where a row is not to count"
        )));
    }
    let loss = loss::by_name(&args.loss, args.huber_delta.value().unwrap_or(1.0))?;
    let bar = ReadingBar::new(&args.data, quiet);
    let opened = StoreFile::open(&args.data, &|read, of| bar.set(read, of));
    bar.finish();
    let store = opened?;
    let mut args = args.clone();
    if args.target.is_empty() {
        args.target.clone_from(&store.about.target);
    }
    args.check_target()?;
    args.check_roles()?;
    args.survival.check(&*loss)?;
    let task = of(&args, loss, store);
    task.map_err(|failure| failure.in_file(&args.data))
}

fn of(args: &TaskArgs, loss: Arc<dyn Loss>, store: StoreFile) -> Result<Task, Failure> {
    let (columns, about) = (store.store(), &store.about);
    let table = of_moments::of_names(args, columns.names())?;
    let args = &args.with_targets(&table)?;
    if !args.targets.is_empty() {
        args.check_several(&*loss)?;
    }
    for (_, name) in args.roles() {
        table.column(name)?;
    }
    let names = features::base_columns(args, &table)?;
    let places = names.iter().map(|name| table.position(name));
    let places = places.collect::<Result<Vec<usize>, _>>()?;
    let mut cells = Vec::new();
    for (_, name) in args.roles() {
        let numbers = columns.numbers(table.position(name)?);
        cells.push((name.to_owned(), RawColumn::Number(numbers)));
    }
    let (role_names, cells) = cells.into_iter().unzip();
    let file = args.data.display().to_string();
    let roles = RawTable::in_memory(&file, role_names, cells)?;
    let mut roles = Roles::read(args, loss, &roles)?;
    if args.target == about.target && roles.labels.is_some() {
        // The file stores them as 0 and 1, in this order.
        roles.labels = about.labels.clone().or(roles.labels);
    }
    let texts = about.texts_among(&names);
    let known = Known {
        names: &names,
        texts: &texts,
        factors: &about.factors,
    };
    let rules = args.rules.resolve(&known)?;
    let design = store.design(&places)?;
    let task = Task {
        factors: about.factors.clone(),
        indicators: about.indicators.clone(),
        imputed: about.imputed.0.clone(),
        rows_dropped: about.rows_dropped,
        reading: about.reading.clone(),
        store: Some(store),
        ..Task::plain(args, roles, args.data.clone(), (names, design), rules)
    };
    task.with_delta(args)
}
