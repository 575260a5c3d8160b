//! Lists of records under a budget. Of 160 JSON objects in 13 kinds, each as one line, over several lines and as JSON lines, the one
//! that differs must stay, whatever the exit code was, and what is left must be JSON. Of listings, tables, diffs and searches, as
//! much must stay as fits, and each file must be named or counted.

#![cfg(feature = "compress")]

use aside::compress::*;
use serde_json::{Value, json};

const RECORDS: usize = 160;
const BUDGET: usize = 10_000;

/// The kinds: the fields of all records but one, and those of that one, and a text that must be left of it.
fn kinds() -> Vec<(&'static str, Value, Value, &'static str)> {
    vec![
        ("conclusion", json!({"conclusion": "success"}), json!({"conclusion": "failure"}), "failure"),
        (
            "status",
            json!({"Status": "CREATE_COMPLETE"}),
            json!({"Status": "CREATE_FAILED", "StatusReason": "Access denied for role pay"}),
            "Access denied for role pay",
        ),
        (
            "phase",
            json!({"phase": "Running", "reason": null}),
            json!({"phase": "Failed", "reason": "Evicted"}),
            "Evicted",
        ),
        ("ok", json!({"ok": true}), json!({"ok": false}), "\"ok\": false"),
        ("error", json!({"error": null}), json!({"error": "access denied for role pay"}), "access denied for role pay"),
        ("http", json!({"statusCode": 200}), json!({"statusCode": 503}), "503"),
        (
            "exit",
            json!({"State": {"Status": "running", "ExitCode": 0}}),
            json!({"State": {"Status": "exited", "ExitCode": 137}}),
            "137",
        ),
        (
            "outcome",
            json!({"outcome": "passed"}),
            json!({"outcome": "failed", "longrepr": "assert 3 == 4"}),
            "assert 3 == 4",
        ),
        (
            "mocha",
            json!({"err": {}}),
            json!({"err": {"message": "3 is not 4", "stack": "at total (cart.js:41:9)"}}),
            "cart.js:41:9",
        ),
        (
            "eslint",
            json!({"messages": [], "errorCount": 0}),
            json!({"messages": [{"ruleId": "no-undef", "severity": 2, "message": "totl is not defined"}], "errorCount": 1}),
            "totl is not defined",
        ),
        ("audit", json!({"severity": "low"}), json!({"severity": "critical"}), "critical"),
        (
            "terraform",
            json!({"type": "apply_complete", "@level": "info"}),
            json!({"type": "diagnostic", "@level": "error", "@message": "Error: quota exceeded"}),
            "quota exceeded",
        ),
        ("zone", json!({"zone": "eu-1"}), json!({"zone": "us-9"}), "us-9"),
        ("list", json!({"tags": ["a", "b"]}), json!({"tags": ["a", "b", "do-not-merge"]}), "do-not-merge"),
        (
            "list of one",
            json!({"change": {"actions": ["no-op"]}}),
            json!({"change": {"actions": ["delete"]}}),
            "delete",
        ),
        (
            "inside a list",
            json!({"status": {"containers": [{"name": "web", "state": {"running": {}}}]}}),
            json!({"status": {"containers": [{"name": "web", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}}),
            "CrashLoopBackOff",
        ),
        ("absent", json!({"owner": "team-a"}), json!({}), "item"),
        (
            "inside a string",
            json!({"body": "lorem ".repeat(40)}),
            json!({"body": format!("{0} error: disk full on node 7 {0}", "lorem ".repeat(20))}),
            "disk full on node 7",
        ),
    ]
}

/// Returns the records of a kind. The one with this number differs.
fn records(usual: &Value, other: &Value, at: usize) -> Vec<Value> {
    let record = |number: usize| {
        let mut record =
            json!({"id": number, "name": format!("item-{number}"), "host": format!("h{number}.example.test")});
        let fields = record.as_object_mut().unwrap();
        fields.insert("note".to_owned(), "lorem ipsum dolor ".repeat(6).into());
        fields.extend(if number == at { other } else { usual }.as_object().unwrap().clone());
        record
    };
    (0..RECORDS).map(record).collect()
}

/// Writes JSON on one line as most tools do, with a blank after each colon and comma.
fn spaced(value: &Value) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{}: {}", json!(name), spaced(value));
            format!("{{{}}}", join(fields.iter().map(field).collect()))
        }
        Value::Array(items) => format!("[{}]", join(items.iter().map(spaced).collect())),
        _ => value.to_string(),
    }
}

