//! The texts for the benches, which are generated and the same in every run: English prose with inline code, blocks of Rust, and
//! some Chinese, Japanese and emoji; or only Chinese, Japanese, Korean and emoji. They are cut into chunks as long as the tokens of
//! real streams, or into chunks of one size.

use samples::Random;

/// The markers of thinking in a dialect's text, and the bytes in prose that a scanner must examine twice.
pub struct Markers {
    pub dialect: &'static str,
    pub open: &'static str,
    pub close: &'static str,
    pub triggers: &'static [u8],
}

pub const DIALECTS: [Markers; 6] = [
    Markers { dialect: "inline-think", open: "<think>", close: "</think>", triggers: b"<" },
    Markers { dialect: "qwen3", open: "<think>\n", close: "\n</think>\n\n", triggers: b"<`" },
    Markers { dialect: "thinking-tags", open: "<thought>", close: "</thought>", triggers: b"<" },
    Markers { dialect: "fenced-thinking", open: "```thinking\n", close: "\n```\n", triggers: b"`" },
    Markers { dialect: "thought-stream", open: "<thinking>", close: "</thinking>", triggers: b"<" },
    Markers { dialect: "any", open: "<think>", close: "</think>", triggers: b"<[`" },
];

/// Messages, each for a separate scanner.
pub struct Workload {
    pub messages: Vec<Message>,
}

pub struct Message {
    pub text: Vec<u8>,
    ends: Vec<usize>,
}

impl Workload {
    /// Makes a workload; `bytes` is its total length.
    pub fn new(name: &str, markers: &Markers, bytes: usize) -> Workload {
        let mut random = Random::new(7);
        let random = &mut random;
        let many = |cut: fn(&str, &mut Random) -> Vec<usize>, random: &mut Random| {
            (0..bytes / 315).map(|_| Message::new(message(markers, 315, random), cut, random)).collect()
        };
        let one = |text, cut, random: &mut Random| vec![Message::new(text, cut, random)];
        let messages = match name {
            "W1" => one(message(markers, bytes, random), uncut, random),
            "W2" => one(message(markers, bytes, random), tokens, random),
            "W3" => one(message(markers, bytes, random), |text, _| cut_by(text, || 64), random),
            "W4" => one(near_misses(markers, bytes, random), tokens, random),
            "W5m" => many(uncut, random),
            "W5t" => many(tokens, random),
            "W7" => one(cjk_message(markers, bytes, random), tokens, random),
            "W7c4" => one(cjk_message(markers, bytes, random), |text, _| anywhere(text, 4), random),
            "W7c64" => one(cjk_message(markers, bytes, random), |text, _| anywhere(text, 64), random),
            _ => one(trap(name, markers.open, bytes), tokens, random),
        };
        Workload { messages }
    }

    /// Returns the caller's text, in chunks of `size` bytes.
    pub fn in_chunks(text: String, size: usize) -> Workload {
        let ends = cut_by(&text, || size);
        Workload { messages: vec![Message { text: text.into_bytes(), ends }] }
    }

    /// Returns the caller's text, in tokens.
    pub fn of_text(text: String) -> Workload {
        Workload { messages: vec![Message::new(text, tokens, &mut Random::new(7))] }
    }

    pub fn bytes(&self) -> usize {
        self.messages.iter().map(|message| message.text.len()).sum()
    }

    pub fn feeds(&self) -> usize {
        self.messages.iter().map(|message| message.ends.len()).sum()
    }

    /// Writes the workload for programs in other languages: each chunk after its length (u32, little-endian), and a length of 0
    /// after each message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for message in &self.messages {
            for chunk in message.chunks() {
                bytes.extend((chunk.len() as u32).to_le_bytes());
                bytes.extend(chunk);
            }
            bytes.extend([0; 4]);
        }
        bytes
    }
}

impl Message {
    fn new(text: String, cut: fn(&str, &mut Random) -> Vec<usize>, random: &mut Random) -> Message {
        let ends = cut(&text, random);
        Message { text: text.into_bytes(), ends }
    }

    /// Returns a workload that ends before its first chunk.
    pub fn empty() -> Message {
        Message { text: Vec::new(), ends: Vec::new() }
    }

    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.text[std::mem::replace(&mut start, end)..end])
    }
}

// ---- cuts: the end of each chunk ----

fn uncut(text: &str, _: &mut Random) -> Vec<usize> {
    vec![text.len()]
}

