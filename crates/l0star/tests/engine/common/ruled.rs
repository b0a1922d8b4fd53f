//! Problems with random requirements on their features.

use l0star::problem::Builder;
use l0star::{Error, Problem};

use super::{Form, Random, draft_with};

/// The requirements on the features of a problem, as a user states them: an account that shares nothing with the
/// engine's.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub d: usize,
    pub k: usize,
    pub groups: Vec<Vec<usize>>,
    pub bounds: Vec<(usize, f64, f64)>,
    pub include: Vec<usize>,
    pub include_free: Vec<usize>,
    pub exclude: Vec<usize>,
    pub factors: Vec<(usize, f64)>,
    pub requires: Vec<(usize, Vec<usize>)>,
}

impl Rules {
    /// The columns that are in together with this one.
    pub fn feature(&self, column: usize) -> Vec<usize> {
        let group = self.groups.iter().find(|group| group.contains(&column));
        let mut columns = group.cloned().unwrap_or_else(|| vec![column]);
        columns.retain(|j| *j == column || !self.exclude.contains(j));
        columns
    }

    /// The number of features of a set of columns, as k counts them.
    pub fn count(&self, set: &[usize]) -> usize {
        let counted = set.iter().filter(|j| !self.include_free.contains(j));
        let first = |j: &&usize| {
            let feature = self.feature(**j);
            feature.iter().all(|i| i >= *j || !set.contains(i))
        };
        counted.filter(first).count()
    }

    /// Whether a model may have these columns.
    pub fn allow(&self, set: &[usize]) -> bool {
        let has = |j: &usize| set.contains(j);
        let groups = set.iter().all(|j| self.feature(*j).iter().all(has));
        let heredity = self
            .requires
            .iter()
            .all(|(child, parents)| !has(child) || parents.iter().all(has));
        groups
            && heredity
            && !self.exclude.iter().any(has)
            && self.include.iter().chain(&self.include_free).all(has)
            && self.count(set) <= self.k
    }

    /// Every set of columns that a model may have.
    pub fn allowed(&self) -> Vec<Vec<usize>> {
        let sets = (0u32..1 << self.d).map(|bits| {
            let columns = (0..self.d).filter(|j| bits >> j & 1 == 1);
            columns.collect::<Vec<usize>>()
        });
        sets.filter(|set| self.allow(set)).collect()
    }
}

/// A problem with a random combination of groups, bounds, heredity, columns that are in or out, and ridge factors.
pub struct RuledCase {
    /// The problem, or the error with which it was refused.
    pub built: Result<Problem, Error>,
    /// The problem with every column selectable by itself, and with the bounds.
    pub loose: Problem,
    pub rules: Rules,
    pub words: String,
}

pub fn ruled_case(seed: u64, loss: &str) -> RuledCase {
    case_by_rules(seed, loss, true)
}

/// A case with only forced or excluded columns and ridge factors, which every method supports.
pub fn forced_case(seed: u64, loss: &str) -> RuledCase {
    case_by_rules(seed, loss, false)
}

fn case_by_rules(seed: u64, loss: &str, structured: bool) -> RuledCase {
    let (builder, loose, rules, words) = draft_by_rules(seed, loss, structured);
    RuledCase {
        built: builder.build(),
        loose,
        rules,
        words,
    }
}

/// The parts of a case that is not built yet: the builder, the loose problem, the rules, the words.
pub(super) fn draft_by_rules(
    seed: u64,
    loss: &str,
    structured: bool,
) -> (Builder, Problem, Rules, String) {
    let at = Random::new(seed ^ 0xE703_7ED1_A0B4_28DB).below(Form::ALL.len() + 2);
    let form = Form::ALL.get(at).copied().unwrap_or(Form::Dense);
    let thin = matches!(form, Form::Sparse | Form::Padded | Form::SparseView);
    let draft = draft_with(seed, loss, thin, |columns| form.design(columns, seed));
    let mut random = Random::new(seed ^ 0x2545_F491_4F6C_DD1D);
    let d = draft.d;
    let mut rules = Rules {
        d,
        k: draft.k,
        ..Rules::default()
    };
    if draft.always {
        rules.include_free.push(0);
    }
    if draft.excluded {
        rules.exclude.push(1);
    }
    let chances = if structured {
        [0.5, 0.5, 0.3, 0.3, 0.3, 0.3]
    } else {
        [0.0, 0.0, 0.0, 0.8, 0.6, 0.0]
    };
    let [grouped, bounded, nonnegative, forced, factors, heredity] =
        chances.map(|p| random.chance(p));
    if grouped {
        let count = 1 + random.below(d);
        let mut groups = vec![Vec::new(); count];
        for j in 0..d {
            if !rules.include_free.contains(&j) && random.chance(0.7) {
                groups[random.below(count)].push(j);
            }
        }
        groups.retain(|group| !group.is_empty());
        rules.groups = groups;
    }
    let size = |random: &mut Random| match random.below(6) {
        0 => 0.0,
        1 => f64::INFINITY,
        2 => 10.0,
        _ => random.uniform(),
    };
    for j in 0..d {
        if nonnegative && random.chance(0.8) {
            rules.bounds.push((j, 0.0, f64::INFINITY));
        } else if bounded && random.chance(0.6) {
            let (low, high) = (-size(&mut random), size(&mut random));
            rules.bounds.push((j, low, high));
        }
        if factors && random.chance(0.5) {
            rules
                .factors
                .push((j, 10f64.powf(2.0 * random.uniform() - 1.0)));
        }
        if forced && random.chance(0.2) {
            let grouped = rules.groups.iter().any(|group| group.contains(&j));
            match random.below(3) {
                0 if !rules.include_free.contains(&j) => rules.include.push(j),
                1 if !grouped
                    && !rules.include_free.contains(&j)
                    && !rules.exclude.contains(&j) =>
                {
                    rules.include_free.push(j);
                }
                2 if !rules.include_free.contains(&j) && !rules.include.contains(&j) => {
                    rules.exclude.push(j);
                }
                _ => {}
            }
        }
        if heredity && j > 0 && random.chance(0.5) {
            let count = 1 + random.below(2);
            let parents = (0..count).map(|_| random.below(j)).collect();
            rules.requires.push((j, parents));
        }
    }
    let mut builder = draft.builder;
    for (j, factor) in &rules.factors {
        builder = builder.ridge_factor(*j, *factor);
    }
    for (j, low, high) in &rules.bounds {
        builder = builder.bounds(*j, *low, *high);
    }
    // The loose problem must have the ridges that columns have when they are always in.
    let loose = builder.clone().k(d).build().unwrap();
    for j in &rules.include {
        builder = builder.include(*j);
    }
    for j in rules
        .include_free
        .iter()
        .filter(|j| !draft.always || **j != 0)
    {
        builder = builder.include_free(*j);
    }
    for j in rules.exclude.iter().filter(|j| !draft.excluded || **j != 1) {
        builder = builder.exclude(*j);
    }
    for (child, parents) in &rules.requires {
        builder = builder.requires(*child, parents);
    }
    let builder = builder.groups(rules.groups.clone());
    let words = format!("{}, {form:?}, {rules:?}", draft.words);
    (builder, loose, rules, words)
}
