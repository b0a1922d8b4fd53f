//! The model of the chosen candidate: the fit to all rows, the model file and the report.

use std::time::Instant;

use l0star::{Settings, Status};
use l0star_record::cv::{Candidate, Penalty};
use l0star_record::fields::Fitted;
use l0star_record::outcome::Outcome;
use l0star_report::Face;
use l0star_report::page::{self, CvChart, CvPoint, FoldModel, Page};

use super::searches::Plan;
use super::{CvArgs, Found};
use crate::failure::Failure;
use crate::output;
use crate::saved::{self, Origin};
use crate::task::Task;

/// The fit of the chosen candidate to all rows.
pub(super) struct AllRows<'a> {
    pub args: &'a CvArgs,
    pub plan: &'a Plan<'a>,
    /// The chosen candidate.
    pub chosen: usize,
    /// Place of its path in the checkpoint.
    pub place: usize,
    /// When the run began.
    pub started: Instant,
}

impl AllRows<'_> {
    /// Fits the model and writes its files. Returns the fit, and the status of its search.
    pub fn run(
        &self,
        found: &mut Found,
        warnings: &mut Vec<String>,
    ) -> Result<(Fitted, Status), Failure> {
        let Plan { task, searches, .. } = self.plan;
        let candidate = &found.tally.candidates[self.chosen];
        let (k, ridge, l0) = (candidate.k, candidate.ridge, candidate.l0_penalty);
        let problem = task.problem_at(k, Penalty { ridge, l0 }, task.weights.as_deref())?;
        let limit = self.plan.settings.time_limit;
        let settings = Settings {
            time_limit: limit.map(|limit| limit.saturating_sub(self.started.elapsed())),
            ..self.plan.settings.clone()
        };
        let solution = searches.solve(self.place, &problem, &settings);
        searches.save();
        let solution = solution?;
        found.seconds = searches.seconds();
        let (shown, is_refit, note) = task.reported(&problem, &solution);
        if !self.args.quiet && !self.args.json {
            output::warn(note.as_slice());
        }
        warnings.extend(note);
        let rules = task.rules.with_l0_penalty(l0);
        let outcome = Outcome {
            is_refit,
            rules: &rules,
            ..task.outcome(&problem, ridge, warnings)
        };
        let fitted = outcome.with_inference(outcome.fitted(&shown), &shown);
        let origin = Origin::new(task, &problem, self.plan.settings);
        let fitted = origin.measured(fitted)?;
        if let Some(path) = &self.args.out {
            saved::model(&origin, fitted.clone()).save(path)?;
        }
        if let Some(path) = &self.args.report {
            let model = saved::model(&origin, fitted.clone());
            let scores = task.scores(&shown.coefficients, shown.intercept);
            let folds = self.plan.models(self.chosen);
            let page = Page {
                rows: task.scored(&scores),
                cv: Some(chart(found, self.chosen, &folds, task)),
                ..Page::new(Face::Command, &model)
            };
            page::save(path, &page)?;
        }
        Ok((fitted, solution.status))
    }
}

/// Returns the scores for the report, and the models of the folds at the choice.
fn chart(found: &Found, chosen: usize, folds: &[Vec<usize>], task: &Task) -> CvChart {
    let point = |(at, candidate): (usize, &Candidate)| CvPoint {
        k: candidate.k,
        ridge: candidate.ridge,
        l0_penalty: candidate.l0_penalty,
        features: candidate.mean_features(),
        mean: candidate.mean(),
        error: candidate.standard_error(),
        chosen: at == chosen,
        best: found.choice.is_some_and(|choice| choice.best == at),
    };
    let candidates = found.tally.candidates.iter().enumerate();
    let fold = |(at, columns): (usize, &Vec<usize>)| FoldModel {
        fold: at + 1,
        score: found.tally.candidates[chosen].folds[at].map(|scored| scored.score),
        support: columns.iter().map(|j| task.names[*j].clone()).collect(),
    };
    CvChart {
        score: found.score.to_string(),
        points: candidates.map(point).collect(),
        folds: folds.iter().enumerate().map(fold).collect(),
    }
}
