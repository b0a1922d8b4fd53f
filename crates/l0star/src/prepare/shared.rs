//! [`SharedWork`]: data shared by runs on the same columns.

use std::sync::Arc;

use super::bands::GramBands;
use crate::gram::frame::Frame;
use crate::gram::root::Root;
use crate::gram::triangle::Triangle;
use crate::gram::working::Working;
use crate::problem::Problem;
use crate::search::Context;
use crate::search::optima::Optima;
use crate::tuning::prepare::{LEAST_PART, MIDDLING_PRODUCT};
use crate::tuning::working::BATCH;

/// Data shared by runs on problems that differ only in k, or on one problem for several decisions. The first run makes
/// the data, and the others use them.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedWork {
    /// The quadratic over all columns.
    root: Option<Arc<Root>>,
    /// The frame of all columns: one that only finds points, and the proved one of the search.
    pub(super) unproved: Option<Arc<Frame>>,
    pub(super) proved: Option<Arc<Frame>>,
    /// The columns that matter so far in a wide problem.
    working: Option<Working>,
    /// The rows of the quadratic as they are kept, if making them took long.
    pub kept: Option<Arc<Triangle>>,
    /// The local optima found by the searches for models.
    optima: Arc<Optima>,
    /// Whether there is only one run, which need not use all columns.
    pub(super) is_single: bool,
    /// The columns that the run uses, if not all: the remaining ones of a search whose subtrees are explored.
    columns: Option<Vec<usize>>,
    /// With twins: data shared by the searches of the leaders, and by those of models that use a class twice.
    twins: Option<Box<[SharedWork; 2]>>,
}

impl SharedWork {
    /// Data for a single run, which shares nothing with others.
    pub(crate) fn single() -> Self {
        Self {
            is_single: true,
            ..Self::default()
        }
    }

    /// Data for runs that explore the subtrees of one search with these remaining columns.
    pub(crate) fn about(columns: Vec<usize>) -> Self {
        Self {
            columns: Some(columns),
            ..Self::single()
        }
    }

    /// Whether the data are for the remaining columns of a run: `alive` of a resumed one, or else these selectable
    /// ones.
    pub(super) fn is_about(
        &self,
        problem: &Problem,
        alive: Option<&[usize]>,
        left: &[usize],
    ) -> bool {
        match alive {
            Some(alive) => self.columns.as_deref() == Some(alive),
            None => left.len() == problem.selectable.len(),
        }
    }

    /// Data shared by runs on other columns of the same problems: on the leaders of twins, and on those that bound
    /// models that use a class twice.
    pub(crate) fn of_twins(&mut self) -> &mut [Self; 2] {
        let is_single = self.is_single;
        let new = || Self {
            is_single,
            ..Self::default()
        };
        self.twins.get_or_insert_with(|| Box::new([new(), new()]))
    }

    /// The local optima that runs share, if there is more than one run.
    pub(crate) fn optima(&self) -> Option<Arc<Optima>> {
        (!self.is_single).then(|| Arc::clone(&self.optima))
    }

    /// The relaxation of a wide problem by working sets, where it applies.
    pub(crate) fn working(&mut self, context: &Context) -> Option<&mut Working> {
        if self.working.is_none() {
            let known = context.incumbents.first().map(|known| known.support);
            let (known, limits) = (known.unwrap_or_default(), &context.limits);
            self.working = Working::within(context.problem, BATCH, &known, limits);
        }
        self.working.as_mut()
    }

    /// The quadratic over all columns of a problem: the known one, or a new one that reuses `part`.
    pub(crate) fn root(
        &mut self,
        selectable: &[usize],
        part: Option<&Root>,
        context: &mut Context,
    ) -> Option<Arc<Root>> {
        let (problem, limits) = (context.problem, context.limits.clone());
        if self.root.is_none()
            && let Some(part) = part
            && part.size() * LEAST_PART >= selectable.len()
            && product(problem, selectable.len()) <= MIDDLING_PRODUCT
        {
            self.root = part.extended(problem, selectable, &limits).map(Arc::new);
        }
        if self.root.is_none() {
            let threads = context.threads;
            let mut bands = GramBands::new(context);
            let root = Root::new(problem, selectable, &limits, threads, &mut bands);
            self.kept.clone_from(&context.prepared.gram);
            self.root = Some(Arc::new(root?));
        }
        self.root.clone()
    }
}

/// Number of multiplications to make a Gram matrix.
pub(super) fn product(problem: &Problem, columns: usize) -> f64 {
    problem.rows() as f64 * (columns as f64).powi(2)
}
