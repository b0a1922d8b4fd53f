//! Result files: `NAME.csv`, to which every finished instance is appended, and `NAME.json`, with the configuration of
//! the results and the day they were begun.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use l0star::Status;
use l0star_data::write_atomically;
use serde_json::Value;

use crate::failure::Failure;

/// Header line of the CSV file.
const HEADER: &str =
    "panel,x,seed,method,status,objective,lower_bound,seconds,solver_calls,nodes,recovered";

/// Field of the configuration that may differ between runs.
const BEGUN: &str = "begun";

/// A run of one method on one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub panel: String,
    pub x: f64,
    pub seed: u64,
    pub method: String,
    pub status: Status,
    pub objective: f64,
    /// The proved lower bound; `None` for an inexact method.
    pub lower_bound: Option<f64>,
    pub seconds: f64,
    pub solver_calls: u64,
    pub nodes: u64,
    /// Whether the true support was found, if there is one.
    pub recovered: Option<bool>,
}

impl Record {
    fn to_line(&self) -> String {
        let bound = self.lower_bound.map_or(String::new(), |b| b.to_string());
        let recovered = self.recovered.map_or("", |yes| if yes { "1" } else { "0" });
        format!(
            "{},{},{},{},{},{},{bound},{},{},{},{recovered}\n",
            self.panel,
            self.x,
            self.seed,
            self.method,
            self.status,
            self.objective,
            self.seconds,
            self.solver_calls,
            self.nodes,
        )
    }

    fn from_line(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        let [
            panel,
            x,
            seed,
            method,
            status,
            objective,
            bound,
            seconds,
            calls,
            nodes,
            recovered,
        ] = cells[..]
        else {
            return None;
        };
        let optional = |cell: &str| (!cell.is_empty()).then(|| cell.parse::<f64>());
        Some(Self {
            panel: panel.to_owned(),
            x: x.parse().ok()?,
            seed: seed.parse().ok()?,
            method: method.to_owned(),
            status: status.parse().ok()?,
            objective: objective.parse().ok()?,
            lower_bound: optional(bound).transpose().ok()?,
            seconds: seconds.parse().ok()?,
            solver_calls: calls.parse().ok()?,
            nodes: nodes.parse().ok()?,
            recovered: match recovered {
                "" => None,
                "1" => Some(true),
                "0" => Some(false),
                _ => return None,
            },
        })
    }

    /// Returns the key of the run; a second result with the same key replaces the first.
    fn key(&self) -> Key {
        key(&self.panel, self.x, self.seed, &self.method)
    }

    /// Whether the run ended without proving what was asked for.
    pub fn is_cut_off(&self) -> bool {
        self.status.falls_short()
    }
}

/// The identity of a run.
type Key = (String, u64, u64, String);

fn key(panel: &str, x: f64, seed: u64, method: &str) -> Key {
    (panel.to_owned(), x.to_bits(), seed, method.to_owned())
}

/// The results of an experiment so far.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    begun: String,
    records: Vec<Record>,
    places: HashMap<Key, usize>,
    file: File,
}

impl Store {
    /// Opens the results of `name` in a folder, or creates them.
    ///
    /// Results of another configuration are refused, or removed with `restart`.
    pub fn open(
        folder: &Path,
        name: &str,
        configuration: &Value,
        today: &str,
        restart: bool,
    ) -> Result<Self, Failure> {
        let path = folder.join(format!("{name}.csv"));
        let settings = folder.join(format!("{name}.json"));
        if restart {
            for file in [&path, &settings] {
                match fs::remove_file(file) {
                    Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                        return Err(unwritable(file, reason));
                    }
                    _ => {}
                }
            }
        }
        let (records, begun) = if path.exists() {
            let begun = check_configuration(&path, &settings, configuration)?;
            (read(&path)?, begun)
        } else {
            let mut configuration = configuration.clone();
            configuration[BEGUN] = today.into();
            write_atomically(&settings, |out| {
                serde_json::to_writer_pretty(&mut *out, &configuration)?;
                writeln!(out)
            })?;
            (Vec::new(), today.to_owned())
        };
        // This drops an incomplete line that a killed run may have left.
        write_atomically(&path, |out| {
            writeln!(out, "{HEADER}")?;
            records
                .iter()
                .try_for_each(|record| out.write_all(record.to_line().as_bytes()))
        })?;
        let file = OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|reason| unwritable(&path, reason))?;
        let mut store = Self {
            path,
            begun,
            records: Vec::new(),
            places: HashMap::new(),
            file,
        };
        records.into_iter().for_each(|record| store.keep(record));
        Ok(store)
    }

    /// Returns the day on which the results were begun.
    pub fn begun(&self) -> &str {
        &self.begun
    }

    /// Returns all records.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Whether all of `methods` have a result for this instance.
    pub fn has<'a>(
        &self,
        panel: &str,
        x: f64,
        seed: u64,
        mut methods: impl Iterator<Item = &'a str>,
    ) -> bool {
        methods.all(|method| self.places.contains_key(&key(panel, x, seed, method)))
    }

    fn keep(&mut self, record: Record) {
        match self.places.insert(record.key(), self.records.len()) {
            None => self.records.push(record),
            Some(place) => {
                self.places.insert(record.key(), place);
                self.records[place] = record;
            }
        }
    }

    /// Appends the results of one instance at once; they replace any that a killed run left for it.
    pub fn append(&mut self, records: Vec<Record>) -> Result<(), Failure> {
        let lines: String = records.iter().map(Record::to_line).collect();
        self.file
            .write_all(lines.as_bytes())
            .and_then(|()| self.file.flush())
            .map_err(|reason| unwritable(&self.path, reason))?;
        records.into_iter().for_each(|record| self.keep(record));
        Ok(())
    }
}

