-- +goose Up
-- Bodies of access records are compressed from here on, those that are there stay as they
-- are: an earlier program would take the new ones for broken. The server need not compress
-- them again.
ALTER TABLE access_segments ALTER COLUMN body SET STORAGE EXTERNAL;

UPDATE writer SET format = 9;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
