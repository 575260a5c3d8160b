//! Renders hostile templates: time, memory and depth must stay bounded, whatever the templates contain.
#![cfg(feature = "templates")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use aside::{ChatTemplate, Dialect};

/// Counts the memory that all threads use, and its peak.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn take(size: usize) {
    let live = LIVE.fetch_add(size, Ordering::Relaxed) + size;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        take(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Templates that try to take time, memory or depth.
fn hostile() -> Vec<(&'static str, String)> {
    let of = |text: &str| text.to_owned();
    let nested = |open: &str, middle: &str, close: &str, count: usize| {
        [open.repeat(count), middle.to_owned(), close.repeat(count)].concat()
    };
    vec![
        (
            "nested replace",
            of(
                "{% set ns = namespace(x='a' * 1000) %}{% for i in range(100) %}{% set ns.x = ns.x | replace('a', 'a' * 1000) %}{% endfor %}{{ ns.x }}",
            ),
        ),
        (
            "replace by the empty text",
            of(
                "{% set ns = namespace(x='ab' * 30000) %}{% for i in range(99) %}{% set ns.x = ns.x.replace('', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') %}{% endfor %}",
            ),
        ),
        (
            "doubling",
            of(
                "{% set ns = namespace(x='abcdefgh') %}{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}",
            ),
        ),
        ("repetition", of("{{ 'abcdefgh' * 1000000000 }}")),
        ("repetition of a list", of("{% set x = [1, 2, 3] * 1000000000 %}{{ x | length }}")),
        ("a range", of("{% for i in range(1000000000) %}{{ i }}{% endfor %}")),
        ("a range as a list", of("{{ range(99999) | list | map('string') | join('x' * 10000) }}")),
        (
            "ranges in each other",
            of(
                "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}",
            ),
        ),
        ("output", of("{% set x = 'x' * 100000 %}{% for i in range(100000) %}{{ x }}{% endfor %}")),
        ("a macro that calls itself", of("{% macro m(x) %}{{ m(x ~ x) }}{% endmacro %}{{ m('x') }}")),
        ("a loop that calls itself", of("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}")),
        (
            "lists in each other",
            of(
                "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson }}",
            ),
        ),
        (
            "maps in each other",
            of("{% set ns = namespace(x={}) %}{% for i in range(100000) %}{% set ns.x = {'a': ns.x} %}{% endfor %}"),
        ),
        (
            "lists in each other, shown",
            of("{% set ns = namespace(x=[]) %}{% for i in range(3000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}"),
        ),
        (
            "lists in each other, in JSON",
            of(
                "{% set ns = namespace(x=[]) %}{% for i in range(3000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson }}",
            ),
        ),
        (
            "lists in each other, compared",
            of(
                "{% set ns = namespace(x=[], y=[]) %}{% for i in range(3000) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
            ),
        ),
        (
            "a list that doubles in JSON",
            of(
                "{% set ns = namespace(x=['abcdefghijkl']) %}{% for i in range(64) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}",
            ),
        ),
        (
            "a list that doubles, shown",
            of(
                "{% set ns = namespace(x=['abcdefghijkl']) %}{% for i in range(64) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
            ),
        ),
        ("indented JSON", of("{{ [[[[1]]]] | tojson(indent=1000000000) }}")),
        ("separators of JSON", of("{% set s = 'x' * 1000000 %}{{ range(9999) | list | tojson(separators=[s, s]) }}")),
        ("an indent", of("{{ ('x\n' * 1000) | indent(1000000000) }}")),
        ("a format", of("{{ '%1000000000d' | format(1) }}")),
        ("a centre", of("{{ 'x' | center(1000000000) }}{{ 'x'.center(1000000000) }}{{ 'x'.ljust(1000000000) }}")),
        ("a Python format", of("{{ '{:>1000000000}'.format(1) }}")),
        ("a join", of("{{ (['a'] * 10000) | join('x' * 100000) }}{{ ('x' * 100000).join(['a'] * 10000) }}")),
        ("a batch", of("{{ [1] | batch(1000000000, 'x') | list }}{{ [1] | slice(1000000000, 'x') | list }}")),
        ("a split", of("{{ ('a' * 100000).split('a') | map('upper') | list | join('abcdefghi') }}")),
        ("a sort", of("{{ range(99999) | list | sort(reverse=true) | unique | list }}")),
        ("a power", of("{{ 10 ** 1000000000 }}{{ 9999999999999999999 * 9999999999999999999 }}")),
        ("captures", nested("{% set x %}{{ 'x' * 5000 }}", "", "{% endset %}{{ x }}{{ x }}", 60)),
        ("filters in each other", nested("{% filter replace('x', 'xxxxxxxxxxxxxxxx') %}", "x", "{% endfilter %}", 100)),
        ("parentheses", format!("{{{{ {} }}}}", nested("(", "1", ")", 30000))),
        ("brackets", format!("{{{{ {} }}}}", nested("[", "1", "]", 30000))),
        ("minus signs", format!("{{{{ {}1 }}}}", "-".repeat(100_000))),
        ("negations", format!("{{{{ {}x }}}}", "not ".repeat(50_000))),
        ("operators", format!("{{{{ 1{} }}}}", " + 1".repeat(50_000))),
        ("attributes", format!("{{{{ x{} }}}}", ".x".repeat(50_000))),
        ("filters", format!("{{{{ x{} }}}}", "|trim".repeat(40_000))),
        ("branches", format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(20_000))),
        ("choices", format!("{{{{ {} }}}}", nested("1 if x else (", "1", ")", 15_000))),
        ("choices in a row", format!("{{{{ {}1 }}}}", "1 if x else ".repeat(20_000))),
        ("blocks in each other", nested("{% if true %}", "", "{% endif %}", 9_000)),
        ("loops in each other", nested("{% for i in [1, 2] %}", "x", "{% endfor %}", 6_000)),
        ("strings in a row", format!("{{{{ {} }}}}", "'a'".repeat(60_000))),
        ("comparisons", format!("{{{{ 1{} }}}}", " < 1".repeat(50_000))),
        ("tests", format!("{{{{ x{} }}}}", " is defined".repeat(20_000))),
        (
            "operators after a raw block",
            format!("{{% raw %}}{{{{ \" {{% endraw %}}{{{{ 1{} \" }}}}", "+1".repeat(50_000)),
        ),
        ("operators after a comment", format!("{{# \" #}}{{{{ 1{} \" }}}}", "+1".repeat(50_000))),
        ("operators in brackets", format!("{{{{ [1{}] }}}}", ", 1 }} + 1".repeat(20_000))),
        ("an open bracket", format!("{{{{ ( }}}} {}", "}} + 1".repeat(20_000))),
        ("a closed bracket", format!("{{{{ ) }}}} {}", "}} + 1".repeat(20_000))),
        ("an inclusion", of("{% include 'x' %}{% import 'x' as x %}{% extends 'x' %}")),
        ("long names", format!("{{{{ {} }}}}", "x".repeat(200_000))),
        ("a long template", "{{ messages }}".repeat(1 << 20)),
        ("many statements", "{% set x = 1 %}".repeat(17_000)),
        ("many literals", format!("{{% set x = [{}] %}}", "'abcdefghijklmnop',".repeat(13_000))),
    ]
}

