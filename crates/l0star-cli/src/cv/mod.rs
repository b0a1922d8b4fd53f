//! `l0star cv`: how many features, and which ridge? Cross-validation, and the model that it chooses.
//!
//! | module | its one job |
//! |---|---|
//! | `folds` | which rows are held out together |
//! | `score` | how well held-out rows are predicted |
//! | `searches` | all searches, and the file of their checkpoints |
//! | `choose` | the best candidate, and the smallest that is not clearly worse |

mod choose;
mod folds;
mod score;
mod searches;
mod show;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use l0star::loss::ResponseKind;
use l0star::{BatchPlan, Settings, Status};
use l0star_data::counted;

use self::choose::{Candidate, Choice};
use self::score::Score;
use self::searches::Searches;
use crate::args::positive;
use crate::checkpoint::{CheckpointArgs, Checkpoints};
use crate::failure::{Failure, INTERRUPTED, LIMIT, SOLVED};
use crate::interrupt;
use crate::output;
use crate::saved::{self, Origin};
use crate::screen::Screen;
use crate::search::SearchArgs;
use crate::task::{Task, TaskArgs};

pub const EXAMPLES: &str = "\
Examples:
  l0star cv data/diabetes.csv --target target -k 8
  l0star cv data/diabetes.csv --target target -k 1-6 --ridge 1e-4,1e-3,1e-2 --folds 10 --json
  l0star cv patients.csv --target died --loss logistic -k 8 --score log-loss --out model.json
  l0star cv large.npy --target x1000 -k 12 --checkpoint large.ckpt
  l0star cv large.npy --target x1000 -k 12 --resume large.ckpt

Rows are shuffled by --seed and split into folds, with as many of each label in every one. Each candidate (k, ridge)
is fitted on all folds but one and scored on that one. Chosen is the smallest k whose mean score is within one standard
error of the best (--best: the best); the model with it is fitted to all rows.";

#[derive(Debug, clap::Args)]
pub struct CvArgs {
    #[command(flatten)]
    pub task: TaskArgs,

    /// Numbers of features to try: 8 is 0 to 8; also 2-6 and 1,2,5
    #[arg(short, value_name = "KS", default_value = "10", allow_hyphen_values = true, value_parser = sizes)]
    pub k: Sizes,

    /// Weights of the ridge to try, separated by commas
    #[arg(long, value_name = "RIDGES", default_value = "1e-3", value_delimiter = ',',
          allow_hyphen_values = true, value_parser = positive)]
    pub ridge: Vec<f64>,

    /// How many folds
    #[arg(long, value_name = "N", default_value_t = 5, allow_hyphen_values = true, value_parser = two_or_more)]
    pub folds: usize,

    /// The same seed gives the same folds
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 1,
        allow_hyphen_values = true
    )]
    pub seed: u64,

    /// What a fold is scored by [default: r2; for labels accuracy]
    #[arg(long, value_name = "SCORE")]
    pub score: Option<Score>,

    /// Choose the best mean score, not the smallest k within one standard error of it
    #[arg(long)]
    pub best: bool,

    #[command(flatten)]
    pub search: SearchArgs,

    #[command(flatten)]
    pub kept: CheckpointArgs,

    /// Print one JSON object instead of the table
    #[arg(long)]
    pub json: bool,

    /// Write the model that is chosen to this file, for predict and explain
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Print no table
    #[arg(long)]
    pub quiet: bool,
}

/// The numbers of features to try, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(Vec<usize>);

fn sizes(text: &str) -> Result<Sizes, String> {
    let refuse = || "it must be a largest number, a range 2-6 or a list 1,2,5".to_owned();
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| refuse());
    let mut sizes = match text.split_once('-') {
        Some((from, to)) => (number(from)?..=number(to)?).collect(),
        None if text.contains(',') => text.split(',').map(number).collect::<Result<Vec<_>, _>>()?,
        None => (0..=number(text)?).collect(),
    };
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        return Err(refuse());
    }
    Ok(Sizes(sizes))
}

fn two_or_more(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number >= 2);
    number.ok_or_else(|| "it must be a whole number, two or more".into())
}

/// What cross-validation found.
pub struct Found {
    pub score: Score,
    pub candidates: Vec<Candidate>,
    pub choice: Choice,
    /// Searches that proved less than was asked.
    pub unproved: usize,
    pub seconds: f64,
}

