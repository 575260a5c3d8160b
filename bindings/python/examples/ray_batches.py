"""Splits and squeezes a set of stored transcripts with Ray Data, on two workers of a cluster in this process:
python examples/ray_batches.py [ROWS]"""

from __future__ import annotations

import importlib
import os
import sys
import time
from typing import Any

from transcripts import split_and_squeeze, transcripts

ray: Any = importlib.import_module("ray")
importlib.import_module("ray.data")
pyarrow: Any = importlib.import_module("pyarrow")


def batch(table: Any) -> Any:
    """Return a batch, which is a table of pyarrow, with the wanted columns."""
    columns = split_and_squeeze(table["answer"], table["result"])
    return pyarrow.table(dict(zip(("thinking", "content", "result"), columns, strict=True)))


def run(rows: int) -> Any:
    """Return a table of all rows, made by two tasks."""
    data = ray.data.from_arrow(pyarrow.table(transcripts(rows))).repartition(2)
    return pyarrow.concat_tables(ray.get(data.map_batches(batch, batch_format="pyarrow", concurrency=2).to_arrow_refs()))


def main(rows: int) -> None:
    begun = time.monotonic()
    # Workers import `transcripts` from this folder.
    here = os.path.dirname(os.path.abspath(__file__))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": here}})
    started = time.monotonic()
    table = run(rows)
    ended = time.monotonic()
    wanted = split_and_squeeze(*(pyarrow.array(column) for column in transcripts(rows).values()))
    for name, column in zip(("thinking", "content", "result"), wanted, strict=True):
        assert sorted(table[name].to_pylist()) == sorted(column.to_pylist()), name
    print(f"{table.num_rows} rows: {started - begun:.1f} s to start, {ended - started:.1f} s for the job")
    ray.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
