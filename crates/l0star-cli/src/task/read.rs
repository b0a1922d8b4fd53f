//! From a file to a task.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use l0star::loss::{self, Loss, ResponseKind};
use l0star_data::{ColumnStore, Decimal, RawTable, Reading};
use l0star_record::names::Known;
use l0star_record::{MomentFile, Rules};

use super::roles::Roles;
use super::{HuberDelta, Task, TaskArgs, features, holdout, large, of_moments, of_store, summed};
use crate::design::Named;
use crate::failure::Failure;
use crate::reading::Settled;

impl Task {
    /// Reads the file and checks everything that does not depend on k and the ridge.
    pub fn read(args: &TaskArgs, quiet: bool) -> Result<Self, Failure> {
        if MomentFile::is_at(&args.data) {
            return of_moments::read(args);
        }
        if ColumnStore::is_at(&args.data) {
            return of_store::read(args, quiet);
        }
        let loss = loss::by_name(&args.loss, args.huber_delta.value().unwrap_or(1.0))?;
        args.check_target()?;
        args.check_roles()?;
        args.survival.check(&*loss)?;
        let raw = args.input.load(&args.data, quiet)?;
        let file = raw.file().to_path_buf();
        Self::of(args, loss, raw).map_err(|failure| failure.in_file(&file))
    }

    /// Reads the task, or sums its moments if the rows do not fit in memory and the moments are enough.
    pub fn read_or_sum(args: &TaskArgs, quiet: bool) -> Result<Self, Failure> {
        Self::read_or_sum_folds(args, quiet, 1)
    }

    /// Does the same as [`Task::read_or_sum`], and sums the moments of each of `folds` folds of the rows.
    pub fn read_or_sum_folds(args: &TaskArgs, quiet: bool, folds: usize) -> Result<Self, Failure> {
        let Some(note) = large::reason(args) else {
            return Self::read(args, quiet);
        };
        args.check_target()?;
        let notes = RefCell::new(vec![note]);
        let tell = |lines: &[String]| notes.borrow_mut().extend_from_slice(lines);
        let files = std::slice::from_ref(&args.data);
        let (made, folds) = summed::sum_folds(args, files, quiet, &tell, folds)?;
        let task = of_moments::task(args, made, notes.into_inner())?;
        // A single fold is the whole of the rows.
        let folds = if folds.len() > 1 { folds } else { Vec::new() };
        Ok(Self { folds, ..task })
    }

    fn of(args: &TaskArgs, loss: Arc<dyn Loss>, mut raw: RawTable) -> Result<Self, Failure> {
        let args = &args.with_targets(&raw)?;
        if !args.targets.is_empty() {
            args.check_several(&*loss)?;
        }
        for (_, name) in args.roles() {
            raw.column(name)?;
        }
        let mut base = features::base_columns(args, &raw)?;
        let decimal_comma = args.input.decimal() == Decimal::Comma;
        let Settled { reading, notes } = args.reading.settle(&mut raw, &mut base, decimal_comma)?;
        let factors = features::factors(args, &raw, &base)?;
        let asked = features::Asked {
            labels: matches!(loss.response(), ResponseKind::Label | ResponseKind::Class),
            is_part: false,
        };
        features::refuse_troubles(args, &raw, &base, &factors, &reading.texts, asked)?;
        let rows_dropped = features::settle_missing(args, &mut raw, &base)?;
        let (mut raw, mut held_out) = holdout::split(args, &*loss, raw)?;
        let others = held_out.as_mut().map(|held_out| &mut held_out.table);
        let imputed = features::impute(args, &mut raw, others, &base)?;
        let (indicators, texts) = features::encode_texts(args, &mut raw, &mut base)?;

        let roles = Roles::read(args, loss, &raw)?;
        let file = raw.file().to_path_buf();
        let (names, design) = features::features(args, raw, &base, &factors, &indicators)?;
        let known = Known {
            names: &names,
            texts: &texts,
            factors: &factors,
        };
        let rules = args.rules.resolve(&known)?;
        let task = Self {
            factors,
            indicators,
            imputed,
            rows_dropped,
            held_out,
            reading,
            notes,
            ..Self::plain(args, roles, file, (names, design), rules)
        };
        task.with_delta(args)
    }

    /// Builds a task of numeric columns, taken as they are.
    pub(super) fn plain(
        args: &TaskArgs,
        roles: Roles,
        file: PathBuf,
        (names, design): Named,
        rules: Rules,
    ) -> Self {
        Self {
            file,
            intercept: !args.no_intercept && !roles.loss.is_relative(),
            loss: roles.loss,
            standardize: !args.no_standardize,
            refit: args.refit,
            names,
            design,
            response: roles.response,
            responses: args.targets.clone(),
            others: roles.others,
            classes: roles.classes,
            moments: None,
            folds: Vec::new(),
            store: None,
            weights: roles.weights,
            weight_column: args.weights.clone(),
            offsets: roles.offsets,
            offset_columns: args.offset_names().into_iter().map(str::to_owned).collect(),
            target: args.target.clone(),
            labels: roles.labels,
            survival: roles.survival,
            factors: Vec::new(),
            indicators: Vec::new(),
            rules,
            imputed: Vec::new(),
            rows_dropped: 0,
            held_out: None,
            reading: Reading::default(),
            notes: Vec::new(),
        }
    }

    /// Sets Huber's δ if it is chosen from the data.
    pub(super) fn with_delta(mut self, args: &TaskArgs) -> Result<Self, Failure> {
        if args.huber_delta == HuberDelta::Auto && self.loss.huber_delta().is_some() {
            let builder = self.builder(self.weights.as_deref());
            let loss = l0star::loss_for(&builder, &args.loss, None);
            self.loss = loss.map_err(|error| self.explain(error))?;
        }
        Ok(self)
    }
}
