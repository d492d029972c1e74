package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"loregate/internal/identity"
)

// identities stores keys, signing keys and invitations in their tables.
type identities struct{ db Database }

// Identity returns the identity.Store for identity.Config.
func (s *Service) Identity() identity.Store { return identities{s.db} }

// changeCounted runs f with no other writer running and increments the generation if f changed
// anything.
func (i identities) changeCounted(ctx context.Context, f func(Conn) (changed int64, err error)) error {
	return i.db.Change(ctx, func(c Conn) error {
		n, err := f(c)
		if err != nil || n == 0 {
			return err
		}
		_, err = c.Exec(ctx, "UPDATE identity_generation SET n = n + 1")
		return err
	})
}

// Generation returns a number that changes with every write.
func (i identities) Generation(ctx context.Context) (g uint64, err error) {
	err = i.db.Snapshot(ctx, func(c Conn) error {
		n, err := QueryInt(ctx, c, "SELECT n FROM identity_generation")
		g = uint64(n)
		return err
	})
	return g, err
}

const keyColumns = "SELECT id, hash, spec, created, revoked FROM api_keys"

func readKey(r Row) (k identity.Key, err error) {
	k.ID, k.Created, k.Revoked = r.Text(0), timeFromNanos(r.Int(3)), timeFromNanos(r.Int(4))
	copy(k.Hash[:], r.Bytes(1))
	if err := json.Unmarshal([]byte(r.Text(2)), &k.KeySpec); err != nil {
		return k, fmt.Errorf("store: key %s: %w", k.ID, err)
	}
	return k, nil
}

// Keys yields all keys by creation.
func (i identities) Keys(ctx context.Context) iter.Seq2[identity.Key, error] {
	return func(yield func(identity.Key, error) bool) {
		var all []identity.Key
		err := i.db.Snapshot(ctx, func(c Conn) (err error) {
			all, err = queryAll(ctx, c, readKey, keyColumns+" ORDER BY created, n")
			return err
		})
		if err != nil {
			yield(identity.Key{}, err)
			return
		}
		for _, k := range all {
			if !yield(k, nil) {
				return
			}
		}
	}
}

// KeyByID returns the key with an id.
func (i identities) KeyByID(ctx context.Context, id string) (identity.Key, bool, error) {
	return findOne(ctx, i.db, readKey, keyColumns+" WHERE id = $1", id)
}

// KeyByHash returns the key with a hash. The index is searched by a hash whose bytes the caller
// cannot choose: the duration of the search reveals nothing about the secret.
func (i identities) KeyByHash(ctx context.Context, h identity.Hash) (identity.Key, bool, error) {
	return findOne(ctx, i.db, readKey, keyColumns+" WHERE hash = $1", h[:])
}

// AddKey stores a key.
func (i identities) AddKey(ctx context.Context, k identity.Key) error {
	spec, err := json.Marshal(k.KeySpec)
	if err != nil {
		return fmt.Errorf("store: key %s: %w", k.ID, err)
	}
	return i.changeCounted(ctx, func(c Conn) (int64, error) {
		if err := checkUnused(ctx, c, "api_keys", k.ID, k.Hash); err != nil {
			return 0, err
		}
		return c.Exec(ctx, "INSERT INTO api_keys (id, hash, spec, created, revoked) VALUES ($1, $2, $3, $4, $5)",
			k.ID, k.Hash[:], string(spec), toNanos(k.Created), toNanos(k.Revoked))
	})
}

// checkUnused refuses an id or hash that is in use. The caller is the only writer, so nobody can
// take them in between.
func checkUnused(ctx context.Context, c Conn, table, id string, h identity.Hash) error {
	n, err := QueryInt(ctx, c, "SELECT 1 FROM "+table+" WHERE id = $1 OR hash = $2 LIMIT 1", id, h[:])
	if err == nil && n != 0 {
		err = identity.ErrExists
	}
	return err
}

// RevokeKey marks a key as revoked.
func (i identities) RevokeKey(ctx context.Context, id string, at time.Time) (found bool, err error) {
	err = i.changeCounted(ctx, func(c Conn) (int64, error) {
		n, err := QueryInt(ctx, c, "SELECT count(*) FROM api_keys WHERE id = $1", id)
		if found = n > 0; err != nil || !found {
			return 0, err
		}
		return c.Exec(ctx, "UPDATE api_keys SET revoked = $2 WHERE id = $1 AND revoked = 0", id, toNanos(at))
	})
	return found, err
}

// DeleteKeys deletes keys in one transaction.
func (i identities) DeleteKeys(ctx context.Context, ids []string) error {
	return i.changeCounted(ctx, func(c Conn) (deleted int64, err error) {
		for _, id := range ids {
			n, err := c.Exec(ctx, "DELETE FROM api_keys WHERE id = $1", id)
			if err != nil {
				return deleted, err
			}
			deleted += n
		}
		return deleted, nil
	})
}

// SigningKeys returns all signing keys, latest first.
func (i identities) SigningKeys(ctx context.Context) (all []identity.SigningKey, err error) {
	err = i.db.Snapshot(ctx, func(c Conn) (err error) {
		all, err = queryAll(ctx, c, func(r Row) (identity.SigningKey, error) {
			return identity.SigningKey{KID: r.Text(0), PEM: r.Bytes(1), Created: timeFromNanos(r.Int(2)),
				Until: timeFromNanos(r.Int(3))}, nil
		}, "SELECT kid, pem, created, until FROM signing_keys ORDER BY n DESC")
		return err
	})
	return all, err
}

// AddSigningKey adds a signing key if after is the id of the latest one. It ends that one at until
// and deletes keys that have ended.
func (i identities) AddSigningKey(ctx context.Context, k identity.SigningKey, after string,
	until time.Time) (added bool, err error) {
	err = i.changeCounted(ctx, func(c Conn) (int64, error) {
		latest := ""
		if err := Each(ctx, c, func(r Row) error { latest = r.Text(0); return nil },
			"SELECT kid FROM signing_keys ORDER BY n DESC LIMIT 1"); err != nil {
			return 0, err
		}
		if added = latest == after; !added {
			return 0, nil
		}
		if _, err := c.Exec(ctx, "UPDATE signing_keys SET until = $2 WHERE kid = $1", after, toNanos(until)); err != nil {
			return 0, err
		}
		if _, err := c.Exec(ctx, "DELETE FROM signing_keys WHERE until <> 0 AND until < $1", toNanos(k.Created)); err != nil {
			return 0, err
		}
		return c.Exec(ctx, "INSERT INTO signing_keys (kid, pem, created, until) VALUES ($1, $2, $3, $4)",
			k.KID, k.PEM, toNanos(k.Created), toNanos(k.Until))
	})
	return added && err == nil, err
}
