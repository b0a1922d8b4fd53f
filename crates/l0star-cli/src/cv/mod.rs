//! `l0star cv`: chooses the number of features, the ridge and the price per feature by cross-validation.
//!
//! The algorithm is in `l0star_record::cv`; this module has the options, the files and the tables.
//!
//! | module | its one job |
//! |---|---|
//! | `chosen` | the model of the chosen candidate, fitted to all rows, and its files |
//! | `deal` | the folds of the rows |
//! | `searches` | problems from the file, and the checkpoint file |
//! | `show` | the result as JSON and as text |

mod chosen;
mod deal;
mod searches;
mod show;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use l0star::{BatchPlan, Settings, Status};
use l0star_data::counted;
use l0star_record::cv::{Axis, Choice, Penalty, Rule, Score, Tally, Undecided, choose, on_folds};
use l0star_report::{Face, outlook};

use self::chosen::AllRows;
use self::deal::deal;
use self::searches::{Plan, Searches};
use crate::checkpoint::{CheckpointArgs, Checkpoints};
use crate::failure::{Failure, INTERRUPTED, LIMIT, SOLVED};
use crate::interrupt;
use crate::numbers::positive;
use crate::output;
use crate::progress;
use crate::screen::Screen;
use crate::search::SearchArgs;
use crate::task::{Task, TaskArgs};

pub const EXAMPLES: &str = "\
Examples:
  l0star cv data/diabetes.csv --target target -k 8
  l0star cv data/diabetes.csv --target target -k 1-6 --ridge 1e-4,1e-3,1e-2 --folds 10 --json
  l0star cv data/diabetes.csv --target target --l0-penalty 20,60,200
  l0star cv patients.csv --target died --loss logistic -k 8 --score log-loss --out model.json
  l0star cv large.npy --target x1000 -k 12 --checkpoint large.ckpt
  l0star cv large.npy --target x1000 -k 12 --resume large.ckpt

--seed shuffles the rows, which are split into folds with the same share of each label. Each candidate (k, ridge) is \
fitted to all folds but one and scored on that one. The choice is the smallest k whose mean score is within one standard \
error of the best; --rule best takes the best itself, and --rule proof the largest ridge (then the smallest k) within 1 % of \
the best, which is provable far more often. The model is then fitted to all rows.

Several prices (--l0-penalty) are candidates too. A single number -k only limits the size then, and without -k nothing does; \
-k 2-6 and -k 1,2,5 try these sizes at every price. Of prices the rules take the largest where they would take the smallest k.

--time-limit applies to the whole run; the fit to all rows gets the time of one fold. Searches that it cuts off have no \
score: the choice is among the sizes that are complete, and there is none where the score was still rising. \
--search-time-limit, --node-limit and --memory-limit apply to each search; a search that they stop is scored with the \
best model it found, and marked.";

#[derive(Debug, clap::Args)]
pub struct CvArgs {
    #[command(flatten)]
    pub task: TaskArgs,

    /// Numbers of features to try: 8 is 0 to 8; also 2-6 and 1,2,5. With several prices 8 is at most 8, and the default all
    /// [default: 10]
    #[arg(short, value_name = "KS", allow_hyphen_values = true, value_parser = sizes)]
    pub k: Option<Sizes>,

    /// Weights of the ridge to try, separated by commas
    #[arg(long, value_name = "RIDGES", default_value = "1e-3", value_delimiter = ',',
          allow_hyphen_values = true, value_parser = positive)]
    pub ridge: Vec<f64>,

    /// How many folds
    #[arg(long, value_name = "N", default_value_t = 5, allow_hyphen_values = true, value_parser = two_or_more)]
    pub folds: usize,

    /// What a fold is scored by [default: r2; for labels accuracy; for counts, amounts and times deviance]
    #[arg(long, value_name = "SCORE",
          value_parser = PossibleValuesParser::new(scores()).try_map(|word| word.parse::<Score>()))]
    pub score: Option<Score>,

    /// How k, the ridge and the price are chosen
    #[arg(long, value_name = "RULE", default_value = Rule::OneSe.word(),
          value_parser = PossibleValuesParser::new(rules()).try_map(|word| word.parse::<Rule>()))]
    pub rule: Rule,

    /// The same as --rule best
    #[arg(long, conflicts_with = "rule")]
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

    /// Write the scores and the model that is chosen as an HTML page
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Print no table and no progress bar
    #[arg(long)]
    pub quiet: bool,

    /// Print a line for every search that has ended on standard error
    #[arg(long)]
    pub log: bool,
}

