-- +goose Up
-- What cards are ordered by, and presences keep world time in, read out of their JSON.
-- A card without the field comes last.
ALTER TABLE cards ADD COLUMN sort INTEGER NOT NULL DEFAULT 9223372036854775807;
UPDATE cards SET sort = json_extract(CAST(fields AS TEXT), '$.sort')
    WHERE fields IS NOT NULL AND json_type(CAST(fields AS TEXT), '$.sort') = 'integer' AND typeof(json_extract(CAST(fields AS TEXT), '$.sort')) = 'integer';
CREATE INDEX cards_sort ON cards (w, level, sort, key, id) WHERE trashed = 0;

ALTER TABLE links ADD COLUMN clock INTEGER;
UPDATE links SET clock = json_extract(CAST(attrs AS TEXT), '$.clock')
    WHERE kind = 'at' AND attrs IS NOT NULL AND json_type(CAST(attrs AS TEXT), '$.clock') = 'integer' AND typeof(json_extract(CAST(attrs AS TEXT), '$.clock')) = 'integer';
CREATE INDEX links_clock ON links (w, clock) WHERE until = 0 AND clock IS NOT NULL;
CREATE INDEX links_newest ON links (w, kind, since) WHERE until = 0;

-- Aliases of living cards, and the runs of three characters that they are found by.
CREATE TABLE aliases (
    w    INTEGER NOT NULL,
    rid  INTEGER NOT NULL,
    key  TEXT NOT NULL,
    PRIMARY KEY (w, key, rid)
) WITHOUT ROWID;
CREATE INDEX aliases_card ON aliases (rid);
CREATE TABLE alias_runs (
    w     INTEGER NOT NULL,
    level INTEGER NOT NULL,
    run   TEXT NOT NULL,
    rid   INTEGER NOT NULL,
    PRIMARY KEY (w, level, run, rid)
) WITHOUT ROWID;
CREATE INDEX alias_runs_card ON alias_runs (rid);

PRAGMA user_version = 4;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
