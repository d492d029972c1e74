-- +goose Up
-- The trigger of 00009 again. It counted all references of a card to the target of a new one; now it looks for one
-- other. With the count, a text that links n times to one name cost n² rows.
DROP TRIGGER refs_added;
-- +goose StatementBegin
CREATE TRIGGER refs_added AFTER INSERT ON refs WHEN NEW.kind = 1 BEGIN
    INSERT INTO targets (w, target, n1, n2, n3, least)
    SELECT NEW.w, NEW.target, c.level <= 1, c.level <= 2, 1,
        coalesce((SELECT min(+k.level) FROM cards k WHERE k.w = NEW.w AND k.key = NEW.target AND k.trashed = 0), 9)
    FROM cards c WHERE c.w = NEW.w AND c.id = NEW.from_card AND c.trashed = 0 AND substr(c.key, -4) <> '+tag'
        AND NOT EXISTS (SELECT 1 FROM refs r
            WHERE r.w = NEW.w AND r.target = NEW.target AND r.kind = 1 AND r.from_card = NEW.from_card AND r.ord <> NEW.ord)
    ON CONFLICT (w, target) DO UPDATE SET n1 = n1 + excluded.n1, n2 = n2 + excluded.n2, n3 = n3 + 1;
END;
-- +goose StatementEnd

PRAGMA user_version = 15;

-- +goose Down
SELECT 'a store is not taken back to before its first schema';
