//! Constants chosen by measurement: they decide how long a search takes, never what it proves.
//!
//! Iteration limits that only guarantee termination, and margins that a proof needs, are defined next to the code that
//! uses them. *Sensitivity* refers to the study in `bench/README.md`: nodes and time of eight families with the
//! constant at about half and twice its value. *No effect* marks a value whose half and double change the nodes of no
//! family, and the time of none by more than repetitions differ. *Not measured* marks a value that was set once and has
//! not needed changing.

use std::time::Duration;

/// Constants of the search for models: starts, exchanges, the pool, and its share of the work.
///
/// The pool was chosen on leukemia (38 × 7129, k = 8, ridges 1e-3 and 1e-2, six seeds, 3 s) and checked on two other
/// wide sets (`bench/README.md`, "Models on real data"). `bench/wide.py` and `bench/planted.py` show what it finds.
pub(crate) mod models {
    /// Number of features among which a randomised greedy start chooses at each step (frontier notes: 20; not measured
    /// again).
    pub(crate) const GREEDY_CHOICES: usize = 20;
    /// Smallest number of features for which models are crossed. Smaller models are found by starts alone (measured
    /// with the prototype of the notes).
    pub(crate) const LEAST_CROSSED: usize = 4;
    /// Number of local optima kept: with 32, more seeds found the best model of leukemia than with 16, 48 and 64.
    pub(crate) const POOL: usize = 32;
    /// Size of the pool at which crossovers begin.
    pub(crate) const POOL_TO_CROSS: usize = 6;
    /// Number of starts without a better model after which the pool is emptied. Not measured.
    pub(crate) const POOL_STALE: u32 = 4000;
    /// One start in this many begins from an empty model, the others cross two models: 8 did better than 4, and about
    /// as well as 16.
    pub(crate) const ONE_FRESH_OF: usize = 8;
    /// The union of two models is filled up at random to k plus this many features, because models that are nearly the
    /// same have little to cross. 4 did better than 2, 6 and 10.
    pub(crate) const UNION_SPARE: usize = 4;
    /// When a union is cut down, one removal in this many is random: 3, 6 and 8 did no better.
    pub(crate) const ONE_BY_CHANCE_OF: usize = 4;
    /// Limit on the quadratic models of P formed from one start, for losses other than the quadratic one. Not
    /// measured.
    pub(crate) const LOCAL_MODELS: usize = 20;
    /// Number of exchanges fitted in each of these models. Not measured.
    pub(crate) const FITTED_EXCHANGES: usize = 4;
    /// Number of sets among which a start chooses at each step with groups, bounds or heredity. No effect.
    pub(crate) const STRUCTURED_CHOICES: usize = 8;
    /// Number of sets that a search with such constraints tries at each exchange. No effect.
    pub(crate) const STRUCTURED_EXCHANGES: usize = 3;
    /// Limit on the rounds of exchanges in a search with such constraints. No effect.
    pub(crate) const STRUCTURED_ROUNDS: usize = 10;

    /// Multiplications spent before anything is proved, where bounds are weak: two to three seconds, which leukemia
    /// needs …
    pub(crate) const FIRST_WORK: u64 = 8_000_000_000;
    /// … unless this many starts per feature of a model, or as many as there are columns if that is fewer, have found
    /// nothing better …
    pub(crate) const PATIENCE: u64 = 300;
    /// … or this many in a search for one of many decisions, which already has a good model.
    pub(crate) const PATIENCE_OF_DECISIONS: u64 = 5;
    /// Multiplications between two checks of the bound, for the search on a thread of its own: some milliseconds.
    pub(crate) const WORK_OF_A_WHILE: u64 = 10_000_000;
    /// Nodes after which a problem that looked easy is searched for models too: none of the paper's families needs
    /// more.
    pub(crate) const EASY_NODES: u64 = 50;

    /// Number of local optima that the searches of a path, or of prices, pass to each other at a time. Not measured.
    pub(crate) const HANDED_OUT: usize = 16;
    /// Number of these optima kept for each size. Not measured.
    pub(crate) const OPTIMA_PER_SIZE: usize = 16;
    /// Number of these optima that a search starts from. Not measured.
    pub(crate) const OPTIMA_TO_START_FROM: usize = 32;
    /// Limit on the suggestions of nodes that wait. Beyond it the oldest are dropped, but still count as made …
    pub(crate) const SUGGESTIONS_WAITING: usize = 32;
    /// … until this many others have followed. Not measured.
    pub(crate) const SUGGESTIONS_REMEMBERED: usize = 256;

