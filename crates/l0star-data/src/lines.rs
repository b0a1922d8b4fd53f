//! [`Lines`]: the physical line of each row.

/// The physical line of each row, stored as the rows at which lines jump and their lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lines {
    jumps: Vec<(usize, u64)>,
}

impl Lines {
    /// Records that `row` starts on `line`; rows come in order.
    pub(crate) fn put(&mut self, row: usize, line: u64) {
        let follows = self
            .jumps
            .last()
            .is_some_and(|(first, start)| start + (row - first) as u64 == line);
        if !follows {
            self.jumps.push((row, line));
        }
    }

    pub(crate) fn of(&self, row: usize) -> u64 {
        let after = self.jumps.partition_point(|(first, _)| *first <= row);
        match after.checked_sub(1).map(|at| self.jumps[at]) {
            Some((first, line)) => line + (row - first) as u64,
            None => row as u64 + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_by_their_jumps() {
        let mut lines = Lines::default();
        for (row, line) in [2u64, 3, 4, 7, 8, 20].into_iter().enumerate() {
            lines.put(row, line);
        }
        assert_eq!(lines.jumps.len(), 3);
        let shown: Vec<u64> = (0..6).map(|row| lines.of(row)).collect();
        assert_eq!(shown, [2, 3, 4, 7, 8, 20]);
    }
}
