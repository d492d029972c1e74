-- +goose Up
-- In the home database: the database of each world that was placed, with the slug that it holds. "" is
-- the home database. version grows with each move.
CREATE TABLE placements (
	world    uuid PRIMARY KEY,
	slug     text COLLATE "C" NOT NULL UNIQUE,
	database text NOT NULL,
	version  bigint NOT NULL,
	created  bigint NOT NULL
);

-- In every database: the worlds that it does not serve at the moment, or not any more. state: 1 arriving,
-- 2 frozen, 3 moved. database is the other database of the move.
CREATE TABLE fences (
	world    uuid PRIMARY KEY,
	state    smallint NOT NULL,
	database text NOT NULL,
	version  bigint NOT NULL,
	until    bigint NOT NULL
);

UPDATE writer SET format = 11;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
