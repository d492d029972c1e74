-- +goose Up
-- What a member with the role user may do, as access.May: 0 is all that the role may, as before.
ALTER TABLE members ADD COLUMN may smallint NOT NULL DEFAULT 0;
ALTER TABLE invitations ADD COLUMN may smallint NOT NULL DEFAULT 0;

UPDATE writer SET format = 14;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
