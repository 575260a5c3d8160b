//! Tests the compressor through its Rust interface: the order of the steps of a call, and a test for each mistake that the filters
//! once made.

#![cfg(feature = "compress")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aside::compress::*;
use support::report::body;

fn run(compressor: &Compressor, command: &str, text: &str) -> Compressed {
    compressor.compress(&Invocation::new("bash", &Input::of_command(command)), &[Part::Text(text.as_bytes())])
}

/// Returns the result for a text without its banner, or the text itself if it is unchanged.
fn short(compressor: &Compressor, command: &str, text: &str) -> String {
    match &run(compressor, command, text).parts[0] {
        Outcome::Same => text.to_owned(),
        Outcome::Text(result) => {
            let result = String::from_utf8(result.clone()).unwrap();
            let (banner, rest) = result.split_once('\n').unwrap();
            assert!(banner.starts_with("[Output compressed by ") && banner.ends_with(']'), "{banner}");
            rest.to_owned()
        }
        Outcome::Gone => panic!("a single part never goes"),
    }
}

fn new() -> Compressor {
    Compressor::new(&Registry::new())
}

/// Returns lines that all differ.
fn lines(count: usize, word: &str) -> String {
    (0..count).map(|line| format!("{word} {line} {}\n", line * line % 97)).collect()
}

/// Returns a text that is long enough to be shortened, with lines that the filter for `git status` removes.
fn hints() -> String {
    let hint = |n| format!("  (use \"git add <file>...\" to update what will be committed, {n})\n");
    (0..9).map(hint).collect::<String>() + &lines(90, "file")
}

/// A filter or cache of a host that fails or panics at the configured place.
struct Broken {
    at: &'static str,
    panics: bool,
}

impl Broken {
    fn may(&self, at: &str) -> Result<(), String> {
        match (self.at == at, self.panics) {
            (true, true) => panic!("oh no"),
            (true, false) => Err("no luck".to_owned()),
            (false, _) => Ok(()),
        }
    }
}

impl Filter for Broken {
    fn id(&self) -> &str {
        "broken"
    }

    fn matches(&self, _: &Invocation<'_>) -> Result<bool, String> {
        self.may("matches").map(|()| true)
    }

    fn apply(&self, _: &[u8], _: &Invocation<'_>) -> Result<Filtered, String> {
        self.may("apply").map(|()| Filtered::default())
    }
}

impl Cache for Broken {
    fn id(&self) -> &str {
        "broken"
    }

    fn observe(&self, _: &Invocation<'_>) -> Result<(), String> {
        self.may("observe")
    }

    fn lookup(&self, _: &Invocation<'_>) -> Result<Option<Hit>, String> {
        self.may("lookup").map(|()| None)
    }

    fn record(&self, _: &Invocation<'_>, _: &[u8]) -> Result<(), String> {
        self.may("record")
    }
}

