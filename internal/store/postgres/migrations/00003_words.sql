-- +goose Up
-- What is searched, apart from the texts: rows that are short, so that counting many of
-- them reads few pages. words are the lexemes of name (weight A) and body (weight D); a
-- token of the name is there as "=token" too, and as "-token" where the body does not
-- have it, so that a search of one column needs no look at the row. In a big document
-- words does not have all of them.
CREATE TABLE lexemes (
    w     bigint NOT NULL,
    card  uuid NOT NULL,
    level smallint NOT NULL,
    label bigint NOT NULL,
    big   boolean NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (w, card)
) WITH (toast_tuple_target = 8160);
-- Ranking reads words of every hit: they stay in the row as they are.
ALTER TABLE lexemes ALTER COLUMN words SET STORAGE MAIN;

-- Every token that a document of a world had at any time. n rises by commits, for they
-- come one after the other.
CREATE TABLE tokens (
    w     bigint NOT NULL,
    token text COLLATE "C" NOT NULL,
    n     bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (w, token)
);
CREATE INDEX tokens_n ON tokens (w, n);

-- How often documents of a world were indexed, and tokens added.
CREATE TABLE indexed (
    w      bigint PRIMARY KEY,
    docs   bigint NOT NULL,
    tokens bigint NOT NULL
) WITH (fillfactor = 10);

INSERT INTO lexemes (w, card, level, label, big, words)
SELECT w, card, level, label, big, words
    || coalesce((SELECT array_to_tsvector(array_agg('=' || lexeme)) FROM unnest(words) WHERE 'A' = ANY(weights)), '')
    || coalesce((SELECT array_to_tsvector(array_agg('-' || lexeme)) FROM unnest(words) WHERE NOT 'D' = ANY(weights)), '')
FROM docs;
INSERT INTO tokens (w, token) SELECT DISTINCT w, unnest(tsvector_to_array(words)) FROM docs;
INSERT INTO indexed (w, docs, tokens) SELECT w, count(*), 1 FROM docs GROUP BY w;

DROP INDEX docs_words;
DROP INDEX docs_fname;
DROP INDEX docs_fbody;
DROP INDEX docs_big;
ALTER TABLE docs DROP COLUMN words, DROP COLUMN big;
-- What is not yet merged into this is read whole by each search: it is kept short.
CREATE INDEX lexemes_words ON lexemes USING gin (words) WITH (gin_pending_list_limit = 256);
CREATE INDEX lexemes_big ON lexemes (w) WHERE big;
ANALYZE docs, lexemes, tokens;

-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE docs ALTER COLUMN name SET COMPRESSION lz4, ALTER COLUMN body SET COMPRESSION lz4,
        ALTER COLUMN fname SET COMPRESSION lz4, ALTER COLUMN fbody SET COMPRESSION lz4;
    ALTER TABLE lexemes ALTER COLUMN words SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL; -- a server without it compresses as it can
END
$$;
-- +goose StatementEnd

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
