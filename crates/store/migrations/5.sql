-- Version 5: the list of runs.

-- All that the list shows, beside the documents, behind which `name` and what came later lies:
-- who wants these would read past every page of every document.
CREATE INDEX run_summary ON run (
    key, id, name, note, tags, status, started, ended, tool_version, host, target, target_path,
    plan, writer_pid, writer_boot_id, writer_start_ticks
);
