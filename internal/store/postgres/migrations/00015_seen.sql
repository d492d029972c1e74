-- +goose Up
-- The index of the access records by card, which follows from the records. access_seen counts the answers that held a
-- card: week is the number of the week since 1970 in which they were given; card is half an id, 0 for all cards; first_at and last_at are milliseconds. access_progress says how far the segments of each
-- process are counted; done, that the process has ended.
CREATE TABLE access_readers (
    reader    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    world     bytea NOT NULL,
    subject   text NOT NULL,
    role      bigint NOT NULL,
    operation text NOT NULL,
    UNIQUE (world, subject, role, operation)
);
CREATE TABLE access_seen (
    week     bigint NOT NULL,
    card     bigint NOT NULL,
    reader   bigint NOT NULL,
    times    bigint NOT NULL,
    first_at bigint NOT NULL,
    last_at  bigint NOT NULL,
    PRIMARY KEY (week, card, reader)
);
CREATE TABLE access_progress (
    process text PRIMARY KEY,
    seq     bigint NOT NULL,
    done    boolean NOT NULL
);

UPDATE writer SET format = 15;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
