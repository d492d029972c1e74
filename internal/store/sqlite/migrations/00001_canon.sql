-- +goose Up
-- Worlds are known to every other table by a small number, which outlives a rebuild.
CREATE TABLE world_ids (
    w  INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE
);

CREATE TABLE worlds (
    w          INTEGER PRIMARY KEY,
    slug       TEXT NOT NULL UNIQUE,
    title      TEXT NOT NULL,
    settings   TEXT NOT NULL,
    created    INTEGER NOT NULL,
    origin     BLOB,
    origin_seq INTEGER NOT NULL
);

CREATE TABLE members (
    w       INTEGER NOT NULL,
    subject TEXT NOT NULL,
    role    INTEGER NOT NULL,
    player  BLOB,
    PRIMARY KEY (w, subject)
) WITHOUT ROWID;
CREATE INDEX members_subject ON members (subject, w);

-- Labels that name subjects. A row's label is 0 where its level says everything.
CREATE TABLE labels (
    label INTEGER PRIMARY KEY,
    w     INTEGER NOT NULL,
    text  TEXT NOT NULL,
    UNIQUE (w, text)
);
CREATE TABLE label_subjects (
    w       INTEGER NOT NULL,
    subject TEXT NOT NULL,
    label   INTEGER NOT NULL,
    PRIMARY KEY (w, subject, label)
) WITHOUT ROWID;

CREATE TABLE bodies (
    w    INTEGER NOT NULL,
    hash BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (w, hash)
);

CREATE TABLE cards (
    rid        INTEGER PRIMARY KEY,
    w          INTEGER NOT NULL,
    id         BLOB NOT NULL,
    parent     BLOB NOT NULL,
    part       TEXT NOT NULL,
    codename   TEXT NOT NULL,
    type       TEXT NOT NULL,
    type_key   TEXT NOT NULL,
    content    BLOB,
    size       INTEGER NOT NULL,
    length     INTEGER NOT NULL,
    fields     BLOB,
    own        TEXT NOT NULL,
    name       TEXT NOT NULL,
    key        TEXT NOT NULL,
    level      INTEGER NOT NULL,
    label      INTEGER NOT NULL,
    rev        INTEGER NOT NULL,
    c1         INTEGER NOT NULL,
    c2         INTEGER NOT NULL,
    c3         INTEGER NOT NULL,
    created    INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    updated    INTEGER NOT NULL,
    updated_by TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    trashed    INTEGER NOT NULL,
    trash_root BLOB
);
CREATE UNIQUE INDEX cards_id ON cards (w, id);
CREATE UNIQUE INDEX cards_living ON cards (w, key, level, label) WHERE trashed = 0;
CREATE UNIQUE INDEX cards_codename ON cards (w, codename, level, label) WHERE trashed = 0 AND codename <> '';
CREATE INDEX cards_listed ON cards (w, level, key, id) WHERE trashed = 0;
CREATE INDEX cards_type ON cards (w, level, type_key, key, id) WHERE trashed = 0;
CREATE INDEX cards_updated ON cards (w, level, updated DESC, key, id) WHERE trashed = 0;
CREATE INDEX cards_created ON cards (w, level, created DESC, key, id) WHERE trashed = 0;
CREATE INDEX cards_parent ON cards (w, parent, created, id) WHERE trashed = 0;
CREATE INDEX cards_named ON cards (w, label) WHERE trashed = 0 AND label > 0;
CREATE INDEX cards_trash ON cards (w, trashed DESC) WHERE trashed <> 0;

CREATE TABLE versions (
    w        INTEGER NOT NULL,
    card     BLOB NOT NULL,
    rev      INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq   INTEGER NOT NULL,
    c1       INTEGER NOT NULL,
    c2       INTEGER NOT NULL,
    c3       INTEGER NOT NULL,
    level    INTEGER NOT NULL,
    label    INTEGER NOT NULL,
    name     TEXT NOT NULL,
    key      TEXT NOT NULL,
    type     TEXT NOT NULL,
    type_key TEXT NOT NULL,
    content  BLOB,
    size     INTEGER NOT NULL,
    length   INTEGER NOT NULL,
    fields   BLOB,
    trashed  INTEGER NOT NULL,
    purged   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    by       TEXT NOT NULL,
    op       TEXT NOT NULL,
    change   BLOB NOT NULL,
    PRIMARY KEY (w, card, rev)
);
CREATE INDEX versions_feed ON versions (w, level, at DESC, from_seq DESC, card);
CREATE INDEX versions_key ON versions (w, key, card);