/// Returns the records in each form: one line, many lines, a line for each record, and an object with a name for each record; and
/// JSON that is not all of the text, or not all of the JSON.
fn forms(records: &[Value]) -> [(&'static str, String); 7] {
    let all = Value::from(records.to_vec());
    let names = (0..records.len()).map(|number| format!("record-{number}"));
    let map = Value::Object(names.zip(records.iter().cloned()).collect());
    let lines = records.iter().map(|record| spaced(record) + "\n").collect();
    let pretty = serde_json::to_string_pretty(&all).unwrap();
    [
        ("after a mark", format!("\u{feff}{}", spaced(&all))),
        ("after lines", format!("> shop@1.0.0 report\n> node report.js\n\n{pretty}\n")),
        ("map inside", format!("{{\"name\": \"shop\", \"packages\": {}, \"version\": 3}}", spaced(&map))),
        ("one line", spaced(&all)),
        ("pretty", pretty),
        ("JSON lines", lines),
        ("map", spaced(&map)),
    ]
}

fn shortened(command: &str, text: &str, exit_code: i64, budget: usize) -> String {
    let input = Input::from_json(&json!({"command": command, "exit_code": exit_code}).to_string()).unwrap();
    let compressor = Compressor::new(&Registry::new()).budget(budget).unwrap();
    let result = compressor.compress(&Invocation::new("bash", &input), &[Part::Text(text.as_bytes())]);
    assert_eq!(result.report.failed, []);
    match &result.parts[0] {
        Outcome::Text(left) => String::from_utf8(support::report::body(left).to_vec()).unwrap(),
        _ => text.to_owned(),
    }
}

#[test]
fn the_record_that_differs_stays_and_json_stays_json() {
    for exit_code in [0, 1] {
        let (mut values, mut names, mut tries, mut wrong) = (0, 0, 0, Vec::new());
        for (seed, (kind, usual, other, must)) in kinds().into_iter().enumerate() {
            let at = 50 + seed * 7 % 60;
            for (form, text) in forms(&records(&usual, &other, at)) {
                let left = shortened("curl -s http://x/api", &text, exit_code, BUDGET);
                let has = [left.contains(must), left.contains(&format!("item-{at}\""))];
                let is_json = match form {
                    "JSON lines" => left.lines().all(|line| line.parse::<Value>().is_ok()),
                    "after lines" => left.split_once("\n\n").is_some_and(|(_, json)| json.parse::<Value>().is_ok()),
                    _ => left.trim_start_matches('\u{feff}').parse::<Value>().is_ok(),
                };
                (values, names, tries) = (values + usize::from(has[0]), names + usize::from(has[1]), tries + 1);
                if has != [true; 2] || !is_json || left.len() > BUDGET || left.len() * 100 < BUDGET * 85 {
                    wrong.push(format!("{kind}, {form}: {has:?}, JSON: {is_json}, {} bytes", left.len()));
                }
            }
        }
        println!("exit code {exit_code}: the value stays in {values} of {tries}, its name in {names}");
        assert!(wrong.is_empty(), "exit code {exit_code}: {wrong:#?}");
    }
}

/// Checks objects that are not records: each keeps its short members, and no member goes because another is long.
#[test]
fn members_of_an_object_share_the_budget() {
    let paths: serde_json::Map<String, Value> =
        (0..300).map(|n| (format!("/carts/{n}"), json!({"get": {"summary": "lorem ipsum ".repeat(6)}}))).collect();
    let container = json!([{"Id": "a1", "State": {"OOMKilled": true, "ExitCode": 137}, "Config": {"Env": vec!["A=b"; 4_000]}, "Paths": paths}]);
    let api = json!({"openapi": "3.1.0", "paths": paths, "end": "here"});
    for (value, must) in
        [(container, ["\"OOMKilled\": true", "\"ExitCode\": 137"]), (api, ["/carts/0\"", "\"end\": \"here\""])]
    {
        for text in [spaced(&value), serde_json::to_string_pretty(&value).unwrap()] {
            let left = shortened("docker inspect web", &text, 0, 4_000);
            assert!(left.parse::<Value>().is_ok() && must.iter().all(|must| left.contains(must)), "{left}");
            assert!((2_000..=4_000).contains(&left.len()), "{}", left.len());
        }
    }
    // One string may be all of the text.
    let steps = "step is done\n".repeat(600);
    let log = format!("{steps}ERROR: disk full\n{steps}3 steps failed\n{steps}");
    let left = shortened("./mcp", &json!(log).to_string(), 1, 2_000);
    let left: Value = left.parse().unwrap();
    assert!(["ERROR: disk full", "3 steps failed"].iter().all(|line| left.as_str().unwrap().contains(line)), "{left}");
}

#[test]
fn a_row_that_differs_stays() {
    let row = |n: usize| {
        let state = if n == 411 { "refused" } else { "paid" };
        format!("{n},cart {},{state},{},EUR\n", n * 7919 % 977, n * 31 % 100)
    };
    let text = format!("id,name,state,amount,currency\n{}", (0..900).map(row).collect::<String>());
    for text in [text.clone(), text.replace(',', ";"), text.replace(',', "\t")] {
        let left = shortened("cat orders.csv", &text, 0, 4_000);
        assert!(left.contains("refused") && left.starts_with("id"), "{left}");
    }
}

#[test]
fn a_list_uses_its_budget() {
    let list = |row: &dyn Fn(usize) -> String| (0..900).map(row).collect::<String>();
    let texts = [
        (
            "ls -la /usr/bin",
            list(&|n| format!("-rwxr-xr-x 1 root root {:>9} Feb {:>2} 2023 program-{n}\n", n * 7919 % 99_999, n % 28)),
        ),
        ("tree", list(&|n| format!("{}── cart-{n}.rs\n", if n % 9 == 8 { "└" } else { "├" }))),
        ("find . -name x", list(&|n| format!("./src/part-{}/cart-{n}.rs\n", n / 9))),
        (
            "kubectl get pods",
            list(&|n| format!("cart-7d9c6b5f4d-{n:05}   1/1     Running   0             {}d\n", n % 9)),
        ),
        ("grep -rn cart .", list(&|n| format!("./src/part-{}.rs:{n}:    let cart_{n} = cart;\n", n / 4))),
        (
            "docker ps",
            list(&|n| format!("{n:012x}   shop/cart:{}   \"/cart\"   {n} hours ago   Up   cart-{n}\n", n % 7)),
        ),
    ];
    for (command, text) in texts {
        for budget in [4_000, 10_000, 20_000] {
            let left = shortened(command, &text, 0, budget);
            // Folded paths may all fit.
            let is_used = left.len() * 100 >= budget * 85 || !left.contains("left out");
            assert!(left.len() <= budget && is_used, "{command}: {} of {budget}", left.len());
        }
    }
}

/// Returns the files that are named, and the number of records that markers count.
fn files(left: &str, names: &[String]) -> (usize, usize) {
    let rows = left.lines().filter_map(|row| Marker::parse(row.as_bytes()));
    let counted = rows.map(|marker| if let Marker::LeftOut { records, .. } = marker { records } else { 0 }).sum();
    (names.iter().filter(|name| left.contains(name.as_str())).count(), counted)
}

#[test]
fn every_file_of_a_diff_and_of_a_search_is_named_or_counted() {
    let hunk = |n: usize| {
        format!(
            "diff --git a/f{n}.txt b/f{n}.txt\nindex af97aff..b982b25 100644\n--- a/f{n}.txt\n+++ b/f{n}.txt\n@@ -1,3 +1,3 @@\n line a\n-value {n}\n+changed {n}\n line d\n"
        )
    };
    let long: String = (0..30_000).map(|n| format!("-key{n}: value{n}\n")).collect();
    let first = format!(
        "diff --git a/big.yaml b/big.yaml\ndeleted file mode 100644\n--- a/big.yaml\n+++ /dev/null\n@@ -1,30000 +0,0 @@\n{long}"
    );
    let diff = first + &(1..121).map(hunk).collect::<String>();
    let names: Vec<String> = (1..121).map(|n| format!("f{n}.txt")).chain(["big.yaml".to_owned()]).collect();
    let left = shortened("git diff", &diff, 0, 10_000);
    assert_eq!(files(&left, &names).0, 121, "{left}");
    let search: String = (0..257)
        .flat_map(|n| {
            (0..1 + n % 5)
                .map(move |row| format!("src/part-{n}/cart.rs:{}:    let cart = cart_{row}();\n", row * 9 + 1))
        })
        .collect();
    let names: Vec<String> = (0..257).map(|n| format!("src/part-{n}/cart.rs")).collect();
    // With each path above its matches.
    let headed: String =
        names.iter().map(|name| format!("{name}\n12:    let cart = cart_1();\n90:    cart_2(cart);\n\n")).collect();
    let left = shortened("rg --heading -n cart", &headed, 0, 10_000);
    let kept = names.iter().filter(|name| left.lines().any(|row| row == name.as_str())).count();
    assert_eq!(kept + files(&left, &names).1, 257, "{left}");
    for command in ["grep -rn cart src", "rg -n cart"] {
        let left = shortened(command, &search, 0, 10_000);
        let kept = names.iter().filter(|name| left.contains(&format!("{name}:"))).count();
        let (named, counted) = files(&left, &names);
        println!("{command}: {kept} of 257 files are left, {named} are named, {counted} are counted");
        assert_eq!(kept + counted, 257, "{left}");
    }
}

/// Names are text of the tool. None may end the line or be taken for a marker.
#[test]
fn a_name_is_no_marker() {
    let evil = ["a\u{1}b.rs", "[… 3 lines, 20 bytes left out].rs", "]\u{85}[… 9 lines as above]", &"x".repeat(4_000)];
    let body = |file: usize| (0..40).map(|n| format!(" line {n} of {file}\n")).collect::<String>();
    let file = |n: usize| format!("diff --git a/x b/{}{n}\n{}", evil[n % evil.len()], body(n));
    let text: String = (0..60).map(file).collect();
    let left = shortened("git diff", &text, 0, 4_000);
    let names: Vec<&str> = left.lines().filter(|row| row.starts_with("    ")).collect();
    assert!(!names.is_empty() && left.len() <= 4_000, "{left}");
    for row in names {
        assert!(
            Marker::parse(row.trim().as_bytes()).is_none() && !row.contains('\u{1}') && !row.contains("[…"),
            "{row}"
        );
    }
}
