//! [`Face`]: the names of options in the command and in Python.

/// The interface that a text is for: the command and Python have different names for the same options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// `l0star fit --no-standardize …`
    Command,
    /// `l0star.solve(…, standardize=False)`
    Python,
}

impl Face {
    /// Returns the first text for the command, the second for Python.
    fn pick(self, command: &'static str, python: &'static str) -> &'static str {
        match self {
            Self::Command => command,
            Self::Python => python,
        }
    }

    /// Returns the option that applies the ridge to columns as they are.
    pub fn unstandardized(self) -> &'static str {
        self.pick("--no-standardize", "standardize=False")
    }

    /// Returns the option that excludes a column.
    pub fn leave_out(self) -> &'static str {
        self.pick("--drop", "exclude")
    }

    /// Returns the option that requests a proof.
    pub fn exact(self) -> &'static str {
        self.pick("--method best-first", "method=\"best-first\"")
    }

    /// Returns the option that sets the ridge to a number.
    pub fn ridge(self, ridge: f64) -> String {
        let option = self.pick("--ridge ", "ridge=");
        format!("{option}{ridge}")
    }

    /// Returns the option that sets the ridges of cross-validation to a number.
    pub fn ridges(self, ridge: f64) -> String {
        let option = self.pick("--ridge ", "ridges=");
        format!("{option}{ridge}")
    }

    /// Returns the options that bound coefficients: by known bounds, and by an assumption.
    pub fn bounds(self) -> &'static str {
        self.pick(
            "--bounds, --assume-max-coefficient",
            "bounds, assume_max_coefficient",
        )
    }

    /// Returns the option that resumes a search.
    pub fn resume(self) -> &'static str {
        self.pick("--resume", "resume")
    }

    /// Returns the option that makes a run repeatable bit for bit.
    pub fn one_thread(self) -> &'static str {
        self.pick("--threads 1", "n_jobs=1")
    }

    /// Returns the tool that shows how the choice of features varies with the rows.
    pub fn stability(self) -> &'static str {
        self.pick("l0star stability", "l0star.stability")
    }

    /// Returns the option that holds out rows to measure a model on.
    pub fn holdout(self) -> &'static str {
        self.pick("--holdout 20%", "holdout=0.2")
    }

    /// Returns the tool that estimates how well a model predicts new rows.
    pub fn validation(self) -> &'static str {
        self.pick("l0star cv", "cross-validation")
    }

    /// Returns the beginning of a sentence on where the models of a list are.
    pub fn list(self) -> &'static str {
        self.pick("The file lists", "The result lists")
    }
}
