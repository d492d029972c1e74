-- +goose Up
-- Bodies of segments are compressed from here on, those that are there stay as they are: an
-- earlier program would take the new ones for broken.
PRAGMA user_version = 2;

-- +goose Down
SELECT 'a file of records is not taken back to before its first schema';
