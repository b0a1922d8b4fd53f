//! A frame or the plan to build it ([`FrameSlot`]), and the starting point of a node in one ([`GramStart`]).

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::frame::Frame;
use super::root::Root;
use crate::problem::Problem;
use crate::relaxation::{FrameShape, ShortModel, Start, lengthen};

/// A frame that related nodes share. A frame from a checkpoint is built, and its lift proved, when the
/// first of its nodes is expanded.
#[derive(Debug, Default)]
pub(crate) struct FrameSlot {
    frame: OnceLock<Option<Arc<Frame>>>,
    /// Set where the frame comes from a checkpoint.
    plan: Option<Plan>,
    shape: FrameShape,
}

/// Plan from which a frame is built, by root indices.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Columns to be condensed, the always-in ones included.
    pub inside: Vec<u32>,
    pub columns: Vec<u32>,
    pub budget: usize,
    /// Scales of the columns; empty where they are not known.
    pub scales: Vec<f64>,
}

impl FrameSlot {
    /// Creates the slot of a frame that has been built.
    pub(crate) fn built(root: &Root, frame: &Arc<Frame>) -> Self {
        let column = |i: &u32| root.columns[*i as usize] as u32;
        let selectable = |i: &&u32| (**i as usize) < root.selectable;
        let inside = frame.inside.iter().filter(selectable);
        Self {
            frame: OnceLock::from(Some(Arc::clone(frame))),
            plan: None,
            shape: FrameShape {
                inside: inside.map(column).collect(),
                columns: frame.columns.iter().map(column).collect(),
                scales: frame.scale.clone(),
            },
        }
    }

    /// Creates the slot of a frame from a checkpoint; `None` when one of its columns is not in this root.
    pub(crate) fn restored(
        problem: &Problem,
        root: &Root,
        shape: &FrameShape,
        with_explicit_rows: bool,
    ) -> Option<Self> {
        let index: HashMap<usize, u32> = (0u32..)
            .zip(&root.columns[..root.selectable])
            .map(|(i, j)| (*j, i))
            .collect();
        let indices = |columns: &[u32]| -> Option<Vec<u32>> {
            let found = columns.iter().map(|j| index.get(&(*j as usize)).copied());
            found.collect()
        };
        let (mut inside, mut columns) = (indices(&shape.inside)?, indices(&shape.columns)?);
        if columns.is_empty() {
            return None;
        }
        let mut scales = shape.scales.clone();
        // Explicit rows depend on the included features, which therefore stay as columns.
        if with_explicit_rows && !inside.is_empty() {
            inside.append(&mut columns);
            columns = std::mem::take(&mut inside);
            scales.clear();
        }
        let budget = problem.support_size().checked_sub(inside.len())?;
        inside.extend(root.selectable as u32..root.size() as u32);
        Some(Self {
            frame: OnceLock::new(),
            plan: Some(Plan {
                inside,
                columns,
                budget,
                scales,
            }),
            shape: shape.clone(),
        })
    }

    /// Returns the frame, which is built on first use; `None` where it cannot be built.
    pub(crate) fn get_or_build(
        &self,
        build: impl FnOnce(&Plan) -> Option<Arc<Frame>>,
    ) -> Option<Arc<Frame>> {
        let frame = self.frame.get_or_init(|| build(self.plan.as_ref()?));
        frame.clone()
    }

    /// Whether the frame has these columns, lifted this far.
    pub(crate) fn has_shape(&self, shape: &FrameShape) -> bool {
        self.shape == *shape
    }
}

/// The relaxed point of a node, and the frame in which it was found.
#[derive(Debug, Clone)]
pub(crate) struct GramStart {
    pub(crate) x: ShortModel,
    pub(crate) slot: Arc<FrameSlot>,
}

impl Start for GramStart {
    fn model(&self) -> Vec<(usize, f64)> {
        lengthen(&self.x).collect()
    }

    fn frame(&self) -> Option<(usize, &FrameShape)> {
        Some((Arc::as_ptr(&self.slot) as usize, &self.slot.shape))
    }

    /// Returns the bytes of the point; frames are counted separately.
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.x)
    }
}
