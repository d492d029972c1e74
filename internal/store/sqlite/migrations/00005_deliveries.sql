-- +goose Up
-- Events on their way to their handlers. state: 0 pending, 1 processed, 2 failed and due
-- again, 3 dead. due is when it may be taken; a claim moves it to the end of its lease and
-- raises the fence, so that only the last to claim may settle it. Times are milliseconds.
CREATE TABLE deliveries (
    world    BLOB NOT NULL,
    event    BLOB NOT NULL,
    handler  TEXT NOT NULL,
    state    INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    due      INTEGER NOT NULL,
    fence    INTEGER NOT NULL,
    problem  TEXT NOT NULL,
    created  INTEGER NOT NULL,
    changed  INTEGER NOT NULL,
    PRIMARY KEY (world, event, handler)
) WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (due, created) WHERE state IN (0, 2);
CREATE INDEX deliveries_dead ON deliveries (world, changed) WHERE state = 3;

-- How far each handler has been given a world's events.
CREATE TABLE delivery_cursors (
    world   BLOB NOT NULL,
    handler TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (world, handler)
) WITHOUT ROWID;

-- Random bytes that every process on the store shares, such as what seals references.
CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) WITHOUT ROWID;

CREATE INDEX events_actor ON events (w, level, actor, seq) WHERE actor <> '';

PRAGMA user_version = 5;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
