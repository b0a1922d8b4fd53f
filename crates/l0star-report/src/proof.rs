//! [`Proof`]: every sentence about what is proved for a result.
//!
//! Headlines, explanations, pages and the Python package take their claims from here, and each claim follows
//! from the status and the certified bound. Without a bound nothing is claimed, whatever the status is.

use l0star::Status;
use l0star_data::counted;
use l0star_record::fields::{Assumption, Fitted, List, OfMoments, Priced};

use crate::face::Face;
use crate::text::{at_least, percent_down, percent_up, significant};

/// Share of the objective below which a bound is reported as a share, and not as a distance to the optimum.
const TELLING: f64 = 0.5;

/// Largest difference of a cost's bounds, as a share of the objective, if everything that the
/// cost depends on is optimal.
const ROUNDING: f64 = 1e-8;

/// The proved facts of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proof<'a> {
    /// The status; `None` for a word that this version does not know.
    status: Option<Status>,
    k: usize,
    objective: f64,
    /// The certified bound; `None` without a certificate.
    lower_bound: Option<f64>,
    method: &'a str,
    /// Whether the objective includes the prices of the features.
    is_penalised: bool,
    /// The assumption, if there is one.
    assumption: Option<Assumption>,
    /// The moments that were fitted, if there are no rows.
    moments: Option<OfMoments>,
}

/// Progress of the proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// No model is better.
    Optimal,
    /// No model is better by more than the allowed gap.
    Enough,
    /// The bound holds, but this stopped the search before the requested proof was complete.
    Short(&'static str),
    /// There is no certificate.
    Nothing,
}

impl<'a> Proof<'a> {
    /// Creates a proof from the fields of a result.
    pub fn of(fitted: &'a Fitted) -> Self {
        Self {
            status: fitted.status.parse().ok(),
            k: fitted.k,
            objective: fitted.objective,
            lower_bound: fitted.lower_bound,
            method: &fitted.method,
            is_penalised: fitted.l0_penalty > 0.0,
            assumption: fitted.assumption,
            moments: fitted.moments,
        }
    }

    /// Creates a proof from numbers and words, without prices and assumptions; `status` and
    /// `method` are the engine's words.
    pub fn new(
        status: &str,
        k: usize,
        objective: f64,
        lower_bound: Option<f64>,
        method: &'a str,
    ) -> Self {
        Self {
            status: status.parse().ok(),
            k,
            objective,
            lower_bound,
            method,
            is_penalised: false,
            assumption: None,
            moments: None,
        }
    }

    /// Adds the price of a feature and an assumption.
    pub fn given(self, l0_penalty: f64, assumption: Option<Assumption>) -> Self {
        Self {
            is_penalised: l0_penalty > 0.0,
            assumption,
            ..self
        }
    }

    /// Adds the moments, for a fit to moments.
    pub fn of_moments(self, moments: Option<OfMoments>) -> Self {
        Self { moments, ..self }
    }

    fn standing(&self) -> Standing {
        match (self.status, self.lower_bound) {
            (_, None) => Standing::Nothing,
            (Some(Status::Optimal), _) => Standing::Optimal,
            (Some(Status::GapReached), _) => Standing::Enough,
            _ => self.stop().map_or(Standing::Nothing, Standing::Short),
        }
    }

    /// Whether it is proved that no model is better.
    pub fn is_optimal(&self) -> bool {
        self.standing() == Standing::Optimal
    }

    /// Whether the requested proof is complete.
    pub fn is_complete(&self) -> bool {
        matches!(self.standing(), Standing::Optimal | Standing::Enough)
    }

