//! The calls that are made of both libraries, their random choice, and the reduction of a failing case.

use crate::seen::Bytes;
use crate::source::Source;
use samples::Random;

/// The options with which a scanner is made.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    pub start: Option<&'static str>,
    pub collect: Option<usize>,
    pub budget: Option<Budget>,
    pub keeps_stray: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub limit: u64,
    pub in_characters: bool,
    pub of_stream: bool,
}

/// Bytes to feed, and if they are fed as tokens, the length of each token and whether it is special.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    pub bytes: Bytes,
    pub tokens: Option<Vec<(u32, bool)>>,
}

impl Input {
    /// Removes the consumed bytes. Of a token that was consumed in part, the rest stays.
    pub fn pass(&mut self, mut consumed: usize) {
        self.bytes.0.drain(..consumed);
        let Some(tokens) = &mut self.tokens else { return };
        while consumed > 0 {
            let length = tokens[0].0 as usize;
            if length > consumed {
                tokens[0].0 -= consumed as u32;
                return;
            }
            tokens.remove(0);
            consumed -= length;
        }
    }
}

/// When a test stops reading the events of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// Never: the call gets a callback, not a loop.
    Never,
    /// Once, after this number of events other than text. The rest of the chunk is fed by a later call.
    AfterMarks(usize),
    /// Each time this number of events of any kind was reported. The rest of the chunk is fed immediately.
    AfterEvents(usize),
}

impl Stop {
    pub fn most(self) -> usize {
        match self {
            Stop::Never => usize::MAX,
            Stop::AfterMarks(most) | Stop::AfterEvents(most) => most,
        }
    }

    pub fn counts_text(self) -> bool {
        self.goes_on()
    }

    pub fn goes_on(self) -> bool {
        matches!(self, Stop::AfterEvents(_))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Feed(Input, Stop),
    /// Feeds the rest of a stopped call.
    Rest(Stop),
    Flush(Stop),
    Force(Stop),
    Finish(Stop),
    Reset,
    /// Clones the scanner, and uses the clone too.
    Clone,
    TakeThoughts(usize),
    Prompt(Bytes),
}

/// A call, and the number of its scanner.
#[derive(Clone, Debug)]
pub struct Step {
    pub on: usize,
    pub call: Call,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub setup: Setup,
    pub steps: Vec<Step>,
}

// ---------------------------------------------------------------------------------------------------- made at random

const STARTS: [&str; 5] = ["content", "thinking", "narration", "tool", "header"];

impl Setup {
    fn random(source: &Source, random: &mut Random) -> Setup {
        let start = match random.below(20) {
            0..=5 => None,
            6 => Some(*random.pick(&STARTS)),
            _ => Some(*random.pick(&source.starts)),
        };
        let most = *random.pick(&[0, 10, 60, 500, 1 << 20]);
        let collect = random.one_in(2).then(|| random.below(most + 1));
        let budget = random.one_in(2).then(|| Budget {
            limit: if random.one_in(20) { u64::MAX } else { random.below(40) as u64 },
            in_characters: random.one_in(2),
            of_stream: random.one_in(2),
        });
        Setup { start, collect, budget, keeps_stray: random.one_in(5) }
    }
}

/// How often a case does something besides feeding. A number n means once in n chunks on average; 0 means never.
struct Habits {
    most: usize,
    tokens: usize,
    stops: usize,
    acts: usize,
    clones: bool,
}

struct Making<'a> {
    source: &'a Source,
    random: &'a mut Random,
    habits: Habits,
    steps: Vec<Step>,
    /// The number of the current scanner, and how many scanners exist.
    on: usize,
    scanners: usize,
}

impl Case {
    pub fn random(source: &Source, random: &mut Random) -> Case {
        let setup = Setup::random(source, random);
        if random.one_in(1000) {
            return Case::many_thoughts(source, random, setup);
        }
        let most = *random.pick(&[1, 2, 4, 8, 16, 40, 300, 10_000]);
        let [tokens, stops, acts] = [[0, 0, 1, 3], [0, 1, 3, 8], [0, 3, 8, 30]].map(|some| *random.pick(&some));
        let habits = Habits { most, tokens, stops, acts, clones: random.one_in(3) };
        let mut making = Making { source, random, habits, steps: Vec::new(), on: 0, scanners: 1 };
        making.all();
        Case { setup, steps: making.steps }
    }

