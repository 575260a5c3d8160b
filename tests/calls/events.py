"""Runs the slow reference of tool calls on the shared cases, for src/call_writer/tests/differential.rs.

    events.py SHARED CUTS        a JSON object a line: events of calls with their tables, and what the reference makes of them

SHARED is the folder of specifications and cases. Each case is run as it is, and cut off at CUTS places.
"""
import json
import pathlib
import sys
import tomllib

sys.dont_write_bytecode = True
SHARED = pathlib.Path(sys.argv[1])
CUTS = int(sys.argv[2])
sys.path.insert(0, str(SHARED / 'spec/calls-reference'))

import calls_ref  # noqa: E402
import parse_ref  # noqa: E402


class Region(calls_ref.Region):
    """Says with each call which table it is written by."""

    def call(self, table):
        self.table = {key: value for key, value in table.items() if key != 'closers'}
        super().call(table)

    def emit(self, kind, end, **more):
        if kind == 'call':
            more['table'] = self.table
        super().emit(kind, end, **more)


def load(name, tables, load=parse_ref.load):
    """Reads a dialect with `drop` as the reference knows it: a list of literals."""
    dialect = load(name, tables)
    dialect['drop'] = [drop if isinstance(drop, str) else drop['marker'] for drop in dialect.get('drop', [])]
    return dialect


parse_ref.Region, parse_ref.load = Region, load


def run(case, text, tables):
    try:
        events, calls, *_ = parse_ref.parse(case['dialect'], text, case.get('start'), case.get('tools'), tables=tables)
    except Exception as error:
        return dict(dialect=case['dialect'], text=text, error=repr(error))
    # `parse` has taken the indices off.
    writer = parse_ref.Writer(parse_ref.load(case['dialect'], tables), case.get('tools'))
    calls = writer.write(events)
    inside, of_calls = False, []
    for event in events:
        inside = inside or event['kind'] == 'call'
        if inside:
            of_calls.append(event)
        inside = inside and event['kind'] != 'call_end'
    return dict(dialect=case['dialect'], text=text, tools=case.get('tools'), events=of_calls, calls=calls)


def main():
    tables = tomllib.load(open(SHARED / 'spec/call-tables.toml', 'rb'))
    for name in ['cases', 'malformed']:
        for line in open(SHARED / f'cases/calls/{name}.jsonl', encoding='utf-8'):
            case = json.loads(line)
            text = case['input']
            cuts = {len(text)} | {(2 * n + 1) * len(text) // (2 * CUTS) for n in range(CUTS)}
            for cut in sorted(cuts):
                print(json.dumps(run(case, text[:cut], tables), ensure_ascii=True))


main()
