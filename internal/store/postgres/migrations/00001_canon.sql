-- +goose Up
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- The one row that everybody who writes locks, and counts up before the commit.
CREATE TABLE writer (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    n   bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO writer (n) VALUES (0);

-- Worlds are known to every other table by a small number, which outlives a rebuild.
CREATE TABLE world_ids (
    w  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL UNIQUE
);

CREATE TABLE worlds (
    w          bigint PRIMARY KEY,
    slug       text COLLATE "C" NOT NULL UNIQUE,
    title      text NOT NULL,
    settings   text NOT NULL,
    created    bigint NOT NULL,
    origin     uuid NOT NULL,
    origin_seq bigint NOT NULL
);

CREATE TABLE members (
    w       bigint NOT NULL,
    subject text COLLATE "C" NOT NULL,
    role    smallint NOT NULL,
    player  uuid NOT NULL,
    PRIMARY KEY (w, subject)
);
CREATE INDEX members_subject ON members (subject, w);

-- Labels that name subjects. A row's label is 0 where its level says everything.
CREATE TABLE labels (
    label bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    w     bigint NOT NULL,
    text  text COLLATE "C" NOT NULL,
    UNIQUE (w, text)
);
CREATE TABLE label_subjects (
    w       bigint NOT NULL,
    subject text COLLATE "C" NOT NULL,
    label   bigint NOT NULL,
    PRIMARY KEY (w, subject, label)
);

CREATE TABLE bodies (
    w    bigint NOT NULL,
    hash bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (w, hash)
);

-- fold is the name as comparisons without case and accents see it.
CREATE TABLE cards (
    rid        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    w          bigint NOT NULL,
    id         uuid NOT NULL,
    parent     uuid NOT NULL,
    part       text NOT NULL,
    codename   text COLLATE "C" NOT NULL,
    type       text NOT NULL,
    type_key   text COLLATE "C" NOT NULL,
    content    bytea,
    size       bigint NOT NULL,
    length     bigint NOT NULL,
    fields     bytea,
    own        text NOT NULL,
    name       text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    fold       text COLLATE "C" NOT NULL,
    level      smallint NOT NULL,
    label      bigint NOT NULL,
    rev        bigint NOT NULL,
    c1         bigint NOT NULL,
    c2         bigint NOT NULL,
    c3         bigint NOT NULL,
    created    bigint NOT NULL,
    created_by text NOT NULL,
    updated    bigint NOT NULL,
    updated_by text NOT NULL,
    seq        bigint NOT NULL,
    trashed    bigint NOT NULL,
    trash_root uuid NOT NULL,
    sort       bigint NOT NULL
);
CREATE UNIQUE INDEX cards_id ON cards (w, id);
CREATE UNIQUE INDEX cards_living ON cards (w, key, level, label) WHERE trashed = 0;
CREATE UNIQUE INDEX cards_codename ON cards (w, codename, level, label) WHERE trashed = 0 AND codename <> '';
CREATE INDEX cards_listed ON cards (w, level, key, id) WHERE trashed = 0;
CREATE INDEX cards_type ON cards (w, level, type_key, key, id) WHERE trashed = 0;
CREATE INDEX cards_updated ON cards (w, level, updated DESC, key, id) WHERE trashed = 0;
CREATE INDEX cards_created ON cards (w, level, created DESC, key, id) WHERE trashed = 0;
CREATE INDEX cards_sort ON cards (w, level, sort, key, id) WHERE trashed = 0;
CREATE INDEX cards_parent ON cards (w, parent, created, id) WHERE trashed = 0;
CREATE INDEX cards_named ON cards (w, label) WHERE trashed = 0 AND label > 0;
CREATE INDEX cards_trash ON cards (w, trash_root) WHERE trashed <> 0;
CREATE INDEX cards_fold ON cards USING gin (fold gin_trgm_ops) WITH (gin_pending_list_limit = 256) WHERE trashed = 0;

-- Aliases of living cards.
CREATE TABLE aliases (
    w    bigint NOT NULL,
    rid  bigint NOT NULL,
    key  text COLLATE "C" NOT NULL,
    fold text COLLATE "C" NOT NULL,
    PRIMARY KEY (rid, key)
);
CREATE INDEX aliases_key ON aliases (w, key);
CREATE INDEX aliases_fold ON aliases USING gin (fold gin_trgm_ops);

CREATE TABLE versions (
    w        bigint NOT NULL,
    card     uuid NOT NULL,
    rev      bigint NOT NULL,
    from_seq bigint NOT NULL,
    to_seq   bigint NOT NULL,
    c1       bigint NOT NULL,
    c2       bigint NOT NULL,
    c3       bigint NOT NULL,
    level    smallint NOT NULL,
    label    bigint NOT NULL,
    name     text NOT NULL,
    key      text COLLATE "C" NOT NULL,
    type     text NOT NULL,
    type_key text COLLATE "C" NOT NULL,
    content  bytea,
    size     bigint NOT NULL,
    length   bigint NOT NULL,
    fields   bytea,
    trashed  boolean NOT NULL,
    purged   boolean NOT NULL,
    at       bigint NOT NULL,
    by       text NOT NULL,
    op       text NOT NULL,
    change   uuid NOT NULL,
    PRIMARY KEY (w, card, rev)
);
CREATE INDEX versions_feed ON versions (w, level, at DESC, from_seq DESC, card, rev DESC);
CREATE INDEX versions_key ON versions (w, key, card);

CREATE TABLE refs (
    w         bigint NOT NULL,
    from_card uuid NOT NULL,
    ord       bigint NOT NULL,
    kind      smallint NOT NULL,
    target    text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    PRIMARY KEY (w, from_card, ord, kind, target)
);
CREATE INDEX refs_target ON refs (w, target, kind, from_card);
CREATE INDEX refs_tags ON refs (w, target, from_card) WHERE kind = 3;

CREATE TABLE links (
    w         bigint NOT NULL,
    id        uuid NOT NULL,
    since     bigint NOT NULL,
    until     bigint NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    from_card uuid NOT NULL,
    to_card   uuid NOT NULL,
    attrs     bytea,
    level     smallint NOT NULL,
    label     bigint NOT NULL,
    at        bigint NOT NULL,
    clock     bigint,
    PRIMARY KEY (w, id, since)
);
CREATE INDEX links_from ON links (w, from_card, until);
CREATE INDEX links_to ON links (w, to_card, until);
CREATE INDEX links_kind ON links (w, kind, since) WHERE until = 0;
CREATE INDEX links_clock ON links (w, clock) WHERE until = 0 AND clock IS NOT NULL;

CREATE TABLE layers (
    w         bigint NOT NULL,
    id        uuid NOT NULL,
    since     bigint NOT NULL,
    until     bigint NOT NULL,
    card      uuid NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    text      text NOT NULL,
    from_tick bigint NOT NULL,
    to_tick   bigint NOT NULL,
    level     smallint NOT NULL,
    label     bigint NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (w, id, since)
);
CREATE INDEX layers_card ON layers (w, card, until);

CREATE TABLE events (
    w           bigint NOT NULL,
    seq         bigint NOT NULL,
    id          uuid NOT NULL,
    at          bigint NOT NULL,
    by          text NOT NULL,
    op          text NOT NULL,
    type        text COLLATE "C" NOT NULL,
    scope       text COLLATE "C" NOT NULL,
    actor_kind  text NOT NULL,
    actor       text COLLATE "C" NOT NULL,
    correlation text NOT NULL,
    causation   text NOT NULL,
    key         text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    payload     bytea,
    level       smallint NOT NULL,
    label       bigint NOT NULL,
    PRIMARY KEY (w, seq)
);
CREATE INDEX events_listed ON events (w, level, seq);
CREATE INDEX events_scope ON events (w, level, scope, seq);
CREATE INDEX events_type ON events (w, level, type, seq);
CREATE INDEX events_actor ON events (w, level, actor, seq) WHERE actor <> '';
CREATE INDEX events_key ON events (w, key, seq) WHERE key <> '';
CREATE INDEX events_id ON events (w, id);

-- What is searched. fname and fbody are the tokens of name and body, each between blanks;
-- words has them as lexemes, those of the name with weight A, of the body with D. In a
-- big document words does not have all of them.
CREATE TABLE docs (
    w     bigint NOT NULL,
    card  uuid NOT NULL,
    level smallint NOT NULL,
    label bigint NOT NULL,
    name  text NOT NULL,
    body  text NOT NULL,
    fname text COLLATE "C" NOT NULL,
    fbody text COLLATE "C" NOT NULL,
    words tsvector NOT NULL,
    big   boolean NOT NULL,
    PRIMARY KEY (w, card)
);
-- Ranking reads words of every hit: they stay in the row as they are.
ALTER TABLE docs ALTER COLUMN words SET STORAGE MAIN;
-- What is not yet merged into these is read whole by each search: it is kept short.
CREATE INDEX docs_words ON docs USING gin (words) WITH (gin_pending_list_limit = 256);
CREATE INDEX docs_fname ON docs USING gin (fname gin_trgm_ops) WITH (gin_pending_list_limit = 256);
CREATE INDEX docs_fbody ON docs USING gin (fbody gin_trgm_ops) WITH (gin_pending_list_limit = 256);
CREATE INDEX docs_big ON docs (w) WHERE big;

CREATE TABLE streams (
    s    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    seq  bigint NOT NULL,
    hash bytea
) WITH (fillfactor = 50);
CREATE TABLE commits (
    s    bigint NOT NULL,
    seq  bigint NOT NULL,
    id   uuid NOT NULL,
    at   bigint NOT NULL,
    by   text NOT NULL,
    op   text NOT NULL,
    body bytea NOT NULL,
    prev bytea,
    hash bytea,
    PRIMARY KEY (s, seq)
);
CREATE INDEX commits_id ON commits (s, id);
CREATE INDEX commits_time ON commits (s, at, seq);

CREATE TABLE repeats (
    account text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    input   bytea NOT NULL,
    stream  text NOT NULL,
    seq     bigint NOT NULL,
    expires bigint NOT NULL,
    PRIMARY KEY (account, key)
);
CREATE INDEX repeats_expires ON repeats (expires);

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
