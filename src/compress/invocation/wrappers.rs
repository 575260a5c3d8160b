//! Programs that run the command in their arguments, such as `sudo` and `docker exec`. The wrapped command printed the output, so
//! this file finds that command in the wrapper's arguments. The list is data: a missing wrapper is added by one line, without code.

use std::sync::LazyLock;

/// The wrappers, one on a line: the words that call the wrapper, with commas between alternatives; in capitals, the words that
/// the wrapper takes before the command (`ALL` for all words up to `--` or `-c`); and, after a bar, the wrapper's options that
/// take a value.
const LIST: &str = "
sudo | -u -g -h -p -C -r -t -U -D -R -T --user --group --chdir
doas | -u -C
su USER | -s -g -G -w --shell --group
time | -f -o --format --output
env | -u -C --unset --chdir
nice | -n --adjustment
ionice | -c -n -p --class --classdata
nohup
xargs | -I -n -P -L -d -a -E -s --max-args --max-procs --delimiter
parallel | -j --jobs -n -N -S --joblog --timeout --retries
stdbuf | -i -o -e --input --output --error
unbuffer
script LOG | -t -I -O -B -o
timeout,gtimeout DURATION | -s -k --signal --kill-after
command,builtin,setsid,caffeinate,chronic,catchsegv,fakeroot,winpty,rtk,torsocks,corepack,cross-env
exec | -a
flock FILE | -w -E --timeout --conflict-exit-code
chroot DIR | --userspec --groups
taskset MASK
chrt PRIORITY
numactl
strace,ltrace | -e -o -p -s -a -u -E -P
perf stat,record | -e -o -F -p -r --event --output
watch | -n --interval
xvfb-run | -n -e -f -p -s -w --server-num --error-file --auth-file --server-args --wait
dbus-run-session | --config-file --dbus-daemon
systemd-run,firejail,proxychains,proxychains4 | -p -E -u -f --unit --property --setenv
srun,mpirun,mpiexec | -n -np -N -c -p -H -x --ntasks --nodes --partition --host
ssh HOST | -B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w
vagrant ssh ALL
docker,podman,nerdctl exec CONTAINER | -H -c -l -e -u -w --host --context --log-level --config --env --env-file --user --workdir --detach-keys
docker,podman,nerdctl run IMAGE | -H -c -l -a -e -m -p -u -v -w -h --host --context --log-level --config --name --env --env-file --user --workdir --volume --mount --network --platform --entrypoint --memory --cpus --publish --label --add-host --gpus --shm-size --ulimit --hostname --pull --tmpfs --device --cap-add --security-opt --restart --link
docker,podman,nerdctl compose exec,run SERVICE | -H -f -p -e -u -w -v --host --context --file --profile --project-name --project-directory --env-file --env --user --workdir --index --volume --publish --entrypoint --name
docker-compose,podman-compose exec,run SERVICE | -f -p -e -u -w -v --file --profile --project-name --project-directory --env-file --env --user --workdir --index --volume --publish --entrypoint --name
kubectl,oc exec,run,debug POD | -n -c -f --namespace --container --context --cluster --kubeconfig --filename --image --pod-running-timeout --restart --env --labels
toolbox run | -c --container --distro --release
distrobox enter ALL | -n --name
limactl shell INSTANCE | --workdir --shell
lima
wsl | -d -u --distribution --user --cd --shell-type
cmd /c,/C
pwsh,powershell | -ExecutionPolicy -WorkingDirectory -Version
nix develop,shell ALL | -f -I --file --expr --option --override-input --profile
nix-shell ALL | -I -p --packages --arg --argstr --attr -A
direnv exec DIR
devbox run | -c -e --config --env --env-file
mise,rtx exec,x ALL | -C -j --cd --jobs
asdf,rbenv,pyenv,nodenv,goenv,jenv exec
nvm exec VERSION
fnm exec | --using
volta run | --node --npm --yarn --pnpm
dotenv | -e -v -p -c -f
dotenvx,doppler,op,infisical run | -f -e -p -c --env-file --project --config --env
aws-vault,chamber exec PROFILE | -d --duration --region
npx,pnpx,bunx | -p --package -w --workspace
npm exec,x | -p --package -C --prefix -w --workspace
pnpm exec,dlx | -C --dir --filter -F --package
yarn exec,dlx | --cwd -p --package
bun x | --cwd -p --package
lerna exec | --scope --ignore --concurrency --since
uv run | --with --python -p --project --directory --package --extra --group --env-file
uvx | --from --with --python -p
poetry run | -C -P --directory --project
pipenv run | --python --pypi-mirror
pipx run | --spec --python --pip-args --index-url
pdm,rye,pixi,hatch run | -p -e --project --manifest-path --environment --env --pyproject
conda,mamba,micromamba run | -n -p --name --prefix --cwd
coverage,coverage3,kernprof run | --source --include --omit --rcfile --data-file --context --concurrency
bundle,bundler exec
";