CREATE TABLE refs (
    w         INTEGER NOT NULL,
    from_card BLOB NOT NULL,
    ord       INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    target    TEXT NOT NULL,
    name      TEXT NOT NULL,
    PRIMARY KEY (w, from_card, ord, kind, target)
) WITHOUT ROWID;
CREATE INDEX refs_target ON refs (w, target, kind, from_card);
CREATE INDEX refs_kind ON refs (w, kind, target, from_card) WHERE kind = 3;

CREATE TABLE links (
    w         INTEGER NOT NULL,
    id        BLOB NOT NULL,
    since     INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    from_card BLOB NOT NULL,
    to_card   BLOB NOT NULL,
    attrs     BLOB,
    level     INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (w, id, since)
);
CREATE INDEX links_from ON links (w, from_card, until);
CREATE INDEX links_to ON links (w, to_card, until);
CREATE INDEX links_kind ON links (w, until, kind);

CREATE TABLE layers (
    w         INTEGER NOT NULL,
    id        BLOB NOT NULL,
    since     INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    card      BLOB NOT NULL,
    kind      TEXT NOT NULL,
    text      TEXT NOT NULL,
    from_tick INTEGER NOT NULL,
    to_tick   INTEGER NOT NULL,
    level     INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (w, id, since)
);
CREATE INDEX layers_card ON layers (w, card, until);

-- A commit's number n is its stream's number times 2^40 plus its own in the stream.
CREATE TABLE streams (
    s    INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    seq  INTEGER NOT NULL,
    hash BLOB
);
CREATE TABLE commits (
    n    INTEGER PRIMARY KEY,
    id   BLOB NOT NULL,
    at   INTEGER NOT NULL,
    by   TEXT NOT NULL,
    op   TEXT NOT NULL,
    body BLOB NOT NULL,
    prev BLOB,
    hash BLOB
);
CREATE INDEX commits_id ON commits (id);

CREATE TABLE repeats (
    account TEXT NOT NULL,
    key     TEXT NOT NULL,
    input   BLOB NOT NULL,
    stream  TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (account, key)
) WITHOUT ROWID;
CREATE INDEX repeats_expires ON repeats (expires);

-- Search. A partition is a world's level: its number is 4 times the world's plus the
-- level. Its full-text tables are made when it is first written to; gen rises with each
-- card indexed in it or taken out, epoch when it is emptied. What is given of a card that
-- does not live is kept in no partition, 0.
CREATE TABLE parts (
    part  INTEGER PRIMARY KEY,
    gen   INTEGER NOT NULL,
    epoch INTEGER NOT NULL
);
CREATE TABLE docs (
    doc   INTEGER PRIMARY KEY,
    w     INTEGER NOT NULL,
    card  BLOB NOT NULL,
    part  INTEGER NOT NULL,
    level INTEGER NOT NULL,
    label INTEGER NOT NULL,
    sum   BLOB NOT NULL
);
CREATE UNIQUE INDEX docs_card ON docs (w, card);
CREATE INDEX docs_named ON docs (label) WHERE label > 0;
-- What is searchable of cards with named subjects, who are matched without statistics,
-- and of cards whose body does not give it again.
CREATE TABLE doc_texts (
    doc  INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE tokens (
    id    INTEGER PRIMARY KEY,
    part  INTEGER NOT NULL,
    token TEXT NOT NULL,
    UNIQUE (part, token)
);

-- Work that outlives a call, and the processes that say they live.
CREATE TABLE jobs (
    id      BLOB PRIMARY KEY,
    world   BLOB NOT NULL,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    level   INTEGER NOT NULL,
    owner   TEXT NOT NULL,
    state   TEXT NOT NULL,
    result  BLOB,
    problem TEXT NOT NULL,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX jobs_open ON jobs (owner) WHERE state IN ('queued', 'running');
CREATE TABLE job_owners (
    owner TEXT PRIMARY KEY,
    seen  INTEGER NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 1;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