struct Host(&'static str, fn(&[u8]) -> Result<Filtered, String>);

impl Filter for Host {
    fn id(&self) -> &str {
        self.0
    }

    fn apply(&self, text: &[u8], _: &Invocation<'_>) -> Result<Filtered, String> {
        (self.1)(text)
    }
}

/// A cache that records its calls.
struct Asked(&'static str, Arc<Mutex<Vec<String>>>, Option<Hit>);

impl Cache for Asked {
    fn id(&self) -> &str {
        self.0
    }

    fn observe(&self, _: &Invocation<'_>) -> Result<(), String> {
        self.1.lock().unwrap().push(format!("{} observes", self.0));
        Ok(())
    }

    fn lookup(&self, _: &Invocation<'_>) -> Result<Option<Hit>, String> {
        self.1.lock().unwrap().push(format!("{} looks up", self.0));
        Ok(self.2.clone())
    }

    fn record(&self, invocation: &Invocation<'_>, text: &[u8]) -> Result<(), String> {
        self.1.lock().unwrap().push(format!("{} records {} at {}", self.0, text.len(), invocation.now));
        Ok(())
    }
}

#[test]
fn a_cache_hit_replaces_the_fresh_output_unseen() {
    let mut registry = Registry::new();
    registry.add_cache(Box::new(LastRun::new(1 << 20)));
    let compressor = Compressor::new(&registry);
    let input = Input::of_command("cargo test");
    let call = |now| Invocation::new("bash", &input).now(now);
    let (first, second) = (lines(100, "before the edit"), lines(100, "after the edit"));
    assert_eq!(compressor.compress(&call(1), &[Part::Text(first.as_bytes())]).parts, [Outcome::Same]);
    let edited = compressor.compress(&call(2), &[Part::Text(second.as_bytes())]);
    assert_eq!((edited.parts, edited.report.hit), (vec![Outcome::Same], None));
    let again = compressor.compress(&call(3), &[Part::Other, Part::Text(second.as_bytes())]);
    assert_eq!(again.report.hit.as_deref(), Some("last-run"));
    let Outcome::Text(line) = &again.parts[1] else { panic!("{again:?}") };
    assert!(line.starts_with(b"Same output as last run (1970-01-01T00:00:02Z)"), "{line:?}");
    assert_eq!(again.parts[0], Outcome::Same);
    assert_eq!((again.report.after, again.report.after_units), (line.len(), line.len()));
}

#[test]
fn compressors_of_one_registry_have_what_it_had_and_share_its_caches() {
    let mut registry = Registry::empty();
    registry.add_cache(Box::new(LastRun::new(1 << 20)));
    let before = Compressor::new(&registry);
    registry.add_filter(Box::new(Host("half", |text| Ok(Filtered::shorter(&text[..text.len() / 2])))));
    let after = Compressor::new(&registry);
    registry.remove("half");
    drop(registry);
    let text = lines(100, "some words here");
    let result = run(&after, "x", &text);
    assert_eq!((result.report.filters, result.report.hit), (vec!["half".to_owned()], None));
    let result = run(&before, "x", &text);
    assert_eq!((result.report.filters, result.report.hit.as_deref()), (vec![], Some("last-run")));
}

/// A filter that records its calls.
struct Noted(Arc<Mutex<Vec<String>>>);

impl Filter for Noted {
    fn id(&self) -> &str {
        "noted"
    }

    fn matches(&self, invocation: &Invocation<'_>) -> Result<bool, String> {
        let Invocation { tool_id, input, now, .. } = invocation;
        self.0.lock().unwrap().push(format!("{tool_id} {} {now}", input.json()));
        Ok(true)
    }

    fn apply(&self, _: &[u8], invocation: &Invocation<'_>) -> Result<Filtered, String> {
        self.matches(invocation).map(|_| Filtered::unchanged())
    }
}

#[test]
fn a_filter_of_the_host_gets_the_invocation_whole_or_as_a_stream() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut registry = Registry::empty();
    registry.add_filter(Box::new(Noted(seen.clone())));
    let compressor = Arc::new(Compressor::new(&registry));
    let input = Input::from_json(r#"{"z": 1, "command": "x"}"#).unwrap();
    let text = lines(100, "some words here");
    let _ = compressor.compress(&Invocation::new("bash", &input).now(7), &[Part::Text(text.as_bytes())]);
    let mut stream = ToolStream::new(compressor, "bash", input, 4096).unwrap().now(7);
    stream.feed(text.as_bytes(), |_| {});
    stream.finish(|_| {});
    assert_eq!(*seen.lock().unwrap(), [r#"bash {"command":"x","z":1} 7"#; 4]);
}

#[test]
fn never_worse_forgets_the_banner() {
    let mut registry = Registry::empty();
    registry.add_filter(Box::new(Host("a-little", |text| Ok(Filtered::shorter(text[..text.len() - 20].to_vec())))));
    let text = lines(60, "some words here");
    assert!(text.len() > 1103);
    let result = run(&Compressor::new(&registry), "x", &text);
    assert_eq!(result.parts, [Outcome::Same]);
    assert_eq!((result.report.after, result.report.filters.len()), (result.report.before, 0));
}

#[test]
fn a_git_diff_filter_takes_lines_with_a_space_for_context() {
    let show = format!(
        "commit 1234\n\n    Say why\n\n a.rs | 2 +-\n\ndiff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,12 +1,12 @@\n{}--- x\n+y\n",
        " same line\n".repeat(11)
    );
    // Repeated lines in a hunk stay, and repeated lines after it are removed.
    let text = format!("{show}{}", "noise that is the same\n".repeat(100));
    assert_eq!(short(&new(), "git show", &text), format!("{show}noise that is the same\n[… 99 lines as above]\n"));
}

#[test]
fn two_commands_are_taken_for_one() {
    let text = hints();
    assert_eq!(short(&new(), "git status && cat f", &text), text);
    assert_ne!(short(&new(), "cd x && export A=1 && git status", &text), text);
}

#[test]
fn failures_are_dropped_with_the_noise() {
    for (command, failure) in [
        ("./gradlew test", "> Task :x FAILED"),
        ("pytest", "tests/test_c.py .F.                                                      [100%]"),
        ("pytest", "..F..E                                                                   [100%]"),
    ] {
        let text = format!("{}{failure}\n{}", "same noise\n".repeat(100), "other noise\n".repeat(100));
        assert!(short(&new(), command, &text).contains(failure), "{failure}");
    }
    let cargo: String = (0..60)
        .map(|n| format!("   Compiling a{n} v1.0.{n}\n    Checking b{n} v2.0\n     Locking {n} packages\n"))
        .collect();
    let text = format!("{cargo}    Finished `dev` profile\n");
    assert_eq!(short(&new(), "cargo build", &text).lines().count(), 2);
}

#[test]
fn what_was_asked_for_stays() {
    let rows = |row: fn(usize) -> String| (0..40).map(row).collect::<String>();
    for (asking, plain, text) in [
        (
            "rspec --profile",
            "rspec",
            "Top 40 slowest examples (4 seconds, 61.0% of total time):\n".to_owned()
                + &rows(|n| format!("  Cart {n} adds an item\n    {n}.31 seconds ./spec/cart{n}_spec.rb:3\n")),
        ),
        (
            "tsc --noEmit --traceResolution",
            "tsc --noEmit",
            rows(|n| format!("File '/srv/shop/src/cart{n}.ts' does not exist.\n")),
        ),
        ("npm ci --verbose", "npm ci", rows(|n| format!("npm verb stack at step {n} of {}\n", n * 7))),
        (
            "git log -p --format=%B",
            "git log -p",
            "diff --git a/go.sum b/go.sum\n".to_owned() + &rows(|n| format!("- the bullet {n} of a message\n")),
        ),
    ] {
        assert_eq!(short(&new(), asking, &text), text, "{asking}");
        assert_ne!(short(&new(), plain, &text), text, "{plain}");
    }
}

#[test]
fn caps_keep_only_the_head() {
    let compressor = new().budget(2000).unwrap();
    let text = format!("{}error: the cause\n  --> here:1:2\n{}the end\n", lines(400, "before"), lines(400, "after"));
    let result = run(&compressor, "make", &text);
    let Outcome::Text(bytes) = &result.parts[0] else { panic!() };
    assert!(bytes.len() <= 2000, "{}", bytes.len());
    let kept = String::from_utf8_lossy(bytes);
    assert!(kept.contains("\nerror: the cause\n  --> here:1:2\n") && kept.ends_with("the end\n"), "{kept}");
}

#[test]
fn commands_are_not_seen_behind_options_and_wrappers() {
    let hints = hints();
    for command in [
        "git -C x status",
        "/usr/bin/git status",
        "bash -c \"git status\"",
        "sudo -u bob git status",
        "cd x\ngit status",
    ] {
        assert_ne!(short(&new(), command, &hints), hints, "{command}");
    }
}

#[test]
fn colours_and_carriage_returns_defeat_patterns() {
    let text: String = (0..60).map(|n| format!("\x1b[1m\x1b[32m   Compiling\x1b[0m crate{n} v1.0.{n}\r\n")).collect();
    let text = format!("{text}done\r\n");
    assert_eq!(short(&new(), "cargo build", &text), "[… 60 lines, 1,720 bytes left out]\ndone\n");
}

/// Returns the result for a budget of 4,000 bytes.
fn kept(command: &str, text: &str) -> String {
    short(&new().budget(4000).unwrap(), command, text)
}

#[test]
fn output_of_passing_tests_does_not_crowd_out_the_failure() {
    let passing =
        |n| format!("PASS src/a{n}.test.ts\n  ● Console\n\n    console.error\n      Warning: {n} is late\n\n");
    let failure = "FAIL src/cart.test.ts\n  ● cart › removes an item\n\n    expect(received).toEqual(expected)\n\n    - Expected  - 1\n    + Received  + 3\n\n      at Object.<anonymous> (src/cart.test.ts:43:27)\n";
    let all: String = (0..80).map(passing).collect();
    let text = format!("{all}{failure}\n{all}Tests:       1 failed, 912 passed, 913 total\n");
    assert!(kept("npx jest --ci", &text).contains(failure), "{}", kept("npx jest --ci", &text));
}

#[test]
fn warnings_of_a_cluster_stay_among_its_events() {
    let normal = |n| format!("{n}m   Normal    Pulled        pod/web-{n}     Container image already present\n");
    let warnings = [
        "9m   Warning   FailedMount   pod/api-1   configmap \"shop-config\" not found\n",
        "6m   Warning   Evicted       pod/job-2   The node was low on resource: ephemeral-storage.\n",
    ];
    let events = |from: usize| (from..from + 80).map(normal).collect::<String>();
    let text = format!("{}{}{}{}{}", events(0), warnings[0], events(100), warnings[1], events(200));
    let kept = kept("kubectl get events", &text);
    assert!(warnings.iter().all(|warning| kept.contains(warning)), "{kept}");
}

#[test]
fn a_failure_in_the_middle_of_a_long_region_stays() {
    let rows =
        |word: &str| (0..200).map(|n| format!("DEBUG shop:{word}.py:{n} cache miss {}\n", n * 7)).collect::<String>();
    let cause = "ERROR    shop.cart:cart.py:88 could not lock row 12\n";
    let text = format!(
        "=== FAILURES ===\n___ test_a ___\n\nE   assert 0\n--- Captured log call ---\n{}{cause}{}=== short test summary info ===\nFAILED a.py::test_a - assert 0\n=== 1 failed in 0.1s ===\n",
        rows("first"),
        rows("then")
    );
    let kept = kept("pytest", &text);
    assert!(kept.contains(cause) && kept.contains("E   assert 0\n"), "{kept}");
}

#[test]
fn a_long_failure_beside_a_printed_marker_stays() {
    let (rows, marker) = (lines(400, "row"), "[… 1 byte of this line]\n");
    let long = format!("error: {}\n", "y ".repeat(3000));
    for (before, behind) in [("", ""), (marker, ""), ("", marker), (marker, marker)] {
        let kept = kept("x", &format!("{rows}{before}{long}{behind}{rows}"));
        assert!(kept.contains("\nerror: y y"), "{kept}");
    }
}

#[test]
fn a_verdict_of_success_is_not_alone_where_a_run_failed() {
    for (passed, failed) in [
        ("All tests passed (3 assertions in 3 test cases)", "test cases: 3 | 2 passed | 1 failed"),
        ("10 passing", "# fail 2"),
        ("10 passed", " 1 fail"),
    ] {
        let kept = kept("x", &format!("{}{failed}\n{}{passed}\n", lines(400, "row"), lines(400, "step")));
        assert!(kept.contains(failed), "{kept}");
    }
}

#[test]
fn the_place_that_asked_for_a_template_stays() {
    let asked: String = (0..60)
        .map(|n| format!("/usr/include/c++/13/bits/stl_algo.h:{n}:   required from 'void std::sort{n}(It, It) [with It = Item*]'\n"))
        .collect();
    let notes: String = (0..90)
        .map(|n| {
            format!(
                "/usr/include/c++/13/bits/stl_x.h:{n}:5: note: candidate: 'bool operator<(const A{n}&, const A{n}&)'\n"
            )
        })
        .collect();
    let cause =
        "cart.cpp:88:12:   required from here\n/usr/include/c++/13/bits/ops.h:45:23: error: no match for 'operator<'\n";
    let text =
        format!("In file included from cart.cpp:3:\n{asked}{cause}{notes}ninja: build stopped: subcommand failed.\n");
    assert!(kept("ninja", &text).contains(cause), "{}", kept("ninja", &text));
}

#[test]
fn caches_observe_before_any_looks_up() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let text = lines(100, "line");
    let hit = |text: &str| Some(Hit::new(text, 7));
    let mut registry = Registry::empty();
    registry.add_cache(Box::new(Asked("one", said.clone(), hit("other"))));
    registry.add_cache(Box::new(Asked("two", said.clone(), hit(&text))));
    registry.add_cache(Box::new(Asked("three", said.clone(), hit(&text))));
    let result = run(&Compressor::new(&registry), "x", &text);
    assert_eq!(result.report.hit.as_deref(), Some("two"));
    let record = format!("records {} at 0", text.len());
    let expected =
        ["one observes", "two observes", "three observes", "one looks up", "two looks up"].map(str::to_owned);
    let records = ["one", "two", "three"].map(|id| format!("{id} {record}"));
    assert_eq!(*said.lock().unwrap(), [&expected[..], &records[..]].concat());
}

#[test]
fn a_hit_stands_for_all_text_parts_and_protected_ones_stop_it() {
    let (a, b) = (lines(90, "a"), lines(90, "b"));
    let json = format!("[{}1]", "1, ".repeat(600));
    let compressor = |raw: String| {
        let mut registry = Registry::empty();
        registry.add_cache(Box::new(Asked("c", Arc::default(), Some(Hit::new(raw, 0)))));
        Compressor::new(&registry)
    };
    let input = Input::of_command("x");
    let parts = [Part::Text(a.as_bytes()), Part::Other, Part::Text(b.as_bytes())];
    let result = compressor(format!("{a}\n{b}")).compress(&Invocation::new("bash", &input), &parts);
    let [Outcome::Text(line), Outcome::Same, Outcome::Gone] = &result.parts[..] else { panic!("{result:?}") };
    let counts = format!("(lines: 180, bytes: {}).", a.len() + b.len());
    assert!(line.ends_with(counts.as_bytes()), "{}", String::from_utf8_lossy(line));
    let parts = [Part::Text(a.as_bytes()), Part::Text(json.as_bytes())];
    let result = compressor(format!("{a}\n{json}")).compress(&Invocation::new("bash", &input), &parts);
    assert_eq!((result.parts, result.report.hit), (vec![Outcome::Same; 2], None));
}

#[test]
fn a_failing_filter_is_dropped_and_the_others_go_on() {
    let mut registry = Registry::new();
    registry.add_filter(Box::new(Host("panics", |_| panic!("oh no"))));
    registry.add_filter(Box::new(Host("fails", |_| Err("no luck".into()))));
    registry.add_filter(Box::new(Host("lies", |text| Ok(Filtered::shorter([text, b"more"].concat())))));
    registry.add_filter(Box::new(Host("empties", |_| Ok(Filtered::shorter(b" \n".to_vec())))));
    registry.add_filter(Box::new(Host("declines", |_| Ok(Filtered::default()))));
    let text = "the same\n".repeat(200);
    let result = run(&Compressor::new(&registry), "x", &text);
    let failed: Vec<_> = result.report.failed.iter().map(|failed| (&*failed.filter, &*failed.reason)).collect();
    assert_eq!(failed, [("panics", "it panicked: oh no"), ("fails", "no luck")]);
    assert_eq!(result.report.filters, ["repeats"]);
}

/// Checks that a filter that has failed is not called for the next part, nor for the next window of a stream. Otherwise, the
/// stream's report would grow with the text.
#[test]
fn a_filter_that_has_failed_is_not_asked_again_in_the_call() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let compressor = || {
        let mut registry = Registry::new();
        registry.add_filter(Box::new(Host("repeats", |_| {
            ASKED.fetch_add(1, Ordering::Relaxed);
            Err("no luck".into())
        })));
        Compressor::new(&registry)
    };
    let text = "the same\n".repeat(200);
    let result =
        compressor().compress(&Invocation::new("bash", &Input::of_command("x")), &[Part::Text(text.as_bytes()); 3]);
    assert_eq!((result.report.failed.len(), ASKED.swap(0, Ordering::Relaxed)), (1, 1));
    let mut stream = ToolStream::new(Arc::new(compressor()), "bash", Input::of_command("x"), 4096).unwrap();
    (0..100).for_each(|_| stream.feed(text.as_bytes(), |_| ()));
    let report = stream.finish(|_| ());
    assert_eq!((report.failed.len(), ASKED.load(Ordering::Relaxed)), (1, 1));
}

#[test]
fn each_of_a_hosts_methods_may_fail_or_panic() {
    let text = "the same\n".repeat(200);
    for at in ["matches", "apply", "observe", "lookup", "record"] {
        for panics in [false, true] {
            let mut registry = Registry::new();
            match at {
                "matches" | "apply" => registry.add_filter(Box::new(Broken { at, panics })),
                _ => registry.add_cache(Box::new(Broken { at, panics })),
            }
            let result = run(&Compressor::new(&registry), "x", &text);
            let reason = if panics { "it panicked: oh no" } else { "no luck" };
            let failed: Vec<_> = result.report.failed.iter().map(|failed| (&*failed.filter, &*failed.reason)).collect();
            assert_eq!(failed, [("broken", reason)], "{at}");
            assert_eq!(result.report.filters, ["repeats"], "{at}");
        }
    }
}

#[test]
fn filters_are_chained_in_the_order_of_registration() {
    let mut registry = Registry::empty();
    registry.add_filter(Box::new(Host("b", |text| Ok(Filtered::shorter(text[..text.len() / 2].to_vec())))));
    registry.add_filter(Box::new(Host("a", |text| Ok(Filtered::shorter(text[..100].to_vec())))));
    let text = lines(200, "line");
    let result = run(&Compressor::new(&registry), "x", &text);
    assert_eq!(result.report.filters, ["b", "a"]);
    let Outcome::Text(bytes) = &result.parts[0] else { panic!() };
    let banner = format!("[Output compressed by b, a ({} → 100 chars). ", text.len());
    assert!(bytes.starts_with(banner.as_bytes()), "{}", String::from_utf8_lossy(bytes));
    assert!(bytes.ends_with(&text.as_bytes()[..100]));
}

#[test]
fn a_banner_is_one_line_whatever_a_filter_is_called() {
    let mut registry = Registry::empty();
    registry.add_filter(Box::new(Host("a\nb\u{85}", |_| Ok(Filtered::shorter(b"short".to_vec())))));
    let result = run(&Compressor::new(&registry), "x", &lines(200, "line"));
    let Outcome::Text(bytes) = &result.parts[0] else { panic!() };
    let text = String::from_utf8_lossy(bytes);
    assert!(text.starts_with("[Output compressed by a b  (") && text.ends_with("]\nshort"), "{text}");
    assert_eq!(result.report.filters, ["a\nb\u{85}"]);
}

#[test]
fn what_is_short_protected_or_compressed_before_stays() {
    let same =
        |text: &str| assert_eq!(run(&new(), "x", text).parts, [Outcome::Same], "{}", &text[..text.len().min(60)]);
    same(&"same\n".repeat(204));
    assert!(matches!(run(&new(), "x", &"same\n".repeat(205)).parts[0], Outcome::Text(_)));
    // 1,023 units, 3,069 bytes.
    same(&"…\n".repeat(511));
    for name in ["[testenv:py311]", "[remote \"origin\"]", "[Desktop Action new-window]", "[section]", "[[table]]"] {
        for next in ["a = 1", "# a comment\n\nx\ny.z=1", "[another]"] {
            same(&format!("{name}\n{next}\n{}", "same\n".repeat(400)));
        }
    }
    for start in ["---\nkey:\n", "---\n\n# x\nkey: 1\n", "---\n- a\n", "a,b,c\n1,2,3\n1,2,3\n1,2,3\n"] {
        let row = if start.starts_with("a,") { "1,2,3\n" } else { "same\n" };
        same(&format!("{start}{}", row.repeat(400)));
    }
    same(&format!("<?xml version=\"1.0\"?>\n{}</a>\n", "same\n".repeat(400)));
    same(&format!("{{\"a\": [{}1]}}", "1, ".repeat(600)));
    same(&"{\"a\": 1}\n".repeat(300));
    same(&format!("{}\n{}", format_banner(&["a"], 9000, 3000), "same\n".repeat(400)));
    let noisy = |text: String| assert!(matches!(run(&new(), "x", &text).parts[0], Outcome::Text(_)), "{}", &text[..40]);
    noisy(format!("[INFO]\n{}", "same\n".repeat(400)));
    for start in ["[section]", "[[table]]", "[stage 1/2]\na = 1", "[2024-01-01]\na = 1", "[2024-01-01 10:00:00]\na = 1"]
    {
        noisy(format!("{start}\n{}", "same\n".repeat(400)));
    }
    for start in ["---", "---\ncompiling", "<?xml version=\"1.0\"?>"] {
        noisy(format!("{start}\n{}", "same\n".repeat(400)));
    }
    noisy(format!("[File: src/a.rs (94 lines total)]\n{}", "same\n".repeat(400)));
    noisy(format!("{{\"a\": 1\n{}", "same\n".repeat(400)));
    noisy(format!("[Output compressed by hand\n{}", "same\n".repeat(400)));
    noisy(format!("a,b,c\n{}", "1,2\n".repeat(400)));
    noisy("\x1b[38;5;240mstep\x1b[0m\n".repeat(400));
    noisy(format!("[… 41 lines, 2,310 bytes left out]\n{}", "same\n".repeat(400)));
}

#[test]
fn deep_and_long_json_is_read_whole() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(is_protected(deep.as_bytes()));
    assert!(!is_protected(&deep.as_bytes()[..deep.len() - 1]));
    let long = format!("[{}1]", "{\"a\":[1,2,\"x\"]},".repeat(1 << 19));
    assert!(is_protected(long.as_bytes()));
    assert!(!is_protected(format!("{long} x").as_bytes()));
}

#[test]
fn long_lines_without_characters_are_cut() {
    for unit in [&b"\x80"[..], b"\xf0\x80\x80\x80\x80\x80", "日".as_bytes(), "🧠".as_bytes()] {
        let text = unit.repeat(5000);
        for budget in [None, Some(3000)] {
            let compressor = budget.map_or_else(new, |budget| new().budget(budget).unwrap());
            let input = Input::of_command("x");
            let result = compressor.compress(&Invocation::new("bash", &input), &[Part::Text(&text)]);
            assert!(result.report.failed.is_empty(), "{:?}", result.report.failed);
            let Outcome::Text(short) = &result.parts[0] else { panic!("it stays as it was") };
            let is_valid = std::str::from_utf8(&text).is_ok();
            assert!(short.len() < 3000 && (!is_valid || std::str::from_utf8(short).is_ok()));
        }
    }
}

#[test]
fn json_of_a_hundred_megabytes_passes_unchanged_without_a_budget() {
    let row = "{\"id\": 12345, \"name\": \"some name\", \"list\": [1, 2, 3]},\n";
    let json = format!("[\n{}1]", row.repeat((100 << 20) / row.len()));
    let result = run(&new(), "curl x", &json);
    assert_eq!((&result.parts[..], result.report.failed.len()), (&[Outcome::Same][..], 0));
    // The result must stay within the budget, for JSON and for other text.
    for (text, is_json) in [(&json[..], true), (&json[..json.len() - 1], false)] {
        let result = run(&new().budget(10_000).unwrap(), "curl x", text);
        assert!(matches!(&result.parts[0], Outcome::Text(text) if text.len() <= 10_000));
        assert_eq!(result.report.cut_protected, is_json);
    }
}

#[test]
fn an_input_that_is_no_json_is_an_error() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(Input::from_json(&deep).unwrap_err().to_string().contains("recursion limit"));
    assert!(Input::from_json("{").unwrap_err().to_string().starts_with("the input is not JSON: "));
    let long = format!("{{\"command\": \"echo {}\"}}", "x ".repeat(8 << 20));
    assert_eq!(Input::from_json(&long).unwrap().printing_command().unwrap().name(), "echo");
}

