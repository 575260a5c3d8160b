//! Prints the table as text, so that a reader can follow a stream through it.

use std::fmt;

use super::{
    config::Stage,
    state::{Exit, FALLBACK, StateId},
    table::Automaton,
};

impl fmt::Debug for Automaton {
    /// Writes the byte classes, then each state with the target of each class, then the exits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "classes:")?;
        for class in 0..self.classes.len() {
            writeln!(f, "  {class:2} {}", Class(self, class))?;
        }
        writeln!(f, "states:")?;
        for state in 1..self.states.len() as StateId {
            self.show_state(f, state)?;
        }
        writeln!(f, "exits:")?;
        for (number, exit) in self.exits.iter().enumerate() {
            write!(f, "  x{number:<2} ")?;
            match exit {
                Exit::Fallback => writeln!(f, "the recogniser reads on")?,
                Exit::Marker { pattern, len, unread, .. } => {
                    writeln!(f, "marker of pattern {pattern}, {len} bytes, {unread} unread")?;
                }
                Exit::Framing { len, .. } => writeln!(f, "framing, {len} bytes")?,
            }
        }
        Ok(())
    }
}

impl Automaton {
    fn show_state(&self, f: &mut fmt::Formatter<'_>, state: StateId) -> fmt::Result {
        let is_accelerated = self.accels.of(state).is_some_and(|accel| accel.state == state);
        let origin = self.origin(state);
        let stage = match origin.stage {
            Stage::Opened => "opened",
            Stage::Blank => "blank",
            Stage::Settled => "settled",
        };
        let sign = if is_accelerated { '*' } else { ' ' };
        write!(f, " {sign}{state:2} {stage}, holds {}", self.info(state).held())?;
        if origin.framing != 0 {
            write!(f, ", framing {} may come", origin.framing)?;
        }
        for start in self.starts.iter().flatten().filter(|start| start.list.iter().any(|&(_, it)| it == state)) {
            write!(f, ", region {}", start.config.region)?;
        }
        write!(f, ":")?;
        let cell = |class: usize| self.cell_of_class(state, class);
        // The target of most classes is printed once.
        let count =
            |cell: u16| (0..self.classes.len()).filter(|&class| self.cell_of_class(state, class) == cell).count();
        let most = (0..self.classes.len()).map(cell).max_by_key(|&cell| count(cell)).unwrap_or(FALLBACK);
        for class in (0..self.classes.len()).filter(|&class| cell(class) != most) {
            write!(f, " {}→{}", Class(self, class), Target(self, cell(class)))?;
        }
        writeln!(f, " else→{}", Target(self, most))
    }
}

/// The target of a cell: a state, or `x` and the number of an exit.
struct Target<'a>(&'a Automaton, u16);

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match usize::from(self.1).checked_sub(self.0.states.len()) {
            Some(exit) => write!(f, "x{exit}"),
            None => write!(f, "{}", self.1),
        }
    }
}

/// The bytes of a class: the only byte, or the first of several.
struct Class<'a>(&'a Automaton, usize);

impl fmt::Display for Class<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes = &self.0.classes;
        let first = classes.bytes()[self.1];
        let count = (0..=u8::MAX).filter(|&byte| classes.of(byte) == self.1).count();
        write!(f, "'{}'", first.escape_ascii())?;
        if count > 1 { write!(f, "+{}", count - 1) } else { Ok(()) }
    }
}