/// The numbers of features to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// All sizes up to this one; with several prices, this one as the limit.
    UpTo(usize),
    /// These sizes, ascending.
    These(Vec<usize>),
}

impl Sizes {
    /// Returns the sizes to try, given the number of features.
    fn of(asked: Option<&Self>, has_prices: bool, features: usize) -> Vec<usize> {
        let mut ks = match (asked, has_prices) {
            (None, true) => vec![features],
            (None, false) => (0..=DEFAULT_K).collect(),
            (Some(Self::UpTo(limit)), true) => vec![*limit],
            (Some(Self::UpTo(largest)), false) => (0..=*largest).collect(),
            (Some(Self::These(sizes)), _) => sizes.clone(),
        };
        // All sizes beyond the number of features give the same model.
        ks.iter_mut().for_each(|k| *k = (*k).min(features));
        ks.dedup();
        ks
    }
}

/// Largest size that is tried without `-k`.
const DEFAULT_K: usize = 10;

fn sizes(text: &str) -> Result<Sizes, String> {
    let refuse = || "it must be a largest number, a range 2-6 or a list 1,2,5".to_owned();
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| refuse());
    let mut sizes = match text.split_once('-') {
        Some((from, to)) => (number(from)?..=number(to)?).collect(),
        None if text.contains(',') => text.split(',').map(number).collect::<Result<Vec<_>, _>>()?,
        None => return Ok(Sizes::UpTo(number(text)?)),
    };
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        return Err(refuse());
    }
    Ok(Sizes::These(sizes))
}

/// Returns the values of `--rule` with their help.
fn rules() -> [PossibleValue; 3] {
    Rule::ALL.map(|rule| PossibleValue::new(rule.word()).help(rule.reason(Axis::Sizes)))
}

/// Returns the values of `--score` with their help.
fn scores() -> [PossibleValue; 7] {
    Score::ALL.map(|score| PossibleValue::new(score.word()).help(score.description()))
}

fn two_or_more(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number >= 2);
    number.ok_or_else(|| "it must be a whole number, two or more".into())
}

/// Reason why scores are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    TimeLimit,
    Interrupted,
}

/// The result of cross-validation.
pub struct Found {
    pub score: Score,
    pub rule: Rule,
    pub tally: Tally,
    pub cut: Option<Cut>,
    pub choice: Option<Choice>,
    /// Notes for the user about the searches.
    pub notes: Vec<String>,
    pub seconds: f64,
}

