//! What a problem asks of its features beyond "at most k": groups, bounds of coefficients, features that need others, a
//! price for each feature.
//!
//! A *feature* is a column, or a group of columns that is chosen as a whole; it goes by its first column, its *leader*.
//! Supports are lists of leaders. A problem without any of this has no [`Structure`].

/// Groups, bounds, parents and prices of the features of a problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Structure {
    /// The columns of each leader; any other column stands for itself.
    pub members: Vec<Box<[usize]>>,
    /// Between which numbers a coefficient may lie; 0 is always one of them.
    pub bounds: Vec<(f64, f64)>,
    /// Whether any bound is finite.
    pub boxed: bool,
    /// Of each leader: the selectable leaders that have to be in for it to be in, their own ancestors included.
    pub ancestors: Vec<Vec<usize>>,
    /// Whether any feature needs another.
    pub heredity: bool,
    /// Of each leader: what the objective pays for having it in the model, ≥ 0.
    pub costs: Vec<f64>,
    /// Whether any price is above 0. Then a larger set need not be better than its subsets.
    pub priced: bool,
}

impl Structure {
    /// Nothing is asked of any of so many columns.
    pub(super) fn new(columns: usize) -> Self {
        Self {
            members: (0..columns).map(|j| Box::from([j])).collect(),
            bounds: vec![(f64::NEG_INFINITY, f64::INFINITY); columns],
            boxed: false,
            ancestors: vec![Vec::new(); columns],
            heredity: false,
            costs: vec![0.0; columns],
            priced: false,
        }
    }

    /// One more column of which nothing is asked.
    pub(super) fn add_column(&mut self) {
        self.members.push(Box::from([self.members.len()]));
        self.bounds.push((f64::NEG_INFINITY, f64::INFINITY));
        self.ancestors.push(Vec::new());
        self.costs.push(0.0);
    }

    /// A price for every feature, times its factor.
    pub(super) fn price(&mut self, penalty: f64, factors: &[f64]) {
        self.costs = factors.iter().map(|factor| penalty * factor).collect();
        self.priced = self.costs.iter().any(|cost| *cost > 0.0);
    }

    /// Narrows the bounds of the columns of some features, in the coordinates that these are in, to `most` on either side.
    pub(super) fn assume<'a>(&mut self, most: f64, features: impl Iterator<Item = &'a usize>) {
        for leader in features {
            for j in &self.members[*leader] {
                let (low, high) = &mut self.bounds[*j];
                (*low, *high) = (low.max(-most), high.min(most));
                self.boxed = true;
            }
        }
    }

    /// Whether something is asked.
    pub(super) fn is_needed(&self) -> bool {
        self.heredity || !self.is_plain()
    }

    /// Whether all features are single columns without bounds and prices.
    pub(crate) fn is_plain(&self) -> bool {
        !self.boxed && !self.priced && self.members.iter().all(|members| members.len() == 1)
    }

    /// Whether nothing is asked but prices of single columns.
    pub(super) fn is_only_priced(&self) -> bool {
        self.priced && !self.boxed && self.is_single()
    }

    /// Whether all features are single columns that need no others: bounds and prices may be asked of them.
    pub(super) fn is_single(&self) -> bool {
        !self.heredity && self.members.iter().all(|members| members.len() == 1)
    }

    /// What is asked, in a word.
    pub(crate) fn name(&self) -> &'static str {
        if self.priced {
            "an l0 penalty"
        } else if self.boxed {
            "bounds"
        } else if self.heredity {
            "required features"
        } else {
            "groups"
        }
    }

    /// Whether every feature of a set has what it needs in the set; `set` is in order.
    pub(crate) fn is_closed(&self, set: &[usize]) -> bool {
        let inside = |j: &usize| set.binary_search(j).is_ok();
        set.iter().all(|j| self.ancestors[*j].iter().all(inside))
    }

    /// The most columns that `count` of these features have.
    pub(crate) fn most_columns(&self, features: &[usize], count: usize) -> usize {
        let mut sizes: Vec<usize> = features.iter().map(|j| self.members[*j].len()).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.iter().take(count).sum()
    }

    /// Adds features in the given order, each with what it needs, as long as `room` allows; in column order.
    pub(crate) fn close(
        &self,
        start: &[usize],
        wanted: impl Iterator<Item = usize>,
        allowed: impl Fn(usize) -> bool,
        room: usize,
    ) -> Vec<usize> {
        let mut set = start.to_vec();
        for j in wanted {
            let needed = self.ancestors[j].iter().chain([&j]);
            let new: Vec<usize> = needed.copied().filter(|i| !set.contains(i)).collect();
            if set.len() + new.len() <= room && new.iter().all(|i| allowed(*i)) {
                set.extend(new);
            }
        }
        set.sort_unstable();
        set
    }

    /// Follows the hierarchy from what is decided: ancestors of what is in are in, descendants of what is out are out, and
    /// so is what needs more than the budget has. `None`: no set is left.
    pub(crate) fn propagate(
        &self,
        inside: &[usize],
        free: &[usize],
        room: usize,
    ) -> Option<(Vec<usize>, Vec<usize>)> {
        let (mut inside, mut free) = (inside.to_vec(), free.to_vec());
        if !self.heredity {
            return (inside.len() <= room).then_some((inside, free));
        }
        loop {
            let mut grown = inside.clone();
            for j in &inside {
                for i in &self.ancestors[*j] {
                    if !grown.contains(i) {
                        if !free.contains(i) {
                            return None;
                        }
                        grown.push(*i);
                    }
                }
            }
            if grown.len() > room {
                return None;
            }
            let before = (inside.len(), free.len());
            inside = grown;
            let budget = room - inside.len();
            let alive = free.clone();
            free.retain(|j| {
                let missing = self.ancestors[*j].iter().filter(|i| !inside.contains(i));
                let possible = missing.clone().all(|i| alive.contains(i));
                !inside.contains(j) && possible && missing.count() < budget
            });
            if (inside.len(), free.len()) == before {
                return Some((inside, free));
            }
        }
    }
}
