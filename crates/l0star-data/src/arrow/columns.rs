//! Converts batches of Arrow arrays to columns of numbers and text.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};

use crate::caps::{Allowance, TooLarge};
use crate::column::{Dictionary, RawColumn};

/// Text that stands for a missing cell.
const NULL: &str = "null";

/// The columns read so far.
pub(super) struct Columns {
    names: Vec<String>,
    columns: Vec<Column>,
    pub(super) rows: usize,
    allowance: Allowance,
}

enum Column {
    Number(Vec<f64>),
    Text(Dictionary, Vec<u32>),
}

impl Columns {
    /// Creates columns without rows; cells and texts are counted against the allowance.
    pub(super) fn new(schema: &Schema, allowance: Allowance) -> Columns {
        let column = |field: &Arc<Field>| {
            if is_number(field.data_type()) {
                Column::Number(Vec::new())
            } else {
                Column::Text(Dictionary::default(), Vec::new())
            }
        };
        let fields = schema.fields();
        Columns {
            names: fields
                .iter()
                .map(|field| field.name().trim().to_string())
                .collect(),
            columns: fields.iter().map(column).collect(),
            rows: 0,
            allowance,
        }
    }

    pub(super) fn append(&mut self, batch: &RecordBatch) -> Result<(), TooLarge> {
        let (rows, columns) = (batch.num_rows() as u64, self.columns.len() as u64);
        self.allowance
            .take(rows.saturating_mul(columns).saturating_mul(8))?;
        self.rows += batch.num_rows();
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            match column {
                Column::Number(values) => append_numbers(values, array),
                Column::Text(dictionary, codes) => {
                    let known = dictionary.levels.len();
                    append_texts(dictionary, codes, array);
                    let new = dictionary.levels[known..].iter();
                    self.allowance
                        .take(new.map(|level| level.len() as u64).sum())?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> (Vec<String>, Vec<RawColumn>) {
        let finished = |column| match column {
            Column::Text(dictionary, codes) => RawColumn::Text {
                levels: dictionary.levels,
                codes,
            },
            Column::Number(values) => match RawColumn::from_numbers(values) {
                RawColumn::Gaps { values, first, .. } if values[first].is_nan() => {
                    RawColumn::Gaps {
                        values,
                        first,
                        shown: NULL.into(),
                    }
                }
                other => other,
            },
        };
        (self.names, self.columns.into_iter().map(finished).collect())
    }
}

fn is_number(data_type: &DataType) -> bool {
    match data_type {
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => true,
        DataType::Dictionary(_, values) => is_number(values),
        other => other.is_numeric(),
    }
}

/// Appends one number per row of the array, `NaN` for a null.
fn append_numbers(out: &mut Vec<f64>, array: &ArrayRef) {
    macro_rules! cast {
        ($kind:ty) => {
            out.extend(
                array
                    .as_primitive::<$kind>()
                    .iter()
                    .map(|value| value.map_or(f64::NAN, |value| value as f64)),
            )
        };
    }
    macro_rules! decimal {
        ($kind:ty) => {{
            let array = array.as_primitive::<$kind>();
            // Parsed from its digits, so that it is rounded only once.
            out.extend((0..array.len()).map(|i| {
                if array.is_null(i) {
                    f64::NAN
                } else {
                    array.value_as_string(i).parse().unwrap_or(f64::NAN)
                }
            }))
        }};
    }
    match array.data_type() {
        DataType::Int8 => cast!(Int8Type),
        DataType::Int16 => cast!(Int16Type),
        DataType::Int32 => cast!(Int32Type),
        DataType::Int64 => cast!(Int64Type),
        DataType::UInt8 => cast!(UInt8Type),
        DataType::UInt16 => cast!(UInt16Type),
        DataType::UInt32 => cast!(UInt32Type),
        DataType::UInt64 => cast!(UInt64Type),
        DataType::Float16 => out.extend(
            array
                .as_primitive::<Float16Type>()
                .iter()
                .map(|value| value.map_or(f64::NAN, f64::from)),
        ),
        DataType::Float32 => cast!(Float32Type),
        DataType::Float64 => cast!(Float64Type),
        DataType::Decimal32(..) => decimal!(Decimal32Type),
        DataType::Decimal64(..) => decimal!(Decimal64Type),
        DataType::Decimal128(..) => decimal!(Decimal128Type),
        DataType::Decimal256(..) => decimal!(Decimal256Type),
        DataType::Dictionary(..) => {
            let mut levels = Vec::new();
            let dictionary = array.as_any_dictionary();
            append_numbers(&mut levels, dictionary.values());
            out.extend(keys(array).map(|key| key.map_or(f64::NAN, |key| levels[key])));
        }
        _ => out.extend((0..array.len()).map(|_| f64::NAN)),
    }
}

/// Returns the position of each row's value in a dictionary, `None` for a null.
fn keys(array: &ArrayRef) -> impl Iterator<Item = Option<usize>> {
    let dictionary = array.as_any_dictionary();
    let keys = if dictionary.values().is_empty() {
        vec![0; array.len()]
    } else {
        dictionary.normalized_keys()
    };
    let is_null = move |i: usize| array.is_null(i) || dictionary.values().is_empty();
    keys.into_iter()
        .enumerate()
        .map(move |(i, key)| (!is_null(i)).then_some(key))
}

fn append_texts(dictionary: &mut Dictionary, codes: &mut Vec<u32>, array: &ArrayRef) {
    let mut put = |text: Option<&str>| {
        let text = text.map_or(NULL, str::trim);
        codes.push(dictionary.code(text));
    };
    macro_rules! time {
        ($kind:ty, $value:ident) => {{
            let array = array.as_primitive::<$kind>();
            for i in 0..array.len() {
                let shown = array.$value(i).map(|value| value.to_string());
                put(shown.as_deref().filter(|_| !array.is_null(i)));
            }
        }};
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().for_each(put),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().for_each(put),
        DataType::Utf8View => array.as_string_view().iter().for_each(put),
        DataType::Boolean => {
            for value in array.as_boolean() {
                put(value.map(|value| if value { "true" } else { "false" }));
            }
        }
        DataType::Dictionary(..) => {
            let mut local = Dictionary::default();
            let mut levels = Vec::new();
            append_texts(&mut local, &mut levels, array.as_any_dictionary().values());
            for key in keys(array) {
                put(key.map(|key| local.levels[levels[key] as usize].as_str()));
            }
        }
        DataType::Date32 => time!(Date32Type, value_as_date),
        DataType::Date64 => time!(Date64Type, value_as_date),
        DataType::Timestamp(TimeUnit::Second, _) => {
            time!(TimestampSecondType, value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            time!(TimestampMillisecondType, value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            time!(TimestampMicrosecondType, value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            time!(TimestampNanosecondType, value_as_datetime)
        }
        other => {
            let shown = format!("({other})");
            for i in 0..array.len() {
                put((!array.is_null(i)).then_some(shown.as_str()));
            }
        }
    }
}