#[test]
fn deep_json_is_minified() {
    let mut registry = Registry::new();
    registry.minify_json();
    let deep = format!("{}1{}", "[ ".repeat(10_000), " ]".repeat(10_000));
    let minified = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(short(&Compressor::new(&registry), "x", &deep), minified);
}

#[test]
fn what_files_say_is_not_folded() {
    let file: String = (0..60)
        .map(|n| format!("fn f{n}() {{\n    let first = 1;\n    let second = 2;\n    done();\n}}\n\n"))
        .collect();
    assert_ne!(short(&new(), "x", &file), file);
    for command in [
        "cat f",
        "cd x && sed -n 1,400p f | head",
        "echo a; cat a; echo b; cat b",
        "find . -name '*.rs' -exec cat {} +",
        "git ls-files | xargs cat",
        "git show HEAD:src/f.rs",
    ] {
        assert_eq!(short(&new(), command, &file), file, "{command}");
    }
}

#[test]
fn json_is_minified_where_the_host_asks() {
    let json = format!("{{ \"n\" : [ {} 1.50 ] }}", "1e5 , ".repeat(300));
    assert_eq!(short(&new(), "x", &json), json);
    let mut registry = Registry::new();
    registry.minify_json();
    let minified = short(&Compressor::new(&registry), "x", &json);
    assert_eq!(minified, format!("{{\"n\":[{}1.50]}}", "1e5,".repeat(300)));
}

