-- +goose Up
-- A program that is older than its store must stop before it writes: it would leave out
-- what later formats keep. From this one on programs compare the format, which each later
-- migration sets, when they take the writer's lock. Earlier ones do not, and may still run:
-- they count the writer up without its mark, which is refused.
ALTER TABLE writer ADD COLUMN format integer NOT NULL DEFAULT 0, ADD COLUMN mark bigint NOT NULL DEFAULT 0;
UPDATE writer SET format = 6, mark = n;
-- +goose StatementBegin
CREATE FUNCTION check_writer_mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the store was upgraded by a newer Loregate: restart this process with the new program' USING ERRCODE = 'LG001';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER writer_mark BEFORE UPDATE OF n ON writer FOR EACH ROW WHEN (NEW.mark <> NEW.n) EXECUTE FUNCTION check_writer_mark();

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