    /// Number of features that matching pursuit fits at each step, chosen by estimated gain. No effect.
    pub(crate) const GREEDY_TRIES: usize = 4;
    /// Limit on the rounds of swaps after matching pursuit. No effect.
    pub(crate) const GREEDY_ROUNDS: usize = 20;
    /// Number of columns outside the first model that exchanges consider: those of largest gradient relative to their
    /// size. No effect.
    pub(crate) const EXCHANGE_CANDIDATES: usize = 400;
    /// Limit on the quadratic models of P in which the first model is improved by exchanges. No effect.
    pub(crate) const EXCHANGE_ROUNDS: usize = 20;
    /// Number of sets tried around one model, per place in the list. No effect.
    pub(crate) const NEIGHBOURS: usize = 3;
}

/// Constants of the frames of the Gram form: when they are rebuilt, how they are lifted, how accurately nodes are
/// solved in them.
pub(crate) mod frames {
    /// Largest number of columns for which a Gram matrix is formed: its 72 MB, and as much for each frame, are what a
    /// search may take without being asked.
    pub(crate) const MAX_COLUMNS: usize = 3000;
    /// A node gets a frame of its own when at most this share of its frame's columns remains (sensitivity).
    pub(crate) const REFRAME: f64 = 0.87;
    /// Frames of up to this many columns are never rebuilt. A list of ten models of diabetes takes 38 nodes with 4, 42
    /// with 8 and 50 with 16, in the same time.
    pub(crate) const SMALL: usize = 8;
    /// Limit on how many times a node is re-framed; once or twice are usual.
    pub(crate) const MOST_FRAMES: usize = 4;
    /// Frames of up to this many columns are lifted by what each column gains, at O(d³) per sweep. Without this Boston
    /// takes 151 nodes instead of 111; with 32 instead of 80 diabetes with interactions takes three times as many
    /// (sensitivity).
    pub(crate) const SPREAD: usize = 80;
    /// Counterpart of [`SPREAD`] with groups, where larger frames take many more nodes for it (sensitivity).
    pub(crate) const GROUP_SPREAD: usize = 32;
    /// Number of sweeps of the ascent that spreads a lift (sensitivity).
    pub(crate) const SWEEPS: usize = 4;
    /// A node is solved to this share of its gap: shares from 1e-6 to 1e-1 take the same nodes within 2 % (engine
    /// notes, section 13). An evaluation is cheap here, so this share is smaller than that of [`rows`](super::rows).
    pub(crate) const NODE_TOLERANCE: f64 = 1e-3;
    /// The root is solved to this share of the incumbent: no node has to rule out again what the root rules out.
    pub(crate) const ROOT_TOLERANCE: f64 = 1e-7;
    /// Multiplications of a node per entry of its frame's matrix: about what was counted, lifts of frames included.
    pub(crate) const NODE_WORK: u64 = 40;
    /// With rows beyond ±δ, where the quadratic lies above P, a model is fitted if its value is up to this share above
    /// the incumbent. No effect.
    pub(crate) const NEARLY: f64 = 0.02;
}

/// Constants of the working sets of wide quadratic problems.
pub(crate) mod working {
    /// Nodes with groups, bounds or prices have a working set from this many features on, more than a Gram matrix is
    /// formed of (`bench/README.md`, "Many features").
    pub(crate) const MANY_FEATURES: usize = 3000;
    /// Least number of columns that a set begins with, and that it adds at a time. No effect.
    pub(crate) const BATCH: usize = 64;
    /// A column whose atom is below this share of the smallest that counts is dropped when others are added. No effect.
    pub(crate) const CLOSE: f64 = 0.6;
    /// Gap at which features are expected to be ruled out, as a share of the gap that certainly rules none out. No
    /// effect.
    pub(crate) const EXPECTED_GAP: f64 = 0.6;
    /// A node is solved to this share of its gap, as in [`frames`](super::frames).
    pub(crate) const NODE_TOLERANCE: f64 = 1e-3;
}