/// Options after which the command follows, if the wrapper's line does not list them.
const BEFORE_COMMAND: [&str; 9] = ["-c", "-lc", "-qc", "--command", "--call", "--run", "-Command", "-m", "--module"];
/// Words in the arguments of a program that is not in the list, after which there may be a command.
const RUNS: [&str; 3] = ["--", "exec", "run"];
/// The maximum number of arguments of such a program that are examined.
const MOST_WORDS: usize = 32;
/// The programs that built-in filters are for.
const KNOWN: &[&str] = &include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The command that a wrapper runs.
pub enum Wrapped<'a> {
    Words(&'a [String]),
    /// A text for a shell.
    Script(&'a str),
}

struct Wrapper {
    /// The words that call the wrapper, each with its alternatives.
    words: Vec<Vec<&'static str>>,
    /// The number of words that the wrapper takes before the command.
    own: usize,
    valued: Vec<&'static str>,
}

static WRAPPERS: LazyLock<Vec<Wrapper>> = LazyLock::new(|| LIST.trim().lines().map(Wrapper::read).collect());

impl Wrapper {
    fn read(line: &'static str) -> Wrapper {
        let (words, valued) = line.split_once('|').unwrap_or((line, ""));
        let is_own = |word: &&str| word.bytes().all(|byte| byte.is_ascii_uppercase());
        Wrapper {
            words: words
                .split_whitespace()
                .filter(|word| !is_own(word))
                .map(|word| word.split(',').collect())
                .collect(),
            own: words.split_whitespace().filter(is_own).map(|word| if word == "ALL" { usize::MAX } else { 1 }).sum(),
            valued: valued.split_whitespace().collect(),
        }
    }

    /// Returns the command in the wrapper's arguments.
    fn inner<'a>(&self, words: &'a [String]) -> Option<Wrapped<'a>> {
        let mut at = 1;
        for names in &self.words[1..] {
            at += skip_options(words.get(at..)?, &self.valued);
            names.contains(&words.get(at)?.as_str()).then_some(())?;
            at += 1;
        }
        // `command -v` and the like only look a program up.
        if name(&words[0]) == "command" && words.get(at).is_some_and(|word| word == "-v" || word == "-V") {
            return None;
        }
        let mut own = self.own;
        loop {
            let word = words.get(at)?.as_str();
            let is_option = word.starts_with('-');
            at += if self.valued.contains(&word) { 2 } else { usize::from(is_option || own > 0) };
            if word == "--" || BEFORE_COMMAND.contains(&word) && !self.valued.contains(&word) || !is_option && own == 0
            {
                break;
            }
            own -= usize::from(!is_option);
        }
        command(words.get(at..)?)
    }
}

/// Returns the command that these words run, if their program is a wrapper.
pub fn wrapped(words: &[String]) -> Option<Wrapped<'_>> {
    let head = name(words.first()?);
    let mut known = WRAPPERS.iter().filter(|wrapper| wrapper.words[0].contains(&head)).peekable();
    if known.peek().is_none() {
        return behind_unknown(head, words);
    }
    known.find_map(|wrapper| wrapper.inner(words))
}

/// Returns the command after a program that is not in the list: after `--`, `run`, `exec` or `exec NAME`. Returns only a command
/// for which there is a filter.
fn behind_unknown<'a>(head: &str, words: &'a [String]) -> Option<Wrapped<'a>> {
    let is_known = |at: usize| words.get(at).is_some_and(|word| KNOWN.contains(&name(word)));
    if KNOWN.contains(&head) || PRINTS_WORDS.contains(&head) {
        return None;
    }
    let found = (1..words.len().min(MOST_WORDS)).find_map(|at| {
        let word = words[at].as_str();
        let next = at + 1 + skip_options(words[at + 1..].get(..MOST_WORDS).unwrap_or(&words[at + 1..]), &[]);
        let named = if word == "exec" { next + 1 } else { next };
        RUNS.contains(&word).then(|| [next, named].into_iter().find(|&at| is_known(at)))?
    });
    command(&words[found?..])
}

/// Programs whose arguments are texts, and not commands.
const PRINTS_WORDS: [&str; 12] =
    ["echo", "printf", "sed", "awk", "gawk", "zgrep", "sort", "diff", "jq", "cat", "man", "which"];

/// Returns the command that these words run. A single word with blanks is a script for a shell.
fn command(words: &[String]) -> Option<Wrapped<'_>> {
    let first = words.first()?;
    Some(if first.contains([' ', '\n', '\t']) { Wrapped::Script(first) } else { Wrapped::Words(words) })
}

/// Returns the number of words from the start that are options and their values.
pub fn skip_options(words: &[String], valued: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return at + 1;
        }
        if valued.contains(&word.as_str()) {
            at += 2;
        } else if word.starts_with('-') && word.len() > 1 {
            at += 1;
        } else {
            break;
        }
    }
    at.min(words.len())
}

/// Returns a program's name without its folder, its `.exe` and the version that is to be fetched (`jest@29`).
pub fn name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = name.find('@').filter(|&at| at > 0).map_or(name, |at| &name[..at]);
    name.strip_suffix(".exe").unwrap_or(name)
}
