package sqlite

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// CardsAt returns the versions that were current just after a commit.
func (r *reader) CardsAt(ctx context.Context, s canon.Visibility, ids []canon.CardID,
	at canon.Seq) (list []canon.Version, err error) {
	for _, id := range ids {
		sc, ok, err := r.resolvePointScope(ctx, s)
		if !ok {
			return nil, err
		}
		seq := sc.Add(uint64(at))
		found, err := r.QueryVersionsFor(context.Background(), s, "SELECT "+dialect.Columns.Version+
			sc.FromHistory(access.View{}, sc.Add(id[:]))+" AND v.from_seq <= "+seq+" AND (v.to_seq = 0 OR v.to_seq > "+seq+
			") AND v.trashed = 0 ORDER BY v.rev DESC LIMIT 1", sc.Args...)
		if err != nil || len(ids) == 1 {
			return found, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// PutVersion writes a version and keeps its key if that is a former key of its card.
func (t *tx) PutVersion(ctx context.Context, v canon.Version) error {
	w, err := t.EnsureWorld(ctx, v.World)
	if err == nil {
		err = t.keepFormerKey(ctx, cardRef{w, v.Card}, markup.KeyOf(v.Name))
	}
	if err != nil {
		return err
	}
	return t.Tx.PutVersion(ctx, v)
}

// keepFormerKey records a version's key as a former key of its card, unless the card has that key
// now. Usually the card was written just before its version. If the card is renamed later, a
// trigger does the same.
func (t *tx) keepFormerKey(ctx context.Context, c cardRef, key markup.Key) error {
	if t.keyed == c && t.key == key {
		return nil
	}
	_, err := t.c.Exec(ctx, `INSERT OR IGNORE INTO former_keys (w, key, card)
		SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM cards WHERE w = $1 AND id = $3 AND key = $2)`, c.w, string(key), c.id[:])
	return err
}
