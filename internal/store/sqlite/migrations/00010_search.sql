-- +goose Up
-- What is searchable of cards is found by an index of its own, outside of this file: see
-- package search. docs says of each card when that last changed: gen is a number of its
-- world that rises with every change. level and label are those of the text that is
-- searchable of the card, sum its checksum; sum is NULL where nothing is but the name.
CREATE TABLE searched (
    w     INTEGER PRIMARY KEY,
    tag   TEXT NOT NULL,    -- by chance: the world in this store, for the index's files
    epoch INTEGER NOT NULL, -- rises when the world is emptied to be made again
    gen   INTEGER NOT NULL,
    scrub INTEGER NOT NULL  -- rises when a text must leave the index's files
);

ALTER TABLE docs RENAME TO former_docs;
ALTER TABLE doc_texts RENAME TO former_texts;
DROP INDEX docs_card;
DROP INDEX docs_named;

CREATE TABLE docs (
    w     INTEGER NOT NULL,
    card  BLOB NOT NULL,
    gen   INTEGER NOT NULL,
    level INTEGER NOT NULL,
    label INTEGER NOT NULL,
    sum   BLOB,
    PRIMARY KEY (w, card)
) WITHOUT ROWID;
CREATE INDEX docs_gen ON docs (w, gen);
INSERT INTO docs (w, card, gen, level, label, sum)
SELECT c.w, c.id, c.rid, coalesce(d.level, 0), coalesce(d.label, 0), d.sum
FROM cards c LEFT JOIN former_docs d ON d.w = c.w AND d.card = c.id;

INSERT INTO searched (w, tag, epoch, gen, scrub)
SELECT i.w, lower(hex(randomblob(16))), 1, coalesce((SELECT max(d.gen) FROM docs d WHERE d.w = i.w), 0), 0 FROM world_ids i;

-- What is searchable of cards whose body does not give it again.
CREATE TABLE doc_texts (
    w    INTEGER NOT NULL,
    card BLOB NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (w, card)
);
INSERT INTO doc_texts (w, card, name, text)
SELECT d.w, d.card, x.name, x.text FROM former_texts x JOIN former_docs d ON d.doc = x.doc;

DROP TABLE former_docs;
DROP TABLE former_texts;
DROP TABLE tokens;
DROP TABLE parts;
DROP TABLE alias_runs;

PRAGMA user_version = 10;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