#[test]
fn of_progress_only_the_last_line_stays() {
    for sign in ["[=====>   ]", "#####", "█████", "━━━━━", "30%"] {
        let progress: String = (10..60).map(|done| format!("{sign} {done}/90 MB\n")).collect();
        let text = lines(40, "word") + progress.trim_end();
        let result = short(&new(), "x", &text);
        let rows: Vec<&str> = result.lines().skip(40).collect();
        assert_eq!(rows.len(), 2, "{result}");
        assert!(matches!(Marker::parse(rows[0].as_bytes()), Some(Marker::LeftOut { lines: 49, .. })), "{}", rows[0]);
        assert_eq!(rows[1], format!("{sign} 59/90 MB"));
    }
    // A percent sign without a digit before it shows no progress, nor does a bar that is short or not the first sign of
    // its line.
    for sign in ["x = =====", "% 30", "==="] {
        let text: String =
            lines(40, "word") + &(10..60).map(|done| format!("{sign} {done}/90 MB\n")).collect::<String>();
        assert_eq!(short(&new(), "x", &text), text, "{sign}");
    }
}

#[test]
fn a_failure_that_was_overwritten_is_there() {
    let noise = "\x1b[2Kcompiling the same file once more\r\n".repeat(50);
    let error = "src/a.ts(3,5): error TS2304: Cannot find name 'x'.";
    // A spinner that fills two rows of a terminal with 80 columns.
    let frame = |dot: &str| format!("\x1b[1A\x1b[0K\x1b[1A\x1b[0K{dot} {}\n", "building ".repeat(12));
    let spinner: String = ["-", "/", "|"].iter().cycle().take(30).map(|dot| frame(dot)).collect();
    for text in [
        format!("{noise}{error}\n{spinner}done\n"),
        format!("{noise}\x1b[H\x1b[J{error}\n\x1b[H\x1b[J{}", "second page\n".repeat(3)),
        format!("{noise}\rERROR: checksum mismatch\rDownloading 30% of the file ...\ndone\n"),
    ] {
        let result = short(&new(), "x", &text);
        assert!(result.contains(error) || result.contains("ERROR: checksum mismatch"), "{result}");
        assert!(!result.contains('\x1b'), "{result}");
    }
    // The lines with the reason are overwritten before the error line is.
    let why = "  Property 'id' is missing in type 'X'\n  but is required in type 'Y'.\n";
    let result = short(&new(), "x", &format!("{noise}{error}\n{why}- starting\n{}{}done\n", frame("/"), frame("-")));
    assert!(result.contains(&format!("{error}\n{why}")), "{result}");
    // A run that shows its failures in every frame must have each of them once in the result.
    let frame = |n| format!("FAIL src/a.test.js\n  running {n}\n\x1b[2A");
    let result = short(&new(), "x", &format!("{noise}{}", (0..40).map(frame).collect::<String>()));
    assert_eq!(result.matches("FAIL").count(), 1, "{result}");
}