    /// Returns what stopped a search that fell short.
    fn stop(&self) -> Option<&'static str> {
        self.status.and_then(stop)
    }

    /// Returns `no model with at most 3 features`, limited to the assumption if there is one.
    fn no_model(&self) -> String {
        let within = self.assumption.map(|_| " within the assumption");
        let within = within.unwrap_or_default();
        format!(
            "no model with at most {}{within}",
            counted(self.k, "feature")
        )
    }

    /// Returns `no model with at most 3 features is better`.
    fn none_better(&self) -> String {
        let better = if self.is_penalised {
            "has a lower penalised objective"
        } else {
            "is better"
        };
        format!("{} {better}", self.no_model())
    }

    /// Returns the moments and the assumption that a claim refers to.
    fn assuming(&self) -> String {
        let moments = self.moments.map(|_| " for these moments".to_owned());
        let assumed = self
            .assumption
            .map(|assumption| format!(" under the assumption {}", bounded(&assumption)));
        moments.into_iter().chain(assumed).collect()
    }

    /// Returns what is proved, in one line.
    pub fn headline(&self) -> String {
        let distance = self.distance();
        match self.standing() {
            Standing::Optimal => {
                format!("proved optimal{}: {}", self.assuming(), self.none_better())
            }
            Standing::Enough => format!("within the allowed gap: {distance}{}", self.assuming()),
            Standing::Short(stop) => format!("{stop}: {distance}{}", self.assuming()),
            Standing::Nothing => match self.stop() {
                None => format!("found by {}: nothing is proved", self.method),
                Some(stop) => format!("{stop}: nothing is proved"),
            },
        }
    }

    /// Describes how far above the optimum the model can be: as a share of the optimum if the bound is close to
    /// the objective, otherwise by how close the bound is.
    fn distance(&self) -> String {
        match self.lower_bound {
            Some(bound) if bound >= self.objective => "no model is better".to_owned(),
            Some(bound) if bound >= TELLING * self.objective => {
                let above = percent_up((self.objective - bound) / bound);
                format!("at most {above} % above the optimum")
            }
            Some(bound) if bound > 0.0 => {
                let share = percent_down(bound / self.objective);
                format!("the lower bound has reached {share} % of the objective")
            }
            _ => "the lower bound is still 0".to_owned(),
        }
    }

    /// Formats the gap as a number and as a share of the objective; `None` without a bound.
    pub fn gap(&self) -> Option<String> {
        let gap = (self.objective - self.lower_bound?).max(0.0);
        let number = significant(gap, 3);
        if gap == 0.0 {
            return Some(number);
        }
        let share = percent_up(gap / self.objective);
        Some(format!("{number} ({share} % of the objective)"))
    }

    /// Returns all that is proved, including the list of models if there is one.
    pub fn paragraphs(&self, list: Option<&List>, face: Face) -> Vec<String> {
        let mut paragraphs = vec![
            format!(
                "The {}objective of the model is {}.",
                if self.is_penalised { "penalised " } else { "" },
                significant(self.objective, 12)
            ),
            self.bound(face),
        ];
        paragraphs.extend(self.assumption.filter(|_| self.lower_bound.is_some()).map(|own| {
            format!(
                "All this holds under the assumption {}, which was given and is not proved. A model with a larger \
                 coefficient may be better.",
                bounded(&own)
            )
        }));
        paragraphs.extend(self.moments.map(|own| {
            let rows = match own.rows {
                1 => "1 row".to_owned(),
                rows => format!("{rows} rows"),
            };
            let lowered = match self.lower_bound {
                Some(_) => format!(
                    " The lower bound was reduced by {}, for rounding and for the error of the moments, so that it holds for these rows.",
                    significant(own.bound_lowered_by, 3)
                ),
                None => String::new(),
            };
            format!("The fit is to the moments of {rows}: all this is said for these moments.{lowered}")
        }));
        paragraphs.extend(self.meaning(face));
        paragraphs.extend(list.map(|list| self.list(list, face)));
        paragraphs
    }

    fn bound(&self, face: Face) -> String {
        let bound = match (self.standing(), self.lower_bound) {
            (Standing::Nothing, _) | (_, None) => return self.no_proof(face),
            (_, Some(bound)) => bound,
        };
        let mut no_model = self.no_model();
        no_model.replace_range(..1, "N");
        if bound <= 0.0 && self.objective > 0.0 {
            return "Nothing is proved yet: the lower bound is still 0.".to_owned();
        }
        let mut text = format!(
            "{no_model} has {} below {} (the lower bound)",
            if self.is_penalised {
                "a penalised objective"
            } else {
                "an objective"
            },
            at_least(bound, 12)
        );
        let gap = (self.objective - bound).max(0.0);
        if gap == 0.0 {
            return text + ", so this one is at the optimum.";
        }
        text += &format!(
            ", so this one is at most {} above the optimum",
            significant(gap, 3)
        );
        if bound >= TELLING * self.objective {
            text + &format!(" ({} % of the optimum).", percent_up(gap / bound))
        } else {
            let share = percent_down(bound / self.objective);
            text + &format!(". The bound has reached {share} % of the objective.")
        }
    }

    fn no_proof(&self, face: Face) -> String {
        match (self.status, self.stop()) {
            (None, _) => {
                "Nothing is proved: this version of l0star does not know the status of the result."
                    .to_owned()
            }
            (Some(Status::Heuristic), _) => format!(
                "Nothing is proved: '{}' is a heuristic, and a better model with at most {} may exist. Use {} for a proof.",
                self.method,
                counted(self.k, "feature"),
                face.exact()
            ),
            (_, Some(stop)) => format!("Nothing is proved: the run was {stop}."),
            (_, None) => "Nothing is proved: the result has no lower bound.".to_owned(),
        }
    }

    /// Explains the status.
    fn meaning(&self, face: Face) -> Option<String> {
        let status = self.status?;
        // A bound of 0 carries no information.
        let holds = match self.lower_bound {
            Some(bound) if bound > 0.0 || self.objective <= 0.0 => {
                " The bound holds; a better model may exist, but not by more than the gap."
            }
            _ => "",
        };
        let text = match self.standing() {
            Standing::Nothing => return None,
            Standing::Optimal => {
                let others = match self.assumption {
                    Some(_) => "within the assumption ",
                    None => "",
                };
                format!("the gap is closed to the accuracy that l0star guarantees, a relative 1e-9. Up to that accuracy, no other features and no other coefficients {others}give a lower objective.")
            }
            Standing::Enough => "the search stopped as soon as the gap was within the error allowed. A better model may exist, but not by more than the gap.".to_owned(),
            Standing::Short(_) if status == Status::Precision => {
                format!("the search is complete, but double precision cannot prove more on these data.{holds}")
            }
            Standing::Short(stop) => {
                format!("the search was {stop} before the proof was complete.{holds}")
            }
        };
        let advice = advice(status, face).map_or(String::new(), |advice| {
            let (first, rest) = advice.split_at(1);
            format!(" {}{rest}.", first.to_uppercase())
        });
        Some(format!("Status {status}: {text}{advice}"))
    }

    fn list(&self, list: &List, face: Face) -> String {
        let lists = face.list();
        let count = list.solutions.len();
        let models = counted(count, "model");
        let Some(rest) = list.rest_bound else {
            return match count {
                1 => format!("{lists} the only model that there is."),
                _ => format!("{lists} all {models} that there are."),
            };
        };
        let rest = at_least(rest, 12);
        if !self.is_optimal() {
            return format!(
                "{lists} {models}. It is not proved that no other belongs there; every other model has an objective of at least {rest}."
            );
        }
        let best = match count {
            1 => "the best model".to_owned(),
            _ => format!("the {count} best models"),
        };
        format!("{lists} {best}; every other one has an objective of at least {rest}.")
    }

    /// Returns the line below the models of a list.
    pub fn rest(rest_bound: Option<f64>) -> String {
        match rest_bound {
            None => "there are no other models".to_owned(),
            Some(bound) => format!("no other model is below {}", at_least(bound, 8)),
        }
    }

    /// Returns the title of the section on the search.
    pub fn how(&self) -> &'static str {
        if self.is_complete() {
            "How it was proved"
        } else {
            "How it was found"
        }
    }

    /// Returns the purpose of the search effort, as the end of a sentence about it.
    pub fn purpose(&self) -> &'static str {
        match self.standing() {
            Standing::Optimal => "to prove that no choice is better",
            Standing::Enough => "to prove that no choice is better by more than the allowed gap",
            Standing::Short(_) | Standing::Nothing => "without completing the proof",
        }
    }

    /// Explains what the proof does not cover.
    pub fn limits(&self) -> String {
        let about = match self.standing() {
            Standing::Optimal => format!(
                "The proof is about this objective on these rows: {}. It does not say that these features are the true ones",
                self.none_better()
            ),
            Standing::Enough => format!(
                "The proof is about this objective on these rows: {} is better by more than the gap. It does not say that these features are the true ones",
                self.no_model()
            ),
            Standing::Short(_) => {
                "The lower bound is about this objective on these rows. It does not say that these features are the best, or the true ones".to_owned()
            }
            Standing::Nothing => {
                "Nothing says that these features are the best, or the true ones".to_owned()
            }
        };
        format!("{about}; another sample may favour others.")
    }

    /// Describes the chart of the search.
    pub fn trace(&self, nodes: u64) -> String {
        match self.lower_bound {
            Some(_) => format!(
                "The proof is complete when the two lines meet. The search examined {}.",
                counted(nodes, "node")
            ),
            None => "A heuristic has no lower bound.".to_owned(),
        }
    }
}

