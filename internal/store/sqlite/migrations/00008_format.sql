-- +goose Up
-- A program that is older than its store must stop before it writes: it would leave out
-- what later formats keep. From this one on programs compare user_version under the write
-- lock. Earlier ones do not, and may still run: they move a stream's head without its mark,
-- which is refused.
ALTER TABLE streams ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
UPDATE streams SET mark = seq;
-- +goose StatementBegin
CREATE TRIGGER streams_mark BEFORE UPDATE OF seq ON streams WHEN NEW.mark <> NEW.seq
BEGIN
    SELECT RAISE(ABORT, 'the store was upgraded by a newer Loregate: restart this process with the new program');
END;
-- +goose StatementEnd

PRAGMA user_version = 8;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
