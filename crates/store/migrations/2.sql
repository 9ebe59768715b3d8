-- Version 2: what people call a run, and the figures of its stages for other programs.

ALTER TABLE run ADD COLUMN name TEXT;
ALTER TABLE run ADD COLUMN note TEXT;
-- Sorted, with a space between each two; none has a space in it.
ALTER TABLE run ADD COLUMN tags TEXT NOT NULL DEFAULT '';
-- Version of the arithmetic that made the figures in `stage`; null where the diskfacts that
-- made the run worked them out before there were versions, and where there are none yet.
ALTER TABLE run ADD COLUMN arithmetic INTEGER;

-- A stage of a run over all its trials; a row for each combination of settings.
CREATE TABLE stage (
    key INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    -- In the order of the plan, from 1.
    position INTEGER NOT NULL,
    stage TEXT NOT NULL,
    -- What was varied, a JSON object.
    settings TEXT NOT NULL,
    trials INTEGER,
    errors INTEGER,
    -- Medians of the trials, the smallest and largest, and the 95 % interval of the median.
    throughput_bytes_per_s REAL,
    throughput_bytes_per_s_min REAL,
    throughput_bytes_per_s_max REAL,
    throughput_bytes_per_s_ci95_low REAL,
    throughput_bytes_per_s_ci95_high REAL,
    iops REAL,
    iops_min REAL,
    iops_max REAL,
    iops_ci95_low REAL,
    iops_ci95_high REAL,
    -- Of all operations of all trials, from merged histograms.
    latency_samples INTEGER,
    latency_mean_ns REAL,
    latency_p50_ns INTEGER,
    latency_p90_ns INTEGER,
    latency_p99_ns INTEGER,
    latency_p99_9_ns INTEGER,
    latency_p99_99_ns INTEGER,
    latency_max_ns INTEGER,
    page_cache_share REAL,
    device_share REAL,
    cpu_user_ns_per_io REAL,
    cpu_system_ns_per_io REAL,
    cpu_share REAL,
    UNIQUE (run, position)
) STRICT;

-- Every column is one of a table, so that programs that want to know the types find them.
CREATE VIEW stage_figures AS
SELECT
    run.id AS run, run.name, run.tags, run.note, run.started, run.status, run.host, run.target,
    run.target_path, run.plan, stage.stage, stage.settings, stage.trials, stage.errors,
    stage.throughput_bytes_per_s, stage.throughput_bytes_per_s_min,
    stage.throughput_bytes_per_s_max, stage.throughput_bytes_per_s_ci95_low,
    stage.throughput_bytes_per_s_ci95_high,
    stage.iops, stage.iops_min, stage.iops_max, stage.iops_ci95_low, stage.iops_ci95_high,
    stage.latency_samples, stage.latency_mean_ns, stage.latency_p50_ns, stage.latency_p90_ns,
    stage.latency_p99_ns, stage.latency_p99_9_ns, stage.latency_p99_99_ns, stage.latency_max_ns,
    stage.page_cache_share, stage.device_share,
    stage.cpu_user_ns_per_io, stage.cpu_system_ns_per_io, stage.cpu_share,
    run.tool_version, run.arithmetic
FROM stage JOIN run ON run.key = stage.run
ORDER BY run.key, stage.position;

-- Runs that are here already have their figures in their documents. A document that is damaged
-- has none, and nothing in one may keep the store from being opened: so the casts.
INSERT INTO stage (
    run, position, stage, settings, trials, errors,
    throughput_bytes_per_s, throughput_bytes_per_s_min, throughput_bytes_per_s_max,
    throughput_bytes_per_s_ci95_low, throughput_bytes_per_s_ci95_high,
    iops, iops_min, iops_max, iops_ci95_low, iops_ci95_high,
    latency_samples, latency_mean_ns, latency_p50_ns, latency_p90_ns, latency_p99_ns,
    latency_p99_9_ns, latency_p99_99_ns, latency_max_ns, page_cache_share, device_share,
    cpu_user_ns_per_io, cpu_system_ns_per_io, cpu_share
)
SELECT
    run.key, figure.key + 1,
    CAST(coalesce(figure.value ->> '$.stage', '') AS TEXT),
    CAST(coalesce(figure.value -> '$.settings', '{}') AS TEXT),
    CAST(figure.value ->> '$.iops.trials' AS INTEGER),
    CAST(figure.value ->> '$.errors' AS INTEGER),
    CAST(figure.value ->> '$.throughput_bytes_per_s.median' AS REAL),
    CAST(figure.value ->> '$.throughput_bytes_per_s.min' AS REAL),
    CAST(figure.value ->> '$.throughput_bytes_per_s.max' AS REAL),
    CAST(figure.value ->> '$.throughput_bytes_per_s.ci95[0]' AS REAL),
    CAST(figure.value ->> '$.throughput_bytes_per_s.ci95[1]' AS REAL),
    CAST(figure.value ->> '$.iops.median' AS REAL),
    CAST(figure.value ->> '$.iops.min' AS REAL),
    CAST(figure.value ->> '$.iops.max' AS REAL),
    CAST(figure.value ->> '$.iops.ci95[0]' AS REAL),
    CAST(figure.value ->> '$.iops.ci95[1]' AS REAL),
    CAST(figure.value ->> '$.latency_ns.samples' AS INTEGER),
    CAST(figure.value ->> '$.latency_ns.mean' AS REAL),
    CAST(figure.value ->> '$.latency_ns.p50' AS INTEGER),
    CAST(figure.value ->> '$.latency_ns.p90' AS INTEGER),
    CAST(figure.value ->> '$.latency_ns.p99' AS INTEGER),
    CAST(figure.value ->> '$.latency_ns.p99_9' AS INTEGER),
    CAST(figure.value ->> '$.latency_ns.p99_99' AS INTEGER),
    CAST(figure.value ->> '$.latency_ns.max' AS INTEGER),
    CAST(figure.value ->> '$.layers.page_cache' AS REAL),
    CAST(figure.value ->> '$.layers.device' AS REAL),
    CAST(figure.value ->> '$.cpu_user_ns_per_io' AS REAL),
    CAST(figure.value ->> '$.cpu_system_ns_per_io' AS REAL),
    CAST(figure.value ->> '$.cpu_share' AS REAL)
FROM run, json_each(
    CASE WHEN json_valid(run.document) THEN run.document ELSE '{}' END, '$.figures'
) AS figure
WHERE figure.type = 'object';
