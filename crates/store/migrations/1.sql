-- Version 1. Steps are only ever added: this file is what old databases hold.

CREATE TABLE run (
    -- Rises in the order in which runs began in this database; `last` is the
    -- largest, whatever the clock said.
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- Version of the documents of this run and its trials.
    schema INTEGER NOT NULL,
    status TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT,
    tool_version TEXT NOT NULL,
    host TEXT,
    target TEXT NOT NULL,
    target_path TEXT NOT NULL,
    plan TEXT NOT NULL,
    -- The process that makes the run, so that a killed one can be told from one
    -- that still runs.
    writer_pid INTEGER,
    writer_boot_id TEXT,
    writer_start_ticks INTEGER,
    -- The run as JSON, with an empty list of trials.
    document TEXT NOT NULL
) STRICT;

CREATE TABLE trial (
    key INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    -- Which trial of the run, from 1.
    position INTEGER NOT NULL,
    stage TEXT NOT NULL,
    -- Which trial of its stage, from 1.
    number INTEGER NOT NULL,
    seconds REAL,
    bytes INTEGER,
    operations INTEGER,
    errors INTEGER,
    throughput_bytes_per_s REAL,
    iops REAL,
    latency_p50_ns INTEGER,
    latency_p99_ns INTEGER,
    latency_p99_9_ns INTEGER,
    latency_max_ns INTEGER,
    page_cache_share REAL,
    device_share REAL,
    document TEXT NOT NULL,
    -- Whole latency distributions; their bytes are described with the type
    -- `Histogram` of the crate diskfacts-record.
    histogram_read BLOB NOT NULL,
    histogram_write BLOB NOT NULL,
    histogram_service BLOB,
    UNIQUE (run, position)
) STRICT;