#[test]
fn of_failures_with_one_heading_each_message_is_there() {
    let frame = |up: &str, n| format!("{up}\x1b[2Kworker 1: {n}/40\n\x1b[2Kworker 2: {n}/40\n");
    let trace = |job| {
        let frames = "Traceback (most recent call last):\n  File \"job.py\", line 3, in run\n    work()\n";
        format!("{frames}shop.Stopped: the disk of job {job} is full\n")
    };
    // The frames overwrite the last lines of the first traceback, or all of it.
    for up in ["\x1b[2A", "\x1b[4A"] {
        let frames = |from| (from..from + 20).map(|n| frame(up, n)).collect::<String>();
        let text = format!("{}{}{}{}", frame("", 0), trace(1), frames(1), trace(2));
        let result = short(&new(), "x", &text);
        for job in [1, 2] {
            assert!(result.contains(&format!("shop.Stopped: the disk of job {job} is full\n")), "{up:?}: {result}");
        }
    }
}

#[test]
fn where_rows_and_characters_move_nothing_is_overwritten() {
    let noise = "\x1b[1mstep\x1b[0m\n".repeat(400);
    for (text, shown) in [
        ("abcdef\r\x1b[3P\n", "def\n"),
        ("abcdef\r\x1b[9P\x1b[3@gh\n", "gh\n"),
        ("abcdef\x1b[4D\x1b[2@XY\n", "abXYcdef\n"),
        ("A\nB\n\x1b[2A\x1b[LNEW\n\x1b[2B", "A\nB\nNEW\n"),
        ("A\nB\nC\n\x1b[3A\x1b[MX\x1b[2B\n", "A\nB\nC\nX\n"),
        ("A\nB\nrow\x1b[M\x1b[2Snext\n", "A\nB\nrow\nnext\n"),
    ] {
        let result = short(&new(), "x", &format!("{noise}{text}last\n"));
        assert!(result.ends_with(&format!("]\n{shown}last\n")), "{text:?}: {result:?}");
    }
}