    /// Returns a case with more thoughts than a scanner keeps for its host.
    fn many_thoughts(source: &Source, random: &mut Random, setup: Setup) -> Case {
        let one = source.thought(random);
        let text = one.repeat(1000 + random.below(60));
        let setup = Setup { collect: Some(1 << 20), ..setup };
        let cut = random.below(text.len() + 1);
        let feed = |text: &[u8]| Call::Feed(Input { bytes: text.into(), tokens: None }, Stop::Never);
        let calls =
            [feed(&text[..cut]), feed(&text[cut..]), Call::TakeThoughts(2), feed(&one), Call::TakeThoughts(2000)];
        let steps = calls.into_iter().map(|call| Step { on: 0, call }).collect();
        Case { setup, steps }
    }
}

impl Making<'_> {
    fn one_of(&mut self, habit: usize) -> bool {
        habit > 0 && self.random.one_in(habit)
    }

    fn push(&mut self, call: Call) {
        self.steps.push(Step { on: self.on, call });
    }

    fn all(&mut self) {
        if self.random.one_in(3) {
            let tail = self.source.prompt(self.random);
            self.push(Call::Prompt(Bytes(tail)));
        }
        let streams = 1 + self.random.below(3);
        for stream in 0..streams {
            self.text();
            match self.random.below(8) {
                0 => self.push(Call::Reset),
                // The last stream may stay unfinished.
                1 if stream + 1 == streams => {}
                _ => self.end(),
            }
        }
        for on in 0..self.scanners {
            self.on = on;
            self.end();
        }
    }

    fn end(&mut self) {
        if self.random.one_in(3) {
            let stop = self.stop();
            self.push(Call::Finish(stop));
            if self.random.one_in(3) {
                self.act();
            }
        }
        self.push(Call::Finish(Stop::Never));
        self.push(Call::TakeThoughts(usize::MAX));
    }

    /// Chooses when to stop a call.
    fn stop(&mut self) -> Stop {
        match self.random.below(8) {
            0 => Stop::AfterMarks(usize::MAX),
            1..=4 => Stop::AfterMarks(self.random.below(4)),
            _ => Stop::AfterEvents(1 + self.random.below(3)),
        }
    }

    fn some_stop(&mut self) -> Stop {
        if self.one_of(self.habits.stops) { self.stop() } else { Stop::Never }
    }

    fn text(&mut self) {
        let text = self.source.text(self.random);
        // Feeding a long text byte by byte would take too long.
        let least = text.len() / 200;
        let mut at = 0;
        while at < text.len() {
            let most = if self.random.one_in(10) { 40 } else { self.habits.most };
            let length = self.random.below(most.saturating_add(1)).max(least).min(text.len() - at);
            self.chunk(&text[at..at + length]);
            at += length;
            if self.one_of(self.habits.acts) {
                self.act();
            }
        }
    }

    fn chunk(&mut self, chunk: &[u8]) {
        let tokens = self.one_of(self.habits.tokens).then(|| self.tokens(chunk));
        let input = Input { bytes: chunk.into(), tokens };
        let stop = self.some_stop();
        // Sometimes all scanners get the chunk.
        if self.scanners > 1 && self.random.one_in(2) {
            let on = self.on;
            for other in (0..self.scanners).filter(|other| *other != on) {
                self.on = other;
                self.push(Call::Feed(input.clone(), Stop::Never));
            }
            self.on = on;
        }
        self.push(Call::Feed(input, stop));
        if matches!(stop, Stop::AfterMarks(_)) {
            while self.random.one_in(2) {
                if self.one_of(self.habits.acts) {
                    self.act();
                }
                let stop = self.stop();
                self.push(Call::Rest(stop));
            }
            if !self.random.one_in(10) {
                self.push(Call::Rest(Stop::Never));
            }
        }
    }

    fn tokens(&mut self, chunk: &[u8]) -> Vec<(u32, bool)> {
        let random = &mut *self.random;
        let most = *random.pick(&[2, 4, 12]);
        let mut tokens = Vec::new();
        let mut at = 0;
        while at < chunk.len() {
            let tag = chunk[at..].iter().position(|&byte| byte == b'>').filter(|_| chunk[at] == b'<');
            let length = match tag {
                Some(end) if !random.one_in(3) => end + 1,
                _ => random.below(most + 1).min(chunk.len() - at),
            };
            tokens.push((length as u32, random.one_in(2)));
            at += length;
        }
        // Sometimes the lengths of the tokens do not add up to the chunk's.
        if random.one_in(100) {
            tokens.push((1 + random.below(2) as u32, false));
        }
        tokens
    }

    /// Adds an action of a host besides feeding.
    fn act(&mut self) {
        let call = match self.random.below(24) {
            0..=3 => Call::Flush(self.some_stop()),
            4..=7 => Call::Force(self.some_stop()),
            8 | 9 => Call::Finish(self.some_stop()),
            10 => Call::Reset,
            11..=13 => Call::TakeThoughts(1 + self.random.below(3)),
            14 => Call::Prompt(Bytes(self.source.prompt(self.random))),
            15 | 16 => Call::Feed(Input::default(), self.some_stop()),
            17 => Call::Feed(Input { tokens: Some(Vec::new()), ..Input::default() }, self.some_stop()),
            18..=20 if self.habits.clones && self.scanners < 4 => Call::Clone,
            _ => {
                self.on = self.random.below(self.scanners);
                return;
            }
        };
        let is_clone = call == Call::Clone;
        self.push(call);
        self.scanners += usize::from(is_clone);
    }
}

