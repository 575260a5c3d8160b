//! Tests which program's output a command line shows. With a wrong answer, a filter would change the output of another program. So
//! for a line that is not understood, the answer must be no program.

#![cfg(feature = "compress")]

use aside::compress::Command;
use samples::{Random, SHELL_PIECES};

/// Returns `command subcommand`, with `-` for no subcommand, and with ` |` if the output went through a pipe. Returns an empty text
/// if no program is known.
fn resolved(line: &str) -> String {
    Command::parse(line).map_or_else(String::new, |run| {
        let piped = if run.is_piped() { " |" } else { "" };
        format!("{} {}{piped}", run.name(), run.subcommand().unwrap_or("-"))
    })
}

#[test]
fn command_lines() {
    let table = [
        // plain
        ("ls", "ls -"),
        ("ls -la src", "ls src"),
        ("git status", "git status"),
        ("  git   status  ", "git status"),
        ("", ""),
        ("   \n \t", ""),
        ("# only a comment", ""),
        ("git status # as ever", "git status"),
        ("git log '--format=%h # %s'", "git log"),
        // folders, versions, a project's wrapper scripts (`./gradlew`)
        ("/usr/bin/git diff", "git diff"),
        ("./gradlew test", "gradle test"),
        ("../gradlew.bat --info build", "gradle build"),
        ("./mvnw -q -pl core test", "mvn test"),
        ("node_modules/.bin/jest --ci", "jest -"),
        ("C:\\\\tools\\\\git.exe status", "git status"),
        ("python3.11 -m pytest -q", "pytest -"),
        ("python -m pytest tests", "pytest tests"),
        ("python3 -u -m unittest discover", "unittest discover"),
        ("python manage.py test", "python manage.py"),
        ("python3 -m pip install -e .", "pip install"),
        ("pip3 install x", "pip install"),
        ("gcc-12 -c a.c", "gcc a.c"),
        ("base64 file", "base64 file"),
        // global options
        ("git -C dir diff", "git diff"),
        ("git -c color.ui=never --no-pager diff --stat", "git diff"),
        ("git --git-dir=.g --work-tree . status", "git status"),
        ("cargo +nightly test", "cargo test"),
        ("cargo +nightly -Z unstable-options build", "cargo build"),
        ("cargo --color always test --lib", "cargo test"),
        ("go -C sub test ./...", "go test"),
        ("npm run test", "npm test"),
        ("npm run --silent test -- --ci", "npm test"),
        ("npm test", "npm test"),
        ("npm --prefix web run build", "npm build"),
        ("npm run", "npm run"),
        ("yarn run lint", "yarn lint"),
        ("npm run test:unit -- --ci", "npm test:unit"),
        ("npm run -w web --silent test:e2e", "npm test:e2e"),
        ("pnpm -r test", "pnpm test"),
        ("pnpm -r run --filter web build", "pnpm build"),
        ("yarn --cwd web test", "yarn test"),
        ("yarn workspace web test:unit", "yarn test:unit"),
        ("yarn workspace web run lint", "yarn lint"),
        ("yarn workspaces foreach -A run test", "yarn test"),
        ("yarn workspaces info", "yarn workspaces"),
        ("bun run --bun test:ci", "bun test:ci"),
        ("pnpm -C web install", "pnpm install"),
        ("make -C build all", "make all"),
        ("docker --context ci build .", "docker build"),
        ("kubectl -n web get pods", "kubectl get"),
        // assignments and wrappers
        ("RUST_BACKTRACE=1 cargo test", "cargo test"),
        ("A=1 B='x y' make", "make -"),
        ("A=1", ""),
        ("sudo -u bob git status", "git status"),
        ("sudo -E A=1 apt-get -o x=y install z", "apt-get install"),
        ("doas -u bob ls", "ls -"),
        ("time cargo build", "cargo build"),
        ("/usr/bin/time -f %e cargo build", "cargo build"),
        ("env -u HOME A=1 pytest", "pytest -"),
        ("nice -n 10 make test", "make test"),
        ("ionice -c 3 nice make", "make -"),
        ("nohup make all &", "make all"),
        ("timeout 60 go test ./...", "go test"),
        ("timeout -k 5 -s KILL 60 go vet", "go vet"),
        ("stdbuf -oL -e 0 pytest x", "pytest x"),
        ("unbuffer npm test", "npm test"),
        ("command git status", "git status"),
        ("command -v git", "command git"),
        ("exec make", "make -"),
        ("uv run --with pytest-xdist pytest -n 4", "pytest 4"),
        ("uv run -m pytest", "pytest -"),
        ("uv pip install x", "uv pip"),
        ("poetry run pytest", "pytest -"),
        ("poetry install", "poetry install"),
        ("bundle exec rspec spec", "rspec spec"),
        ("bundle install", "bundle install"),
        ("npx jest --ci", "jest -"),
        ("npx -p typescript tsc --noEmit", "tsc -"),
        ("pnpm exec vitest run", "vitest run"),
        ("pnpm --filter web exec tsc", "tsc -"),
        ("npx --yes vitest@1.6.0 run", "vitest run"),
        ("npx -y -p @playwright/test playwright test", "playwright test"),
        ("npx @biomejs/biome@latest check", "biome check"),
        ("npx -c 'jest --ci'", "jest -"),
        ("npm exec -- jest --ci", "jest -"),
        ("npm exec --workspace=web -c 'tsc -p .'", "tsc ."),
        ("npm x eslint src", "eslint src"),
        ("npm exec", "npm exec"),
        ("pnpm dlx --package typescript tsc", "tsc -"),
        ("pnpx mocha test", "mocha test"),
        ("yarn exec jest --ci", "jest -"),
        ("yarn --cwd web exec tsc", "tsc -"),
        ("yarn dlx -p typescript -q tsc --noEmit", "tsc -"),
        ("bunx --bun vitest run", "vitest run"),
        ("bunx jest@29 --ci", "jest -"),
        ("bun x eslint .", "eslint ."),
        ("bun add x", "bun add"),
        ("pipenv run pytest -q", "pytest -"),
        ("pipenv --python 3.11 run python -m pytest tests", "pytest tests"),
        ("pipenv install", "pipenv install"),
        ("poetry -C api run mypy shop", "mypy shop"),
        ("uv run --no-sync ruff check", "ruff check"),
        ("uvx ruff@0.6.0 check", "ruff check"),
        ("uvx --from black black .", "black ."),
        ("pipx run --spec mypy==1.8 mypy shop", "mypy shop"),
        ("pdm run -p api pytest", "pytest -"),
        ("sudo -E pipenv run timeout 60 pytest | tail -5", "pytest - |"),
        ("find . -name '*.rs' | xargs -n 1 grep -n todo", "grep todo"),
        ("find . | xargs grep x | head", "grep x |"),
        ("script -q -c 'cargo test' /dev/null", "cargo test"),
        ("script -q log.txt make all", "make all"),
        // machines, containers, environments
        ("coverage run -m pytest", "pytest -"),
        ("python -m coverage run --source shop -m pytest tests", "pytest tests"),
        ("coverage run manage.py test", "manage.py test"),
        ("docker compose exec web pytest", "pytest -"),
        ("docker compose -f ci.yml exec -T -u bob web npm test", "npm test"),
        ("docker-compose run --rm -e A=1 web cargo test", "cargo test"),
        ("docker run --rm -it -v $PWD:/app -w /app node:22 npm ci", "npm ci"),
        ("docker --context ci exec -it web sh -c 'cd app && pytest -v | tail -5'", "pytest - |"),
        ("docker run --rm app", "docker run"),
        ("docker compose up", "docker compose"),
        ("kubectl exec web -- pytest -v", "pytest -"),
        ("kubectl -n ci exec -it web -c shop -- make all", "make all"),
        ("kubectl exec web", "kubectl exec"),
        ("ssh host pytest -v", "pytest -"),
        ("ssh -p 22 -i key bob@host 'cd app && sudo make all'", "make all"),
        ("ssh host", "ssh host"),
        ("su - bob -c 'git status'", "git status"),
        ("nix develop -c pytest", "pytest -"),
        ("nix develop .#ci --command make all", "make all"),
        ("nix-shell -p git --run 'git status'", "git status"),
        ("nix build", "nix build"),
        ("conda run -n x pytest", "pytest -"),
        ("pixi run pytest", "pytest -"),
        ("hatch run pytest", "pytest -"),
        ("rye run pytest", "pytest -"),
        ("mise exec -- pytest", "pytest -"),
        ("mise exec python@3.12 -- pytest", "pytest -"),
        ("direnv exec . pytest", "pytest -"),
        ("devbox run pytest", "pytest -"),
        ("xvfb-run -a -s '-screen 0 1x1x8' pytest", "pytest -"),
        ("rtk pytest", "pytest -"),
        ("winpty pytest", "pytest -"),
        ("bash -c 'poetry run pytest'", "pytest -"),
        ("strace -f -o log make all", "make all"),
        ("cross-env CI=1 jest --ci", "jest -"),
        ("pwsh -Command 'cargo test'", "cargo test"),
        ("vagrant ssh -c 'cd /srv && make all'", "make all"),
        ("flock -w 5 /tmp/l -c 'make all'", "make all"),
        // an unknown program before `--`, `run` or `exec`
        ("flox activate -- cargo test", "cargo test"),
        ("with-secrets exec prod -- terraform apply", "terraform apply"),
        ("./dev exec web pytest", "pytest -"),
        ("./dev run pytest", "pytest -"),
        ("./dev run shop", "dev run"),
        ("./dev pytest", "dev pytest"),
        ("git checkout -- make", "git checkout"),
        ("npm run test -- pytest", "npm test"),
        ("grep -- make f", "grep make"),
        ("echo run make", "echo run"),
        // shells in shells
        ("bash -c 'cargo test'", "cargo test"),
        ("bash -lc \"cd x && cargo test 2>&1 | tail -5\"", "cargo test |"),
        ("sh -ec 'set -x; git -C y diff'", "git diff"),
        ("sudo bash -c \"bash -c 'git status'\"", "git status"),
        ("bash run.sh", "bash run.sh"),
        ("bash -c", "bash -"),
        ("bash build.sh -c make", "bash build.sh"),
        ("bash -- build.sh -c make", "bash build.sh"),
        ("bash -o pipefail -c 'make all'", "make all"),
        ("bash --noprofile -euo pipefail -c 'make all'", "make all"),
        ("bash -ceo pipefail 'make all'", "make all"),
        ("bash +x --rcfile f -c -- make", "make -"),
        // several commands
        ("cd app && cargo test", "cargo test"),
        ("cd app; export A=1; source env.sh; umask 022; mkdir -p x; set -e; true; cargo test", "cargo test"),
        ("pushd x && make", "make -"),
        ("cargo test || true", "cargo test"),
        ("cd a\ncargo \\\n  test\n", "cargo test"),
        ("ls -l && cat f", ""),
        ("git status; git diff", ""),
        ("cargo build && cargo test", ""),
        ("(cd x && cargo test)", "cargo test"),
        ("{ cargo test; }", "cargo test"),
        ("if cargo test; then true; fi", "cargo test"),
        ("for i in 1 2 3; do cargo test; done", "cargo test"),
        ("case $x in a) ls;; esac", ""),
        // pipes
        ("cargo test 2>&1 | tail -20", "cargo test |"),
        ("git diff | cat", "git diff"),
        ("pytest -v 2>&1 | tee log", "pytest -"),
        ("pytest -v | tee log | tail -5", "pytest - |"),
        ("cargo test |& tee log | grep -v ok", "cargo test |"),
        ("ls | wc -l", "wc -"),
        ("git log | sort | head -3", "sort - |"),
        ("cat f | grep x", "cat f |"),
        ("grep -rn todo src | head", "grep todo |"),
        ("cargo test |\n  head", "cargo test |"),
        // redirections
        ("cargo build > log.txt; cargo test", "cargo test"),
        ("make >log 2>&1", ""),
        ("make &> log && git status", "git status"),
        ("make 2>/dev/null", "make -"),
        ("make 2>&1", "make -"),
        ("make 1>log", ""),
        ("make >&2", "make -"),
        ("make > /dev/stderr", "make -"),
        ("sort < in.txt", "sort -"),
        ("diff <(ls a) <(ls b)", "diff <(ls a)"),
        // here-documents, quotes, substitutions
        ("cat > f <<'EOF'\ngit diff; ls\nEOF\ncargo test", "cargo test"),
        ("python - <<EOF\nprint(1); x\nEOF", "python -"),
        ("cat <<-E > f\n\ta\n\tE\nls", "ls -"),
        ("git commit -m \"a; b && c\"", "git commit"),
        ("git commit -m 'it'\\''s; done'", "git commit"),
        ("make VERSION=$(git describe; echo x) all", "make VERSION=$(git describe; echo x)"),
        ("A=`git log | head` make", "make -"),
        ("echo \"$(ls; pwd)\" | wc", "wc -"),
        ("echo ${A:-x; y}", "echo ${A:-x; y}"),
    ];
    assert!(table.len() >= 80);
    let wrong: Vec<_> = table
        .iter()
        .filter(|(line, expected)| resolved(line) != *expected)
        .map(|(line, expected)| format!("{line:?}: {:?}, not {expected:?}", resolved(line)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns every command of a line: its name, its subcommand, `!` if its output is shown, and `|` if it goes through a pipe.
fn commands(line: &str) -> Vec<String> {
    let said = |run: &Command| {
        let prints = if run.prints() { "!" } else { "" };
        let piped = if run.is_piped() { "|" } else { "" };
        format!("{} {}{prints}{piped}", run.name(), run.subcommand().unwrap_or("-"))
    };
    Command::all(line).unwrap_or_default().iter().map(said).collect()
}

#[test]
fn every_command_of_a_line() {
    let table: [(&str, &[&str]); 10] = [
        ("", &[]),
        ("A=1", &[]),
        ("cd app && sudo git -C x diff | head -5", &["cd app", "git diff!|", "head -"]),
        ("ls -l; cat f", &["ls -!", "cat f!"]),
        ("make >log 2>&1", &["make -"]),
        ("bash -c 'cd x; make >log; cargo test' | tail", &["cd x", "make -", "cargo test!|", "tail -"]),
        ("bash -c 'make all' > log", &["make all"]),
        ("bash -c 'make' | wc -l", &["make -", "wc -!"]),
        ("env A=1 timeout 5 npx jest | grep x || true", &["jest -!|", "grep x", "true -"]),
        ("case $x in a) ls;; esac", &[]),
    ];
    for (line, expected) in table {
        assert_eq!(commands(line), expected, "{line}");
    }
    let words: Vec<String> = Command::all("grep -e 'a b' \"c\"").unwrap()[0].words().to_vec();
    assert_eq!(words, ["-e", "a b", "c"]);
    let nested =
        |depth: usize| (0..depth).fold("ls".to_owned(), |line, _| format!("bash -c '{}'", line.replace('\'', "'\\''")));
    assert_eq!(commands(&nested(5)), ["ls -!"]);
    assert_eq!(Command::all(&nested(9)), None);
}

#[test]
fn flags_alone_with_values_and_in_bundles() {
    let run = Command::parse("ls -la --color=always -- -x").unwrap();
    assert!(run.has_flag("-l") && run.has_flag("-a") && run.has_flag("--color"));
    assert!(!run.has_flag("-x") && !run.has_flag("--col") && !run.has_flag("-c"));
}

#[test]
fn no_line_panics() {
    let mut random = Random::announced("no_line_panics");
    for _ in 0..20_000 {
        let line: String = (0..12).map(|_| *random.pick(&SHELL_PIECES)).collect();
        let _ = Command::parse(&line);
    }
    // A long line must not panic either, however deeply it is nested.
    for piece in SHELL_PIECES {
        let _ = Command::parse(&piece.repeat(200_000));
    }
}