/// Constants of the enumeration of pairs and triples: where it is likely to be faster than the search.
pub(crate) mod enumeration {
    /// Number of free features up to which the triples of a node take no longer than its relaxation.
    pub(crate) const MANY_TRIPLES: usize = 1000;
    /// Number of nodes that a tree must have expanded before the nodes of a problem that looks easy are enumerated.
    /// The paper's families have fewer; AR d=300 ρ=0.9 takes a third fewer nodes for it.
    pub(crate) const EASY_NODES: u64 = 200;
    /// Number of nodes after which a problem with k = 4 and fewer rows than features is hard, and its nodes are
    /// enumerated even if they have many features. With a ridge of 0.1 AR data with 2000 features take fewer, colon is
    /// open after 12,000. With k = 5 enumerating nodes of that size takes longer than searching (colon, ridge 0.1).
    pub(crate) const HARD_NODES: u64 = 1000;
    /// A pass ends when it has found more sets than this, so that the next may have a better target …
    pub(crate) const FEW: usize = 1000;
    /// … and if no better target is found, the enumeration of a whole problem is abandoned with more than this. No
    /// effect.
    pub(crate) const MOST: usize = 20_000;
    /// Under losses other than the quadratic one the enumeration is abandoned when more sets than this remain. No
    /// effect.
    pub(crate) const MOST_LEFT: usize = 20_000;
    /// Ridge, as a share of the curvatures, above which columns of wide data are screened rather than triples
    /// enumerated (measured on colon and leukemia).
    pub(crate) const LARGE_RIDGE: f64 = 0.5;
    /// Ridge above which sets under other losses are searched rather than enumerated (measured on colon and leukemia,
    /// logistic) …
    pub(crate) const LARGE_RIDGE_OF_CURVED: f64 = 5e-3;
    /// … unless there are more features than this, where the next ridge decides.
    pub(crate) const MANY_COLUMNS: usize = 3000;
    /// Ridge from which problems with many columns are searched.
    pub(crate) const LARGE_RIDGE_OF_MANY: f64 = 5e-4;
    /// With more triples than this, problems under other losses are searched: about 650 features …
    pub(crate) const MOST_TRIPLES: f64 = 5e7;
    /// … and also where less time is left than the enumeration takes, at this many seconds per triple and thread: a
    /// search that is stopped has a bound, an enumeration has none.
    pub(crate) const SECONDS_OF_A_TRIPLE: f64 = 3e-7;
    /// With more sets of four than this, about 3900 features, quadratic problems are searched …
    pub(crate) const MOST_FOURS: f64 = 1e13;
    /// … and also where less time is left than the enumeration takes, at this many seconds per set and thread (colon:
    /// 6.7e11 sets).
    pub(crate) const SECONDS_OF_A_FOUR: f64 = 4e-11;
}

