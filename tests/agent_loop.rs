//! Runs `examples/agent_loop.rs`, which must print the model's input for each command, in order.

#![cfg(all(feature = "compress", unix))]

use std::process::Command;

use support::program::{err, of_example, out, run};

#[test]
fn a_model_reads_the_failure_and_the_second_time_one_line() {
    let fails = "seq 2000; echo 'error: no such cart' >&2; exit 3";
    let output = run(Command::new(of_example("agent_loop")).args([fails, "echo é", fails]));
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    let (first, rest) = text.split_once("\n$ echo é\n").unwrap();
    assert!(first.len() < 2_200 && first.contains("error: no such cart\n(exit 3, "), "{first}");
    let (second, third) = rest.split_once("\n$ ").unwrap();
    assert_eq!(second, "é\n(exit 0, 2 of 2 characters)");
    assert!(third.contains("Same output as last run (") && third.lines().count() == 3, "{third}");
    // If the program does not exist, the shell's message is the result.
    let output = run(Command::new(of_example("agent_loop")).arg("no-such-program"));
    assert!(output.status.success() && out(&output).contains("(exit 127, "), "{}", out(&output));
}
