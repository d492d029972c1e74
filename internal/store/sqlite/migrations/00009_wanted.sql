-- +goose Up
-- What texts link to, by target: n1, n2 and n3 count the living cards up to each level
-- whose text links there, least is the lowest level of a living card that bears the key,
-- or 9. A card's list of tags is no text. Triggers keep the table, so that it follows from
-- refs and cards whatever writes them. The sum in min(level) keeps the search to the key:
-- an index in the order of levels would be walked whole where no card has it.
CREATE TABLE targets (
    w      INTEGER NOT NULL,
    target TEXT NOT NULL,
    n1     INTEGER NOT NULL,
    n2     INTEGER NOT NULL,
    n3     INTEGER NOT NULL,
    least  INTEGER NOT NULL,
    PRIMARY KEY (w, target)
) WITHOUT ROWID;

INSERT INTO targets (w, target, n1, n2, n3, least)
SELECT s.w, s.target, sum(s.level <= 1), sum(s.level <= 2), count(*),
    coalesce((SELECT min(+k.level) FROM cards k WHERE k.w = s.w AND k.key = s.target AND k.trashed = 0), 9)
FROM (SELECT DISTINCT f.w, f.target, f.from_card, c.level FROM refs f CROSS JOIN cards c ON c.w = f.w AND c.id = f.from_card
    WHERE f.kind = 1 AND c.trashed = 0 AND substr(c.key, -4) <> '+tag') s
GROUP BY s.w, s.target;

CREATE INDEX targets_1 ON targets (w, n1 DESC, target) WHERE n1 > 0 AND least > 1;
CREATE INDEX targets_2 ON targets (w, n2 DESC, target) WHERE n2 > 0 AND least > 2;
CREATE INDEX targets_3 ON targets (w, n3 DESC, target) WHERE n3 > 0 AND least > 3;

-- +goose StatementBegin
CREATE TRIGGER refs_added AFTER INSERT ON refs WHEN NEW.kind = 1 BEGIN
    INSERT INTO targets (w, target, n1, n2, n3, least)
    SELECT NEW.w, NEW.target, c.level <= 1, c.level <= 2, 1,
        coalesce((SELECT min(+k.level) FROM cards k WHERE k.w = NEW.w AND k.key = NEW.target AND k.trashed = 0), 9)
    FROM cards c WHERE c.w = NEW.w AND c.id = NEW.from_card AND c.trashed = 0 AND substr(c.key, -4) <> '+tag'
        AND (SELECT count(*) FROM refs r WHERE r.w = NEW.w AND r.target = NEW.target AND r.kind = 1 AND r.from_card = NEW.from_card) = 1
    ON CONFLICT (w, target) DO UPDATE SET n1 = n1 + excluded.n1, n2 = n2 + excluded.n2, n3 = n3 + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER refs_taken AFTER DELETE ON refs WHEN OLD.kind = 1 BEGIN
    UPDATE targets SET n1 = n1 - (c.level <= 1), n2 = n2 - (c.level <= 2), n3 = n3 - 1
    FROM cards c WHERE targets.w = OLD.w AND targets.target = OLD.target
        AND c.w = OLD.w AND c.id = OLD.from_card AND c.trashed = 0 AND substr(c.key, -4) <> '+tag'
        AND NOT EXISTS (SELECT 1 FROM refs r WHERE r.w = OLD.w AND r.target = OLD.target AND r.kind = 1 AND r.from_card = OLD.from_card);
    DELETE FROM targets WHERE w = OLD.w AND target = OLD.target AND n3 <= 0;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cards_added AFTER INSERT ON cards WHEN NEW.trashed = 0 BEGIN
    UPDATE targets SET least = min(least, NEW.level) WHERE w = NEW.w AND target = NEW.key;
    INSERT INTO targets (w, target, n1, n2, n3, least)
    SELECT DISTINCT f.w, +f.target, NEW.level <= 1, NEW.level <= 2, 1,
        coalesce((SELECT min(+k.level) FROM cards k WHERE k.w = f.w AND k.key = f.target AND k.trashed = 0), 9)
    FROM refs f WHERE f.w = NEW.w AND f.from_card = NEW.id AND f.kind = 1 AND substr(NEW.key, -4) <> '+tag'
    ON CONFLICT (w, target) DO UPDATE SET n1 = n1 + excluded.n1, n2 = n2 + excluded.n2, n3 = n3 + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cards_taken AFTER DELETE ON cards WHEN OLD.trashed = 0 BEGIN
    UPDATE targets SET n1 = n1 - (OLD.level <= 1), n2 = n2 - (OLD.level <= 2), n3 = n3 - 1
    WHERE w = OLD.w AND substr(OLD.key, -4) <> '+tag'
        AND target IN (SELECT +f.target FROM refs f WHERE f.w = OLD.w AND f.from_card = OLD.id AND f.kind = 1);
    UPDATE targets SET least = coalesce((SELECT min(+k.level) FROM cards k WHERE k.w = OLD.w AND k.key = OLD.key AND k.trashed = 0), 9)
    WHERE w = OLD.w AND target = OLD.key;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cards_turned AFTER UPDATE OF level, trashed, key ON cards
    WHEN OLD.level <> NEW.level OR OLD.key <> NEW.key OR (OLD.trashed = 0) <> (NEW.trashed = 0) BEGIN
    UPDATE targets SET n1 = n1 - (OLD.level <= 1), n2 = n2 - (OLD.level <= 2), n3 = n3 - 1
    WHERE w = OLD.w AND OLD.trashed = 0 AND substr(OLD.key, -4) <> '+tag'
        AND target IN (SELECT +f.target FROM refs f WHERE f.w = OLD.w AND f.from_card = OLD.id AND f.kind = 1);
    INSERT INTO targets (w, target, n1, n2, n3, least)
    SELECT DISTINCT f.w, +f.target, NEW.level <= 1, NEW.level <= 2, 1,
        coalesce((SELECT min(+k.level) FROM cards k WHERE k.w = f.w AND k.key = f.target AND k.trashed = 0), 9)
    FROM refs f WHERE f.w = NEW.w AND f.from_card = NEW.id AND f.kind = 1 AND NEW.trashed = 0 AND substr(NEW.key, -4) <> '+tag'
    ON CONFLICT (w, target) DO UPDATE SET n1 = n1 + excluded.n1, n2 = n2 + excluded.n2, n3 = n3 + 1;
    UPDATE targets SET least = coalesce((SELECT min(+k.level) FROM cards k WHERE k.w = targets.w AND k.key = targets.target AND k.trashed = 0), 9)
    WHERE w = NEW.w AND target IN (OLD.key, NEW.key);
END;
-- +goose StatementEnd

PRAGMA user_version = 9;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
