//! Threads that shrink the boxes of a node.

use std::sync::{Mutex, PoisonError};
use std::thread;

use super::side::Room;
use crate::tuning::boxes::COLUMNS_OF_A_THREAD;

/// Working memory for each of several threads.
#[derive(Debug)]
pub(crate) struct Crew {
    rooms: Vec<Room>,
}

impl Default for Crew {
    fn default() -> Self {
        Self::new(1)
    }
}

/// A cloned worker needs the same number of threads, but nothing of what they have done.
impl Clone for Crew {
    fn clone(&self) -> Self {
        Self::new(self.rooms.len())
    }
}

impl Crew {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            rooms: vec![Room::default(); threads.max(1)],
        }
    }

    /// Sets the number of threads.
    pub(crate) fn set_threads(&mut self, threads: usize) {
        self.rooms.resize_with(threads.max(1), Room::default);
    }

    /// Returns how many columns are visited together; none of them sees what is proved for the others.
    pub(super) fn batch(&self) -> usize {
        match self.rooms.len() {
            1 => 1,
            threads => threads * COLUMNS_OF_A_THREAD,
        }
    }

    /// Returns the working memory of the calling thread.
    pub(super) fn own(&mut self) -> &mut Room {
        &mut self.rooms[0]
    }

    /// Applies `work` to every item. The result does not depend on which thread takes which item.
    pub(super) fn each<T: Send>(
        &mut self,
        items: &mut [T],
        work: impl Fn(&mut T, &mut Room) + Sync,
    ) {
        let threads = self.rooms.len().min(items.len());
        let left = Mutex::new(items.iter_mut());
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let go_on = &|room: &mut Room| {
            while let Some(item) = next() {
                work(item, room);
            }
        };
        let Some((own, others)) = self.rooms[..threads].split_first_mut() else {
            return;
        };
        if others.is_empty() {
            return go_on(own);
        }
        thread::scope(|scope| {
            for room in others {
                // If the system grants fewer threads, those that exist do all the work.
                let _ = thread::Builder::new().spawn_scoped(scope, || go_on(room));
            }
            go_on(own);
        });
    }
}