/// Templates with the maximum depth.
fn deep() -> Vec<(&'static str, String)> {
    let nested = |open: &str, middle: &str, close: &str, count: usize| {
        [open.repeat(count), middle.to_owned(), close.repeat(count)].concat()
    };
    let shown = |expression: String| format!("{{{{ {expression} }}}}");
    vec![
        ("parentheses", shown(nested("(", "1", ")", 140))),
        ("brackets", shown(nested("[", "1", "]", 140))),
        ("brackets and operators", shown(nested("[1+", "1", "]", 140))),
        ("minus signs", shown(["-".repeat(490), "1".into()].concat())),
        ("negations", shown(["not ".repeat(490), "x".into()].concat())),
        ("powers", shown(["1 ** ".repeat(240), "1".into()].concat())),
        ("sums", shown(["1 + ".repeat(490), "1".into()].concat())),
        ("joined texts", shown(["'a' ~ ".repeat(490), "'a'".into()].concat())),
        ("alternatives", shown(["x or ".repeat(490), "x".into()].concat())),
        ("comparisons", shown(["1 < ".repeat(490), "1".into()].concat())),
        ("choices", shown(["1 if x else ".repeat(240), "1".into()].concat())),
        ("attributes", shown(["messages".into(), ".x".repeat(490)].concat())),
        ("subscripts", shown(["messages".into(), "[0]".repeat(490)].concat())),
        ("calls", shown(["messages".into(), "()".repeat(490)].concat())),
        ("filters", shown(["messages".into(), "|first".repeat(490)].concat())),
        ("tests", shown(["messages".into(), " is defined".repeat(490)].concat())),
        ("branches", format!("{{% if x %}}{}{{% endif %}}", "{% elif x %}".repeat(490))),
        ("blocks", nested("{% if true %}", "x", "{% endif %}", 140)),
        ("loops", nested("{% for i in [1] %}", "x", "{% endfor %}", 140)),
        ("captures", nested("{% set x %}", "x", "{% endset %}", 140)),
        ("macros", nested("{% macro m() %}", "x", "{% endmacro %}{{ m() }}", 140)),
        ("a macro that calls itself", "{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m('x') }}".into()),
        ("a macro that calls itself in blocks", format!("{{% macro m(x) %}}{}{{% endmacro %}}{{{{ m('x') }}}}", nested("{% if true %}", "{{ [[[m(x)]]] }}", "{% endif %}", 100))),
        ("a loop that calls itself", "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}".into()),
        ("lists", "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}".into()),
        ("maps", "{% set ns = namespace(x={}) %}{% for i in range(100000) %}{% set ns.x = {'a': ns.x} %}{% endfor %}".into()),
        ("lists shown", "{% set ns = namespace(x=[]) %}{% for i in range(9000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}".into()),
        ("lists written", "{% set ns = namespace(x=[]) %}{% for i in range(9000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson }}".into()),
        ("lists compared", "{% set ns = namespace(x=[], y=[]) %}{% for i in range(4500) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}{{ ns.x in [ns.y] }}{{ [ns.x, ns.y] | sort }}{{ [ns.x, ns.y] | unique }}".into()),
        ("lists as text", "{% set ns = namespace(x=[]) %}{% for i in range(9000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x ~ '' }}{{ ns.x | string }}".into()),
        ("lists as keys", "{% set ns = namespace(x=[]) %}{% for i in range(9000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ {ns.x: 1} }}".into()),
        ("chained lists", "{% set ns = namespace(x=[1]) %}{% for i in range(9000) %}{% set ns.x = ns.x + [1] %}{% endfor %}{{ ns.x | length }}".into()),
        ("chained maps", "{% set ns = namespace(x={}) %}{% for i in range(9000) %}{% set ns.x = dict(ns.x, a=i) %}{% endfor %}{{ ns.x }}".into()),
        ("reversed lists", "{% set ns = namespace(x=[1]) %}{% for i in range(9000) %}{% set ns.x = ns.x | reverse %}{% endfor %}{{ ns.x }}".into()),
        ("slices", "{% set ns = namespace(x=[1, 2]) %}{% for i in range(9000) %}{% set ns.x = ns.x[::-1] %}{% endfor %}{{ ns.x }}".into()),
        ("namespaces", "{% set ns = namespace(x=1) %}{% for i in range(9000) %}{% set ns.x = namespace(x=ns.x) %}{% endfor %}".into()),
        ("a namespace in itself", "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}{{ ns == ns }}{{ ns | tojson }}".into()),
        ("a macro in itself", "{% macro m() %}{{ m }}{% endmacro %}{{ m }}".into()),
        ("closures", "{% set ns = namespace(x=1) %}{% for i in range(900) %}{% set y = ns.x %}{% macro m() %}{{ y }}{% endmacro %}{% set ns.x = m %}{% endfor %}{{ ns.x() }}".into()),
    ]
}

