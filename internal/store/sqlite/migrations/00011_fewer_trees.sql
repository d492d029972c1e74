-- +goose Up
-- A new card is written to fewer trees of rows and indexes.

-- The keys that cards had before the one that they have: few cards are renamed, so that an
-- index of the key of every version is not worth its writes. A trigger keeps the table.
CREATE TABLE former_keys (
    w    INTEGER NOT NULL,
    key  TEXT NOT NULL,
    card BLOB NOT NULL,
    PRIMARY KEY (w, key, card)
) WITHOUT ROWID;
INSERT INTO former_keys (w, key, card)
SELECT DISTINCT v.w, v.key, v.card FROM versions v JOIN cards c ON c.w = v.w AND c.id = v.card WHERE v.key <> c.key;
-- +goose StatementBegin
CREATE TRIGGER cards_renamed AFTER UPDATE OF key ON cards WHEN OLD.key <> NEW.key BEGIN
    INSERT OR IGNORE INTO former_keys (w, key, card) VALUES (OLD.w, OLD.key, OLD.id);
END;
-- +goose StatementEnd

-- Versions lie in the tree that they are found by.
CREATE TABLE later_versions (
    w         INTEGER NOT NULL,
    card      BLOB NOT NULL,
    rev       INTEGER NOT NULL,
    from_seq  INTEGER NOT NULL,
    to_seq    INTEGER NOT NULL,
    c1        INTEGER NOT NULL,
    c2        INTEGER NOT NULL,
    c3        INTEGER NOT NULL,
    level     INTEGER NOT NULL,
    label     INTEGER NOT NULL,
    name      TEXT NOT NULL,
    key       TEXT NOT NULL,
    type      TEXT NOT NULL,
    type_key  TEXT NOT NULL,
    content   BLOB,
    size      INTEGER NOT NULL,
    length    INTEGER NOT NULL,
    fields    BLOB,
    trashed   INTEGER NOT NULL,
    purged    INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    by        TEXT NOT NULL,
    op        TEXT NOT NULL,
    change    BLOB NOT NULL,
    was_name  TEXT NOT NULL,
    was_key   TEXT NOT NULL,
    was_level INTEGER NOT NULL,
    was_label INTEGER NOT NULL,
    PRIMARY KEY (w, card, rev)
) WITHOUT ROWID;
INSERT INTO later_versions (w, card, rev, from_seq, to_seq, c1, c2, c3, level, label, name, key, type, type_key, content, size, length, fields,
    trashed, purged, at, by, op, change, was_name, was_key, was_level, was_label)
SELECT w, card, rev, from_seq, to_seq, c1, c2, c3, level, label, name, key, type, type_key, content, size, length, fields,
    trashed, purged, at, by, op, change, was_name, was_key, was_level, was_label FROM versions ORDER BY w, card, rev;
DROP TABLE versions;
ALTER TABLE later_versions RENAME TO versions;
CREATE INDEX versions_feed ON versions (w, level, at DESC, from_seq DESC, card, rev DESC);
CREATE INDEX versions_was ON versions (w, was_key, card) WHERE was_key <> '';

-- Nobody asks for the cards below no card by this index.
DROP INDEX cards_parent;
CREATE INDEX cards_parent ON cards (w, parent, created, id) WHERE trashed = 0 AND parent <> x'00000000000000000000000000000000';

-- How far the changes of a world go is the greatest gen in docs.
ALTER TABLE searched DROP COLUMN gen;

-- The trigger of 00009 again, which now looks first whether anything links to the new card or
-- from it: most often nothing does.
DROP TRIGGER cards_added;
-- +goose StatementBegin
CREATE TRIGGER cards_added AFTER INSERT ON cards
    WHEN NEW.trashed = 0 AND (EXISTS (SELECT 1 FROM targets WHERE w = NEW.w AND target = NEW.key)
        OR EXISTS (SELECT 1 FROM refs WHERE w = NEW.w AND from_card = NEW.id AND kind = 1)) BEGIN
    UPDATE targets SET least = min(least, NEW.level) WHERE w = NEW.w AND target = NEW.key;
    INSERT INTO targets (w, target, n1, n2, n3, least)
    SELECT DISTINCT f.w, +f.target, NEW.level <= 1, NEW.level <= 2, 1,
        coalesce((SELECT min(+k.level) FROM cards k WHERE k.w = f.w AND k.key = f.target AND k.trashed = 0), 9)
    FROM refs f WHERE f.w = NEW.w AND f.from_card = NEW.id AND f.kind = 1 AND substr(NEW.key, -4) <> '+tag'
    ON CONFLICT (w, target) DO UPDATE SET n1 = n1 + excluded.n1, n2 = n2 + excluded.n2, n3 = n3 + 1;
END;
-- +goose StatementEnd

PRAGMA user_version = 11;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