#[test]
fn only_what_was_overwritten_comes_back() {
    let noise = "compiling the same file once more\n".repeat(50);
    for (text, shown) in [
        ("10%\r20%\r\x1b[K\x1b(B\x1b[31mERROR:\x1b(B\x1b[m boom here\n", "ERROR: boom here\n"),
        ("ERROR: disk is full\x1b[2K\x1b[1Gdone\n", "ERROR: disk is full\ndone\n"),
        ("ERROR: disk is full\rdone\x1b[K\r\n", "ERROR: disk is full\ndone\n"),
        ("10%\rerror: a\x07\n", "error: a\n"),
        // A Windows console moves the cursor to the right instead of writing spaces.
        ("ERROR:\x1b[Cdisk\x1b[Cis full\rdone\x1b[K\r\n", "ERROR: disk is full\ndone\n"),
        ("10%\rsvc:\x1b[10Gerror:\x1b[Cit\x1b[Cis lost\n", "svc:     error: it is lost\n"),
        ("\x1b[1;23r\x1b[24;1Hstatus\x1bcERROR: real\n", "ERROR: real\n"),
        ("\x1b[1;23r\x1b[24;1Hstatus\x1b[rERROR: real\n", "ERROR: real\n"),
    ] {
        let result = short(&new(), "x", &format!("{noise}{text}last\n"));
        assert!(result.ends_with(&format!("{shown}last\n")) && !result.contains("\n\n"), "{text:?}: {result:?}");
    }
}

#[test]
fn no_cursor_goes_round_the_edge() {
    let most = usize::MAX;
    for way in ["C", "B", "G", "d", "X"] {
        let result = short(&new(), "x", &format!("{}abc\x1b[{most}{way}x\n", "\x1b[1mstep\x1b[0m\n".repeat(400)));
        assert!(result.contains("\nabc"), "{way}: {result}");
    }
}

#[test]
fn a_status_below_what_scrolls_overwrites_nothing() {
    // This is how apt draws its progress on a terminal of 24 rows.
    let mut text = String::from("\n\x1b7\x1b[0;23r\x1b8\x1b[1A");
    for package in 1..60 {
        text += &format!("Unpacking lib{package} ...\r\n");
        text += &format!("\x1b7\x1b[24;0f\x1b[42m\x1b[30mProgress: [ {package}%]\x1b[49m\x1b[39m [####....] \x1b8");
    }
    text += "dpkg: error processing archive lib7 (--unpack):\r\n";
    let result = short(&new(), "x", &text);
    assert!((1..60).all(|package| result.contains(&format!("Unpacking lib{package} ..."))), "{result}");
    assert!(result.contains("dpkg: error processing archive lib7") && !result.contains("Progress"), "{result}");
}

#[test]
fn where_columns_would_make_the_text_longer_there_are_gaps() {
    let started = "ok:\x1b[60G[\x1b[32m OK \x1b[0m]\n".repeat(60);
    let text =
        format!("Starting svc:\x1b[60G[\x1b[31mFAILED\x1b[0m]\n{started}10%\r\x1b[Kerror[E0308]: mismatched types\n");
    let result = short(&new(), "x", &(text + &started));
    // The failure gets its own line, so that it is found as one.
    assert!(result.contains("\n10%\nerror[E0308]: mismatched types\n") && !result.contains('\x1b'), "{result}");
    let row = result.lines().next().unwrap();
    assert!(row.starts_with("Starting svc:  ") && row.ends_with("  [FAILED]"), "{result}");
    // Without colours, there is less to remove.
    let text = "ok:\x1b[14G[OK]\n".repeat(100) + "10%\r\x1b[Kerror: boom\n";
    let result = short(&new(), "x", &text);
    assert!(result.contains("\n10%\nerror: boom\n") && !result.contains('\x1b'), "{result}");
}

