//! Prints the table as text, so that a reader can follow a stream through it.

use std::fmt;

use super::{
    config::Stage,
    state::{Exit, FALLBACK, StateId},
    table::Automaton,
};

impl fmt::Debug for Automaton {
    /// Writes the byte classes, then each state that was added so far, with the target of each class: `?` if the row is not
    /// filled.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "classes:")?;
        for class in 0..self.classes.len() {
            writeln!(f, "  {class:2} {}", Class(self, class))?;
        }
        writeln!(f, "states:")?;
        self.all_states().try_for_each(|state| self.show_state(f, state))
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
        let held = self.info(state).held();
        write!(f, " {sign}{state:2} {stage}, region {}, holds {held}", self.config(state).region)?;
        if origin.framing != 0 {
            write!(f, ", framing {} may come", origin.framing)?;
        }
        write!(f, ":")?;
        let cell = |class: usize| self.cell_of_class(state, class);
        // The target of most classes is printed once.
        let count =
            |cell: u16| (0..self.classes.len()).filter(|&class| self.cell_of_class(state, class) == cell).count();
        let most = (0..self.classes.len()).map(cell).max_by_key(|&cell| count(cell)).unwrap_or(FALLBACK);
        for class in (0..self.classes.len()).filter(|&class| cell(class) != most) {
            write!(f, " {}→{}", Class(self, class), Target(cell(class)))?;
        }
        writeln!(f, " else→{}", Target(most))
    }
}

/// The target of a cell.
struct Target(u16);

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Exit::of_cell(self.0) {
            Exit::Unknown if self.0 == FALLBACK => write!(f, "?"),
            Exit::Unknown => write!(f, "{}", self.0),
            Exit::Fallback => write!(f, "recogniser"),
            Exit::Marker { pattern, len } => write!(f, "marker {pattern} of {len} bytes"),
            Exit::Framing => write!(f, "framing"),
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
