//! Fits and certifies the sets that an enumeration hands out.

use super::Context;
use crate::bound::Certified;
use crate::linalg::rounding::U;
use crate::relaxation::Watch;

/// The bound to prove for the sets that are not handed out: the cut plus a few roundings, so that the relative gap of
/// the result does not exceed the requested one either.
pub(crate) fn target(context: &Context) -> f64 {
    context.incumbents.cut() + 8.0 * U * context.incumbents.reference().abs()
}

/// Closes a part of the search space by enumeration. Returns true when nothing of it is left; then all evidence is in
/// the context. No bound above `ceiling` is claimed.
///
/// `enumerate` receives the target to prove and the receiver of the sets that it cannot prove. It returns a bound of
/// all other sets, or `None` when it gave up or a limit was reached. `support` maps a set that is handed out to its
/// features.
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

/// Receiver that fits and certifies each set.
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
