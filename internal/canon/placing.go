package canon

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Placer is implemented by Stores that keep worlds in several databases.
type Placer interface {
	// Place chooses the database of a world that is about to be created, and reserves its slug. It
	// returns ErrTaken if another world has the slug, and a fault.Conflict if one may get it. Placing a world again changes nothing.
	Place(ctx context.Context, w access.WorldID, slug string) error
	// WriteTo is Write in the database of one world, or for the zero id in that of the ledgers. f may
	// read everything, but writes only there.
	WriteTo(ctx context.Context, w access.WorldID, f func(Tx) error) error
}

// write is Store.Write for changes to a world, or for the zero id to ledgers. It refuses a world whose
// commits are lost.
func (c *Canon) write(ctx context.Context, w access.WorldID, f func(Tx) error) error {
	if err := c.checkLostWorld(w); err != nil {
		return err
	}
	if p, ok := c.store.(Placer); ok {
		return p.WriteTo(ctx, w, f)
	}
	return c.store.Write(ctx, f)
}

// place chooses the database of a world that is about to be created. A dry run reserves no slug: it is made in
// the database of the ledgers.
func (c *Canon) place(ctx context.Context, g access.Grant, w access.WorldID, slug string) error {
	p, ok := c.store.(Placer)
	if !ok || g.Request().DryRun {
		return nil
	}
	err := p.Place(ctx, w, slug)
	if errors.Is(err, ErrTaken) {
		err = takenFault(slug)
	}
	return err
}

// StreamWorld returns the world whose stream has an id; false for a ledger.
func StreamWorld(s StreamID) (w access.WorldID, ok bool) {
	if len(s) <= len(worldKind)+1 || w.UnmarshalText([]byte(s[len(worldKind)+1:])) != nil {
		return access.WorldID{}, false
	}
	return w, WorldStream(w) == s
}

// partBytes limits the commits and contents that ReadCommits reads; one commit is read whole.
const partBytes = 4 << 20

// ReadCommits reads up to n commits of a stream, beginning with a number, and the contents that they name
// and that the store still has. It returns fewer commits if they are large. It checks no grant: it is for
// wiring code that copies worlds.
func ReadCommits(ctx context.Context, r Reader, s StreamID, from Seq, n int) (list []StoredCommit, bodies map[Hash][]byte,
	err error) {
	w, isWorld := StreamWorld(s)
	size, named := 0, contentList{}
	for commit, err := range r.Commits(ctx, s, from) {
		if err != nil {
			return nil, nil, err
		}
		list, size = append(list, commit), size+len(commit.Body)
		if isWorld {
			added, err := named.add(commit)
			if err != nil {
				return nil, nil, err
			}
			size += added
		}
		if len(list) == n || size > partBytes {
			break
		}
	}
	bodies = map[Hash][]byte{}
	for c, err := range readContents(ctx, r, w, named.list) {
		if err != nil {
			return nil, nil, err
		}
		bodies[c.hash] = c.body
	}
	return list, bodies, nil
}

// AppendCopied adds commits of a world that another store has, which follow the head, and updates the
// tables. bodies has the contents that they name and that the other store still has. It checks no
// grant: it is for wiring code that copies worlds.
func AppendCopied(ctx context.Context, tx Tx, w access.WorldID, list []StoredCommit, bodies map[Hash][]byte) error {
	if len(list) > 1 && list[0].Seq == 1 { // the first commit creates the world, of which nothing can be prefetched before
		if err := AppendCopied(ctx, tx, w, list[:1], bodies); err != nil {
			return err
		}
		list = list[1:]
	}
	records := make([]Record, len(list))
	for i, commit := range list {
		if Chain(commit.Prev, commit.Body) != commit.Hash {
			return &Broken{Stream: commit.Stream, Seq: commit.Seq, Why: "its bytes do not match its hash"}
		}
		var err error
		if records[i], err = commit.Record(); err != nil {
			return err
		}
	}
	if err := prefetchCopied(ctx, tx, w, records); err != nil {
		return err
	}
	for i := range records {
		if err := projectCopied(ctx, tx, w, &records[i], bodies); err != nil {
			return err
		}
		if err := tx.Append(ctx, list[i]); err != nil {
			return err
		}
	}
	return nil
}