/// Splits a text into tokens: the median is 4 bytes, one in ten has 8 or more, one in a hundred has 14 or more, and no token ends
/// inside a character.
fn tokens(text: &str, random: &mut Random) -> Vec<usize> {
    const LENGTHS: [(usize, usize); 12] =
        [(1, 12), (2, 15), (3, 17), (4, 18), (5, 12), (6, 8), (7, 5), (8, 6), (9, 3), (10, 2), (12, 1), (14, 1)];
    cut_by(text, || {
        let mut draw = random.below(100);
        let found = LENGTHS.iter().find(|(_, share)| {
            draw < *share || {
                draw -= share;
                false
            }
        });
        found.expect("the shares are percents").0
    })
}

fn cut_by(text: &str, mut length: impl FnMut() -> usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut end = 0;
    while end < text.len() {
        end = (end + length()).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        ends.push(end);
    }
    ends
}

/// Cuts every `size` bytes, also inside characters.
fn anywhere(text: &str, size: usize) -> Vec<usize> {
    (size..text.len()).step_by(size).chain([text.len()]).collect()
}

// ---- texts ----

const KIB: usize = 1024;
pub const TRAPS: [&str; 4] = ["blank lead", "one line", "open fence", "near misses"];

/// Returns a text that makes a careless scanner read the same bytes again and again. If the trap is for thinking, an opener
/// precedes it.
pub fn trap(name: &str, open: &str, bytes: usize) -> String {
    match name {
        "blank lead" => " \n".repeat(bytes / 2),
        "one line" => open.to_owned() + &"no end of line ".repeat(bytes / 15),
        "open fence" => open.to_owned() + "\n```rs\n" + &code(KIB, &mut Random::new(7)).repeat(bytes / KIB),
        "near misses" => open.to_owned() + &near(KIB, &mut Random::new(7)).repeat(bytes / KIB),
        _ => panic!("no workload {name}"),
    }
}

fn message(markers: &Markers, bytes: usize, random: &mut Random) -> String {
    message_of(prose, markers, bytes, random)
}

fn cjk_message(markers: &Markers, bytes: usize, random: &mut Random) -> String {
    message_of(cjk_prose, markers, bytes, random)
}

/// Writes thinking to 700/1024 of the length, then the answer.
fn message_of(write: fn(usize, &mut Random) -> String, markers: &Markers, bytes: usize, random: &mut Random) -> String {
    let thinking = bytes * 700 / 1024 - markers.open.len();
    let mut text = markers.open.to_owned() + &write(thinking, random) + markers.close;
    text += &write(bytes - text.len(), random);
    text
}

/// Returns the same KiB of prose repeatedly, so that the text is of the same kind at every length.
pub fn some_prose(bytes: usize) -> String {
    prose(KIB, &mut Random::new(7)).repeat(bytes / KIB)
}

/// Returns exactly `bytes` bytes of sentences, paragraphs and whole code blocks.
fn prose(bytes: usize, random: &mut Random) -> String {
    let mut text = String::with_capacity(bytes);
    loop {
        let block = match random.below(20) {
            0 => {
                let length = 20 + random.below(600);
                format!("\n\n```rust\n{}```\n\n", code(length, random))
            }
            1..=4 => sentence(random) + "\n\n",
            _ => sentence(random),
        };
        if text.len() + block.len() > bytes {
            break;
        }
        text += &block;
    }
    while text.len() < bytes {
        let word = *random.pick(&WORDS);
        text += if text.len() + word.len() < bytes { word } else { "." };
        if text.len() < bytes {
            text.push(' ');
        }
    }
    text
}

fn sentence(random: &mut Random) -> String {
    if random.below(12) == 0 {
        return (*random.pick(&OTHER)).to_owned();
    }
    let mut text = String::new();
    for i in 0..6 + random.below(12) {
        let word = *random.pick(&WORDS);
        match random.below(40) {
            0 => text += &format!("`{word}()`"),
            _ if i == 0 => text += &(word[..1].to_uppercase() + &word[1..]),
            _ => text += word,
        }
        text += if random.below(10) == 0 { ", " } else { " " };
    }
    text + "so. "
}

/// Returns exactly `bytes` bytes of sentences and paragraphs in Chinese, Japanese and Korean, with emoji. Inline code is as
/// frequent as in `prose`.
fn cjk_prose(bytes: usize, random: &mut Random) -> String {
    let mut text = String::with_capacity(bytes);
    loop {
        let mut sentence = cjk_sentence(random);
        if random.below(5) == 0 {
            sentence += "\n\n";
        }
        if text.len() + sentence.len() > bytes {
            break;
        }
        text += &sentence;
    }
    let rest = bytes - text.len();
    text + &"。".repeat(rest / "。".len()) + &".".repeat(rest % "。".len())
}