fn unwritable(path: &Path, reason: io::Error) -> Failure {
    Failure::Output {
        what: format!("'{}'", path.display()),
        reason,
        advice: "choose another folder with --out",
    }
}

/// Refuses results of another configuration, which must not be averaged. Returns the day on which they were begun.
fn check_configuration(path: &Path, settings: &Path, wanted: &Value) -> Result<String, Failure> {
    let mut found: Option<Value> = fs::read_to_string(settings)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok());
    let begun = found
        .as_mut()
        .and_then(|found| found.as_object_mut()?.remove(BEGUN));
    let what = match found {
        Some(found) if found == *wanted => {
            let begun = begun.as_ref().and_then(Value::as_str);
            return Ok(begun.unwrap_or("an unknown day").to_owned());
        }
        Some(found) => difference(&found, wanted),
        None => format!("'{}' cannot be read", settings.display()),
    };
    Err(Failure::Usage(format!(
        "'{}' was made with another configuration ({what}); choose another folder with --out, or start anew with --restart",
        path.display()
    )))
}

/// Describes the first setting that differs.
fn difference(found: &Value, wanted: &Value) -> String {
    let (Some(found), Some(wanted)) = (found.as_object(), wanted.as_object()) else {
        return "it is no configuration".into();
    };
    let key = wanted
        .keys()
        .find(|key| found.get(*key) != wanted.get(*key));
    match key.map(|key| (key, found.get(key), &wanted[key])) {
        Some((key, Some(found), wanted)) if !wanted.is_array() => {
            format!("{key} was {found} and is {wanted}")
        }
        Some((key, ..)) => format!("other {key}"),
        None => "it has more settings".into(),
    }
}

/// Reads the complete lines of the file.
fn read(path: &Path) -> Result<Vec<Record>, Failure> {
    let damaged = |line: usize| {
        Failure::BadData(format!(
            "{}: line {line} is no result; remove the line, or start anew with --restart",
            path.display()
        ))
    };
    let text = fs::read_to_string(path).map_err(|reason| {
        Failure::BadData(format!(
            "cannot read '{}': {reason}; choose another folder with --out",
            path.display()
        ))
    })?;
    let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
    let mut records: Vec<Record> = Vec::new();
    for (index, line) in whole.lines().enumerate() {
        if index == 0 {
            if line != HEADER {
                return Err(damaged(1));
            }
            continue;
        }
        records.push(Record::from_line(line).ok_or_else(|| damaged(index + 1))?);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(seed: u64) -> Record {
        Record {
            panel: "huber".into(),
            x: 50.0,
            seed,
            method: "BFS (paper)".into(),
            status: Status::TimeLimit,
            objective: 0.1 + 0.2,
            lower_bound: Some(0.25),
            seconds: 1e-7,
            solver_calls: 12,
            nodes: 3,
            recovered: Some(false),
        }
    }

    fn open(folder: &Path, limit: u64, restart: bool) -> Result<Store, Failure> {
        let configuration = json!({ "time limit": limit });
        Store::open(folder, "x", &configuration, "2001-02-03", restart)
    }

    #[test]
    fn a_record_survives_its_line() {
        let mut inexact = record(2);
        inexact.lower_bound = None;
        inexact.recovered = None;
        for record in [record(1), inexact] {
            let line = record.to_line();
            assert_eq!(Record::from_line(line.trim_end()), Some(record));
        }
    }

    #[test]
    fn finished_instances_are_found_again_and_half_a_line_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path(), 1, false).unwrap();
        store.append(vec![record(1)]).unwrap();
        drop(store);
        let path = folder.path().join("x.csv");
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("huber,50,2,BFS (pa");
        fs::write(&path, text).unwrap();

        let mut store = open(folder.path(), 1, false).unwrap();
        let has = |store: &Store, seed| store.has("huber", 50.0, seed, ["BFS (paper)"].into_iter());
        assert!(has(&store, 1));
        assert!(!has(&store, 2));
        store.append(vec![record(2)]).unwrap();
        drop(store);
        assert!(has(&open(folder.path(), 1, false).unwrap(), 2));
    }

    #[test]
    fn another_configuration_is_refused_or_starts_anew() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path(), 1, false).unwrap();
        store.append(vec![record(1)]).unwrap();
        let refused = open(folder.path(), 2, false).unwrap_err().to_string();
        assert!(refused.contains("time limit was 1 and is 2"), "{refused}");
        assert!(open(folder.path(), 2, true).unwrap().records().is_empty());
    }
}
