//! Problems with fewer rows than columns, searched with proved boxes, and the boxes themselves in exact numbers.

use std::num::NonZeroUsize;

use l0star::internals::{Probed, probe};
use l0star::{Problem, Settings, Use};

use super::claims::Truth;
use super::draw::Case;
use super::{Finding, in_pieces, interrupted, search, sizes};
use crate::soak::common::Random;

/// Checks a search with boxes, another that is stopped and resumed, and the boxes of some nodes.
pub fn examine(case: &Case, seed: u64) -> Result<(), Finding> {
    let Ok(problem) = case.builder().and_then(|builder| builder.build()) else {
        return Ok(());
    };
    let truth = Truth::new(case, &problem)?;
    let random = &mut Random::new(seed ^ 0x3C6E_F372_FE94_F82B);
    let base = with_boxes(random);
    search(&truth, case, &problem, base.clone(), random)?;
    match random.below(4) {
        0 => sizes(&truth, case, &problem, &base, random)?,
        1 => in_pieces(&truth, case, &problem, &base, random)?,
        2 => interrupted(&truth, case, &problem, &base, random)?,
        _ => {}
    }
    nodes(&truth, case, &problem, random)
}

/// Returns settings with boxes wherever they apply; small sizes mostly use trees as well.
fn with_boxes(random: &mut Random) -> Settings {
    let mut settings = Settings::default();
    settings.mechanisms.boxes = Use::Always;
    settings.mechanisms.enumeration = random.chance(0.3);
    if random.chance(0.3) {
        settings.mechanisms.screen_from = 0;
        settings.mechanisms.working_from = 0;
    }
    if random.chance(0.15) {
        settings.threads = NonZeroUsize::new(2);
    }
    settings
}

/// Checks the boxes of nodes on a random path down the tree, for a random objective to beat.
fn nodes(
    truth: &Truth,
    case: &Case,
    problem: &Problem,
    random: &mut Random,
) -> Result<(), Finding> {
    let Some(reference) = truth.reference(random) else {
        return Ok(());
    };
    let is_free = |j: &usize| !case.rules.include.contains(j) && !case.rules.exclude.contains(j);
    let mut free: Vec<usize> = (0..case.rules.d).filter(is_free).collect();
    let mut inside: Vec<usize> = Vec::new();
    let mut way = vec![(inside.clone(), free.clone())];
    while !free.is_empty() && random.chance(0.7) {
        let feature = free.remove(random.below(free.len()));
        if random.chance(0.5) {
            inside.push(feature);
        }
        way.push((inside.clone(), free.clone()));
    }
    let probed = probe(problem, &way, reference).unwrap_or_default();
    for ((inside, free), found) in way.iter().zip(&probed) {
        let outcome = truth.probed(inside, free, found);
        outcome.map_err(|finding| {
            let Probed { ceiling, .. } = found;
            format!("node with {inside:?} in and {free:?} free, ceiling {ceiling:e}: {finding}")
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If no model were in the boxes, or nothing were proved about them, the attack would find nothing.
    #[test]
    fn boxes_are_narrower_than_those_of_the_ridge_and_checked() {
        let (mut narrower, mut seen) = (0, 0);
        for seed in 0..60 {
            let case = Case::wide(seed);
            let Ok(problem) = case.builder().and_then(|builder| builder.build()) else {
                continue;
            };
            let truth = Truth::new(&case, &problem).unwrap();
            let Some(reference) = truth.reference(&mut Random::new(seed)) else {
                continue;
            };
            let is_free =
                |j: &usize| !case.rules.include.contains(j) && !case.rules.exclude.contains(j);
            let free: Vec<usize> = (0..case.rules.d).filter(is_free).collect();
            let way = [(Vec::new(), free.clone())];
            let Some(found) = probe(&problem, &way, reference).unwrap_or_default().pop() else {
                continue;
            };
            assert_eq!(truth.probed(&[], &free, &found), Ok(()), "seed {seed}");
            seen += 1;
            let (j, _, high) = found.boxes[0];
            narrower += u32::from(high < 0.9 * (2.0 * reference / problem.ridge(j)).sqrt());
            // An interval that excludes the coefficients of the best model of a set must be found.
            let mut wrong = found.clone();
            for (_, low, high) in &mut wrong.boxes {
                (*low, *high) = (high.next_up(), high.next_up());
            }
            assert!(truth.probed(&[], &free, &wrong).is_err(), "seed {seed}");
        }
        println!("{seen} of 60 looked at, {narrower} narrower");
        assert!(seen > 20 && narrower > 0);
    }
}
