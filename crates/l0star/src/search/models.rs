//! The search for models beside that for bounds: when it begins, and how much of the work it gets.

use super::context::ModelSearch;
use super::{Context, Source};
use crate::tuning::models::{
    EASY_NODES, FIRST_WORK, PATIENCE, PATIENCE_OF_DECISIONS, WORK_OF_A_WHILE,
};

/// Looks for models before anything is proved, where that is worth it.
pub(crate) fn first(context: &mut Context) {
    if context.problem.has_weak_bounds() {
        begin(context);
        let mut size = context.problem.support_size();
        if context.problem.is_priced() {
            // Prices say how large models are, more than k does.
            let known = context.incumbents.first();
            size = size.min(known.map_or(0, |known| known.support.len()) + 1);
        }
        let starts = match context.incumbents.decision() {
            // Few columns have few local optima.
            None => PATIENCE.min(context.problem.selectable.len() as u64),
            Some(_) => PATIENCE_OF_DECISIONS,
        };
        proceed(context, FIRST_WORK, starts * size as u64);
    }
}

/// Looks for models after a node whose expansion took about so many multiplications: a large share of that while the gap is
/// large, little when there is only something to prove.
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

/// Looks for models for a while, on a thread that does nothing else. False when there is no longer enough to be found for
/// that: the bound `bound` has come near.
pub(crate) fn alone(context: &mut Context, bound: f64) -> bool {
    begin(context);
    if context.models.is_none() || gap(context, bound) <= 0.1 {
        return false;
    }
    proceed(context, WORK_OF_A_WHILE, u64::MAX);
    true
}

/// What is left to prove, as a share.
fn gap(context: &Context, bound: f64) -> f64 {
    (context.incumbents.reference() - bound)
        / context.incumbents.scale_of(context.incumbents.reference())
}

/// Makes the search for models, unless it is there.
fn begin(context: &mut Context) {
    if context.looks_for_models()
        && let Some(make) = context.model_searches
    {
        let models = make(context);
        adopt(context, models);
    }
}

/// Takes up a search for models, which starts from what the searches of other sizes, or for other decisions, have found.
pub(crate) fn adopt<'p>(context: &mut Context<'p>, models: Option<Box<dyn ModelSearch<'p> + 'p>>) {
    context.models = models;
    if let (Some(models), Some(optima)) = (&mut context.models, &context.optima) {
        let known = optima.near(context.problem.support_size());
        known.iter().for_each(|features| models.suggest(features));
    }
}

/// A node suggests a model: the features of its relaxed point.
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
