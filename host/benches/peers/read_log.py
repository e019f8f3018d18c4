"""A log and its exports with other people's readers: mcap, pandas, DuckDB, pyarrow. Run by ci/readers.

usage: read_log.py RUN.mcap TICKS.csv TICKS.parquet
"""

import json
import sys

import duckdb
import pandas
import pyarrow.parquet
from mcap.reader import make_reader

log, csv, parquet = sys.argv[1:]


def the_log():
    last, counts = {}, {}
    with open(log, "rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        for channel in summary.channels.values():
            schema = summary.schemas[channel.schema_id]  # PlotJuggler looks it up the same way
            assert schema.data, channel.topic
        for schema, channel, message in reader.iter_messages(log_time_order=False):
            topic = channel.topic
            times = (message.publish_time, message.log_time)
            assert all(a <= b for a, b in zip(last.get(topic, (0, 0)), times)), topic
            last[topic] = times
            counts[topic] = counts.get(topic, 0) + 1
            if channel.message_encoding == "json":
                names = json.loads(schema.data)["properties"].keys()
                values = json.loads(message.data)
                assert names == values.keys(), topic
                assert not any(isinstance(v, (list, dict)) for v in values.values()), topic
        said = {m.name: m.metadata for m in reader.iter_metadata()}
    assert said["stribeck.recording"]["note.000"] == "read by others"
    assert counts["/wire/block"] > 100 and counts["/parameters"] > 10, counts
    print(f"mcap (Python): {sum(counts.values())} messages in {len(counts)} topics, all with a schema and named fields")


def the_tables():
    frame = pandas.read_csv(csv)
    columns = ["segment", "tick", "time", "raw0", "raw1", "count0", "count1", "theta0", "theta1"]
    assert list(frame.columns) == columns, frame.columns
    assert all(kind.kind in "iuf" for kind in frame.dtypes), frame.dtypes
    rows = len(frame)
    found = duckdb.sql(f"select * from '{csv}'")
    assert found.columns == columns, found.columns
    assert duckdb.sql(f"select count(*), max(tick) from '{csv}'").fetchall() == [(rows, frame.tick.max())]
    same = duckdb.sql(f"select count(*) from '{csv}' a join '{parquet}' b using (tick) where a.theta1 = b.theta1").fetchall()
    assert same == [(rows,)], same
    said = pyarrow.parquet.read_schema(parquet).metadata
    assert said[b"unit.theta1"] == b"rad" and b"[ekf]" in said[b"config"]
    assert said[b"source"] == b"run.mcap" and said[b"note.000"] == b"read by others"
    with open(csv + "-metadata.json", encoding="utf-8") as file:
        beside = json.load(file)
    assert [c["name"] for c in beside["tableSchema"]["columns"]] == columns
    assert "[ekf]" in beside["notes"][0]["config"]
    print(f"pandas, DuckDB, pyarrow: {rows} rows, the same numbers from CSV and Parquet, configuration and note beside them")


the_log()
the_tables()
