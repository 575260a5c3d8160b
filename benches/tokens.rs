//! Prints the estimated tokens and the bytes of each file that standard input names, one in each line. `scripts/tokens` compares
//! the estimates with public tokenizers.

use std::io::{self, BufRead};

use aside::compress::estimated_tokens;

fn main() {
    for path in io::stdin().lock().lines() {
        let text = path.and_then(std::fs::read).expect("a file for each line");
        println!("{}\t{}", estimated_tokens(&text), text.len());
    }
}