/// Constants of proved boxes (`cargo xtask bench flat`).
pub(crate) mod boxes {
    /// Boxes are used for problems whose lifted ridge is below this share of the curvature, where the two relaxations
    /// took about the same time (AR data, 200 × 500). With more rows than features, frames did better throughout.
    pub(crate) const SMALL_LIFT: f64 = 0.008;
    /// With given boxes, a node whose bound leaves at most this share of the objective open is split without shrinking
    /// them, and so are its descendants (`bench/README.md`, "Bounds that are given").
    pub(crate) const ENOUGH: f64 = 0.75;
    /// Where features have prices and models may have more features than this, boxes are not shrunk.
    pub(crate) const MOST_PRICED: usize = 40;
    /// Limit on the rounds over the features of the first node with boxes, and the share of the boxes that the last
    /// round leaves …
    pub(crate) const ROOT_ROUNDS: (usize, f64) = (30, 0.95);
    /// … and those of a node below it. 4 and 16 rounds do as well; a share of 0.8 takes 11 % more nodes in 7 % less
    /// time, 0.95 6 % more time.
    pub(crate) const NODE_ROUNDS: (usize, f64) = (8, 0.9);
    /// Number of columns of the root that each thread visits before the others see what it has proved of them. Not
    /// measured.
    pub(crate) const COLUMNS_OF_A_THREAD: usize = 16;
    /// A node is made smaller when at most this share of its columns remains (sensitivity).
    pub(crate) const SMALLER: f64 = 0.9;
    /// Boxes are shrunk again when at most this share of the columns remains, or a feature was included (sensitivity).
    pub(crate) const AGAIN: f64 = 0.7;
    /// If a first round leaves this share of the boxes or more, the effort is raised (frontier notes, section 1b: 3
    /// %).
    pub(crate) const LITTLE: f64 = 0.97;
    /// If a visit leaves this share of a side's length or more, that side is skipped for one round, then for two, and
    /// so on (sensitivity).
    pub(crate) const STALLED: f64 = 0.99;
    /// Initial weight of the budget, as a share of `H_jj` times the square of the end (sensitivity).
    pub(crate) const WEIGHT: f64 = 0.05;
    /// After a round, certificates are applied again as long as they leave less than this share of the boxes …
    pub(crate) const WORTH_REPEATING: f64 = 0.99;
    /// … but at most this many times.
    pub(crate) const MOST_REPEATS: usize = 10;
    /// Number of columns above which certificates are not kept: they take `8 d²` bytes. They are not kept either where
    /// that is half of the memory limit.
    pub(crate) const MOST_KEPT: usize = 4000;
    /// A change below this share of the radius ends the passes of a round (sensitivity).
    pub(crate) const SETTLED: f64 = 5e-3;
    /// Target of the first lassos: the sum of the m - 1 largest `|h_i|` times their boxes, as a share of `h_j` times
    /// its own box (sensitivity).
    pub(crate) const LASSO_SHARE: f64 = 0.4;
    /// Smallest weight of a lasso, as a share of the column's square (frontier notes, section 1: 0.01 to 0.03 were
    /// best) …
    pub(crate) const LEAST_LASSO: f64 = 0.02;
    /// … and the largest.
    pub(crate) const MOST_LASSO: f64 = 0.1;
    /// Number of passes of a lasso. No effect.
    pub(crate) const LASSO_PASSES: usize = 6;
    /// Number of weights that a lasso tries. With 1 flat problems take 65 % longer, with 6 8 %.
    pub(crate) const LASSO_ROUNDS: usize = 3;
    /// Number of passes over the coordinates in a round of the ascent of a node's bound. No effect.
    pub(crate) const ASCENT_PASSES: usize = 6;
    /// Boxes of rows are used for problems whose ridge is below this share of the curvature, like boxes in Gram form …
    pub(crate) const SMALL_RIDGE: f64 = 0.008;
    /// … and whose rows times the square of their columns are at most this, since the first bound only comes after a
    /// round over all columns. 200 × 500, a quarter of this, took most of a minute, and the bound without boxes rises
    /// sooner.
    pub(crate) const MOST_ROW_WORK: u64 = 200_000_000;
    /// In boxes of rows, a side is held at this share of its end. 0.9 and 0.98 take 9 % more nodes.
    pub(crate) const ROW_HOLD: f64 = 0.95;
    /// Initial price of the whole budget, as a share of the ceiling. No effect.
    pub(crate) const ROW_PRICE: f64 = 0.02;
    /// Limit on the points that a visit tries …
    pub(crate) const ROW_ROUNDS: usize = 200;
    /// … and on successive points that shrink the side by less than 1 %. With 2 small Huber problems take 10 % less
    /// time, with 8 23 % more.
    pub(crate) const ROW_STALLS: usize = 4;
    /// Number of parabolas that a round of descent lays over the loss, one after the other …
    pub(crate) const ROW_COVERS: usize = 2;
    /// … and of passes over the coordinates under each of them. With 2 small Huber problems take 12 % less time, but 40
    /// rows and 60 columns have no box that is narrower than what the ridge proves; with 8 they take 14 % more.
    pub(crate) const ROW_PASSES: usize = 4;
    /// A round skips coordinates at zero whose pull was below this share of their price. No effect.
    pub(crate) const ROW_NEAR: f64 = 0.7;
    /// Progress of the bound in boxes of rows: a rise by this share of the distance to the cut. No effect.
    pub(crate) const ROW_PROGRESS: f64 = 1e-3;
    /// Number of rounds without progress that end the ascent. No effect.
    pub(crate) const ASCENT_STALLS: usize = 15;
    /// Progress of the ascent: a rise by this share of the distance to the cut. No effect.
    pub(crate) const ASCENT_PROGRESS: f64 = 3e-4;
}

/// Constants of the binary tree.
pub(crate) mod tree {
    /// Value of a side of a split that gains nothing, for every relaxation: without it, a gain of one side alone would
    /// count for nothing (sensitivity).
    pub(crate) const NO_GAIN: f64 = 0.05;
    /// The column list is rebuilt when at most this share of the last list remains: memory against copying. No effect.
    pub(crate) const RELIST: f64 = 0.8;
    /// Number of features that may still be chosen up to which a node may be enumerated: what `gram::small` can do.
    pub(crate) const SMALL_BUDGET: usize = 4;
    /// Limit on how many times the relaxation of a node is tightened; two or three times are usual.
    pub(crate) const MOST_ROUNDS: usize = 32;
}

