//! Measures the speed of scanners on the workloads of `workloads.rs`, and its limits in the same run.
//!
//!     cargo bench -p aside-benches --bench scanner                  all of it, in about two minutes
//!     cargo bench -p aside-benches --bench scanner -- W2            one workload
//!     cargo bench -p aside-benches --bench scanner -- /qwen3        one dialect
//!
//! Times vary, so compare ratios: a line of a workload with the `limit` lines of the same workload, and `callback` and `array` (the
//! C ABI) with `rust`. `thrpt` is bytes per second, and chunks per second (elem/s) if there are many. In W6, the text grows, and
//! elem/s must not fall. `scripts/count-instructions` counts instructions, which are repeatable.
//!
//! | W1 | one message of 1 MiB in one chunk |
//! | W2 | the same in chunks as long as tokens, 4.3 bytes |
//! | W3 | the same in chunks of 64 bytes |
//! | W4 | beginnings of markers that do not become markers, in tokens |
//! | W5m, W5t | 10,000 messages of 315 bytes with a new scanner each, whole and in tokens |
//! | W6 | W2 in growing lengths, and traps |
//! | W7, W7c4, W7c64 | Chinese, Japanese, Korean and emoji: in tokens, in chunks of 4 and of 64 bytes that also cut characters |

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

use aside_benches::ways::WAYS;
use aside_benches::workloads::{DIALECTS, Workload};

const MIB: usize = 1 << 20;
/// 10,000 messages of 315 bytes.
const MANY: usize = 3_150_000;

fn workloads(c: &mut Criterion) {
    for name in ["W1", "W2", "W3", "W4", "W5m", "W5t", "W7", "W7c4", "W7c64"] {
        let size = if name.starts_with("W5") { MANY } else { MIB };
        let mut group = c.benchmark_group(name);
        for (i, markers) in DIALECTS.iter().enumerate() {
            let workload = Workload::new(name, markers, size);
            group.throughput(throughput(&workload));
            if i == 0 {
                for (limit, run) in LIMITS {
                    group.bench_function(BenchmarkId::new("limit", limit), |b| b.iter(|| run(black_box(&workload))));
                }
            }
            for (way, run) in WAYS {
                assert_eq!(run(markers.dialect, &workload), workload.bytes(), "{name} {way} {}", markers.dialect);
                group.bench_function(BenchmarkId::new(way, markers.dialect), |b| {
                    b.iter(|| run(markers.dialect, black_box(&workload)));
                });
            }
        }
        group.finish();
    }
}

fn growing(c: &mut Criterion) {
    let mut group = c.benchmark_group("W6");
    let tempted = [("blank lead", "inline-think"), ("one line", "fenced-thinking"), ("open fence", "fenced-thinking")];
    let all = DIALECTS.iter().map(|markers| ("W2", markers.dialect)).chain(tempted);
    for (text, dialect) in all {
        let markers = DIALECTS.iter().find(|markers| markers.dialect == dialect).expect("one of them");
        for times in [1, 8, 64] {
            let workload = Workload::new(text, markers, times * MIB / 16);
            group.throughput(throughput(&workload));
            group.bench_function(BenchmarkId::new(format!("{text}/{dialect}"), format!("{times}x")), |b| {
                b.iter(|| WAYS[0].1(dialect, black_box(&workload)));
            });
        }
    }
    group.finish();
}

fn throughput(workload: &Workload) -> Throughput {
    let (bytes, elements) = (workload.bytes() as u64, workload.feeds() as u64);
    if elements == 1 { Throughput::BytesDecimal(bytes) } else { Throughput::ElementsAndBytes { elements, bytes } }
}

// ---- limits: what the machine could do at best with the same chunks ----

type Limit = fn(&Workload) -> usize;

const LIMITS: [(&str, Limit); 4] = [
    ("memcpy", |workload| {
        let mut copy = vec![0; workload.messages.iter().map(|message| message.text.len()).max().unwrap_or(0)];
        each(workload, |chunk| {
            black_box(&mut copy)[..chunk.len()].copy_from_slice(chunk);
            chunk.len()
        })
    }),
    ("memchr <", |workload| {
        each(workload, |chunk| memchr::memchr_iter(b'<', chunk).fold(0, |sum, at| sum + black_box(at)))
    }),
    ("memchr < and backtick", |workload| {
        each(workload, |chunk| memchr::memchr2_iter(b'<', b'`', chunk).fold(0, |sum, at| sum + black_box(at)))
    }),
    ("empty C call", |workload| {
        let call = black_box(empty as extern "C" fn(*const u8, usize) -> i32);
        each(workload, |chunk| call(chunk.as_ptr(), chunk.len()) as usize)
    }),
];

fn each(workload: &Workload, mut look: impl FnMut(&[u8]) -> usize) -> usize {
    workload
        .messages
        .iter()
        .flat_map(|message| message.chunks())
        .fold(0usize, |sum, chunk| sum.wrapping_add(look(chunk)))
}

extern "C" fn empty(_: *const u8, _: usize) -> i32 {
    0
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400));
    targets = workloads, growing
}
criterion_main!(benches);
