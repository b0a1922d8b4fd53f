//! Survival times: which rows have an event, in which stratum, and since when they are at risk.

use std::sync::Arc;

use l0star::loss::{Cox, Loss, Ties};
use l0star_data::{RawColumn, RawTable};
use l0star_record::metrics::Times;
use l0star_record::survival::Survival;
use l0star_report::text::clip;

use crate::failure::Failure;

/// The options about survival times as typed.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SurvivalArgs {
    /// For --loss cox: the column that tells which times are those of events, with 1 or true; the others are censored
    #[arg(long, value_name = "COLUMN")]
    pub event: Option<String>,

    /// The value of the event column that marks an event, where that is not 1 or true
    #[arg(
        long,
        value_name = "VALUE",
        requires = "event",
        allow_hyphen_values = true
    )]
    pub event_value: Option<String>,

    /// For --loss cox: how events at the same time are counted
    #[arg(long, value_name = "HOW", value_parser = clap::builder::PossibleValuesParser::new(Ties::NAMES))]
    pub ties: Option<String>,

    /// For --loss cox: compare rows with the same value of this column only
    #[arg(long, value_name = "COLUMN")]
    pub strata: Option<String>,

    /// For --loss cox: column of the times at which rows come under observation
    #[arg(long, value_name = "COLUMN")]
    pub entry: Option<String>,
}

impl SurvivalArgs {
    /// Returns the columns that are not features, each with its role.
    pub(super) fn roles(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let roles = [
            ("--event", &self.event),
            ("--strata", &self.strata),
            ("--entry", &self.entry),
        ];
        roles
            .into_iter()
            .filter_map(|(role, name)| Some((role, name.as_deref()?)))
    }

    /// Refuses options of another loss, and missing ones.
    pub(super) fn check(&self, loss: &dyn Loss) -> Result<(), Failure> {
        if loss.has_hazards() {
            return match &self.event {
                Some(_) => Ok(()),
                None => Err(Failure::Usage(format!(
                    "--loss {} needs --event: name the column that tells which times are those of events (1 or true) and which are censored",
                    loss.name()
                ))),
            };
        }
        let ties = self.ties.as_ref().map(|_| "--ties");
        match self.roles().map(|(role, _)| role).chain(ties).next() {
            None => Ok(()),
            Some(role) => Err(Failure::Usage(format!(
                "{role} is about times until an event, and --loss {} knows of none; use --loss cox, or drop it",
                loss.name()
            ))),
        }
    }

    /// Returns the names of the columns, for the record.
    fn fields(&self) -> Survival {
        Survival {
            event: self.event.clone().unwrap_or_default(),
            event_value: self.event_value.clone(),
            ties: self.ties().as_str().to_owned(),
            strata: self.strata.clone(),
            entry: self.entry.clone(),
            ..Survival::default()
        }
    }

    fn ties(&self) -> Ties {
        let ties = self.ties.as_deref();
        ties.and_then(|word| word.parse().ok()).unwrap_or_default()
    }
}

/// Events, strata and entry times of the rows of a table.
#[derive(Debug, Clone, Default)]
pub struct Followed {
    /// The columns and options, without a baseline.
    pub fields: Survival,
    pub events: Vec<bool>,
    strata: Vec<u32>,
    /// The names of the strata, by number.
    pub strata_names: Vec<String>,
    pub entry: Vec<f64>,
}

impl Followed {
    pub(super) fn read(
        args: &SurvivalArgs,
        raw: &RawTable,
        times: &[f64],
    ) -> Result<Self, Failure> {
        Self::of_fields(&args.fields(), raw, times)
    }

    /// Reads the columns that a record names.
    pub(super) fn of_fields(
        fields: &Survival,
        raw: &RawTable,
        times: &[f64],
    ) -> Result<Self, Failure> {
        let events = events(raw, &fields.event, fields.event_value.as_deref())?;
        let strata = fields.strata.as_deref().map(|name| raw.categories(name));
        let (strata, strata_names) = strata.transpose()?.unwrap_or_default();
        let entry = fields.entry.as_deref().map(|name| raw.number(name));
        let entry = entry.transpose()?.unwrap_or_default();
        if let Some(row) = entry
            .iter()
            .zip(times)
            .position(|(entry, time)| entry >= time)
        {
            let column = fields.entry.as_deref().unwrap_or_default();
            let place = raw.place(raw.position(column)?, row);
            return Err(Failure::BadData(format!(
                "{place}: the entry is {}, and the time {}; a row has to be under observation for some time before it: correct one of them, or leave the row out",
                entry[row], times[row]
            )));
        }
        let count = events.iter().filter(|event| **event).count();
        Ok(Self {
            fields: Survival {
                events: count,
                ..fields.clone()
            },
            events,
            strata,
            strata_names,
            entry,
        })
    }

    /// Returns the data for metrics and reports.
    pub(super) fn times(&self) -> Times<'_> {
        Times {
            events: &self.events,
            entry: &self.entry,
            strata: &self.strata,
            strata_names: &self.strata_names,
        }
    }

    pub(super) fn loss(&self) -> Arc<dyn Loss> {
        let ties = self.fields.ties.parse().unwrap_or_default();
        let cox = Cox::new(self.events.clone()).ties(ties);
        Arc::new(cox.strata(self.strata.clone()).entry(self.entry.clone()))
    }

    /// Returns the numbers that belong to the fingerprint of the data.
    pub fn numbers(&self) -> Vec<f64> {
        let events = self.events.iter().map(|event| f64::from(*event));
        let strata = self.strata.iter().map(|stratum| f64::from(*stratum));
        events
            .chain(strata)
            .chain(self.entry.iter().copied())
            .collect()
    }
}

/// Returns which rows have an event.
fn events(raw: &RawTable, column: &str, value: Option<&str>) -> Result<Vec<bool>, Failure> {
    let file = raw.file().display();
    if let Some(value) = value {
        let (codes, names) = raw.categories(column)?;
        let Some(event) = names.iter().position(|name| name == value) else {
            let known: Vec<String> = names.iter().take(6).map(|name| clip(name, 32)).collect();
            return Err(Failure::BadData(format!(
                "{file}: no row has '{}' in the event column '{column}', which --event-value names; it has '{}'{}",
                clip(value, 32),
                known.join("', '"),
                if names.len() > known.len() {
                    " and others"
                } else {
                    ""
                }
            )));
        };
        return Ok(codes.iter().map(|code| *code as usize == event).collect());
    }
    let cells = raw.column(column)?;
    if matches!(cells, RawColumn::Text { .. }) && !cells.is_boolean() {
        return Err(Failure::BadData(format!(
            "{file}: the event column '{column}' is text; name the text that marks an event with --event-value"
        )));
    }
    let marks = raw.number(column)?;
    match marks.iter().position(|mark| *mark != 0.0 && *mark != 1.0) {
        None => Ok(marks.iter().map(|mark| *mark == 1.0).collect()),
        Some(row) => {
            let place = raw.place(raw.position(column)?, row);
            Err(Failure::BadData(format!(
                "{place}: the event column has {}, and 0 and 1 (or false and true) tell events from censored times; name the value that marks an event with --event-value",
                marks[row]
            )))
        }
    }
}
