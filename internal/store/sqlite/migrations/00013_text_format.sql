-- +goose Up
-- The format of a card's text: 0 is HTML, 1 Markdown. All earlier texts of types that hold HTML
-- are HTML.
ALTER TABLE cards ADD COLUMN format INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN format INTEGER NOT NULL DEFAULT 0;

-- The references and the searchable text of Markdown leave out its signs and its code from here on:
-- worlds with cards of the types that hold Markdown are rebuilt from their streams.
INSERT OR IGNORE INTO stale SELECT DISTINCT w FROM cards WHERE type_key IN ('markdown', 'timeline_event');

PRAGMA user_version = 13;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
