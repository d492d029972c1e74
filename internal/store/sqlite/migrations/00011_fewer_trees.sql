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
DROP INDEX IF EXISTS versions_key;

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
