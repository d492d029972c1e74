package canon

import (
	"context"
	"crypto/sha256"
	"errors"

	"loregate/internal/access"
)

// Placer is implemented by Stores that keep worlds in several databases.
type Placer interface {
	// Place chooses the database of a world that is about to be created, and reserves its slug. It
	// returns ErrTaken if another world has the slug. Placing a world again changes nothing.
	Place(ctx context.Context, w access.WorldID, slug string) error
	// WriteTo is Write in the database of one world, or for the zero id in that of the ledgers. f may
	// read everything, but writes only there.
	WriteTo(ctx context.Context, w access.WorldID, f func(Tx) error) error
}

// write is Store.Write for changes to a world, or for the zero id to ledgers.
func (c *Canon) write(ctx context.Context, w access.WorldID, f func(Tx) error) error {
	if p, ok := c.store.(Placer); ok {
		return p.WriteTo(ctx, w, f)
	}
	return c.store.Write(ctx, f)
}

// place chooses the database of a world that is about to be created.
func (c *Canon) place(ctx context.Context, w access.WorldID, slug string) error {
	p, ok := c.store.(Placer)
	if !ok {
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

// AppendCopied adds commits of a world that another store has, which follow the head, and updates the
// tables. bodies has the contents that they name and that the other store still has. It checks no
// grant: it is for wiring code that copies worlds.
func AppendCopied(ctx context.Context, tx Tx, w access.WorldID, list []StoredCommit, bodies map[Hash][]byte) error {
	for _, commit := range list {
		if Chain(commit.Prev, commit.Body) != commit.Hash {
			return &Broken{commit.Stream, commit.Seq, "its bytes do not match its hash"}
		}
		rec, err := commit.Record()
		if err != nil {
			return err
		}
		// A later commit of the list may erase a content that one after it names again.
		for _, ch := range rec.Changes {
			if h, named := ch.Content(); named && bodies[h] != nil {
				if err := tx.PutBody(ctx, w, h, bodies[h]); err != nil {
					return err
				}
			}
		}
		p := projector{tx: tx, world: w, rec: &rec, fresh: bodies}
		for _, ch := range rec.Changes {
			if err := p.projectChange(ctx, ch); err != nil {
				return err
			}
		}
		if err := p.projectEvent(ctx); err != nil {
			return err
		}
		if err := tx.Append(ctx, commit); err != nil {
			return err
		}
	}
	return nil
}

// DigestContents returns the number of the contents that a world's commits name and the store has, and
// a hash of them. It checks no grant, as Digest.
func DigestContents(ctx context.Context, r Reader, w access.WorldID) (d Digested, err error) {
	named, err := namedContents(ctx, r, w)
	if err != nil {
		return d, err
	}
	h := sha256.New()
	for b, err := range storedContents(ctx, r, w, named) {
		if err != nil {
			return Digested{}, err
		}
		sum := sha256.Sum256(b)
		h.Write(sum[:])
		d.Rows++
	}
	d.Sum = Hash(h.Sum(nil))
	return d, nil
}
