//! What was chosen by measuring: constants that decide how long a search takes, and never what it proves.
//!
//! Limits of loops that are there to end them, and margins that a proof needs, stand beside the code they belong to. *Sensitivity* is
//! that of `bench/README.md`: nodes and time of eight families with the constant at about half and twice its value.
//! *Not measured* is said where a value was set once and nothing has called for another.

use std::time::Duration;

/// The search for models: starts, exchanges, the pool, and its share of the work.
///
/// The pool was chosen on leukemia (38 × 7129, k = 8, ridges 1e-3 and 1e-2, six seeds, 3 s) and looked at on two other wide sets
/// (`bench/README.md`, "Models on real data"); `bench/wide.py` and `bench/planted.py` show what it finds.
pub(crate) mod models {
    /// A randomised greedy start takes one of this many features at each step (frontier notes: 20; not measured again).
    pub(crate) const GREEDY_CHOICES: usize = 20;
    /// Models with fewer features are found by starts alone, without crossovers (measured with the prototype of the notes).
    pub(crate) const LEAST_CROSSED: usize = 4;
    /// Local optima that are kept: 32 found the best model of leukemia with more seeds than 16, 48 and 64.
    pub(crate) const POOL: usize = 32;
    /// Crossovers begin when the pool has this many models.
    pub(crate) const POOL_TO_CROSS: usize = 6;
    /// The pool is emptied after this many starts without a better model. Not measured.
    pub(crate) const POOL_STALE: u32 = 4000;
    /// One start of this many begins from nothing, the others cross two models: 8 did better than 4, and about as well as 16.
    pub(crate) const ONE_FRESH_OF: usize = 8;
    /// The union of two models is filled up by chance to k and this many features: models that are nearly the same have little to
    /// cross. 4 did better than 2, 6 and 10.
    pub(crate) const UNION_SPARE: usize = 4;
    /// When a union is cut down, one removal of this many is left to chance: 3, 6 and 8 did no better.
    pub(crate) const ONE_BY_CHANCE_OF: usize = 4;
    /// Quadratic models of P on the way from one start, for losses other than the quadratic one. Not measured.
    pub(crate) const LOCAL_MODELS: usize = 20;
    /// Exchanges that are fitted in each of these models. Not measured.
    pub(crate) const FITTED_EXCHANGES: usize = 4;
    /// With groups, bounds or heredity a start takes one of this many sets at each step. Not measured.
    pub(crate) const STRUCTURED_CHOICES: usize = 8;
    /// Sets that such a search tries at each exchange. Not measured.
    pub(crate) const STRUCTURED_EXCHANGES: usize = 3;
    /// Rounds of exchanges of such a search. Not measured.
    pub(crate) const STRUCTURED_ROUNDS: usize = 10;

    /// Multiplications before anything is proved, where bounds will not get far: two to three seconds, which leukemia needs …
    pub(crate) const FIRST_WORK: u64 = 8_000_000_000;
    /// … unless this many starts for each feature of a model, or as many as there are columns if these are fewer, have found nothing
    /// better …
    pub(crate) const PATIENCE: u64 = 300;
    /// … or this many in a search for one of many decisions, which has a good model already.
    pub(crate) const PATIENCE_OF_DECISIONS: u64 = 5;
    /// Multiplications of a while on a thread of its own, after which it looks at the bound: some milliseconds.
    pub(crate) const WORK_OF_A_WHILE: u64 = 10_000_000;
    /// Nodes after which a problem that looked easy is searched for models too: none of the paper's families has more.
    pub(crate) const EASY_NODES: u64 = 50;

    /// Local optima that the searches of a path, or of prices, hand each other at a time. Not measured.
    pub(crate) const HANDED_OUT: usize = 16;
    /// Those that are kept for each size. Not measured.
    pub(crate) const OPTIMA_PER_SIZE: usize = 16;
    /// Those that a search begins with. Not measured.
    pub(crate) const OPTIMA_TO_START_FROM: usize = 32;
    /// Suggestions of nodes that wait; of more the oldest are forgotten, but not that they were made …
    pub(crate) const SUGGESTIONS_WAITING: usize = 32;
    /// … until this many came after them. Not measured.
    pub(crate) const SUGGESTIONS_REMEMBERED: usize = 256;

