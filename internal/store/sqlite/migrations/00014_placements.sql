-- +goose Up
-- In the home database: the database of each world that was placed, with the slug that it holds. '' is
-- the home database. version grows with each move.
CREATE TABLE placements (
	world    BLOB PRIMARY KEY,
	slug     TEXT NOT NULL UNIQUE,
	database TEXT NOT NULL,
	version  INTEGER NOT NULL,
	created  INTEGER NOT NULL
) WITHOUT ROWID;

-- In every database: the worlds that it does not serve at the moment, or not any more. state: 1 arriving,
-- 2 frozen, 3 moved. database is the other database of the move.
CREATE TABLE fences (
	world    BLOB PRIMARY KEY,
	state    INTEGER NOT NULL,
	database TEXT NOT NULL,
	version  INTEGER NOT NULL,
	until    INTEGER NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 14;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