/// Formats an assumption: `|coefficient| <= 2`.
pub fn bounded(assumption: &Assumption) -> String {
    let per = if assumption.standardized {
        " per standard deviation"
    } else {
        ""
    };
    format!("|coefficient|{per} <= {}", assumption.max_coefficient)
}

/// Returns what stopped a search before the requested proof was complete.
fn stop(status: Status) -> Option<&'static str> {
    match status {
        Status::TimeLimit => Some("stopped at the time limit"),
        Status::NodeLimit => Some("stopped at the node limit"),
        Status::MemoryLimit => Some("stopped at the memory limit"),
        Status::Interrupted => Some("interrupted"),
        Status::Precision => Some("stopped at the limit of double precision"),
        Status::Optimal | Status::GapReached | Status::Heuristic => None,
    }
}

/// Returns advice on how to prove more; `None` if the method has proved all that it can.
pub fn advice(status: Status, face: Face) -> Option<String> {
    match status {
        Status::Optimal | Status::GapReached | Status::Heuristic => None,
        Status::Precision => Some("rescale the columns, or use a larger ridge or gap".to_owned()),
        Status::TimeLimit | Status::NodeLimit | Status::MemoryLimit => Some(format!(
            "raise the limit, allow a gap, or resume from a checkpoint with {}",
            face.resume()
        )),
        Status::Interrupted => Some(format!(
            "run longer, or resume from a checkpoint with {}",
            face.resume()
        )),
    }
}

