package sqlite

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/service"
)

// historyFrom returns the FROM clause of the visible versions of one visible card, ?3.
func (sc scope) historyFrom(view access.View) string {
	return ` FROM versions v WHERE v.w = ?1 AND v.card = ?3 AND ` + sc.visibleCond("v") +
		` AND (SELECT 1 FROM cards c WHERE c.w = ?1 AND c.id = ?3 AND ` + sc.trashCond(view) + ` AND ` +
		sc.visibleCond("c") + `) = 1`
}

func (r *reader) Versions(ctx context.Context, s canon.Visibility, id canon.CardID,
	p canon.Page) ([]canon.Version, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from := sc.historyFrom(s.View)
	list, err := r.queryVersionsFor(ctx, s, "SELECT "+versionColumns+from+" ORDER BY v.rev DESC LIMIT ?4 OFFSET ?5",
		sc.withArgs(id[:], p.Limit, max(p.Offset, 0))...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(p, len(list)); ok {
		return list, t, nil
	}
	total, err := r.countRows(ctx, "SELECT 1"+from, sc.withArgs(id[:])...)
	return list, total, err
}

func (r *reader) VersionByCount(ctx context.Context, s canon.Visibility, id canon.CardID,
	n uint32) (canon.Version, bool, error) {
	sc, ok, err := r.resolvePointScope(ctx, s)
	if !ok {
		return canon.Version{}, false, err
	}
	level := min(max(s.View.Level, access.LevelUser), access.LevelAdmin)
	count := fmt.Sprintf(`CASE WHEN (SELECT c.level FROM cards c WHERE c.w = ?1 AND c.id = ?3) > %[1]d
		THEN CASE (SELECT c.level FROM cards c WHERE c.w = ?1 AND c.id = ?3) WHEN 2 THEN v.c2 ELSE v.c3 END ELSE v.c%[2]d END`, s.View.Level, level)
	return canon.First(r.queryVersionsFor(context.Background(), s, "SELECT "+versionColumns+sc.historyFrom(s.View)+
		" AND "+count+" = ?4 ORDER BY v.rev LIMIT 1", sc.withArgs(id[:], int64(n))...))
}

func (r *reader) VersionByRev(ctx context.Context, w access.WorldID, id canon.CardID,
	rev uint32) (canon.Version, bool, error) {
	if err := ctx.Err(); err != nil {
		return canon.Version{}, false, err
	}
	n, err := r.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return canon.Version{}, false, err
	}
	return canon.First(r.queryVersions(context.Background(), w, "SELECT "+versionColumns+
		" FROM versions v WHERE v.w = ?1 AND v.card = ?2 AND v.rev = ?3", n, id[:], int64(rev)))
}

