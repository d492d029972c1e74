-- +goose Up
-- Access records, in segments that are chained for each process: as in a store's own file,
-- which keeps those of before there was this one, and those of a backup.
CREATE TABLE access_processes (
    p       INTEGER PRIMARY KEY,
    process TEXT NOT NULL UNIQUE
);
CREATE TABLE access_segments (
    n     INTEGER PRIMARY KEY,
    p     INTEGER NOT NULL REFERENCES access_processes (p),
    seq   INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    count INTEGER NOT NULL,
    body  BLOB NOT NULL,
    prev  BLOB NOT NULL,
    hash  BLOB NOT NULL,
    UNIQUE (p, seq)
);

PRAGMA user_version = 1;

-- +goose Down
SELECT 'a file of records is not taken back to before its first schema';