/// Returns the title of a path.
pub fn path<'a>(sizes: impl IntoIterator<Item = Proof<'a>>) -> String {
    title(sizes, "of every size", "size")
}

/// Returns the title of a path over the price of a feature.
pub fn pieces<'a>(pieces: impl IntoIterator<Item = Proof<'a>>) -> String {
    title(pieces, "at every price of a feature", "interval of prices")
}

fn title<'a>(all: impl IntoIterator<Item = Proof<'a>>, every: &str, one: &str) -> String {
    let (mut count, mut optimal) = (0, 0);
    let mut assuming = String::new();
    for proof in all {
        count += 1;
        optimal += usize::from(proof.is_optimal());
        assuming = proof.assuming();
    }
    if optimal == count {
        format!("the best model {every}, each proved optimal{assuming}")
    } else {
        let of = match (count, one) {
            (1, _) => format!("1 {one}"),
            (_, "size") => format!("{count} sizes"),
            _ => format!("{count} intervals of prices"),
        };
        format!("the best models found of {of}, {optimal} of them proved optimal{assuming}")
    }
}

/// The proved facts of a cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cost {
    /// Proved, up to rounding.
    Exact(f64),
    /// Certified bounds, and the reason why they differ.
    Between(f64, f64, &'static str),
    /// No model satisfies the decision.
    Impossible,
}

/// Returns the proved facts of one choice. Its cost is exact only if both objectives are: that of the model and
/// that of the other decision.
pub fn cost(price: &Priced) -> Cost {
    let (Some(cost), Some(lower), Some(objective)) =
        (price.cost, price.cost_lower, price.objective)
    else {
        return Cost::Impossible;
    };
    let upper = price.cost_upper.unwrap_or(cost);
    match cost_note(&price.status, (lower, upper), objective) {
        None => Cost::Exact(cost),
        Some(why) => Cost::Between(lower, upper, why),
    }
}

/// Returns the reason why the bounds of a cost differ; `None` if it is proved up to rounding. `objective` is
/// that of the other decision.
pub fn cost_note(status: &str, bounds: (f64, f64), objective: f64) -> Option<&'static str> {
    Some(match status.parse() {
        Ok(Status::Optimal) if bounds.1 - bounds.0 <= ROUNDING * objective => return None,
        Ok(Status::Optimal) => "the model itself is not proved optimal",
        Ok(Status::GapReached) => "within the allowed gap",
        Ok(status) => stop(status).unwrap_or("not proved"),
        Err(_) => "not proved",
    })
}
