// `scripts/differential` appends this code to an older revision in which options are public fields, so that `src/side.rs` can make
// the same calls of both libraries.

impl Options {
    pub fn new() -> Options {
        Options::default()
    }

    pub fn start(self, start: Option<Start>) -> Options {
        Options { start, ..self }
    }

    pub fn collect(self, collect: Option<usize>) -> Options {
        Options { collect, ..self }
    }

    pub fn budget(self, budget: Option<Budget>) -> Options {
        Options { budget, ..self }
    }

    pub fn stray_close(self, stray_close: StrayClose) -> Options {
        Options { stray_close, ..self }
    }
}

impl Budget {
    pub fn new(limit: u64, unit: BudgetUnit, scope: BudgetScope) -> Budget {
        Budget { limit, unit, scope }
    }
}
