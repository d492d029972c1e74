-- +goose Up
-- The name that a version was written with, where it is another than the one that it bore
-- when it came into sight of more, and who may see it; '' where there is none.
ALTER TABLE versions
    ADD COLUMN was_name  text NOT NULL DEFAULT '',
    ADD COLUMN was_key   text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN was_level smallint NOT NULL DEFAULT 0,
    ADD COLUMN was_label bigint NOT NULL DEFAULT 0;
CREATE INDEX versions_was ON versions (w, was_key, card) WHERE was_key <> '';

-- Worlds whose tables are to be made again from their streams.
CREATE TABLE stale (w bigint PRIMARY KEY);

-- Who might see an older name of a card below another is known by the stream alone. Until
-- it is replayed, the name is the admins'.
INSERT INTO stale SELECT DISTINCT v.w FROM versions v JOIN cards c ON c.w = v.w AND c.id = v.card WHERE v.name <> c.name AND position('+' IN v.name) > 0;
UPDATE versions v SET was_name = v.name, was_key = v.key, was_level = 3, name = c.name, key = c.key
    FROM cards c WHERE c.w = v.w AND c.id = v.card AND v.name <> c.name AND position('+' IN v.name) > 0;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
