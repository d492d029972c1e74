-- +goose Up
-- The hidden parts of a text lie in cards below it. places, of such a card: which ranges of its content are parts,
-- and where in the text above they belong, as JSON. parts, of the card above: 0 none, 1 some, 2 some with readers by name.
ALTER TABLE cards ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cards ADD COLUMN places TEXT;
ALTER TABLE versions ADD COLUMN places TEXT;

PRAGMA user_version = 17;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
