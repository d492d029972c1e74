-- +goose Up
-- The type of the card that a text is of, by its key, so that a search for cards of some
-- types reads no cards to tell them from the rest.
ALTER TABLE docs ADD COLUMN kind TEXT NOT NULL DEFAULT '';
UPDATE docs SET kind = (SELECT c.type_key FROM cards c WHERE c.w = docs.w AND c.id = docs.card);

PRAGMA user_version = 6;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
