-- +goose Up
-- Where the text of a card lies in bodies: the row that is looked at first. It may lie
-- elsewhere, so whoever reads the row compares its hash.
ALTER TABLE cards ADD COLUMN body INTEGER;
UPDATE cards SET body = (SELECT b.rowid FROM bodies b WHERE b.w = cards.w AND b.hash = cards.content);

-- The bodies of access records are compressed from here on, those of the file beside the
-- store too. Its format stays: a program of before that runs on goes on to append to it.
PRAGMA user_version = 12;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
