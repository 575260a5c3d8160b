"""Splits and squeezes a set of stored transcripts with PySpark. Not part of the tests: it needs a Java runtime, pyspark, pandas and
pyarrow, and was run by hand.

    PYSPARK_PYTHON=$(command -v python) python examples/pyspark_split.py

Without PYSPARK_PYTHON, Spark's workers may use another Python, in which the package is not installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from transcripts import split_and_squeeze, transcripts


def batches(iterator: Iterator[Any]) -> Iterator[Any]:
    """Yield a record batch of pyarrow for each of Spark's batches."""
    pyarrow: Any = importlib.import_module("pyarrow")
    for batch in iterator:
        columns = split_and_squeeze(batch["answer"], batch["result"])
        yield pyarrow.RecordBatch.from_arrays(list(columns), ["thinking", "content", "result"])


def main() -> None:
    sql: Any = importlib.import_module("pyspark.sql")
    spark = sql.SparkSession.builder.master("local[2]").getOrCreate()
    columns = transcripts(1000)
    frame = spark.createDataFrame(list(zip(*columns.values(), strict=True)), list(columns))
    frame.mapInArrow(batches, "thinking string, content string, result string").show(5)
    spark.stop()


if __name__ == "__main__":
    main()
