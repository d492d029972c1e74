-- +goose Up
-- What texts link to, by target: n1, n2 and n3 count the living cards up to each level
-- whose text links there, least is the lowest level of a living card that bears the key,
-- or 9. A card's list of tags is no text. Triggers keep the table, so that it follows from
-- refs and cards whatever writes them. The sum in min(level) keeps the search to the key:
-- an index in the order of levels would be walked whole where no card has it.
CREATE TABLE targets (
    w      bigint NOT NULL,
    target text COLLATE "C" NOT NULL,
    n1     bigint NOT NULL,
    n2     bigint NOT NULL,
    n3     bigint NOT NULL,
    least  smallint NOT NULL,
    PRIMARY KEY (w, target)
);

-- +goose StatementBegin
CREATE FUNCTION targets_least(of_w bigint, of_key text) RETURNS smallint LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT min(k.level + 0)::smallint FROM cards k WHERE k.w = of_w AND k.key = of_key AND k.trashed = 0), 9::smallint)
$$;
-- +goose StatementEnd

INSERT INTO targets (w, target, n1, n2, n3, least)
SELECT s.w, s.target, count(*) FILTER (WHERE s.level <= 1), count(*) FILTER (WHERE s.level <= 2), count(*), targets_least(s.w, s.target)
FROM (SELECT DISTINCT f.w, f.target, f.from_card, c.level FROM refs f JOIN cards c ON c.w = f.w AND c.id = f.from_card
    WHERE f.kind = 1 AND c.trashed = 0 AND right(c.key, 4) <> '+tag') s
GROUP BY s.w, s.target;

CREATE INDEX targets_1 ON targets (w, n1 DESC, target) WHERE n1 > 0 AND least > 1;
CREATE INDEX targets_2 ON targets (w, n2 DESC, target) WHERE n2 > 0 AND least > 2;
CREATE INDEX targets_3 ON targets (w, n3 DESC, target) WHERE n3 > 0 AND least > 3;

-- +goose StatementBegin
CREATE FUNCTION refs_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO targets (w, target, n1, n2, n3, least)
    SELECT s.w, s.target, count(*) FILTER (WHERE s.level <= 1), count(*) FILTER (WHERE s.level <= 2), count(*), targets_least(s.w, s.target)
    FROM (SELECT a.w, a.target, c.level
        FROM (SELECT n.w, n.target, n.from_card, count(*) AS now FROM added n WHERE n.kind = 1 GROUP BY 1, 2, 3) a
        JOIN cards c ON c.w = a.w AND c.id = a.from_card AND c.trashed = 0 AND right(c.key, 4) <> '+tag'
        WHERE (SELECT count(*) FROM refs r WHERE r.w = a.w AND r.target = a.target AND r.kind = 1 AND r.from_card = a.from_card) = a.now) s
    GROUP BY s.w, s.target
    ON CONFLICT (w, target) DO UPDATE SET n1 = targets.n1 + excluded.n1, n2 = targets.n2 + excluded.n2, n3 = targets.n3 + excluded.n3;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER refs_added AFTER INSERT ON refs REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refs_added();

-- +goose StatementBegin
CREATE FUNCTION refs_taken() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE targets t SET n1 = t.n1 - s.n1, n2 = t.n2 - s.n2, n3 = t.n3 - s.n3
    FROM (SELECT o.w, o.target, count(*) FILTER (WHERE c.level <= 1) AS n1, count(*) FILTER (WHERE c.level <= 2) AS n2, count(*) AS n3
        FROM (SELECT DISTINCT o.w, o.target, o.from_card FROM taken o WHERE o.kind = 1) o
        JOIN cards c ON c.w = o.w AND c.id = o.from_card AND c.trashed = 0 AND right(c.key, 4) <> '+tag'
        WHERE NOT EXISTS (SELECT FROM refs r WHERE r.w = o.w AND r.target = o.target AND r.kind = 1 AND r.from_card = o.from_card)
        GROUP BY 1, 2) s
    WHERE t.w = s.w AND t.target = s.target;
    DELETE FROM targets t USING (SELECT DISTINCT o.w, o.target FROM taken o WHERE o.kind = 1) o
    WHERE t.w = o.w AND t.target = o.target AND t.n3 <= 0;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER refs_taken AFTER DELETE ON refs REFERENCING OLD TABLE AS taken FOR EACH STATEMENT EXECUTE FUNCTION refs_taken();

-- A card that lives counts as a source of what it links to.
-- +goose StatementBegin
CREATE FUNCTION targets_count(card cards, step bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF card.trashed <> 0 OR right(card.key, 4) = '+tag' THEN
        RETURN;
    END IF;
    INSERT INTO targets (w, target, n1, n2, n3, least)
    SELECT DISTINCT f.w, f.target, CASE WHEN card.level <= 1 THEN step ELSE 0 END, CASE WHEN card.level <= 2 THEN step ELSE 0 END, step, targets_least(f.w, f.target)
    FROM refs f WHERE f.w = card.w AND f.from_card = card.id AND f.kind = 1
    ON CONFLICT (w, target) DO UPDATE SET n1 = targets.n1 + excluded.n1, n2 = targets.n2 + excluded.n2, n3 = targets.n3 + excluded.n3;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION cards_turned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM targets_count(OLD, -1);
        UPDATE targets SET least = targets_least(w, target) WHERE w = OLD.w AND target = OLD.key;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM targets_count(NEW, 1);
        UPDATE targets SET least = targets_least(w, target) WHERE w = NEW.w AND target = NEW.key;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER cards_added AFTER INSERT ON cards FOR EACH ROW WHEN (NEW.trashed = 0) EXECUTE FUNCTION cards_turned();
CREATE TRIGGER cards_taken AFTER DELETE ON cards FOR EACH ROW WHEN (OLD.trashed = 0) EXECUTE FUNCTION cards_turned();
CREATE TRIGGER cards_turned AFTER UPDATE ON cards FOR EACH ROW
    WHEN (OLD.level <> NEW.level OR OLD.key <> NEW.key OR (OLD.trashed = 0) <> (NEW.trashed = 0)) EXECUTE FUNCTION cards_turned();

UPDATE writer SET format = 7;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
