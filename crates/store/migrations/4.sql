-- Version 4: single requests.

-- The single requests of a few moments of a trial; absent where they were not followed, and of
-- trials that were stored before. Its bytes are described in `bursts/packed.rs` of the crate
-- diskfacts-record.
ALTER TABLE trial ADD COLUMN bursts BLOB;
