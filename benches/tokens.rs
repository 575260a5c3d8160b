//! Prints the estimate of tokens of each file that standard input names, one a line, with its bytes. `scripts/tokens` compares
//! them with public tokenizers.

use std::io::{self, BufRead};

use aside::compress::estimated_tokens;

fn main() {
    for path in io::stdin().lock().lines() {
        let text = path.and_then(std::fs::read).expect("a file for each line");
        println!("{}\t{}", estimated_tokens(&text), text.len());
    }
}