    /// Features that matching pursuit fits at each step, by their estimated gain. Not measured.
    pub(crate) const GREEDY_TRIES: usize = 4;
    /// Rounds of swaps that follow it. Not measured.
    pub(crate) const GREEDY_ROUNDS: usize = 20;
    /// Columns outside the first model that exchanges look at: those of largest gradient for their size. Not measured.
    pub(crate) const EXCHANGE_CANDIDATES: usize = 400;
    /// Quadratic models of P in which exchanges of the first model are made. Not measured.
    pub(crate) const EXCHANGE_ROUNDS: usize = 20;
    /// Sets that are tried around one model for each place of a list. Not measured.
    pub(crate) const NEIGHBOURS: usize = 3;
}

/// Frames of the Gram form: when they are made anew, how they are lifted, how well nodes are solved in them.
pub(crate) mod frames {
    /// A larger Gram matrix is not formed: its 72 MB, and as much for each frame, are what a search may take unasked.
    pub(crate) const MAX_COLUMNS: usize = 3000;
    /// A node gets a frame of its own when at most this share of its frame's columns is left (sensitivity).
    pub(crate) const REFRAME: f64 = 0.87;
    /// Smaller frames are left as they are. Not measured.
    pub(crate) const SMALL: usize = 8;
    /// A node is re-framed at most this often; once or twice are usual.
    pub(crate) const MOST_FRAMES: usize = 4;
    /// Frames of up to this many columns are lifted by what each column gains, which takes O(d³) a sweep: without it Boston takes
    /// 151 nodes instead of 111, and with 32 diabetes with interactions takes three times as many as with 80 (sensitivity).
    pub(crate) const SPREAD: usize = 80;
    /// The same with groups, where larger frames take many more nodes for it (sensitivity).
    pub(crate) const GROUP_SPREAD: usize = 32;
    /// Sweeps of that ascent (sensitivity).
    pub(crate) const SWEEPS: usize = 4;
    /// A node is solved to this share of its gap: shares from 1e-6 to 1e-1 take the same nodes within 2 % (engine notes, section 13).
    /// An evaluation is cheap here, so that it is smaller than that of [`rows`](super::rows).
    pub(crate) const NODE_TOLERANCE: f64 = 1e-3;
    /// The root is solved to this share of the incumbent: what it rules out, no node has to.
    pub(crate) const ROOT_TOLERANCE: f64 = 1e-7;
    /// Multiplications of a node for each entry of its frame's matrix: about what was counted, lifts of frames included.
    pub(crate) const NODE_WORK: u64 = 40;
    /// With rows beyond ±δ, which the quadratic puts above P, a model is worth a fit up to this share above the incumbent. Not measured.
    pub(crate) const NEARLY: f64 = 0.02;
}

/// Working sets of wide quadratic problems.
pub(crate) mod working {
    /// Columns that a set begins with, and takes in together, at least. Not measured.
    pub(crate) const BATCH: usize = 64;
    /// A column whose atom is below this share of the least that counts is dropped when others are taken in. Not measured.
    pub(crate) const CLOSE: f64 = 0.6;
    /// The gap that is thought to rule features out, as a share of the one that rules none out for sure. Not measured.
    pub(crate) const EXPECTED_GAP: f64 = 0.6;
    /// A node is solved to this share of its gap, as in [`frames`](super::frames).
    pub(crate) const NODE_TOLERANCE: f64 = 1e-3;
}