fn cjk_sentence(random: &mut Random) -> String {
    let &(words, space, comma, end) = random.pick(&CJK);
    let words: Vec<&str> = words.split(' ').collect();
    let mut text = String::new();
    for _ in 0..6 + random.below(12) {
        let word = *random.pick(&words);
        text += &if random.below(40) == 0 { format!("`{word}()`") } else { word.to_owned() };
        text += if random.below(10) == 0 { comma } else { space };
    }
    if random.below(3) == 0 {
        text += *random.pick(&EMOJI);
    }
    text + end
}

fn code(bytes: usize, random: &mut Random) -> String {
    let mut text = String::with_capacity(bytes + 64);
    while text.len() < bytes {
        text += *random.pick(&CODE);
    }
    text
}

/// Returns beginnings of markers that do not become markers: 18 % `<`, 12 % backticks.
fn near_misses(markers: &Markers, bytes: usize, random: &mut Random) -> String {
    let mut half = || near(bytes / 2, random);
    markers.open.to_owned() + &half() + markers.close + "x" + &half()
}

fn near(bytes: usize, random: &mut Random) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        text += *random.pick(&NEAR);
    }
    text
}

/// No piece contains a `>` or makes a line begin with three backticks, so that no marker arises between the pieces.
const NEAR: [&str; 14] = [
    "<thin",
    "<think <",
    "</thin",
    "</thought",
    "<",
    "<<",
    "`",
    "`` ",
    "`a`",
    "\n``x",
    "\n `thinking",
    "< so",
    "</",
    "<t",
];

const WORDS: [&str; 48] = [
    "the", "a", "of", "and", "to", "in", "it", "is", "that", "we", "so", "if", "then", "but", "check", "value",
    "first", "user", "wants", "answer", "list", "each", "number", "sum", "wait", "because", "function", "returns",
    "error", "before", "after", "maybe", "should", "write", "test", "buffer", "length", "bytes", "stream", "state",
    "between", "example", "means", "careful", "simple", "case", "empty", "second",
];

const OTHER: [&str; 8] = [
    "我们先看第一个例子，然后再检查边界情况。",
    "这个函数返回的是字节数，不是字符数。",
    "次に、入力が空の場合を考えてみましょう。",
    "結果は同じになるはずです。",
    "That works 🎉 and the tests pass ✅. ",
    "Careful here ⚠️: the naïve way is wrong. ",
    "Good 👍🏽, next one. ",
    "A family 👨‍👩‍👧‍👦 is one cluster of 25 bytes. ",
];

/// The words of a language, separated by spaces, and the separators between words, between clauses and after a sentence.
type Language = (&'static str, &'static str, &'static str, &'static str);

const CJK: [Language; 3] = [(CHINESE, "", "，", "。"), (JAPANESE, "", "、", "。"), (KOREAN, " ", ", ", ". ")];

const CHINESE: &str = "我们 先 检查 第一个 例子 然后 再看 边界 情况 因为 这个 函数 \
    返回 字节 数量 用户 想要 答案 如果 列表 为空 那么 需要 注意";

const JAPANESE: &str = "次に 入力 が 空の 場合 を 考えて みましょう 結果 は 同じ に \
    なる はず 関数 値 返す テスト 書く 文字 数 確認 ユーザー データ";

const KOREAN: &str = "먼저 첫 예를 확인하고 다음 입력이 비어 있는 경우를 생각해 봅시다 함수는 \
    바이트 수를 돌려줍니다 그래서 결과는 같아야 합니다 목록의 길이 사용자가 원하는 답은";

const EMOJI: [&str; 8] = ["🎉", "✅", "⚠️", "👍🏽", "👨‍👩‍👧‍👦", "🤔", "🚀", "🇯🇵"];

const CODE: [&str; 10] = [
    "    let mut sum = 0;\n",
    "    for value in values.iter() {\n        sum += value;\n    }\n",
    "fn first(items: &[u32]) -> Option<u32> {\n    items.first().copied()\n}\n",
    "    if index < items.len() {\n        return items[index];\n    }\n",
    "    // the last chunk may be shorter\n",
    "    assert_eq!(parse(\"42\"), Ok(42));\n",
    "    println!(\"{name}: {count}\");\n",
    "    let map: HashMap<String, Vec<u8>> = HashMap::new();\n",
    "}\n\n",
    "    match state {\n        State::Open => close(),\n        _ => {}\n    }\n",
];
