package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// versionsOf returns the visible versions of a card as the view may see them, first version first.
// The card itself need not be visible.
func (r reader) versionsOf(s canon.Visibility, id canon.CardID) []canon.Version {
	rows, _ := r.s.versions.get(cardKey{s.World, id})
	var out []canon.Version
	for _, v := range rows {
		if s.View.Sees(v.Label) {
			out = append(out, v.For(s.View))
		}
	}
	return out
}

func (r reader) Versions(_ context.Context, s canon.Visibility, id canon.CardID,
	p canon.Page) ([]canon.Version, canon.Total, error) {
	var all []canon.Version
	if _, ok := r.findVisible(s, id); ok {
		all = r.versionsOf(s, id)
		slices.Reverse(all)
	}
	out, total := cutPage(all, p)
	return out, total, nil
}

func (r reader) VersionByCount(_ context.Context, s canon.Visibility, id canon.CardID,
	n uint32) (canon.Version, bool, error) {
	c, ok := r.findVisible(s, id)
	if !ok {
		return canon.Version{}, false, nil
	}
	level := max(s.View.Level, access.LevelUser)
	if s.View.Level < c.Label.Level {
		level = c.Label.Level
	}
	for _, v := range r.versionsOf(s, id) {
		if v.Counts.For(level) == n {
			return v, true, nil
		}
	}
	return canon.Version{}, false, nil
}

func (r reader) VersionByRev(_ context.Context, w access.WorldID, id canon.CardID,
	rev uint32) (canon.Version, bool, error) {
	rows, _ := r.s.versions.get(cardKey{w, id})
	for _, v := range rows {
		if v.Rev == rev {
			return v, true, nil
		}
	}
	return canon.Version{}, false, nil
}

func (r reader) Feed(_ context.Context, s canon.Visibility, q canon.FeedQuery) ([]canon.Version, canon.Total, error) {
	var all []canon.Version
	for key, c := range r.s.cards.all() {
		if key.world != s.World || !s.View.Sees(c.Label) || c.Trashed() && !q.NamesTrash(s.View) {
			continue
		}
		for _, v := range r.versionsOf(s, key.id) {
			if matchesFeed(q, v) {
				all = append(all, v)
			}
		}
	}
	slices.SortFunc(all, func(a, b canon.Version) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.From, a.From), bytes.Compare(a.Card[:], b.Card[:]),
			cmp.Compare(b.Rev, a.Rev))
	})
	out, total := cutPage(all, q.Page)
	return out, total, nil
}

func matchesFeed(q canon.FeedQuery, v canon.Version) bool {
	return canon.Within(v.At, q.Since, q.Before) &&
		(q.Type == "" || markup.KeyOf(v.Type) == markup.KeyOf(q.Type)) &&
		(q.Author == "" || v.By == q.Author) &&
		(q.Card.IsZero() || v.Card == q.Card) &&
		!slices.ContainsFunc(q.Except, func(s canon.Span) bool { return s.Has(v) })
}

func (r reader) CardsAt(_ context.Context, s canon.Visibility, ids []canon.CardID,
	at canon.Seq) (out []canon.Version, err error) {
	for _, id := range ids {
		_, alive := r.findLiving(s, id)
		for _, v := range slices.Backward(r.versionsOf(s, id)) {
			if alive && v.From <= at && at < endOrMax(v.To) && !v.Trashed {
				out = append(out, v)
				break
			}
		}
	}
	return out, nil
}

func (r reader) SeqAt(_ context.Context, w access.WorldID, at time.Time) (canon.Seq, error) {
	commits, _ := r.s.streams.get(canon.WorldStream(w))
	var last canon.StoredCommit
	for _, c := range commits {
		if !c.At.After(at) && !c.At.Before(last.At) {
			last = c
		}
	}
	return last.Seq, nil
}