/// Enumeration of pairs and triples: where it is likely to be faster than the search.
pub(crate) mod enumeration {
    /// With at most this many free features the triples of a node take no longer than its relaxation.
    pub(crate) const MANY_TRIPLES: usize = 1000;
    /// Nodes that a tree has to have expanded before those of a problem that looks easy are enumerated: the paper's families have
    /// fewer, AR d=300 ρ=0.9 has a third fewer nodes for it.
    pub(crate) const EASY_NODES: u64 = 200;
    /// A pass ends when it has found more sets than this, in the hope of a better target …
    pub(crate) const FEW: usize = 1000;
    /// … and where there is no better target, with more than this a whole problem is given up. Not measured.
    pub(crate) const MOST: usize = 20_000;
    /// Under other losses than the quadratic one all is given up with more sets than this left. Not measured.
    pub(crate) const MOST_LEFT: usize = 20_000;
    /// With larger ridges, as shares of the curvatures, columns of wide data are screened sooner than triples are enumerated
    /// (measured on colon and leukemia).
    pub(crate) const LARGE_RIDGE: f64 = 0.5;
    /// With larger ridges sets under other losses are searched sooner than enumerated (measured on colon and leukemia, logistic) …
    pub(crate) const LARGE_RIDGE_OF_CURVED: f64 = 5e-3;
    /// … and with more features than these already with ridges above the next.
    pub(crate) const MANY_COLUMNS: usize = 3000;
    /// The ridge from which on many columns are searched.
    pub(crate) const LARGE_RIDGE_OF_MANY: f64 = 5e-4;
    /// More triples than these under other losses are searched: about 650 features …
    pub(crate) const MOST_TRIPLES: f64 = 5e7;
    /// … and so they are where less time is left than they take on a thread, at this many seconds each: a search that is stopped
    /// has a bound, an enumeration has none.
    pub(crate) const SECONDS_OF_A_TRIPLE: f64 = 3e-7;
}

