-- Version 3: latencies over the time of a trial.

-- Latencies over the time of a trial; absent of trials that were stored before. Its bytes are
-- described with the type `LatencyOverTime` of the crate diskfacts-record.
ALTER TABLE trial ADD COLUMN latency_over_time BLOB;
