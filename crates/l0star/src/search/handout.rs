//! The sets that an enumeration hands out, fitted and certified.

use super::Context;
use crate::bound::Certified;
use crate::linalg::rounding::U;
use crate::relaxation::Watch;

/// What is to be proved of the sets that are not handed out: the cut, and a few roundings more, so that the gap of the result, as a
/// share of the objective, is not above the one that was asked for either.
pub(crate) fn target(context: &Context) -> f64 {
    context.incumbents.cut() + 8.0 * U * context.incumbents.reference().abs()
}

/// Closes a part of the search space by enumeration; true when nothing of it is left, and all evidence is in the context. Nothing
/// above `ceiling` is claimed.
///
/// `enumerate` is given the target to prove and who takes what it cannot prove; it returns a bound of all other sets, or `None`
/// when it gave up or a limit was reached. `support` says which features a set that is handed out has.
pub(crate) fn close(
    context: &mut Context,
    ceiling: f64,
    support: impl Fn(&[usize]) -> Vec<usize>,
    enumerate: impl FnOnce(f64, &mut dyn Watch) -> Option<Certified>,
) -> bool {
    let (mark, target) = (context.evidence.mark(), target(context));
    let mut fits = Fits {
        support: &support,
        context,
    };
    let bound = enumerate(target, &mut fits);
    match bound {
        Some(bound) => context.evidence.rule_out(bound.at_most(ceiling)),
        None => context.evidence.rewind(mark),
    }
    bound.is_some()
}

/// Fits what an enumeration hands out.
struct Fits<'c, 'p> {
    support: &'c dyn Fn(&[usize]) -> Vec<usize>,
    context: &'c mut Context<'p>,
}

impl Watch for Fits<'_, '_> {
    fn hit(&mut self, set: &[usize]) -> f64 {
        let mut support = (self.support)(set);
        support.sort_unstable();
        self.context.counters.calls += 1;
        self.context.try_support(&support);
        let evidence = self.context.certify_last().tighter(Certified::TRIVIAL);
        self.context.evidence.rule_out(evidence);
        target(self.context)
    }

    fn progress(&mut self, share: f64) {
        self.context.announce_enumeration(share);
    }
}
