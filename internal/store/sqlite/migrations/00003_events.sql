-- +goose Up
-- Domain events that commits to a world carry, one at most.
CREATE TABLE events (
    w           INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    id          BLOB NOT NULL,
    at          INTEGER NOT NULL,
    by          TEXT NOT NULL,
    op          TEXT NOT NULL,
    type        TEXT NOT NULL,
    scope       TEXT NOT NULL,
    actor_kind  TEXT NOT NULL,
    actor       TEXT NOT NULL,
    correlation TEXT NOT NULL,
    causation   TEXT NOT NULL,
    key         TEXT NOT NULL,
    version     INTEGER NOT NULL,
    payload     BLOB,
    level       INTEGER NOT NULL,
    label       INTEGER NOT NULL,
    PRIMARY KEY (w, seq)
);
CREATE INDEX events_listed ON events (w, level, seq);
CREATE INDEX events_scope ON events (w, level, scope, seq);
CREATE INDEX events_type ON events (w, level, type, seq);
CREATE INDEX events_key ON events (w, key, seq) WHERE key <> '';
CREATE INDEX events_id ON events (w, id);
CREATE INDEX events_named ON events (w, label, seq) WHERE label > 0;

-- The commits of a stream, n >> 40, by their time.
CREATE INDEX commits_time ON commits (n >> 40, at, n);

PRAGMA user_version = 3;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
