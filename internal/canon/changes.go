package canon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"loregate/internal/markup"
)

// Changes is what became of cards between a commit and a snapshot. It shows only what the
// look does: a card that was written out of sight is in it nowhere.
type Changes struct {
	Cards []Card   // in sight, that were written; by id
	Gone  []CardID // of those that the caller knew, that were written and are not in sight; by id
	// Wide says that names, labels and being there of other cards may have changed as
	// well, though nothing that they say.
	Wide bool
}

// Bounds of a drift. Beyond them it costs less to read what is wanted anew.
const (
	maxSinceCommits = 256
	maxSinceCards   = 1000
	maxSinceMade    = 50 // whose children are looked for one by one
)

// ChangesSince follows the commits after a number to the snapshot's, for those who keep what
// they once read. known tells which cards they have. It is false where there are too many
// commits, or where a body was erased: then all is to be read anew.
func (s *Snapshot) ChangesSince(ctx context.Context, since Seq, known func(CardID) bool) (d Changes, ok bool, err error) {
	now := s.Now()
	if since > now || now-since > maxSinceCommits {
		return Changes{}, false, nil
	}
	written := map[CardID]Act{}
	for commit, err := range s.r.Commits(ctx, WorldStream(s.world.ID), since+1) {
		if err != nil {
			return Changes{}, false, err
		}
		rec, err := commit.Record()
		if err != nil {
			return Changes{}, false, err
		}
		if !d.addCommit(rec, written) {
			return Changes{}, false, nil
		}
	}
	ids := slices.SortedFunc(maps.Keys(written), func(a, b CardID) int { return slices.Compare(a[:], b[:]) })
	if d.Cards, err = s.ByIDs(ctx, ids); err != nil {
		return Changes{}, false, err
	}
	var made []Card
	for _, c := range d.Cards {
		if written[c.ID] == ActCreate {
			made = append(made, c)
		}
		delete(written, c.ID)
	}
	if !d.Wide {
		if d.Wide, err = s.hasAdopted(ctx, made); err != nil {
			return Changes{}, false, err
		}
	}
	d.Gone = slices.DeleteFunc(ids, func(id CardID) bool { return written[id] == "" || !known(id) })
	return d, true, nil
}

// hasAdopted reports whether one of the cards that were made may have become the parent of
// others, which then are named after it. What is out of sight has no children in sight.
func (s *Snapshot) hasAdopted(ctx context.Context, made []Card) (bool, error) {
	if len(made) > maxSinceMade {
		return true, nil
	}
	for _, c := range made {
		below, _, err := s.Cards(ctx, Filter{Prefix: c.Key}, Page{Limit: 2}) // itself, and one more
		if err != nil || len(below) > 1 {
			return true, err
		}
	}
	return false, nil
}

// addCommit adds what a commit wrote; false where that cannot be told by its cards.
func (d *Changes) addCommit(rec Record, written map[CardID]Act) bool {
	for _, ch := range rec.Changes {
		switch {
		case ch.Purge != nil:
			return false
		case ch.World != nil:
			d.Wide = true // the name rules may be others
		case ch.Card != nil:
			if act := ch.Card.Act; act != ActUpdate || written[ch.Card.ID] == "" {
				written[ch.Card.ID] = act
			}
			d.Wide = d.Wide || ch.Card.Act != ActUpdate && ch.Card.Act != ActCreate
		}
	}
	return len(written) <= maxSinceCards
}

// maxTouchCommits is more than a store takes between two looks.
const maxTouchCommits = 2048

// Touched reports whether a commit after a number wrote a card of a type, in sight or not:
// it is for the system, which asks often and seldom has to look closer. It is true as well
// after more than maxTouchCommits.
func (s *Snapshot) Touched(ctx context.Context, since Seq, typ string) (bool, error) {
	now, key := s.Now(), markup.KeyOf(typ)
	if since > now || now-since > maxTouchCommits {
		return true, nil
	}
	for commit, err := range s.r.Commits(ctx, WorldStream(s.world.ID), since+1) {
		if err != nil {
			return false, err
		}
		var rec struct { // of a Record, which takes twice as long to decode
			Changes []struct{ Card *struct{ Type string } }
		}
		if err := json.Unmarshal(commit.Body, &rec); err != nil {
			return false, fmt.Errorf("canon: commit %s/%d: %w", commit.Stream, commit.Seq, err)
		}
		for _, ch := range rec.Changes {
			if ch.Card != nil && markup.KeyOf(ch.Card.Type) == key {
				return true, nil
			}
		}
	}
	return false, nil
}