#[test]
fn tables_are_no_progress() {
    let row = |cells: fn(usize) -> String| (1..12).map(|row| cells(row) + "\n").collect::<String>();
    for table in [
        row(|n| format!("/dev/sd{n}  100G  {n}G  {n}G  {}% /mnt/data{n}", 10 * n % 101)),
        row(|n| format!("/dev/sd  100G  {n}G  {n}G  {n}% /mnt/data")) + "/dev/sd  100G  3G  3G  2% /mnt/other\n",
        row(|n| format!("ip-10-0-3-{n}.ec2.internal   250m   {n}%   1024Mi   {n}%")),
        row(|n| format!("ip-10-0-3-{n}.ec2.internal   {n}%")),
        row(|n| format!("  {n}.|-- 10.0.0.{n}   {}.0%    10    0.4", 10 * n % 90)),
        row(|n| format!("10.0.0.{n} disk {n}%")),
        row(|n| format!("Disk {n}: {n}%")),
        row(|n| format!("データ{n} {n}%")),
        row(|n| format!("Parse/{n}-8   1.2n ± 0%   4.8n ± 1%  +{n}.0% (p=0.000 n=10)")),
        row(|n| format!("all {n}.0% {n}.5%")),
        row(|n| format!("  {}% ✓ copied", n) + if n == 4 { " ✗ lost" } else { "" }),
    ] {
        let result = short(&new(), "x", &(lines(40, "word") + &table));
        // Of rows that differ only in their numbers, the last one may replace them all.
        let rows = table.lines().filter(|row| result.contains(row)).count();
        let least = if table.contains("/mnt/other") || table.contains('✗') { 2 } else { table.lines().count() };
        assert!(rows >= least, "{result}");
        assert!(!table.contains('✗') || result.contains("✗ lost"), "{result}");
    }
    // The rows have the same name and numbers that rise and fall.
    let table: String = [7, 3, 98, 5, 1, 9, 4, 2].map(|percent| format!("cpu  {percent}%\n")).concat();
    let result = short(&new(), "x", &(lines(40, "word") + &table));
    assert!(result.contains("cpu  98%"), "{result}");
}

#[test]
fn what_was_read_from_a_file_keeps_its_lines() {
    let css: String = (1..90).map(|n| format!(".col {{ width: {n}.33%; }}\n\n\n\n\n")).collect();
    assert!(short(&new(), "cat grid.css", &css) == css);
    assert!(short(&new(), "x", &css) != css);
}

#[test]
fn progress_in_the_words_of_programs() {
    for line in [
        "Receiving objects:  {p}% ({n}/1000), {n}.50 MiB | 3.2 MiB/s",
        " {p}%|██▌  | {n}/100 [00:{p}<00:20,  {n}.2it/s]",
        "   ━━━━━━━━━━━━ {n}.2/3.4 MB 2.3 MB/s eta 0:00:{p}",
        "a1b2c3: Downloading [=====>      ]  {n}.3MB/90MB",
        "  {n}50K .......... .......... {p}% {n}.2M 3s",
        "⠋ Downloading {p}% of 90 MB",
        "Copied {n} of 1000 files: {p}%",
    ] {
        let run: String =
            (10..60).map(|n| line.replace("{n}", &n.to_string()).replace("{p}", &n.to_string()) + "\n").collect();
        let result = short(&new(), "x", &(lines(40, "word") + &run));
        assert_eq!(result.lines().count(), 42, "{result}");
    }
}

#[test]
fn progress_is_the_same_only_with_the_same_words() {
    // Two lists of words with the same XOR of their rotated hashes.
    const ENDS: [&str; 2] = [
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "xyxyyyyyxyyyxyyxyxyxxxxxyyxyyyxyyxyxyyxxyxxxyxxyxyxyyyxxxxxyxxxyyxxxxx",
    ];
    let words = ENDS.map(|ends| {
        let begin = (b'a'..=b'g').flat_map(|second| (b'p'..=b'y').map(move |first| [first, second]));
        let words = begin.zip(ends.chars()).map(|([a, b], end)| format!("{}{}{end}", a as char, b as char));
        words.collect::<Vec<_>>().join(" ")
    });
    let progress: String = words.iter().cycle().take(6).map(|words| format!("1% {words}\n")).collect();
    let text = lines(40, "word") + &progress;
    // The repeated block of both lines may be removed, but neither line may be removed as progress.
    let result = short(&new(), "x", &text);
    assert!(words.iter().all(|words| result.contains(words.as_str())), "{result}");
}

#[test]
fn long_lines_lose_their_middle_unless_they_matter() {
    let line = format!("{}é{}", "ab ".repeat(200), "cd ".repeat(1000));
    let text = format!("first\n{line}\nlast\n");
    let result = short(&new(), "x", &text);
    let rows: Vec<&str> = result.lines().collect();
    assert_eq!(rows.len(), 5, "{result}");
    assert!(line.starts_with(rows[1]) && line.ends_with(rows[3]));
    let Some(Marker::OfLine { bytes, .. }) = Marker::parse(rows[2].as_bytes()) else { panic!("{}", rows[2]) };
    assert_eq!(rows[1].len() + bytes + rows[3].len(), line.len());
    for precious in ["src/lib.rs:3", "/usr/lib/x", "https://a.b", "error", "exit code 3", "   at f (x)", "12 passed"] {
        let text = format!("first\n{precious} {line}\nlast\n");
        assert_eq!(short(&new(), "x", &text), text, "{precious}");
    }
    for precious in [
        "java.lang.NullPointerException",
        "OOMKilled",
        "connect ECONNREFUSED",
        "code: 'ENOENT'",
        "No such file",
        "No space left on device",
        "assertion `left == right`",
        "it timed out",
    ] {
        let text = format!("first\n{line} {precious} {line}\nlast\n");
        assert_eq!(short(&new(), "x", &text), text, "{precious}");
    }
}

#[test]
fn paths_are_folded_for_programs_that_list_them() {
    let list: String = (0..60).map(|n| format!("./src/components/forms/field{n}.rs\n")).collect();
    assert_eq!(short(&new(), "ls", &list), list);
    let folded = short(&new(), "find . -type f", &list);
    assert!(folded.starts_with("./src/components/forms/\n  field0.rs\n  field1.rs\n"), "{folded}");
    let indented = format!("{list}  indented\n");
    assert_eq!(short(&new(), "find . -type f", &indented), indented);
}