/// Constants of relaxations in matrix form, with or without groups and bounds.
pub(crate) mod rows {
    /// Passes over the columns of a node that its expansion takes: about what was counted.
    pub(crate) const NODE_PASSES: u64 = 100;
    /// A node is solved to this share of its gap to the incumbent (engine notes, section 13; sensitivity) …
    pub(crate) const NODE_TOLERANCE: f64 = 1e-2;
    /// … and never beyond this share of the incumbent.
    pub(crate) const TOLERANCE_FLOOR: f64 = 1e-12;
    /// A lift is tried when the predictions of better models are expected to lie within the span of the loss. It is
    /// repeated when it is expected to close this share of the gap (sensitivity) …
    pub(crate) const RELIFT: f64 = 0.1;
    /// … by growing by at least this share of itself (sensitivity) …
    pub(crate) const LEAST_GROWTH: f64 = 0.05;
    /// … or when the predictions are expected to lie within this share of the last lift's width: a lift that is worth
    /// nothing, as Huber's first ones often are, has no growth to promise (sensitivity).
    pub(crate) const NARROWER: f64 = 0.5;
    /// Decay of the curvature that a lift leaves to the logistic loss, roughly `e^{-width/2}` as observed (its span is
    /// 3).
    pub(crate) const DECAY: f64 = 1.65;
    /// Limit on the entries of a lift, which multiplies the remaining columns with each other three times.
    pub(crate) const LARGEST_LIFT: usize = 20_000_000;
    /// Radii are first guessed to shrink like the square root of the gap, with this safety factor (sensitivity).
    pub(crate) const GUESS: f64 = 1.3;
    /// Limit on the sum of the κ of the slack, as a share of the gap (sensitivity).
    pub(crate) const SLACK_SHARE: f64 = 1e-3;
    /// Number of sweeps of the ascent that spreads a lift (sensitivity): twice as many as needed in small frames,
    /// since a lift here costs more.
    pub(crate) const SWEEPS: usize = 6;
    /// Least number of rows per column for which that ascent is made (sensitivity).
    pub(crate) const SPREAD_ROWS: usize = 12;
    /// Number of columns below which products are not worth keeping. No effect.
    pub(crate) const LEAST_PRODUCTS: usize = 24;
    /// Cost of a multiplication in a product of one column with others, relative to one in a product of blocks.
    pub(crate) const SINGLE_PRODUCT: usize = 8;
    /// Products are recomputed after this many changes per row. No effect.
    pub(crate) const MOST_CHANGES: usize = 16;
    /// Number of iterations after which the bound of a node with groups or bounds must have come closer to the cut by
    /// [`PROGRESS`] (sensitivity).
    pub(crate) const CHECK: usize = 30;
    /// Share of the distance to the cut that counts as progress (sensitivity).
    pub(crate) const PROGRESS: f64 = 0.05;
}

/// Constants of the stages before the tree: screening, the Gram matrix, proofs of rows.
pub(crate) mod prepare {
    use super::Duration;

    /// Ridge, as a share of the curvatures, below which nothing is ruled out without a lift (Huber families and AR
    /// data).
    pub(crate) const SMALL_RIDGE: f64 = 0.02;
    /// Number of multiplications below which a Gram matrix is formed sooner than columns are screened.
    pub(crate) const SHORT_PRODUCT: u64 = 6_000_000;
    /// Number of multiplications above which a Gram matrix is formed in bands, by all threads, rather than extended
    /// from an existing part …
    pub(crate) const MIDDLING_PRODUCT: f64 = 1e9;
    /// … which must hold at least one in this many of the columns. No effect.
    pub(crate) const LEAST_PART: usize = 4;
    /// Number of multiplications from which a Gram matrix takes long: seconds.
    pub(crate) const LONG_PRODUCT: f64 = 1e10;
    /// Limit on the rounds of ascent and screening. No effect.
    pub(crate) const SCREENING_ROUNDS: usize = 12;
    /// Number of rounds of a working set before the Gram matrix is formed (Huber families).
    pub(crate) const BRIEF_ROUNDS: usize = 3;
    /// The first ascent is solved to this share of the objective. No effect.
    pub(crate) const COARSE: f64 = 1e-3;
    /// Largest share of the rows of a Huber problem that may stay explicit in Gram form (sensitivity).
    pub(crate) const MAX_EXPLICIT: f64 = 0.5;
    /// Limit on the rounds of certifying rows. No effect.
    pub(crate) const ROW_ROUNDS: usize = 5;
    /// A size of a path that takes longer than this on one thread is solved by all of them, after the others. Not
    /// measured.
    pub(crate) const LONG_SIZE: Duration = Duration::from_millis(500);
}
