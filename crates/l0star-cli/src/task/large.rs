//! Data that do not fit in memory, and whether their moments are enough.

use std::fs;

use l0star_data::ColumnStore;

use super::TaskArgs;
use crate::units;

/// Returns why the rows are summed in a stream, if they are. That is the case if they would take more than half of the
/// memory and no option needs the single rows.
pub(super) fn reason(args: &TaskArgs) -> Option<String> {
    let may_be_several = args.target.contains(',');
    let needs_rows = may_be_several
        || args.loss != "quadratic"
        || args.offset.is_some()
        || args.holdout.is_some();
    // A column store stays in its file and needs no memory.
    if needs_rows || ColumnStore::is_at(&args.data) {
        return None;
    }
    let available = args.available_memory.or_else(available)?;
    let size = args.input.streamed_size(&args.data)?;
    (size > available / 2).then(|| {
        format!(
            "the rows would take about {} of memory, and {} are available: they are summed in a stream, and the model is that of their moments",
            units::words(size),
            units::words(available)
        )
    })
}

/// Returns the memory available without swapping, if the system reports it.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
