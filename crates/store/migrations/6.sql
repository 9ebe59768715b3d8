-- Version 6: the process namespace of who makes a run, in which alone its number means something.

ALTER TABLE run ADD COLUMN writer_namespace INTEGER;

DROP INDEX run_summary;
CREATE INDEX run_summary ON run (
    key, id, name, note, tags, status, started, ended, tool_version, host, target, target_path,
    plan, writer_pid, writer_boot_id, writer_start_ticks, writer_namespace
);