/// Scores every candidate and fits the chosen one.
pub fn run(args: &CvArgs) -> Result<ExitCode, Failure> {
    let settings = args.search.settings()?;
    args.task.rules.check_factors()?;
    args.kept.check(settings.method)?;
    let others = [("the model", &args.out), ("the report", &args.report)];
    let checkpoints = Checkpoints::prepare(&args.kept, &args.task.data, &others)?;
    output::check_files(&args.out, &args.report, &args.task.data)?;
    let task = if args.score == Some(Score::Mae) {
        Task::read(&args.task, args.quiet)?
    } else {
        Task::read_or_sum_folds(&args.task, args.quiet, args.folds)?
    };
    if task.folds.is_empty() {
        task.needs_rows("cv")?;
    }
    let score = score(args, &task)?;
    let penalties = penalties(args);
    let has_prices = penalties[0].l0 != penalties[penalties.len() - 1].l0;
    let ks = Sizes::of(args.k.as_ref(), has_prices, task.features());
    let ks = possible_sizes(ks, &task, penalties[0])?;
    let largest = ks.last().copied().unwrap_or(0);
    let mut warnings = task.warnings(largest);
    let stop = interrupt::flag();
    let settings = Settings {
        interrupt: Some(Arc::clone(&stop)),
        ..settings
    };
    let folds = deal(&task, args.folds, args.task.seed)?;
    if !args.quiet && !args.json {
        output::warn(&args.search.warnings());
        output::warn(&warnings);
    }
    let paths = penalties.len() * folds.count;
    let searches = if checkpoints.are_kept() {
        let problem = task.problem_at(largest, penalties[0], task.weights.as_deref())?;
        let batch = BatchPlan {
            problem: &problem,
            settings: &settings,
            parameters: &parameters(args, &ks, score),
            // One path per penalty and fold, and for each candidate a path of one size on all rows.
            paths: paths + penalties.len() * ks.len(),
        };
        Searches::kept(checkpoints, &batch)?
    } else {
        Searches::unkept()
    };
    let started = Instant::now();
    let limit = settings.time_limit;
    let plan = Plan {
        task: &task,
        settings: &settings,
        ks: &ks,
        penalties: &penalties,
        folds: &folds,
        score,
        searches: &searches,
        // A limit too far away to be represented counts as none.
        deadline: limit.and_then(|limit| started.checked_add(on_folds(limit, folds.count))),
        bar: progress::bar(paths * ks.len(), "searches", args.quiet || args.log),
        log: args.log,
        found: Mutex::default(),
    };
    let threads = args.search.thread_count();
    let tally = plan.run(threads.map_or(1, NonZeroUsize::get));
    plan.bar.finish_and_clear();
    searches.save();
    let tally = tally?;
    let cut = match tally.missing() {
        (0, _) => None,
        _ if stop.load(Ordering::Relaxed) => Some(Cut::Interrupted),
        _ => Some(Cut::TimeLimit),
    };
    let choice = match cut {
        Some(Cut::Interrupted) => None,
        _ => Some(choose(&tally, score.is_gain(), rule(args))),
    };
    let mut found = Found {
        notes: notes(&tally, cut, choice, args),
        score,
        rule: rule(args),
        tally,
        cut,
        choice: choice.and_then(Result::ok),
        seconds: searches.seconds(),
    };
    warnings.extend(found.notes.iter().cloned());
    let model = match found.choice {
        None => None,
        Some(Choice { chosen, .. }) => {
            let fit = AllRows {
                args,
                plan: &plan,
                chosen,
                place: paths + chosen,
                started,
            };
            Some(fit.run(&mut found, &mut warnings)?)
        }
    };
    let (fitted, status) = model.unzip();
    if args.json {
        let about = show::About {
            folds: &folds,
            seed: args.task.seed,
            rule: rule_name(rule(args)),
            warnings: &warnings,
        };
        output::print_json(&show::json(&found, &about, fitted.as_ref()))?;
    } else if !args.quiet {
        let screen = Screen::of_stdout();
        let fitted = fitted.as_ref();
        output::print(&show::table(&found, fitted, task.intercept, &screen))?;
    }
    let is_unproved = found.tally.unproved().is_some();
    Ok(ExitCode::from(match status {
        _ if cut == Some(Cut::Interrupted) || status == Some(Status::Interrupted) => INTERRUPTED,
        Some(status) if !status.falls_short() && cut.is_none() && !is_unproved => SOLVED,
        _ => LIMIT,
    }))
}

/// Returns notes about the searches: those that a limit stopped, and those that are missing.
fn notes(
    tally: &Tally,
    cut: Option<Cut>,
    choice: Option<Result<Choice, Undecided>>,
    args: &CvArgs,
) -> Vec<String> {
    let mut notes: Vec<String> = tally.unproved().into_iter().collect();
    notes.extend(outlook::of_folds(tally, Face::Command));
    let Some(cut) = cut else {
        return notes;
    };
    let (missing, all) = tally.missing();
    let (one, these, last) = match tally.axis() {
        Axis::Sizes => ("size", "sizes", "largest"),
        Axis::Prices => ("price", "prices", "lowest"),
    };
    let complete = match tally.complete_in_words() {
        None => format!("no {one} is complete"),
        Some(words) => format!("complete: {words}"),
    };
    let what = match cut {
        Cut::Interrupted => "the interrupt",
        Cut::TimeLimit => "the time limit of the run",
    };
    let choice = match choice {
        Some(Ok(_)) => format!("the choice is among these {these} only"),
        Some(Err(Undecided::Rising)) => format!(
            "nothing is chosen, since the score was still rising at the {last} of these {these}"
        ),
        Some(Err(Undecided::NoSize)) | None => "nothing is chosen".to_owned(),
    };
    notes.push(format!(
        "{what} cut off {missing} of {}; {complete}; {choice}",
        counted(all, "search")
    ));
    let file = args.kept.checkpoint.as_ref().or(args.kept.resume.as_ref());
    notes.push(match file {
        Some(file) => format!("to go on, use --resume {}", file.display()),
        None => "with --checkpoint FILE such a run can be resumed".to_owned(),
    });
    notes
}