/// Proved boxes (`cargo xtask bench flat`).
pub(crate) mod boxes {
    /// Boxes are for problems whose lifted ridge is below this share of the curvature: where the two relaxations took about the
    /// same time (AR data, 200 × 500). With more rows than features frames did better throughout.
    pub(crate) const SMALL_LIFT: f64 = 0.008;
    /// With boxes that are given, a node whose bound leaves at most this share of the objective open is split without shrinking
    /// them, and so are the nodes below it (`bench/README.md`, "Bounds that are given").
    pub(crate) const ENOUGH: f64 = 0.75;
    /// Where features have prices and models may have more of them than this, boxes do not shrink.
    pub(crate) const MOST_PRICED: usize = 40;
    /// Rounds over the features of the first node that has boxes, and the share of the boxes that the last of them leaves …
    pub(crate) const ROOT_ROUNDS: (usize, f64) = (30, 0.95);
    /// … and of a node below it. Not measured.
    pub(crate) const NODE_ROUNDS: (usize, f64) = (8, 0.9);
    /// Columns of the root that each thread visits before the others see what was proved of them. Not measured.
    pub(crate) const COLUMNS_OF_A_THREAD: usize = 16;
    /// A node is made smaller when at most this share of its columns is left (sensitivity).
    pub(crate) const SMALLER: f64 = 0.9;
    /// Boxes are shrunk again when at most this share of the columns is left, or a feature came in (sensitivity).
    pub(crate) const AGAIN: f64 = 0.7;
    /// A first round that leaves this share of the boxes, or more, asks for more effort (frontier notes, section 1b: 3 %).
    pub(crate) const LITTLE: f64 = 0.97;
    /// A side that a visit leaves at this share of its length, or more, is left alone for a round, then for two, and so on
    /// (sensitivity).
    pub(crate) const STALLED: f64 = 0.99;
    /// The weight of the budget to begin with, as a share of `H_jj` times the square of the end (sensitivity).
    pub(crate) const WEIGHT: f64 = 0.05;
    /// After a round certificates are used again as long as they leave less than this share of the boxes …
    pub(crate) const WORTH_REPEATING: f64 = 0.99;
    /// … but at most this often.
    pub(crate) const MOST_REPEATS: usize = 10;
    /// Certificates of more columns are not kept: they take `8 d²` bytes. Nor are they where that is half of the memory limit.
    pub(crate) const MOST_KEPT: usize = 4000;
    /// A change below this share of the radius ends the passes of a round (sensitivity).
    pub(crate) const SETTLED: f64 = 5e-3;
    /// The first lassos aim at a sum of the m - 1 largest `|h_i|` times their boxes of this share of `h_j` times its own
    /// (sensitivity).
    pub(crate) const LASSO_SHARE: f64 = 0.4;
    /// The least weight of a lasso, as a share of the column's square (frontier notes, section 1: 0.01 to 0.03 were best) …
    pub(crate) const LEAST_LASSO: f64 = 0.02;
    /// … and the largest.
    pub(crate) const MOST_LASSO: f64 = 0.1;
    /// Passes of a lasso. Not measured.
    pub(crate) const LASSO_PASSES: usize = 6;
    /// Weights that a lasso tries. Not measured.
    pub(crate) const LASSO_ROUNDS: usize = 3;
    /// Passes over the coordinates in a round of the ascent of a node's bound. Not measured.
    pub(crate) const ASCENT_PASSES: usize = 6;
    /// Boxes of rows are for problems whose ridge is below this share of the curvature, as those in Gram form …
    pub(crate) const SMALL_RIDGE: f64 = 0.008;
    /// … and whose rows times the square of their columns are at most this, since the first bound comes after a round over all
    /// columns: 200 × 500, a quarter of this, took most of a minute, and the bound without boxes rises sooner.
    pub(crate) const MOST_ROW_WORK: u64 = 200_000_000;
    /// Boxes of rows: a side is held at this share of its end. Not measured.
    pub(crate) const ROW_HOLD: f64 = 0.95;
    /// The price of the whole budget to begin with, as a share of the ceiling. Not measured.
    pub(crate) const ROW_PRICE: f64 = 0.02;
    /// Points that a visit tries at most …
    pub(crate) const ROW_ROUNDS: usize = 200;
    /// … and how many in a row that shrink the side by less than 1 % end it. Not measured.
    pub(crate) const ROW_STALLS: usize = 4;
    /// Parabolas that a round of descent lays over the loss, one after the other …
    pub(crate) const ROW_COVERS: usize = 2;
    /// … and passes over the coordinates under each of them. Not measured.
    pub(crate) const ROW_PASSES: usize = 4;
    /// Coordinates at zero whose pull was below this share of their price are passed over in a round. Not measured.
    pub(crate) const ROW_NEAR: f64 = 0.7;
    /// Progress of the bound is a rise by this share of what is missing. Not measured.
    pub(crate) const ROW_PROGRESS: f64 = 1e-3;
    /// Rounds without progress that end it. Not measured.
    pub(crate) const ASCENT_STALLS: usize = 15;
    /// Progress is a rise by this share of what is missing. Not measured.
    pub(crate) const ASCENT_PROGRESS: f64 = 3e-4;
}

/// The binary tree.
pub(crate) mod tree {
    /// What a side of a split counts for that gains nothing, for every relaxation: without it a gain of one side alone would be worth
    /// nothing at all (sensitivity).
    pub(crate) const NO_GAIN: f64 = 0.05;
    /// Columns are listed anew when at most this share of the last list is left: memory against copying. Not measured.
    pub(crate) const RELIST: f64 = 0.8;
    /// Nodes in which at most this many features can still be chosen may be enumerated: what `gram::small` can do.
    pub(crate) const SMALL_BUDGET: usize = 3;
    /// The relaxation of a node is tightened at most this often; two or three times are usual.
    pub(crate) const MOST_ROUNDS: usize = 32;
}