// ------------------------------------------------------------------------------------------------------ made smaller

/// At most this many smaller cases are tried. With a long text, trying all of them would take minutes.
const MOST_TRIES: usize = 20_000;

/// Returns a smaller case that still fails: calls are left out first, then parts of the input, then options.
pub fn smallest(mut case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut tries = 0;
    let mut keep_if_failing = |case: &mut Case, smaller: Case| {
        tries += 1;
        let is_failing = tries <= MOST_TRIES && fails(&smaller);
        if is_failing {
            *case = smaller;
        }
        is_failing
    };
    loop {
        let mut is_smaller = false;
        let mut size = case.steps.len();
        while size > 0 {
            let mut at = 0;
            while at < case.steps.len() {
                let mut smaller = case.clone();
                smaller.steps.drain(at..(at + size).min(case.steps.len()));
                if keep_if_failing(&mut case, smaller) {
                    is_smaller = true;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        for index in 0..case.steps.len() {
            let mut size = units(&case.steps[index].call);
            while size > 0 {
                let mut at = 0;
                while at < units(&case.steps[index].call) {
                    let mut smaller = case.clone();
                    remove(&mut smaller.steps[index].call, at, size);
                    if keep_if_failing(&mut case, smaller) {
                        is_smaller = true;
                    } else {
                        at += size;
                    }
                }
                size /= 2;
            }
        }
        if !is_smaller {
            break;
        }
    }
    let setup = case.setup.clone();
    for setup in [
        Setup { start: None, ..setup.clone() },
        Setup { collect: None, ..setup.clone() },
        Setup { budget: None, ..setup.clone() },
        Setup { keeps_stray: false, ..setup.clone() },
        Setup::default(),
    ] {
        let smaller = Case { setup, ..case.clone() };
        keep_if_failing(&mut case, smaller);
    }
    case
}

/// Returns how much can be left out of a call: the number of tokens, or of bytes if it has no tokens.
fn units(call: &Call) -> usize {
    match call {
        Call::Feed(Input { tokens: Some(tokens), .. }, _) => tokens.len(),
        Call::Feed(Input { bytes, .. }, _) | Call::Prompt(bytes) => bytes.0.len(),
        _ => 0,
    }
}

fn remove(call: &mut Call, at: usize, size: usize) {
    match call {
        Call::Feed(Input { bytes, tokens: Some(tokens) }, _) => {
            let length = |tokens: &[(u32, bool)]| tokens.iter().map(|token| token.0 as usize).sum::<usize>();
            let end = tokens.len().min(at + size);
            // The lengths may add up to more than the bytes.
            let from = length(&tokens[..at]).min(bytes.0.len());
            let to = length(&tokens[..end]).min(bytes.0.len());
            bytes.0.drain(from..to);
            tokens.drain(at..end);
        }
        Call::Feed(Input { bytes, .. }, _) | Call::Prompt(bytes) => {
            bytes.0.drain(at..bytes.0.len().min(at + size));
        }
        _ => {}
    }
}