/// Returns the penalties to try with each size: every ridge with every price.
fn penalties(args: &CvArgs) -> Vec<Penalty> {
    match &args.task.rules.l0_penalty[..] {
        [] => Penalty::grid(&args.ridge, &[0.0]),
        prices => Penalty::grid(&args.ridge, prices),
    }
}

/// Returns the parameters that determine the scores and the choice, besides the data and the search settings.
fn parameters(args: &CvArgs, ks: &[usize], score: Score) -> [(&'static str, String); 7] {
    fn list<T: ToString>(values: &[T]) -> String {
        let words: Vec<String> = values.iter().map(T::to_string).collect();
        words.join(",")
    }
    [
        ("sizes", list(ks)),
        ("ridge", list(&args.ridge)),
        ("l0_penalty", list(&args.task.rules.l0_penalty)),
        ("folds", args.folds.to_string()),
        ("seed", args.task.seed.to_string()),
        ("score", score.to_string()),
        ("rule", rule_name(rule(args)).to_owned()),
    ]
}

/// Returns the rule of the choice.
fn rule(args: &CvArgs) -> Rule {
    if args.best { Rule::Best } else { args.rule }
}

/// Returns the name of the rule in JSON and checkpoints.
fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::OneSe => "one_standard_error",
        rule => rule.word(),
    }
}

fn score(args: &CvArgs, task: &Task) -> Result<Score, Failure> {
    let of_labels = !task.loss.response().is_numeric();
    let score = args.score.unwrap_or(Score::usual(&*task.loss));
    // Whether a loss on labels has probabilities is checked below.
    let has_score = score.suits(&*task.loss) || score == Score::LogLoss;
    if score.is_of_labels() != of_labels || !has_score {
        let (what, which) = if of_labels {
            ("labels", "accuracy or log-loss")
        } else if task.loss.has_hazards() {
            ("hazards", "deviance or concordance")
        } else if task.loss.has_log_link() {
            ("counts or amounts", "deviance, r2, mse or mae")
        } else {
            ("numbers", "r2, mse or mae")
        };
        return Err(Failure::Usage(format!(
            "--score {score} does not go with --loss {}, which predicts {what}; use {which}",
            task.loss.name()
        )));
    }
    if score == Score::LogLoss && !score.suits(&*task.loss) {
        return Err(Failure::Usage(format!(
            "--score log-loss needs probabilities, and the loss '{}' has none; use --loss logistic or --score accuracy",
            task.loss.name()
        )));
    }
    Ok(score)
}

/// Keeps the sizes that have room for the features that must be in.
fn possible_sizes(
    mut ks: Vec<usize>,
    task: &Task,
    penalty: Penalty,
) -> Result<Vec<usize>, Failure> {
    let largest = ks.last().copied().unwrap_or(0);
    let problem = task.problem_at(largest, penalty, task.weights.as_deref())?;
    let least = problem.included().len();
    ks.retain(|k| *k >= least);
    Ok(ks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_a_largest_number_a_range_or_a_list() {
        assert_eq!(sizes("3").unwrap(), Sizes::UpTo(3));
        assert_eq!(sizes("2-4").unwrap(), Sizes::These(vec![2, 3, 4]));
        assert_eq!(sizes("5, 1,5").unwrap(), Sizes::These(vec![1, 5]));
        for text in ["", "x", "4-2", "-3", "1,,2", "1.5"] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn with_several_prices_one_number_is_a_limit() {
        let of = |text: &str, has_prices| Sizes::of(Some(&sizes(text).unwrap()), has_prices, 4);
        assert_eq!(of("2", false), [0, 1, 2]);
        assert_eq!(of("2", true), [2]);
        assert_eq!(of("2-6", true), [2, 3, 4]);
        assert_eq!(Sizes::of(None, false, 4), [0, 1, 2, 3, 4]);
        assert_eq!(Sizes::of(None, true, 4), [4]);
    }
}