// CardsAt returns the versions that were current just after a commit.
func (r *reader) CardsAt(ctx context.Context, s canon.Visibility, ids []canon.CardID,
	at canon.Seq) (list []canon.Version, err error) {
	for _, id := range ids {
		sc, ok, err := r.resolvePointScope(ctx, s)
		if !ok {
			return nil, err
		}
		found, err := r.queryVersionsFor(context.Background(), s, "SELECT "+versionColumns+sc.historyFrom(access.View{})+
			" AND v.from_seq <= ?4 AND (v.to_seq = 0 OR v.to_seq > ?4) AND v.trashed = 0 ORDER BY v.rev DESC LIMIT 1",
			sc.withArgs(id[:], uint64(at))...)
		if err != nil || len(ids) == 1 {
			return found, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// Feed lists changes. For all cards it uses an index by level and time, as Cards does.
func (r *reader) Feed(ctx context.Context, s canon.Visibility,
	q canon.FeedQuery) ([]canon.Version, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	l := filterFeed(q)
	card := "c.trashed = 0"
	if !q.Card.IsZero() {
		card = sc.trashCond(s.View)
	}
	// Alias c is the version here, as unionByLevel requires, and k is its card.
	from := " FROM versions c CROSS JOIN cards k ON k.w = ?1 AND k.id = c.card WHERE c.w = ?1 AND %s AND " +
		escapeFormat(replaceAlias(card)+" AND "+sc.visibleCond("k")+l.andConditions())
	n := len(l.args)
	list, err := r.queryVersionsFor(ctx, s, fmt.Sprintf(`SELECT %s FROM (%s ORDER BY at DESC, from_seq DESC, card, rev DESC LIMIT ?%d OFFSET ?%d) o
		CROSS JOIN versions v ON v.w = ?1 AND v.card = o.card AND v.rev = o.rev ORDER BY o.at DESC, o.from_seq DESC, o.card, o.rev DESC`, versionColumns,
		sc.unionByLevel("SELECT c.at AS at, c.from_seq AS from_seq, c.card AS card, c.rev AS rev"+from), n+3, n+4),
		sc.withArgs(append(l.args[:n:n], q.Page.Limit, max(q.Page.Offset, 0))...)...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(q.Page, len(list)); ok {
		return list, t, nil
	}
	total, err := r.countRows(ctx, sc.unionByLevel("SELECT 1"+from), sc.withArgs(l.args...)...)
	return list, total, err
}

func filterFeed(q canon.FeedQuery) *listing {
	l := &listing{}
	if !q.Since.IsZero() {
		l.and("c.at >= %s", l.arg(ceilClock(q.Since)))
	}
	if !q.Before.IsZero() {
		l.and("c.at < %s", l.arg(ceilClock(q.Before)))
	}
	if q.Type != "" {
		l.and("c.type_key = %s", l.arg(string(markup.KeyOf(q.Type))))
	}
	if q.Author != "" {
		l.and("c.by = %s", l.arg(string(q.Author)))
	}
	if !q.Card.IsZero() {
		l.and("c.card = %s", l.arg(q.Card[:]))
	}
	return l
}

// replaceAlias replaces the alias c in the result of scope.trashCond by k.
func replaceAlias(s string) string {
	if s == "1" {
		return s
	}
	return "k" + s[1:]
}

func (t *tx) PutVersion(ctx context.Context, v canon.Version) error {
	w, err := t.ensureWorldNumber(ctx, v.World)
	if err != nil {
		return err
	}
	level, label, err := t.ensureLabelNumbers(ctx, w, v.Label)
	if err != nil {
		return err
	}
	key := markup.KeyOf(v.Name)
	if err := t.keepFormerKey(ctx, cardRef{w, v.Card}, key); err != nil {
		return err
	}
	wasLevel, wasLabel := int64(0), int64(0)
	if v.Former.Name != "" {
		if wasLevel, wasLabel, err = t.ensureLabelNumbers(ctx, w, v.Former.Label); err != nil {
			return err
		}
	}
	_, err = t.c.exec(ctx, `INSERT OR REPLACE INTO versions (w, card, rev, from_seq, to_seq, c1, c2, c3, level, label, name, key,
			type, type_key, content, size, length, fields, trashed, purged, at, by, op, change, was_name, was_key, was_level, was_label)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)`,
		w, v.Card[:], int64(v.Rev), uint64(v.From), uint64(v.To), int64(v.Counts[0]), int64(v.Counts[1]), int64(v.Counts[2]),
		level, label, v.Name, string(key), v.Type, string(markup.KeyOf(v.Type)), hashBlob(v.Content), v.Size, v.Length,
		jsonBlob(v.Fields), v.Trashed, v.Purged, service.Millis(v.At), string(v.By), v.Op, v.Change[:],
		v.Former.Name, string(markup.KeyOf(v.Former.Name)), wasLevel, wasLabel)
	return err
}

// keepFormerKey records a version's key as a former key of its card, unless the card has that key
// now. Usually the card was written just before its version. If the card is renamed later, a
// trigger does the same.
func (t *tx) keepFormerKey(ctx context.Context, c cardRef, key markup.Key) error {
	if t.keyed == c && t.key == key {
		return nil
	}
	_, err := t.c.exec(ctx, `INSERT OR IGNORE INTO former_keys (w, key, card)
		SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM cards WHERE w = ?1 AND id = ?3 AND key = ?2)`, c.w, string(key), c.id[:])
	return err
}

func (t *tx) EndVersion(ctx context.Context, w access.WorldID, id canon.CardID, to canon.Seq) error {
	n, err := t.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return err
	}
	_, err = t.c.exec(ctx, "UPDATE versions SET to_seq = ?3 WHERE w = ?1 AND card = ?2 AND to_seq = 0", n, id[:],
		uint64(to))
	return err
}
