package canon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"loregate/internal/markup"
)

// Changes lists the cards that were changed between a commit and a snapshot. It shows nothing that
// the snapshot hides.
type Changes struct {
	Cards []Card   // changed cards that are visible; by id
	Gone  []CardID // changed cards that the caller knew and that are not visible; by id
	// Wide reports that the name, label or visibility of other cards may have changed too.
	// Their own content and fields have not.
	Wide bool
}

// Bounds of ChangesSince. Beyond them, reading everything again costs less.
const (
	maxSinceCommits = 256
	maxSinceCards   = 1000
	maxSinceMade    = 50 // created cards that are checked for children one by one
)

// ChangesSince returns the changes of the commits after since, up to the snapshot. It is for
// callers that keep cards which they read earlier; known reports whether the caller has a card. ok
// is false if there were too many changes or if a body was erased: then the caller must read
// everything again.
func (s *Snapshot) ChangesSince(ctx context.Context, since Seq,
	known func(CardID) bool) (d Changes, ok bool, err error) {
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

// hasAdopted reports whether one of the created cards may have become the parent of other cards,
// whose names follow the parent's. A hidden created card need not be checked, since it has no
// visible children.
func (s *Snapshot) hasAdopted(ctx context.Context, made []Card) (bool, error) {
	if len(made) > maxSinceMade {
		return true, nil
	}
	for _, c := range made {
		below, _, err := s.Cards(ctx, Filter{Prefix: c.Key}, Page{Limit: 2}) // the card itself and one more
		if err != nil || len(below) > 1 {
			return true, err
		}
	}
	return false, nil
}

// addCommit adds the cards that a commit wrote. It returns false if they do not describe the whole
// change, or if there are too many.
func (d *Changes) addCommit(rec Record, written map[CardID]Act) bool {
	for _, ch := range rec.Changes {
		switch {
		case ch.Purge != nil:
			return false
		case ch.World != nil:
			d.Wide = true // the name rules may have changed
		case ch.Card != nil:
			if act := ch.Card.Act; act != ActUpdate || written[ch.Card.ID] == "" {
				written[ch.Card.ID] = act
			}
			d.Wide = d.Wide || ch.Card.Act != ActUpdate && ch.Card.Act != ActCreate
		}
	}
	return len(written) <= maxSinceCards
}

// maxTouchCommits is the number of commits that Touched scans. A store writes fewer than that
// between two calls.
const maxTouchCommits = 2048

// Touched reports whether a commit after since wrote a card of a type, hidden cards included. It is
// for system code that asks often and rarely has to read more. It also returns true if there are
// more than maxTouchCommits commits.
func (s *Snapshot) Touched(ctx context.Context, since Seq, typ string) (bool, error) {
	now, key := s.Now(), markup.KeyOf(typ)
	if since > now || now-since > maxTouchCommits {
		return true, nil
	}
	for commit, err := range s.r.Commits(ctx, WorldStream(s.world.ID), since+1) {
		if err != nil {
			return false, err
		}
		var rec struct { // part of a Record, which takes twice as long to decode
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