/// Returns the peak memory and the time of a call.
fn measure<T>(call: impl FnOnce() -> T) -> (T, usize, Duration) {
    let live = LIVE.load(Ordering::Relaxed);
    PEAK.store(live, Ordering::Relaxed);
    let before = Instant::now();
    let result = call();
    let peak = PEAK.load(Ordering::Relaxed) - live;
    (result, peak, before.elapsed())
}

/// Turns from which a dialect can be drafted.
const DRAFTED: &str = "{% for m in messages %}<|{{ m.role }}|>{% if m.thinking %}<t>{{ m.thinking }}</t>{% endif %}\
    {{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

/// The maximum memory of a draft or a rendering, in addition to the template.
const MOST: usize = 16 << 20;

/// Reads as many templates as the library's cache has room for, so that earlier results are no longer in the cache.
fn keep_others() {
    for number in 0..64 {
        let _ = Dialect::find_for_template(&format!("<think></think>{{# {number} #}}"));
    }
}

/// Checks all bounds in one test, because allocations are counted for all threads.
#[test]
fn hostile_templates_stay_within_bounds() {
    keep_others();
    for (name, template) in hostile().into_iter().chain(deep()) {
        for variables in [String::new(), format!("{{\"x\": \"{}\"}}", "x".repeat(1 << 20))] {
            let (result, peak, time) = measure(|| Dialect::find_for_rendered_template(&template, &variables).is_ok());
            assert!(!result, "{name}");
            println!("{name}: {peak} bytes, {time:?}");
            let most = MOST + 8 * template.len() + 32 * variables.len();
            assert!(peak < most, "{name}: {peak} bytes with {} bytes of variables", variables.len());
            assert!(time < Duration::from_secs(20), "{name}: {time:?}");
        }
        // A draft renders the template many times, with the same limit for all of them together.
        let drafted = || Dialect::draft(&ChatTemplate::new(&*template)).is_ok();
        let (result, peak, time) = measure(drafted);
        assert!(!result, "{name}");
        assert!(peak < MOST + 8 * template.len(), "{name}: {peak} bytes for a draft");
        assert!(time < Duration::from_secs(20), "{name}: {time:?} for a draft");
        let (_, peak, time) = measure(|| Dialect::draft(&ChatTemplate::new([&template, DRAFTED].concat())).is_ok());
        assert!(peak < MOST + 8 * template.len(), "{name}: {peak} bytes for a draft of turns");
        assert!(time < Duration::from_secs(20), "{name}: {time:?} for a draft of turns");
        // Reading a template is bounded too.
        let before = LIVE.load(Ordering::Relaxed) as isize;
        let (_, peak, time) = measure(|| drop(Dialect::find_for_template(&template)));
        keep_others();
        let left = LIVE.load(Ordering::Relaxed) as isize - before;
        assert!(peak < MOST + 8 * template.len(), "{name}: {peak} bytes");
        assert!(time < Duration::from_secs(20), "{name}: {time:?}");
        assert_eq!(left, 0, "{name}");
    }
    // A thread's stack must be enough for the deepest templates. Code that is not optimised needs more stack.
    let stack = if cfg!(debug_assertions) { 4 << 20 } else { 1 << 20 };
    for (name, template) in deep() {
        for variables in ["", &format!("{{\"x\": \"{}\"}}", "x".repeat(1 << 20))] {
            let (template, variables) = (template.clone(), variables.to_owned());
            let run = move || assert!(Dialect::find_for_rendered_template(&template, &variables).is_err(), "{name}");
            std::thread::Builder::new().stack_size(stack).spawn(run).unwrap().join().unwrap();
        }
    }
}
