-- +goose Up
-- What is searchable of cards is found by an index of its own, outside of the database: see
-- package search. gen says of each card when that last changed; the numbers rise by commits,
-- for they come one after the other. name and body are NULL where nothing is searchable of a
-- card but its name.
CREATE TABLE searched (
    w     bigint PRIMARY KEY,
    tag   text NOT NULL DEFAULT gen_random_uuid()::text, -- the world in this database, for the index's files
    epoch bigint NOT NULL DEFAULT 1,                     -- rises when the world is emptied to be made again
    scrub bigint NOT NULL DEFAULT 0                      -- rises when a text must leave the index's files
);
INSERT INTO searched (w) SELECT w FROM world_ids;

CREATE SEQUENCE docs_gen;
ALTER TABLE docs DROP COLUMN fname, DROP COLUMN fbody, ALTER COLUMN name DROP NOT NULL, ALTER COLUMN body DROP NOT NULL,
    ADD COLUMN gen bigint NOT NULL DEFAULT nextval('docs_gen');
INSERT INTO docs (w, card, level, label) SELECT w, id, 0, 0 FROM cards ON CONFLICT DO NOTHING;
CREATE INDEX docs_changed ON docs (w, gen);

DROP TABLE lexemes;
DROP TABLE tokens;
DROP TABLE indexed;
DROP INDEX cards_fold;
DROP INDEX aliases_fold;
ALTER TABLE aliases DROP COLUMN fold;

UPDATE writer SET format = 8;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