/// Relaxations in matrix form, with or without groups and bounds.
pub(crate) mod rows {
    /// Passes over the columns of a node that its expansion takes: about what was counted.
    pub(crate) const NODE_PASSES: u64 = 100;
    /// A node is solved to this share of its gap to the incumbent (engine notes, section 13; sensitivity) …
    pub(crate) const NODE_TOLERANCE: f64 = 1e-2;
    /// … and never beyond this share of the incumbent.
    pub(crate) const TOLERANCE_FLOOR: f64 = 1e-12;
    /// A lift is tried when the predictions of better models are expected to lie within the span of the loss; again when it is
    /// expected to close this share of the gap (sensitivity) …
    pub(crate) const RELIFT: f64 = 0.1;
    /// … by growing by this share of itself at least (sensitivity) …
    pub(crate) const LEAST_GROWTH: f64 = 0.05;
    /// … or when they are expected to lie within this share of the last lift's width: a lift that is worth nothing, as Huber's
    /// first ones often are, could not promise to grow (sensitivity).
    pub(crate) const NARROWER: f64 = 0.5;
    /// The curvature that is left to the logistic loss falls like `e^{-width/2}`, roughly, as was seen (its span is 3).
    pub(crate) const DECAY: f64 = 1.65;
    /// A lift multiplies the columns that are left with each other three times: at most this many entries.
    pub(crate) const LARGEST_LIFT: usize = 20_000_000;
    /// Radii are first guessed to shrink like the square root of the gap, with this factor to spare (sensitivity).
    pub(crate) const GUESS: f64 = 1.3;
    /// What the κ of the slack may be in all, as a share of the gap (sensitivity).
    pub(crate) const SLACK_SHARE: f64 = 1e-3;
    /// Sweeps of the ascent that spreads a lift (sensitivity), twice as long as needed in small frames, since a lift here costs more.
    pub(crate) const SWEEPS: usize = 6;
    /// The ascent is made when there are at least this many rows per column (sensitivity).
    pub(crate) const SPREAD_ROWS: usize = 12;
    /// Products of fewer columns are not worth keeping. Not measured.
    pub(crate) const LEAST_PRODUCTS: usize = 24;
    /// What a multiplication costs in a product of one column with others, beside one in a product of blocks.
    pub(crate) const SINGLE_PRODUCT: usize = 8;
    /// Products are made anew when this many times all rows have changed. Not measured.
    pub(crate) const MOST_CHANGES: usize = 16;
    /// Every this many iterations the bound of a node with groups or bounds has to have come closer to the cut by [`PROGRESS`]
    /// (sensitivity).
    pub(crate) const CHECK: usize = 30;
    /// The share of what is missing that counts as progress (sensitivity).
    pub(crate) const PROGRESS: f64 = 0.05;
}

/// What comes before the tree: screening, the Gram matrix, proofs of rows.
pub(crate) mod prepare {
    use super::Duration;

    /// Smaller ridges, as shares of the curvatures, rule nothing out without a lift (Huber families and AR data).
    pub(crate) const SMALL_RIDGE: f64 = 0.02;
    /// A Gram matrix of fewer multiplications is made sooner than columns are screened.
    pub(crate) const SHORT_PRODUCT: u64 = 6_000_000;
    /// A Gram matrix of more multiplications is made in bands, by all threads, rather than from the part that is there …
    pub(crate) const MIDDLING_PRODUCT: f64 = 1e9;
    /// … which has to have one in this many of the columns, at least. Not measured.
    pub(crate) const LEAST_PART: usize = 4;
    /// A Gram matrix of this many multiplications takes long: seconds.
    pub(crate) const LONG_PRODUCT: f64 = 1e10;
    /// Rounds of ascent and screening. Not measured.
    pub(crate) const SCREENING_ROUNDS: usize = 12;
    /// Rounds of a working set before the Gram matrix is made (Huber families).
    pub(crate) const BRIEF_ROUNDS: usize = 3;
    /// The first ascent is made to this share of the objective. Not measured.
    pub(crate) const COARSE: f64 = 1e-3;
    /// At most this share of the rows of a Huber problem may stay explicit in Gram form (sensitivity).
    pub(crate) const MAX_EXPLICIT: f64 = 0.5;
    /// Rounds of certifying rows. Not measured.
    pub(crate) const ROW_ROUNDS: usize = 5;
    /// A size of a path that takes longer on one thread is solved by all of them, after the others. Not measured.
    pub(crate) const LONG_SIZE: Duration = Duration::from_millis(500);
}
