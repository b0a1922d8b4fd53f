//! The search for models alongside that for bounds: when it begins, and its share of the work.

use super::context::ModelSearch;
use super::{Context, Source};
use crate::tuning::models::{
    EASY_NODES, FIRST_WORK, PATIENCE, PATIENCE_OF_DECISIONS, WORK_OF_A_WHILE,
};

/// Searches for models before anything is proved, where that is worthwhile.
pub(crate) fn first(context: &mut Context) {
    if context.problem.has_weak_bounds() {
        begin(context);
        let mut size = context.problem.support_size();
        if context.problem.is_priced() {
            // Prices limit the size of a model more than k does.
            let known = context.incumbents.first();
            size = size.min(known.map_or(0, |known| known.support.len()) + 1);
        }
        let starts = match context.incumbents.decision() {
            // Problems with few columns have few local optima.
            None => PATIENCE.min(context.problem.selectable.len() as u64),
            Some(_) => PATIENCE_OF_DECISIONS,
        };
        proceed(context, FIRST_WORK, starts * size as u64);
    }
}

/// Searches for models after a node whose expansion took about this many multiplications. The share of that work is
/// large while the gap is large, and small when only a proof remains.
pub(crate) fn beside(context: &mut Context, work: u64, nodes: u64, bound: f64) {
    if work == 0 || (nodes < EASY_NODES && !context.problem.has_weak_bounds()) {
        return;
    }
    begin(context);
    let share = match gap(context, bound) {
        gap if gap > 0.5 && context.problem.has_weak_bounds() => 2 * work,
        gap if gap > 0.5 => work,
        gap if gap > 0.1 => work / 5,
        gap if gap > 0.01 => work / 20,
        _ => work / 100,
    };
    proceed(context, share, u64::MAX);
}

/// Searches for models for a while, on a thread that does nothing else. Returns false when the bound `bound` is so
/// near that this is no longer worthwhile.
pub(crate) fn alone(context: &mut Context, bound: f64) -> bool {
    begin(context);
    if context.models.is_none() || gap(context, bound) <= 0.1 {
        return false;
    }
    proceed(context, WORK_OF_A_WHILE, u64::MAX);
    true
}

/// The gap that remains to be proved, relative to the objective.
fn gap(context: &Context, bound: f64) -> f64 {
    (context.incumbents.reference() - bound)
        / context.incumbents.scale_of(context.incumbents.reference())
}

/// Makes the search for models, unless there is one.
fn begin(context: &mut Context) {
    if context.looks_for_models()
        && let Some(make) = context.model_searches
    {
        let models = make(context);
        adopt(context, models);
    }
}

/// Adopts a search for models, which starts from the local optima of the searches for other sizes or other decisions.
pub(crate) fn adopt<'p>(context: &mut Context<'p>, models: Option<Box<dyn ModelSearch<'p> + 'p>>) {
    context.models = models;
    if let (Some(models), Some(optima)) = (&mut context.models, &context.optima) {
        let known = optima.near(context.problem.support_size());
        known.iter().for_each(|features| models.suggest(features));
    }
}

/// Suggests a model found by a node: the features of its relaxed point.
pub(crate) fn suggest(context: &mut Context, features: &[usize]) {
    if let Some(models) = &mut context.models {
        models.suggest(features);
    }
}

fn proceed(context: &mut Context, work: u64, patience: u64) {
    if let Some(mut search) = context.models.take() {
        let source = std::mem::replace(&mut context.source, Source::LocalSearch);
        search.work(work, patience, context);
        context.source = source;
        if let Some(optima) = &context.optima {
            optima.keep(search.fresh());
        }
        context.models = Some(search);
    }
}