/// Scores every candidate and fits the one that is chosen.
pub fn run(args: &CvArgs) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let settings = args.search.settings()?;
    args.kept.check(settings.method)?;
    let others = [("the model", &args.out)];
    let checkpoints = Checkpoints::prepare(&args.kept, &args.task.data, &others)?;
    if let Some(out) = &args.out {
        output::check_writable(out)?;
        output::check_distinct("--out", out, "the data", &args.task.data)?;
    }
    let task = Task::read(&args.task)?;
    let score = score(args, &task)?;
    let ks = possible_sizes(&args.k.0, &task, args.ridge[0])?;
    let largest = ks.last().copied().unwrap_or(0);
    let mut warnings = task.warnings(largest);
    let stop = interrupt::flag();
    let settings = Settings {
        interrupt: Some(Arc::clone(&stop)),
        ..settings
    };
    let folds = folds::deal(&task, args.folds, args.seed)?;
    if !args.quiet && !args.json {
        output::warn(&args.search.warnings());
        output::warn(&warnings);
    }
    let searches = match checkpoints.are_kept() {
        true => {
            let problem = task.problem(largest, args.ridge[0], task.weights.as_deref())?;
            let batch = BatchPlan {
                problem: &problem,
                settings: &settings,
                parameters: &parameters(args, &ks, score),
                // On the folds, and on all rows.
                searches: args.ridge.len() * ks.len() * (folds.count + 1),
            };
            Searches::kept(checkpoints, &batch)?
        }
        false => Searches::unkept(),
    };
    let plan = Plan {
        task: &task,
        settings: &settings,
        ks: &ks,
        ridges: &args.ridge,
        folds: &folds,
        score,
        searches: &searches,
    };
    let threads = args.search.thread_count();
    let scored = plan.run(threads.map_or(1, NonZeroUsize::get));
    searches.save();
    let (scores, unproved) = scored?;
    if stop.load(Ordering::Relaxed) {
        // Scores of searches that were cut short would choose anything.
        if !args.quiet {
            let file = args.kept.checkpoint.as_ref().or(args.kept.resume.as_ref());
            output::warn(&[match file {
                Some(file) => format!(
                    "interrupted: nothing is chosen; go on with --resume {}",
                    file.display()
                ),
                None => "interrupted: nothing is chosen, nothing is written".to_owned(),
            }]);
        }
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let candidates = plan.candidates(&scores);
    let choice = choose::choose(&candidates, score, !args.best);
    let found = Found {
        score,
        candidates,
        choice,
        unproved,
        seconds: searches
            .seconds()
            .unwrap_or(started.elapsed().as_secs_f64()),
    };
    if unproved > 0 {
        warnings.push(format!(
            "{} ended without a proof, so the models that were scored may not be the best of their size",
            counted(unproved, "search")
        ));
    }

    let Candidate { k, ridge, .. } = found.candidates[found.choice.chosen];
    let problem = task.problem(k, ridge, task.weights.as_deref())?;
    let at = args.ridge.len() * ks.len() * folds.count + found.choice.chosen;
    let solution = searches.solve(at, &problem, &settings);
    searches.save();
    let solution = solution?;
    let fitted = saved::fitted(&task, &problem, (k, ridge), &solution, false, &warnings);
    if let Some(path) = &args.out {
        let origin = Origin::new(&args.task, &task, &problem, &settings);
        saved::model(&origin, fitted.clone()).save(path)?;
    }
    if args.json {
        output::print_json(&show::json(
            &found,
            &folds,
            args.seed,
            rule(args.best),
            &fitted,
        ))?;
    } else if !args.quiet {
        let screen = Screen::of_stdout();
        output::print(&show::table(&found, &fitted, task.intercept, &screen))?;
    }
    Ok(ExitCode::from(match solution.status {
        Status::Interrupted => INTERRUPTED,
        status if status.falls_short() || found.unproved > 0 => LIMIT,
        _ => SOLVED,
    }))
}

/// What makes the scores and the choice, besides the data and the settings of a search.
fn parameters(args: &CvArgs, ks: &[usize], score: Score) -> [(&'static str, String); 6] {
    fn list<T: ToString>(values: &[T]) -> String {
        let words: Vec<String> = values.iter().map(T::to_string).collect();
        words.join(",")
    }
    [
        ("sizes", list(ks)),
        ("ridge", list(&args.ridge)),
        ("folds", args.folds.to_string()),
        ("seed", args.seed.to_string()),
        ("score", score.to_string()),
        ("rule", rule(args.best).to_owned()),
    ]
}

/// How the choice is made, by its name.
fn rule(best: bool) -> &'static str {
    match best {
        true => "best",
        false => "one_standard_error",
    }
}

fn score(args: &CvArgs, task: &Task) -> Result<Score, Failure> {
    let of_labels = task.loss.response() == ResponseKind::Label;
    let score = args.score.unwrap_or(match of_labels {
        true => Score::Accuracy,
        false => Score::R2,
    });
    if score.is_of_labels() != of_labels {
        let (what, which) = match of_labels {
            true => ("labels", "accuracy or log-loss"),
            false => ("numbers", "r2, mse or mae"),
        };
        return Err(Failure::Usage(format!(
            "--score {score} does not go with --loss {}, which predicts {what}; use {which}",
            task.loss.name()
        )));
    }
    if score == Score::LogLoss && task.loss.name() != "logistic" {
        return Err(Failure::Usage(format!(
            "--score log-loss needs probabilities, and the loss '{}' has none; use --loss logistic or --score accuracy",
            task.loss.name()
        )));
    }
    Ok(score)
}

