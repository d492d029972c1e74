-- +goose Up
-- What identity keeps. hash is the SHA-256 of the secret; spec is the KeySpec as JSON.
CREATE TABLE api_keys (
    n       INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    hash    BLOB NOT NULL UNIQUE,
    spec    TEXT NOT NULL,
    created INTEGER NOT NULL,
    revoked INTEGER NOT NULL
);

-- Private keys as PKCS #8 PEM: a backup leaves this table empty.
CREATE TABLE signing_keys (
    n       INTEGER PRIMARY KEY,
    kid     TEXT NOT NULL UNIQUE,
    pem     BLOB NOT NULL,
    created INTEGER NOT NULL,
    until   INTEGER NOT NULL
);

CREATE TABLE invitations (
    n          INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    hash       BLOB NOT NULL UNIQUE,
    world      BLOB NOT NULL,
    role       INTEGER NOT NULL,
    invited_by TEXT NOT NULL,
    subject    TEXT NOT NULL,
    state      TEXT NOT NULL,
    created    INTEGER NOT NULL,
    expires    INTEGER NOT NULL,
    closed     INTEGER NOT NULL
);
CREATE INDEX invitations_world ON invitations (world, created);

-- One row: how many writes the tables above have had.
CREATE TABLE identity_generation (
    n INTEGER NOT NULL
);
INSERT INTO identity_generation (n) VALUES (0);

-- Access records, in segments that are chained for each process.
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

PRAGMA user_version = 2;
