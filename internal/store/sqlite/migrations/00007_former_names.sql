-- +goose Up
-- The name that a version was written with, where it is another than the one that it bore
-- when it came into sight of more, and who may see it; '' where there is none.
ALTER TABLE versions ADD COLUMN was_name  TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN was_key   TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN was_level INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN was_label INTEGER NOT NULL DEFAULT 0;
CREATE INDEX versions_was ON versions (w, was_key, card) WHERE was_key <> '';

-- Worlds whose tables are to be made again from their streams.
CREATE TABLE stale (w INTEGER PRIMARY KEY);

-- Who might see an older name of a card below another is known by the stream alone. Until
-- it is replayed, the name is the admins'.
INSERT INTO stale SELECT DISTINCT v.w FROM versions v JOIN cards c ON c.w = v.w AND c.id = v.card WHERE v.name <> c.name AND instr(v.name, '+') > 0;
UPDATE versions SET was_name = versions.name, was_key = versions.key, was_level = 3, name = c.name, key = c.key
    FROM cards c WHERE c.w = versions.w AND c.id = versions.card AND versions.name <> c.name AND instr(versions.name, '+') > 0;

PRAGMA user_version = 7;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