func projectCopied(ctx context.Context, tx Tx, w access.WorldID, rec *Record, bodies map[Hash][]byte) error {
	// A later commit may erase a content that one after it names again.
	for _, ch := range rec.Changes {
		if h, named := ch.Content(); named && bodies[h] != nil {
			if err := tx.PutBody(ctx, w, h, bodies[h]); err != nil {
				return err
			}
		}
	}
	p := projector{tx: tx, world: w, rec: rec, fresh: bodies}
	for _, ch := range rec.Changes {
		if err := p.projectChange(ctx, ch); err != nil {
			return err
		}
	}
	return p.projectEvent(ctx)
}

// prefetchCopied loads the cards that commits change, the cards above them, and the cards with the names
// that they will get.
func prefetchCopied(ctx context.Context, tx Tx, w access.WorldID, list []Record) error {
	if _, ok := tx.(Prefetcher); !ok {
		return nil
	}
	n := Needs{World: w, Stream: WorldStream(w)}
	seen := map[CardID]bool{{}: true}
	add := func(id CardID) {
		if !seen[id] {
			seen[id] = true
			n.Cards = append(n.Cards, id)
		}
	}
	for _, rec := range list {
		for _, ch := range rec.Changes {
			switch {
			case ch.Card != nil:
				add(ch.Card.ID)
				add(ch.Card.Parent)
			case ch.Purge != nil:
				add(ch.Purge.Card)
			}
		}
	}
	n.Cards = n.Cards[:min(len(n.Cards), prefetchedCards)]
	if err := Prefetch(ctx, tx, n); err != nil {
		return err
	}
	keys, err := keysToCome(ctx, tx, w, list)
	if err != nil || len(keys) == 0 {
		return err
	}
	return Prefetch(ctx, tx, Needs{World: w, Keys: keys[:min(len(keys), prefetchedKeys)]})
}

// prefetchedCards and prefetchedKeys limit what is prefetched for a copy: a commit may change thousands of
// cards, and a key brings the cards below it. The rest is queried one by one.
const (
	prefetchedCards = 10_000
	prefetchedKeys  = 1000
)

// keysToCome returns the keys that cards get by commits.
func keysToCome(ctx context.Context, tx Tx, w access.WorldID, list []Record) ([]markup.Key, error) {
	p := projector{tx: tx, world: w}
	key, all := map[CardID]markup.Key{}, map[markup.Key]bool{}
	for _, rec := range list {
		for _, ch := range rec.Changes {
			if ch.Card == nil {
				continue
			}
			k := markup.KeyOf(ch.Card.Part)
			if id := ch.Card.Parent; !id.IsZero() {
				if _, ok := key[id]; !ok {
					c, _, err := First(tx.FindCards(ctx, p.all(), CardQuery{ID: id}))
					if err != nil {
						return nil, err
					}
					key[id] = c.Key
				}
				k = key[id] + "+" + k
			}
			key[ch.Card.ID], all[k] = k, true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// DigestContents returns the number of the contents that a world's commits name and the store has, and
// a hash of them. It checks no grant, as Digest.
func DigestContents(ctx context.Context, r Reader, w access.WorldID) (d Digested, err error) {
	named, err := namedContents(ctx, r, w)
	if err != nil {
		return d, err
	}
	h := sha256.New()
	for c, err := range readContents(ctx, r, w, named) {
		if err != nil {
			return Digested{}, err
		}
		sum := sha256.Sum256(c.body)
		h.Write(sum[:])
		d.Rows++
	}
	d.Sum = Hash(h.Sum(nil))
	return d, nil
}