/// Checks that blank lines are removed without a marker, but not all of them.
#[test]
fn a_text_of_blanks_fits_into_a_budget_and_says_what_went() {
    for unit in ["\n", " \n", "\r\n", "\t", " ", "\x1b[0m\n"] {
        let text = unit.repeat(50_000);
        for without in [&[][..], &["terminal", "repeats", "repeats-above", "long-lines"]] {
            let mut registry = Registry::new();
            without.iter().for_each(|id| assert!(registry.remove(id)));
            let compressor = Compressor::new(&registry).budget(1024).unwrap();
            let result = short(&compressor, "make", &text);
            assert!(result.len() <= 1024, "{unit:?}: {} bytes", result.len());
            let markers = result.lines().filter_map(|line| Marker::parse(line.as_bytes()));
            assert_eq!(markers.count(), 1, "{unit:?}: {result}");
        }
    }
    assert_eq!(short(&new(), "make", &"\n".repeat(2000)), "\n[… 1,999 lines, 1,999 bytes left out]\n");
}

#[test]
fn the_last_sentence_of_a_host_leaves_room_for_the_text() {
    let compressor = Compressor::new(&Registry::new()).budget(1024).unwrap().switch_off(&"x".repeat(2000));
    let result = run(&compressor, "make", &lines(1000, "word"));
    let Outcome::Text(short) = &result.parts[0] else { panic!("it came out whole") };
    let short = String::from_utf8_lossy(short);
    assert!(short.len() <= 1024 && short.contains(" chars). ]\n"), "{short}");
}

/// Checks that protected text is cut only if it exceeds the budget. JSON is not even cut then if it fits without its white space.
#[test]
fn protected_text_is_cut_if_it_does_not_fit() {
    let rows = |row: &str| row.repeat(300);
    let banner = format_banner(&["a"], 9000, 3000);
    let json = format!("{{\n{}  \"last\": 1\n}}\n", rows("  \"key\": [1, 2]           ,\n"));
    for text in [
        rows("{\"a\": 1}\n"),
        format!("[section]\na = 1\n{}", rows("key = value\n")),
        format!("---\nkey: 1\n{}", rows("key: value\n")),
        format!("<?xml version=\"1.0\"?>\n{}</a>\n", rows("<a/>\n")),
        rows("1,2,3\n"),
        format!("{banner}\n{}", rows("a line\n")),
        json.clone(),
    ] {
        let compressor = |budget| new().budget(budget).unwrap();
        assert_eq!(run(&compressor(text.len()), "x", &text).parts, [Outcome::Same]);
        let result = run(&compressor(1024), "x", &text);
        let Outcome::Text(short) = &result.parts[0] else { panic!("{text} came out whole") };
        let markers = String::from_utf8_lossy(body(short)).matches("[… ").count();
        assert!(short.len() <= 1024 && markers > 0, "{}", String::from_utf8_lossy(short));
        assert!(result.report.cut_protected);
    }
    let result = run(&new().budget(json.len() - 1000).unwrap(), "x", &json);
    let Outcome::Text(short) = &result.parts[0] else { panic!("it came out whole") };
    assert!(is_protected(body(short)) && !result.report.cut_protected);
    assert_eq!(result.report.filters, ["minify-json"]);
    // Among several texts, protected ones get their room first.
    let (json, log) = (rows("{\"a\": 1}\n"), lines(1000, "word"));
    let parts = [Part::Text(json.as_bytes()), Part::Text(log.as_bytes())];
    let result = new().budget(6000).unwrap().compress(&Invocation::new("bash", &Input::of_command("x")), &parts);
    assert_eq!(result.parts[0], Outcome::Same);
    assert!(matches!(&result.parts[1], Outcome::Text(text) if text.len() <= 6000 - json.len()));
}

/// If the exit code says that the run failed but the output has only verdicts of success, the last line must stay, and the report
/// must say that nothing explains the failure.
#[test]
fn a_failure_that_nothing_explains_is_reported() {
    let passed = "test result: ok. 40 passed; 0 failed\n";
    let log = format!("{}{passed}{}", lines(200, "word"), "the last line\n");
    let unexplained = |text: &str, code: i64| {
        let json = format!("{{\"command\": \"./run\", \"exit_code\": {code}}}");
        let (whole, streamed) = (Input::from_json(&json).unwrap(), Input::from_json(&json).unwrap());
        let compressor = std::sync::Arc::new(new().budget(1024).unwrap());
        let result = compressor.compress(&Invocation::new("bash", &whole), &[Part::Text(text.as_bytes())]);
        let mut shown = Vec::new();
        let mut stream = ToolStream::new(compressor, "bash", streamed, 4096).unwrap();
        stream.feed(text.as_bytes(), |bytes| shown.extend_from_slice(bytes));
        let report = stream.finish(|bytes| shown.extend_from_slice(bytes));
        assert_eq!(report.unexplained, result.report.unexplained, "{code} {text}");
        assert!(shown.ends_with(b"the last line\n") || shown.is_empty() || !text.ends_with("the last line\n"));
        result.report.unexplained
    };
    assert!(unexplained(&log, 1) && !unexplained(&log, 0));
    assert!(unexplained(passed, 1), "short texts count too");
    assert!(!unexplained(&format!("{log}error: no\n"), 1));
    assert!(!unexplained(&lines(200, "word"), 1));
}

#[test]
fn a_small_budget_is_an_error() {
    assert!(new().budget(1023).is_err());
    assert!(new().budget(MIN_BUDGET).is_ok());
}

#[test]
fn filters_can_be_taken_out() {
    let mut registry = Registry::new();
    assert!(registry.remove("repeats") && !registry.remove("repeats"));
    let text = "same\n".repeat(400);
    assert_eq!(run(&Compressor::new(&registry), "cat f", &text).parts, [Outcome::Same]);
}

#[test]
fn protected_text_reaches_only_filters_that_accept_it() {
    let mut registry = Registry::empty();
    registry
        .add_toml("id = \"rows\"\ntools = [\"bash\"]\naccepts = [\"ndjson\"]\n[[rule]]\ndrop = ['\"run\"']")
        .unwrap();
    let compressor = Compressor::new(&registry);
    let rows = "{\"action\": \"run\"}\n".repeat(99);
    let text = format!("{rows}{{\"action\": \"end\"}}\n");
    assert_eq!(short(&compressor, "x", &text), "\"[… 99 lines, 1,782 bytes left out]\"\n{\"action\": \"end\"}\n");
    let section = format!("[section]\na = 1\n{text}");
    assert_eq!(short(&compressor, "x", &section), section);
}
