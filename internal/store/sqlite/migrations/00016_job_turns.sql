-- +goose Up
-- started: when a job began to run, 0 while it waits; worlds take turns by it. stop: its process is asked to stop it.
ALTER TABLE jobs ADD COLUMN started INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN stop INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_turns ON jobs (world, started);
CREATE INDEX jobs_listed ON jobs (world, created);
CREATE INDEX jobs_waiting ON jobs (world) WHERE state IN ('queued', 'running');

PRAGMA user_version = 16;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
