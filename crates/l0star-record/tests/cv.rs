//! Cross-validation finds the same models as separate fits on the folds, and searches that
//! are cut off have no scores.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use l0star::path::PathSize;
use l0star::{Batch, Design, PathState, Problem, Settings, solve};
use l0star_record::cv::{
    CrossValidation, Folds, Path, Penalty, Rule, Score, Searcher, Tally, choose,
};

const ROWS: usize = 40;
const COLUMNS: usize = 5;
const SIZES: [usize; 4] = [0, 1, 2, 3];
const RIDGES: [f64; 2] = [1e-3, 0.5];

struct Data {
    design: Design,
    response: Vec<f64>,
    folds: Folds,
}

impl Data {
    /// Two columns that affect the response, and three that do not.
    fn new() -> Self {
        let entry = |i: usize, j: usize| ((i * (2 * j + 3) + j * j) as f64 * 0.7).sin();
        let values = (0..COLUMNS).flat_map(|j| (0..ROWS).map(move |i| entry(i, j)));
        let design = Design::dense(ROWS, COLUMNS, values.collect()).unwrap();
        let response = (0..ROWS).map(|i| {
            let noise = 0.1 * (i as f64 * 12.9).sin();
            2.0 * entry(i, 1) - entry(i, 3) + noise
        });
        let response: Vec<f64> = response.collect();
        let folds = Folds::deal(&response, None, false, 4, 3).unwrap();
        Self {
            design,
            response,
            folds,
        }
    }

    fn problem(&self, k: usize, path: Path) -> l0star::Result<Problem> {
        let builder = Problem::builder(self.design.clone(), self.response.clone());
        let outside = self.folds.weights(None, path.fold, false);
        let builder = builder.ridge(RIDGES[path.penalty]).intercept(true);
        builder.weights(outside).k(k).build()
    }

    fn score_of(&self, path: Path, coefficients: &[f64], intercept: f64) -> f64 {
        let mut scores = vec![intercept; ROWS];
        let x = coefficients.iter().copied().enumerate();
        self.design.add_columns(x, &mut scores);
        let inside = self.folds.weights(None, path.fold, true);
        Score::Mse.of(&l0star::loss::Quadratic, &scores, &self.response, &inside)
    }

    fn tally(&self, settings: &Settings) -> Tally {
        let tally = Mutex::new(Tally::new(
            &SIZES,
            &Penalty::grid(&RIDGES, &[0.0]),
            self.folds.count,
        ));
        let all = CrossValidation {
            settings,
            penalties: RIDGES.len(),
            folds: self.folds.count,
            threads: 2,
            room: 3,
            deadline: None,
            is_resumed: false,
            tally: &tally,
        };
        all.run(self).unwrap();
        tally.into_inner().unwrap()
    }
}

impl Searcher for Data {
    type Error = l0star::Error;
    type Notes = ();

    fn begin(&self, path: Path) -> l0star::Result<PathState<'static>> {
        let problem = self.problem(0, path)?;
        Batch::unkept().path(path.at, &problem, &Settings::default(), SIZES)
    }

    fn step(
        &self,
        state: &mut PathState<'static>,
        settings: &Settings,
    ) -> l0star::Result<Option<(PathSize, ())>> {
        Ok(state.step(settings)?.map(|point| (point, ())))
    }

    fn score(&self, path: Path, point: &PathSize, (): ()) -> l0star::Result<f64> {
        let solution = &point.solution;
        Ok(self.score_of(path, &solution.coefficients, solution.intercept))
    }
}

#[test]
fn scores_are_those_of_separate_fits() {
    let data = Data::new();
    let tally = data.tally(&Settings::default());
    assert_eq!(tally.missing(), (0, 32));
    for (at, candidate) in tally.candidates.iter().enumerate() {
        for (fold, scored) in candidate.folds.iter().enumerate() {
            let ridge = at / SIZES.len();
            let path = Path {
                at: ridge * data.folds.count + fold,
                penalty: ridge,
                fold,
            };
            let problem = data.problem(candidate.k, path).unwrap();
            let solution = solve(&problem, &Settings::default()).unwrap();
            let expected = data.score_of(path, &solution.coefficients, solution.intercept);
            let found = scored.unwrap().score;
            assert!((found - expected).abs() <= 1e-9 * expected, "{at}, {fold}");
        }
    }
    // Two columns make up the response, and the chosen ridge hardly changes their coefficients.
    let choice = choose(&tally, false, Rule::OneSe).unwrap();
    let chosen = &tally.candidates[choice.chosen];
    assert_eq!((chosen.k, chosen.ridge), (2, RIDGES[0]));
}

#[test]
fn what_is_interrupted_has_no_scores() {
    let settings = Settings {
        interrupt: Some(Arc::new(AtomicBool::new(true))),
        ..Settings::default()
    };
    let tally = Data::new().tally(&settings);
    let (missing, all) = tally.missing();
    assert_eq!(all, 32);
    assert!(missing > 0 && tally.complete() < SIZES.len());
    assert!(choose(&tally, false, Rule::OneSe).is_err());
}
