//! [`Face`]: what is called how.

/// Who speaks: the same options have other names in the command and in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// `l0star fit --no-standardize …`
    Command,
    /// `l0star.solve(…, standardize=False)`
    Python,
}

impl Face {
    /// The first for the command, the second for Python.
    fn pick(self, command: &'static str, python: &'static str) -> &'static str {
        match self {
            Self::Command => command,
            Self::Python => python,
        }
    }

    /// What applies the ridge to columns as they are.
    pub fn unstandardized(self) -> &'static str {
        self.pick("--no-standardize", "standardize=False")
    }

    /// What leaves a column out.
    pub fn leave_out(self) -> &'static str {
        self.pick("--drop", "exclude")
    }

    /// What asks for a proof.
    pub fn exact(self) -> &'static str {
        self.pick("--method best-first", "method=\"best-first\"")
    }

    /// What sets the ridge to a number.
    pub fn ridge(self, ridge: f64) -> String {
        let option = self.pick("--ridge ", "ridge=");
        format!("{option}{ridge}")
    }

    /// What sets the ridges of cross-validation to a number.
    pub fn ridges(self, ridge: f64) -> String {
        let option = self.pick("--ridge ", "ridges=");
        format!("{option}{ridge}")
    }

    /// What bounds coefficients: those that are known, and those that are assumed.
    pub fn bounds(self) -> &'static str {
        self.pick(
            "--bounds, --assume-max-coefficient",
            "bounds, assume_max_coefficient",
        )
    }

    /// What goes on with a search.
    pub fn resume(self) -> &'static str {
        self.pick("--resume", "resume")
    }

    /// What is repeatable bit for bit.
    pub fn one_thread(self) -> &'static str {
        self.pick("--threads 1", "n_jobs=1")
    }

    /// What shows how the choice of features varies with the rows.
    pub fn stability(self) -> &'static str {
        self.pick("l0star stability", "l0star.stability")
    }

    /// What keeps rows aside to measure a model on.
    pub fn holdout(self) -> &'static str {
        self.pick("--holdout 20%", "holdout=0.2")
    }

    /// What tells how well a model does on rows that it has not seen.
    pub fn validation(self) -> &'static str {
        self.pick("l0star cv", "cross-validation")
    }

    /// Where the models of a list are.
    pub fn list(self) -> &'static str {
        self.pick("The file lists", "The result lists")
    }
}
