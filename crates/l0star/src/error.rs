//! Errors in a problem, a setting or a checkpoint, with messages that tell the user how to fix them.

use thiserror::Error;

/// Why a [`Problem`](crate::Problem) could not be built or solved.
///
/// Rows and columns are counted from 1, as a spreadsheet does; columns carry their names.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A data entry is NaN or infinite.
    #[error("row {row}, column '{column}' is {value}: every entry must be a finite number")]
    NotFinite {
        /// Row, from 1.
        row: usize,
        /// Name of the column (`response`, `weights` and `offset` for those vectors).
        column: String,
        /// The offending value.
        value: f64,
    },
    /// A data entry is so large that squares and sums of it would overflow.
    #[error(
        "row {row}, column '{column}' is {value:e}: squares and sums of numbers this large leave the range of double \
         precision; check the value, or divide the column by a large number"
    )]
    TooLarge {
        /// Row, from 1.
        row: usize,
        /// Name of the column (`response` and `offset` for those vectors).
        column: String,
        /// The offending value.
        value: f64,
    },
    /// The response is so small that its squares underflow.
    #[error(
        "no response (less its offset) is larger than {largest:e}: its square leaves the range of double precision; multiply \
         the response (the offset, and Huber's delta) by a large number"
    )]
    TooSmall {
        /// Absolute value of the largest response.
        largest: f64,
    },
    /// A column is so small that its products with the response, or with other columns, underflow.
    #[error(
        "no number of column '{column}' is larger than {largest:e}: its products leave the range of double precision; multiply \
         the column by a large number, or leave it out"
    )]
    SmallColumn {
        /// Name of the column.
        column: String,
        /// Absolute value of its largest number.
        largest: f64,
    },
    /// Several responses were given to a loss that takes one.
    #[error(
        "the loss '{loss}' fits one response; several that share their features need the quadratic loss"
    )]
    SeveralResponses {
        /// The loss.
        loss: &'static str,
    },
    /// A feature of the engine is not available for several responses or classes.
    #[error("{what} cannot be combined with several responses or classes")]
    SeveralScores {
        /// What was asked for.
        what: &'static str,
    },
    /// The number of offsets differs from the number of responses or classes.
    #[error(
        "a row has {scores} scores, one for each response or class, and there are {offsets} offsets; give each score its own, 0 for none"
    )]
    Offsets {
        /// How many scores a row has.
        scores: usize,
        /// How many offsets were given.
        offsets: usize,
    },
    /// A class has no row of positive weight.
    #[error(
        "class {class} has no row of positive weight; number the classes from 0, each with a row"
    )]
    EmptyClass {
        /// Number of the class, from 0.
        class: usize,
    },
    /// A response is not the number of a class.
    #[error("a response is no whole number from 0 to {last}, the numbers of {classes} classes", last = classes - 1)]
    NoSuchClass {
        /// How many classes there are.
        classes: usize,
    },
    /// A sample weight is too small compared with the largest.
    #[error(
        "row {row}: weight {value:e} is less than 1e-150 of the largest, {largest:e}, and the row would be lost to rounding; \
         give it the weight 0 to leave it out, or bring the weights closer together"
    )]
    SmallWeight {
        /// Row, from 1.
        row: usize,
        /// The weight.
        value: f64,
        /// The largest weight.
        largest: f64,
    },
    /// Two inputs disagree in length.
    #[error("{what} has {found} entries, but the data need {expected}")]
    Shape {
        /// Which input.
        what: String,
        /// Entries that the data call for.
        expected: usize,
        /// Entries that were given.
        found: usize,
    },
    /// The column starts of a sparse matrix do not cut its values into columns.
    #[error(
        "indptr of the sparse design matrix: column {column} would be the values {from} to {to} of {stored}; indptr \
         must begin with 0, never decrease, and end with the number of values"
    )]
    ColumnStarts {
        /// Column, from 1.
        column: usize,
        /// Where it starts.
        from: usize,
        /// Where it ends.
        to: usize,
        /// Values that are stored.
        stored: usize,
    },
    /// A row index of a sparse matrix is out of order or beyond the rows.
    #[error(
        "sparse design matrix, column {column}: the value {value} has the row index {row}, which must be at least \
         {least} and below {rows} (counted from 0); sort the rows of a column and add up duplicates"
    )]
    RowIndex {
        /// The row index given, from 0.
        row: usize,
        /// Column, from 1.
        column: usize,
        /// The value stored there.
        value: f64,
        /// The smallest row index allowed: one after the previous value's.
        least: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// There is nothing to fit.
    #[error("the data have no {what}: at least one is needed")]
    Empty {
        /// `rows`, `columns` or `rows of positive weight`.
        what: &'static str,
    },
    /// A setting is outside its range.
    #[error("{name} = {value} is out of range: {range}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// The value given.
        value: String,
        /// What is allowed.
        range: &'static str,
    },
    /// A sample weight is negative.
    #[error("row {row}: weight {value} is negative; weights must be zero or more")]
    NegativeWeight {
        /// Row, from 1.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// A class label is neither −1 nor 1.
    #[error("row {row}: response {value} is not a label; the {loss} loss needs -1 or 1")]
    Label {
        /// Row, from 1.
        row: usize,
        /// The response.
        value: f64,
        /// The loss.
        loss: &'static str,
    },
    /// A response is outside the domain of the loss.
    #[error("row {row}: response {value} is not {allowed}, as the {loss} loss needs it")]
    Response {
        /// Row, from 1.
        row: usize,
        /// The response.
        value: f64,
        /// The loss.
        loss: &'static str,
        /// `0 or more`, or `greater than 0`.
        allowed: &'static str,
    },
    /// A positive response is too close to 0.
    #[error(
        "row {row}: response {value:e} is so small that its ratios leave the range of double precision; multiply the response \
         by a large number"
    )]
    SmallResponse {
        /// Row, from 1.
        row: usize,
        /// The response.
        value: f64,
    },
    /// All counts are 0, and there is an intercept.
    #[error(
        "every response of a row of positive weight is 0: with an intercept the {loss} loss has no best model (the intercept \
         would be minus infinity); give rows with counts, or fit without an intercept"
    )]
    NoCounts {
        /// The loss.
        loss: &'static str,
    },
    /// The null model is too far from the responses of a loss with a log link.
    #[error(
        "without features the {loss} loss leaves the range of double precision: the responses are too far from what the offset \
         (and the intercept, if there is one) predicts; fit with an intercept, or multiply the response by a suitable number"
    )]
    FarResponse {
        /// The loss.
        loss: &'static str,
    },
    /// A row enters at or after its own time.
    #[error(
        "row {row}: entry {entry} is not before the time {time}; a row must be at risk for some time: check both columns, or \
         leave the row out"
    )]
    LateEntry {
        /// Row, from 1.
        row: usize,
        /// Time at which the row enters.
        entry: f64,
        /// Time of the row.
        time: f64,
    },
    /// No row of positive weight has an event.
    #[error(
        "no row of positive weight has an event: there is nothing to compare; check which value of the event column marks \
         an event"
    )]
    NoEvents,
    /// An intercept was asked for, but the loss has none.
    #[error(
        "the {loss} loss compares rows with each other, and an intercept would change nothing: fit without one"
    )]
    Intercept {
        /// The loss.
        loss: &'static str,
    },
    /// The method needs a loss that is a sum over rows.
    #[error(
        "method '{method}' needs a loss that adds up over rows, and the {loss} loss couples them: use 'best-first'"
    )]
    Coupled {
        /// The method.
        method: &'static str,
        /// The loss.
        loss: &'static str,
    },
    /// The method needs a loss of bounded curvature.
    #[error(
        "method '{method}' needs a loss whose curvature is bounded, and that of the {loss} loss is not: use 'best-first'"
    )]
    Steep {
        /// The method.
        method: &'static str,
        /// The loss.
        loss: &'static str,
    },
    /// Only one of the two classes occurs.
    #[error(
        "every row of positive weight has the label {label}: the {loss} loss needs rows of both classes"
    )]
    OneClass {
        /// The only label that occurs.
        label: f64,
        /// The loss.
        loss: &'static str,
    },
    /// A column index is beyond the data.
    #[error("there is no column {column}: columns are counted from 0, and the last one is {}", columns.saturating_sub(1))]
    NoSuchColumn {
        /// The index asked for, from 0.
        column: usize,
        /// Columns that exist.
        columns: usize,
    },
    /// A column cannot be chosen, or is not the first one of its group.
    #[error(
        "column {column} (counted from 0) is no feature that can be chosen: give one that is neither excluded nor always in, \
         a group by its first column"
    )]
    NotSelectable {
        /// The index given, from 0.
        column: usize,
    },
    /// The same column was both excluded and forced in.
    #[error("column '{column}' is both excluded and always in: choose one")]
    Conflict {
        /// Name of the column.
        column: String,
    },
    /// More features are included than k allows.
    #[error(
        "{} included, more than k = {k} allows: raise k, or include fewer",
        if *included == 1 { "1 feature is".to_owned() } else { format!("{included} features are") }
    )]
    TooManyIncluded {
        /// Number of features that are included and count towards k.
        included: usize,
        /// The k given.
        k: usize,
    },
    /// A bound of a coefficient leaves no room for 0.
    #[error(
        "column '{column}' has the bounds {lower} to {upper}: they must be numbers with lower <= 0 <= upper (a feature \
         that is left out has the coefficient 0)"
    )]
    Bounds {
        /// Name of the column.
        column: String,
        /// The lower bound given.
        lower: f64,
        /// The upper bound given.
        upper: f64,
    },
    /// A column cannot be in the group that it was given to.
    #[error("column '{column}' {reason}")]
    Group {
        /// Name of the column.
        column: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A feature requires itself, directly or through others.
    #[error(
        "column '{column}' requires itself, directly or by way of other columns: requirements must not form a circle"
    )]
    Circle {
        /// Name of a column in the circle.
        column: String,
    },
    /// The method does not support groups, bounds or heredity.
    #[error(
        "method '{method}' cannot solve problems with {what}: use 'best-first' (or 'exhaustive' for a small one)"
    )]
    Structured {
        /// The method.
        method: &'static str,
        /// `groups`, `bounds` or `required features`.
        what: &'static str,
    },
    /// An unpenalised column has no finite lower bound.
    #[error(
        "column '{column}' is always in without a ridge, which the {loss} loss allows for the intercept only: \
         give it a ridge > 0"
    )]
    Unpenalised {
        /// Name of the column.
        column: String,
        /// The loss.
        loss: &'static str,
    },
    /// Unpenalised columns depend on each other (or are zero).
    #[error(
        "the unpenalised columns {columns} are linearly dependent (or zero): their coefficients are not \
         determined; give them a ridge > 0 or drop one"
    )]
    Dependent {
        /// Names of the columns.
        columns: String,
    },
    /// A number overflowed although every input was finite.
    #[error(
        "the data overflow: {what} is not a finite number; rescale the columns or the response"
    )]
    Overflow {
        /// The quantity.
        what: &'static str,
    },
    /// The problem has too many supports for brute force.
    #[error(
        "{supports} supports are too many for method 'exhaustive' (at most {limit}): use 'best-first'"
    )]
    TooManySupports {
        /// Number of supports (saturating).
        supports: u128,
        /// Number of supports allowed.
        limit: u128,
    },
    /// The checkpoint cannot be read, or belongs to another search.
    #[error(
        "the checkpoint cannot be resumed: {reason}; give the right file, or start without one"
    )]
    Checkpoint {
        /// What is wrong with it.
        reason: String,
    },
    /// The checkpoint was made with other settings or data.
    #[error(
        "the checkpoint was made with {what} = {saved}, and now it is {now}: resume with the same data and settings"
    )]
    OtherSearch {
        /// Name of what differs.
        what: &'static str,
        /// Value in the checkpoint.
        saved: String,
        /// Value now.
        now: String,
    },
    /// Moments are invalid, or cannot be merged or read.
    #[error("{reason}")]
    Moments {
        /// What is wrong with them, and what to do.
        reason: String,
    },
    /// A word is not one of those allowed.
    #[error("unknown {what} '{value}': one of {allowed}")]
    Unknown {
        /// `method`, `loss`, `relaxation`.
        what: &'static str,
        /// The word given.
        value: String,
        /// The words allowed.
        allowed: String,
    },
}

/// A result whose error is [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;
