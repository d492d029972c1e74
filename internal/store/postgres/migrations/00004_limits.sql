-- +goose Up
-- What callers have spent of their allowances, for all processes: the nanoseconds since
-- 1970 at which each is whole again. Nothing is lost with it, so it needs no log.
CREATE UNLOGGED TABLE spent (
    account text COLLATE "C" NOT NULL,
    class   text COLLATE "C" NOT NULL,
    minute  bigint NOT NULL,
    second  bigint NOT NULL,
    PRIMARY KEY (account, class)
) WITH (fillfactor = 50);