/// Sizes beyond the number of features are all the same model; those with less room than for what has to be in have none.
fn possible_sizes(ks: &[usize], task: &Task, ridge: f64) -> Result<Vec<usize>, Failure> {
    let mut ks: Vec<usize> = ks.iter().map(|k| (*k).min(task.features())).collect();
    ks.dedup();
    let largest = ks.last().copied().unwrap_or(0);
    let problem = task.problem(largest, ridge, task.weights.as_deref())?;
    let least = problem.included().len();
    ks.retain(|k| *k >= least);
    Ok(ks)
}

/// All that is to be fitted and scored.
struct Plan<'a> {
    task: &'a Task,
    settings: &'a Settings,
    ks: &'a [usize],
    ridges: &'a [f64],
    /// The fold of each row.
    folds: &'a folds::Folds,
    score: Score,
    searches: &'a Searches,
}

/// Scores of one ridge and fold for every k, and how many of the searches are not proved.
type PathScores = (Vec<f64>, usize);

impl Plan<'_> {
    /// Whether nobody wants to wait any longer.
    fn is_stopped(&self) -> bool {
        let flag = self.settings.interrupt.as_ref();
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The scores by (ridge, fold), each of them for every k; some of them when it is stopped.
    fn run(&self, threads: usize) -> Result<(Vec<Vec<f64>>, usize), Failure> {
        let count = self.ridges.len() * self.folds.count;
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let results: Mutex<Vec<Option<Result<PathScores, Failure>>>> =
            Mutex::new((0..count).map(|_| None).collect());
        std::thread::scope(|scope| {
            for _ in 0..threads.min(count) {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= count || failed.load(Ordering::Relaxed) || self.is_stopped() {
                            break;
                        }
                        let result = self.path(at / self.folds.count, at % self.folds.count);
                        failed.fetch_or(result.is_err(), Ordering::Relaxed);
                        let mut results = results.lock().unwrap_or_else(|lock| lock.into_inner());
                        results[at] = Some(result);
                    }
                });
            }
        });
        let (mut scores, mut unproved) = (Vec::new(), 0);
        let results = results
            .into_inner()
            .unwrap_or_else(|lock| lock.into_inner());
        for result in results.into_iter().flatten() {
            let (path, open) = result?;
            scores.push(path);
            unproved += open;
        }
        Ok((scores, unproved))
    }

    /// Every k on the rows outside one fold, scored inside it.
    fn path(&self, ridge: usize, fold: usize) -> Result<PathScores, Failure> {
        let outside = self.folds.weights(self.task, fold, false);
        let inside = self.folds.weights(self.task, fold, true);
        // Many searches run at the same time, each on one thread.
        let settings = Settings {
            threads: None,
            ..self.settings.clone()
        };
        let problem = self
            .task
            .problem(self.ks[0], self.ridges[ridge], Some(&outside))?;
        let (mut scores, mut unproved) = (Vec::new(), 0);
        let first = (ridge * self.folds.count + fold) * self.ks.len();
        for (at, &k) in (first..).zip(self.ks) {
            if let Some(score) = self.searches.score(at) {
                scores.push(score);
                continue;
            }
            if self.is_stopped() {
                break;
            }
            let solution = self.searches.solve(at, &problem.with_k(k)?, &settings)?;
            let predicted = self.task.scores(&solution.coefficients, solution.intercept);
            let score = self.score.of(&predicted, &self.task.response, &inside);
            match solution.status.falls_short() {
                true => unproved += 1,
                false => self.searches.finish(at, score),
            }
            scores.push(score);
        }
        Ok((scores, unproved))
    }

    /// The candidates with the scores of their folds, k running fastest.
    fn candidates(&self, scores: &[Vec<f64>]) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (i, ridge) in self.ridges.iter().enumerate() {
            for (j, k) in self.ks.iter().enumerate() {
                let folds = &scores[i * self.folds.count..(i + 1) * self.folds.count];
                let scores = folds.iter().map(|path| path[j]).collect();
                candidates.push(Candidate::new(*k, *ridge, scores));
            }
        }
        candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_a_largest_number_a_range_or_a_list() {
        assert_eq!(sizes("3").unwrap().0, [0, 1, 2, 3]);
        assert_eq!(sizes("2-4").unwrap().0, [2, 3, 4]);
        assert_eq!(sizes("5, 1,5").unwrap().0, [1, 5]);
        for text in ["", "x", "4-2", "-3", "1,,2", "1.5"] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }
}
