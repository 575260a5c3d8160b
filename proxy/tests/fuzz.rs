//! Runs the fuzz target of the proxy without a fuzzer: findings of the past (`tests/regressions/proxy`), seeds, and mutations of them.
//! `ASIDE_SEEDS=FOLDER` only writes the seeds there, for `scripts/fuzz`.

#[path = "../../fuzz/targets/proxy.rs"]
mod target;

use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZstdEncoder};
use tokio::io::AsyncWriteExt;

/// Returns the recordings as a server with this encoding would send them, flushed after each event.
fn compressed(encoding: u8, stream: &[u8]) -> Vec<u8> {
    macro_rules! through {
        ($encoder:ident) => {{
            let mut encoder = $encoder::new(Vec::new());
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                for part in stream.chunks(400) {
                    encoder.write_all(part).await.unwrap();
                    encoder.flush().await.unwrap();
                }
                encoder.shutdown().await.unwrap();
            });
            encoder.into_inner()
        }};
    }
    match encoding {
        1 => through!(GzipEncoder),
        2 => through!(BrotliEncoder),
        3 => through!(ZstdEncoder),
        _ => stream.to_vec(),
    }
}

#[test]
fn proxy() {
    let mut seeds = Vec::new();
    for path in support::files(format!("{}/tests/sse", support::ROOT)).into_iter().filter(|path| path.is_file()) {
        let stream = std::fs::read(path).unwrap();
        let stream = &stream[..stream.len().min(3000)];
        for encoding in 0..5 {
            for end in 0..2 {
                seeds.push([&[encoding, end, 3, 1, 90, 7][..], &compressed(encoding, stream)].concat());
            }
        }
    }
    if let Some(folder) = std::env::var_os("ASIDE_SEEDS") {
        let folder = std::path::Path::new(&folder).join("proxy");
        std::fs::create_dir_all(&folder).unwrap();
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
        }
        std::fs::write(folder.with_extension("dict"), "\"data: \"\n\"<think>\"\n\"</think>\"\n").unwrap();
        return;
    }
    let regressions = std::path::Path::new(support::ROOT).join("tests/regressions/proxy");
    if regressions.is_dir() {
        seeds.extend(support::files(regressions).iter().map(|path| std::fs::read(path).unwrap()));
    }
    seeds.iter().for_each(|seed| target::run(seed));
    let mut random = samples::Random::announced("proxy");
    for _ in 0..3000 {
        let mut data = random.pick(&seeds).clone();
        for _ in 0..1 + random.below(6) {
            let at = random.below(data.len());
            match random.below(3) {
                0 => data[at] = random.next() as u8,
                1 => data.insert(at, random.next() as u8),
                _ => drop(data.drain(at..data.len().min(at + random.below(9)))),
            }
            if data.is_empty() {
                data.push(0);
            }
        }
        if let Err(panic) = std::panic::catch_unwind(|| target::run(&data)) {
            eprintln!("proxy: b\"{}\"", data.escape_ascii());
            std::panic::resume_unwind(panic);
        }
    }
}
