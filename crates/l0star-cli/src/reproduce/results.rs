//! Means, deviations and counts of the results.

use std::collections::HashMap;

use l0star::Status;

use super::plan::Point;
use super::store::Record;

/// Error that counts as none. The paper's own rule: "We regarded numerical errors smaller than 10⁻¹² as 0".
const NO_ERROR: f64 = 1e-12;

/// The results of one experiment for the instances asked for.
#[derive(Debug)]
pub struct Results<'a> {
    records: Vec<&'a Record>,
    /// The least proved objective of each instance that some method solved to optimality.
    optima: HashMap<Instance, f64>,
    /// The panels of real data; their places are different allowed errors on the same instance.
    real: Vec<&'static str>,
}

/// The panel, place and seed of an instance.
type Instance = (String, u64, u64);

/// A value at a place of the horizontal axis, over all instances there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    pub x: f64,
    pub mean: f64,
    pub deviation: f64,
    /// The number of runs that were cut off. With any, the mean is only a lower bound.
    pub cut_off: usize,
}

/// The number of instances that a method solved, among those whose optimum is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    pub solved: usize,
    pub known: usize,
}

impl<'a> Results<'a> {
    /// Selects the results of seeds up to `instances`, at the points of the plan.
    pub fn new(records: &'a [Record], points: &[Point], instances: u64) -> Self {
        let planned = |record: &Record| {
            record.seed <= instances
                && points
                    .iter()
                    .any(|point| point.panel == record.panel && point.x == record.x)
        };
        let real = points.iter().filter(|point| !point.is_drawn());
        let mut results = Self {
            records: records.iter().filter(|record| planned(record)).collect(),
            optima: HashMap::new(),
            real: real.map(|point| point.panel).collect(),
        };
        let mut optima = HashMap::new();
        for record in results
            .records
            .iter()
            .filter(|r| r.status == Status::Optimal)
        {
            let instance = optima.entry(results.instance(record));
            let least: &mut f64 = instance.or_insert(f64::INFINITY);
            *least = least.min(record.objective);
        }
        results.optima = optima;
        results
    }

    fn instance(&self, record: &Record) -> Instance {
        let place = if self.real.contains(&record.panel.as_str()) {
            0
        } else {
            record.x.to_bits()
        };
        (record.panel.clone(), place, record.seed)
    }

    /// Returns all results of a method in a panel.
    pub fn of(&self, panel: &str, method: &str) -> impl Iterator<Item = &'a Record> {
        let wanted = |record: &&&Record| record.panel == panel && record.method == method;
        self.records
            .iter()
            .filter(wanted)
            .copied()
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Returns the mean and standard deviation of a quantity, place by place.
    pub fn marks(&self, panel: &str, method: &str, of: impl Fn(&Record) -> f64) -> Vec<Mark> {
        let mut places: Vec<f64> = self.of(panel, method).map(|record| record.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let at = |x: f64| {
            let here = self.of(panel, method).filter(|record| record.x == x);
            let here: Vec<&Record> = here.collect();
            let values: Vec<f64> = here.iter().map(|record| of(record)).collect();
            Mark {
                x,
                mean: mean(&values),
                deviation: deviation(&values),
                cut_off: here.iter().filter(|record| record.is_cut_off()).count(),
            }
        };
        places.into_iter().map(at).collect()
    }

    /// Returns how far a result is above the optimum; 0 for errors that the paper regards as 0.
    pub fn error(&self, record: &Record) -> Option<f64> {
        let error = record.objective - self.optima.get(&self.instance(record))?;
        Some(if error < NO_ERROR { 0.0 } else { error })
    }

    /// Counts the instances that a method solved.
    pub fn solved(&self, panel: &str, method: &str) -> Solved {
        let errors: Vec<f64> = self
            .of(panel, method)
            .filter_map(|record| self.error(record))
            .collect();
        Solved {
            solved: errors.iter().filter(|error| **error == 0.0).count(),
            known: errors.len(),
        }
    }

    /// Returns the runs that were cut off.
    pub fn cut_off(&self) -> impl Iterator<Item = &&'a Record> {
        self.records.iter().filter(|record| record.is_cut_off())
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.records.len()
    }
}

/// Returns the mean of the values; NaN if there are none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the population standard deviation, which the figures show.
fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / values.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::plan::Source;
    use super::*;

    fn record(method: &str, x: f64, status: Status, objective: f64) -> Record {
        Record {
            panel: "huber".into(),
            x,
            seed: 1,
            method: method.into(),
            status,
            objective,
            lower_bound: None,
            seconds: objective,
            solver_calls: 1,
            nodes: 1,
            recovered: Some(true),
        }
    }

    fn points() -> Vec<Point> {
        [1.0, 2.0]
            .map(|x| Point {
                panel: "huber",
                x,
                source: Source::huber(10, 1),
                entrants: Vec::new(),
            })
            .to_vec()
    }

    #[test]
    fn only_a_proof_makes_an_optimum() {
        let records = [
            record("a", 1.0, Status::Optimal, 3.0),
            record("b", 1.0, Status::Heuristic, 3.0 + 1e-13),
            record("c", 1.0, Status::Heuristic, 3.1),
            record("a", 2.0, Status::TimeLimit, 3.0),
            record("b", 2.0, Status::Heuristic, 3.0),
        ];
        let results = Results::new(&records, &points(), 1);
        let counts = |method| {
            let Solved { solved, known } = results.solved("huber", method);
            (solved, known)
        };
        assert_eq!(counts("a"), (1, 1));
        assert_eq!(counts("b"), (1, 1));
        assert_eq!(counts("c"), (0, 1));
        assert_eq!(results.cut_off().count(), 1);
    }

    #[test]
    fn marks_are_means_over_the_instances_asked_for() {
        let mut records = vec![
            record("a", 1.0, Status::Optimal, 1.0),
            record("a", 1.0, Status::TimeLimit, 3.0),
            record("a", 1.0, Status::Optimal, 100.0),
        ];
        records[1].seed = 2;
        records[2].seed = 3;
        let results = Results::new(&records, &points(), 2);
        let marks = results.marks("huber", "a", |record| record.seconds);
        let expected = Mark {
            x: 1.0,
            mean: 2.0,
            deviation: 1.0,
            cut_off: 1,
        };
        assert_eq!(marks, [expected]);
    }
}
