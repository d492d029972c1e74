-- +goose Up
-- What identity keeps. hash is the SHA-256 of the secret; spec is the KeySpec as JSON.
-- Times here are nanoseconds.
CREATE TABLE api_keys (
    n       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      text COLLATE "C" NOT NULL UNIQUE,
    hash    bytea NOT NULL UNIQUE,
    spec    text NOT NULL,
    created bigint NOT NULL,
    revoked bigint NOT NULL
);

-- Private keys as PKCS #8 PEM: leave this table's rows out of dumps that leave the house.
CREATE TABLE signing_keys (
    n       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kid     text COLLATE "C" NOT NULL UNIQUE,
    pem     bytea NOT NULL,
    created bigint NOT NULL,
    until   bigint NOT NULL
);

CREATE TABLE invitations (
    n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text COLLATE "C" NOT NULL UNIQUE,
    hash       bytea NOT NULL UNIQUE,
    world      uuid NOT NULL,
    role       smallint NOT NULL,
    invited_by text NOT NULL,
    subject    text NOT NULL,
    state      text NOT NULL,
    created    bigint NOT NULL,
    expires    bigint NOT NULL,
    closed     bigint NOT NULL
);
CREATE INDEX invitations_world ON invitations (world, created);

-- One row: how many writes the tables above have had.
CREATE TABLE identity_generation (n bigint NOT NULL) WITH (fillfactor = 10);
INSERT INTO identity_generation (n) VALUES (0);

-- Access records, in segments that are chained for each process.
CREATE TABLE access_processes (
    p       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    process text COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE access_segments (
    p     bigint NOT NULL REFERENCES access_processes (p),
    seq   bigint NOT NULL,
    at    bigint NOT NULL,
    count bigint NOT NULL,
    body  bytea NOT NULL,
    prev  bytea NOT NULL,
    hash  bytea NOT NULL,
    PRIMARY KEY (p, seq)
);

-- Work that outlives a call, and the processes that say they live.
CREATE TABLE jobs (
    id      uuid PRIMARY KEY,
    world   uuid NOT NULL,
    kind    text NOT NULL,
    subject text NOT NULL,
    level   smallint NOT NULL,
    owner   text COLLATE "C" NOT NULL,
    state   text COLLATE "C" NOT NULL,
    result  bytea,
    problem text NOT NULL,
    created bigint NOT NULL,
    changed bigint NOT NULL
);
CREATE INDEX jobs_open ON jobs (owner) WHERE state IN ('queued', 'running');
CREATE TABLE job_owners (
    owner text COLLATE "C" PRIMARY KEY,
    seen  bigint NOT NULL
);

-- Events on their way to their handlers. state: 0 pending, 1 processed, 2 failed and due
-- again, 3 dead. due is when it may be taken; a claim moves it to the end of its lease and
-- raises the fence, so that only the last to claim may settle it.
CREATE TABLE deliveries (
    world    uuid NOT NULL,
    event    uuid NOT NULL,
    handler  text COLLATE "C" NOT NULL,
    state    smallint NOT NULL,
    attempts bigint NOT NULL,
    due      bigint NOT NULL,
    fence    bigint NOT NULL,
    problem  text NOT NULL,
    created  bigint NOT NULL,
    changed  bigint NOT NULL,
    PRIMARY KEY (world, event, handler)
);
CREATE INDEX deliveries_due ON deliveries (due, created) WHERE state IN (0, 2);
CREATE INDEX deliveries_dead ON deliveries (world, changed) WHERE state = 3;
CREATE TABLE delivery_cursors (
    world   uuid NOT NULL,
    handler text COLLATE "C" NOT NULL,
    seq     bigint NOT NULL,
    PRIMARY KEY (world, handler)
);

-- Random bytes that every process on the store shares, such as what seals references.
CREATE TABLE secrets (
    name  text COLLATE "C" PRIMARY KEY,
    bytes bytea NOT NULL
);

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
