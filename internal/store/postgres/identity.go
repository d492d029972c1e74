package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"loregate/internal/access"
	"loregate/internal/identity"
)

// Identity is the store as identity.Store: keys, signing keys and invitations, in
// tables of their own. Its times are nanoseconds since 1970, 0 for the zero time.
type Identity struct{ s *Store }

// Identity gives the store's other side, for identity.Config.
func (s *Store) Identity() *Identity { return &Identity{s} }

var _ identity.Store = (*Identity)(nil)

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func unnanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// change runs f in a transaction and, where it changed anything, moves the generation.
func (i *Identity) change(ctx context.Context, f func(*conn) (changed int64, err error)) error {
	return i.s.write(ctx, func(t *tx) error {
		n, err := f(t.c)
		if err != nil || n == 0 {
			return err
		}
		_, err = t.c.exec(ctx, "UPDATE identity_generation SET n = n + 1")
		return err
	})
}

// Generation changes with every write.
func (i *Identity) Generation(ctx context.Context) (g uint64, err error) {
	err = i.s.read(ctx, func(c *conn) error {
		n, err := c.number(ctx, "SELECT n FROM identity_generation")
		g = uint64(n)
		return err
	})
	return g, err
}

const keyColumns = "SELECT id, hash, spec, created, revoked FROM api_keys"

func keyOf(r row) (k identity.Key, err error) {
	k.ID, k.Created, k.Revoked = r.text(0), unnanos(r.int(3)), unnanos(r.int(4))
	copy(k.Hash[:], r[1])
	if err := json.Unmarshal([]byte(r.text(2)), &k.KeySpec); err != nil {
		return k, fmt.Errorf("postgres: key %s: %w", k.ID, err)
	}
	return k, nil
}

// Keys yields all keys by creation.
func (i *Identity) Keys(ctx context.Context) iter.Seq2[identity.Key, error] {
	return func(yield func(identity.Key, error) bool) {
		var all []identity.Key
		err := i.s.read(ctx, func(c *conn) error {
			return c.query(ctx, func(r row) error {
				k, err := keyOf(r)
				all = append(all, k)
				return err
			}, keyColumns+" ORDER BY created, n")
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

// KeyByID finds a key.
func (i *Identity) KeyByID(ctx context.Context, id string) (identity.Key, bool, error) {
	return i.key(ctx, keyColumns+" WHERE id = $1", id)
}

// KeyByHash finds a key. The index is searched by a hash, of which whoever asks cannot
// choose a byte: how long it takes tells nothing of the secret.
func (i *Identity) KeyByHash(ctx context.Context, h identity.Hash) (identity.Key, bool, error) {
	return i.key(ctx, keyColumns+" WHERE hash = $1", h[:])
}

func (i *Identity) key(ctx context.Context, sql string, arg any) (k identity.Key, found bool, err error) {
	err = i.s.read(ctx, func(c *conn) error {
		found, err = c.one(ctx, func(r row) (err error) { k, err = keyOf(r); return err }, sql, arg)
		return err
	})
	return k, found, err
}

// AddKey keeps a key.
func (i *Identity) AddKey(ctx context.Context, k identity.Key) error {
	spec, err := json.Marshal(k.KeySpec)
	if err != nil {
		return fmt.Errorf("postgres: key %s: %w", k.ID, err)
	}
	return i.change(ctx, func(c *conn) (int64, error) {
		if err := i.free(ctx, c, "api_keys", k.ID, k.Hash); err != nil {
			return 0, err
		}
		return c.exec(ctx, "INSERT INTO api_keys (id, hash, spec, created, revoked) VALUES ($1, $2, $3, $4, $5)",
			k.ID, k.Hash[:], string(spec), nanos(k.Created), nanos(k.Revoked))
	})
}

// free refuses an id or hash that is in use. With the writer's lock held nobody takes
// them in between.
func (i *Identity) free(ctx context.Context, c *conn, table, id string, h identity.Hash) error {
	n, err := c.number(ctx, "SELECT 1 FROM "+table+" WHERE id = $1 OR hash = $2 LIMIT 1", id, h[:])
	if err == nil && n != 0 {
		err = identity.ErrExists
	}
	return err
}

// RevokeKey marks a key.
func (i *Identity) RevokeKey(ctx context.Context, id string, at time.Time) (found bool, err error) {
	err = i.change(ctx, func(c *conn) (int64, error) {
		n, err := c.number(ctx, "SELECT count(*) FROM api_keys WHERE id = $1", id)
		if found = n > 0; err != nil || !found {
			return 0, err
		}
		return c.exec(ctx, "UPDATE api_keys SET revoked = $2 WHERE id = $1 AND revoked = 0", id, nanos(at))
	})
	return found, err
}

// SigningKeys gives all, latest first.
func (i *Identity) SigningKeys(ctx context.Context) (all []identity.SigningKey, err error) {
	err = i.s.read(ctx, func(c *conn) error {
		return c.query(ctx, func(r row) error {
			all = append(all, identity.SigningKey{KID: r.text(0), PEM: r.bytes(1),
				Created: unnanos(r.int(2)), Until: unnanos(r.int(3))})
			return nil
		}, "SELECT kid, pem, created, until FROM signing_keys ORDER BY n DESC")
	})
	return all, err
}

// AddSigningKey adds a key after another.
func (i *Identity) AddSigningKey(ctx context.Context, k identity.SigningKey, after string, until time.Time) (added bool, err error) {
	err = i.change(ctx, func(c *conn) (int64, error) {
		latest := ""
		if _, err := c.one(ctx, func(r row) error { latest = r.text(0); return nil },
			"SELECT kid FROM signing_keys ORDER BY n DESC LIMIT 1"); err != nil {
			return 0, err
		}
		if added = latest == after; !added {
			return 0, nil
		}
		if _, err := c.exec(ctx, "UPDATE signing_keys SET until = $2 WHERE kid = $1", after, nanos(until)); err != nil {
			return 0, err
		}
		if _, err := c.exec(ctx, "DELETE FROM signing_keys WHERE until <> 0 AND until < $1", nanos(k.Created)); err != nil {
			return 0, err
		}
		return c.exec(ctx, "INSERT INTO signing_keys (kid, pem, created, until) VALUES ($1, $2, $3, $4)",
			k.KID, k.PEM, nanos(k.Created), nanos(k.Until))
	})
	return added && err == nil, err
}

const invitationColumns = "SELECT id, hash, world, role, invited_by, subject, state, created, expires, closed FROM invitations"

func invitationOf(r row) (i identity.Invitation) {
	i = identity.Invitation{
		ID: r.text(0), World: readID[access.WorldID](r[2]), Role: access.Role(r.int(3)), By: access.Subject(r.text(4)),
		Subject: access.Subject(r.text(5)), State: identity.InvitationState(r.text(6)),
		Created: unnanos(r.int(7)), Expires: unnanos(r.int(8)), Closed: unnanos(r.int(9)),
	}
	copy(i.Hash[:], r[1])
	return i
}

// AddInvitation keeps an invitation.
func (i *Identity) AddInvitation(ctx context.Context, v identity.Invitation) error {
	return i.change(ctx, func(c *conn) (int64, error) {
		if err := i.free(ctx, c, "invitations", v.ID, v.Hash); err != nil {
			return 0, err
		}
		return c.exec(ctx, `INSERT INTO invitations (id, hash, world, role, invited_by, subject, state, created, expires, closed)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			v.ID, v.Hash[:], uuidOf(v.World), int64(v.Role), string(v.By), string(v.Subject), string(v.State),
			nanos(v.Created), nanos(v.Expires), nanos(v.Closed))
	})
}

// InvitationByHash finds an invitation.
func (i *Identity) InvitationByHash(ctx context.Context, h identity.Hash) (v identity.Invitation, found bool, err error) {
	err = i.s.read(ctx, func(c *conn) error {
		found, err = c.one(ctx, func(r row) error { v = invitationOf(r); return nil }, invitationColumns+" WHERE hash = $1", h[:])
		return err
	})
	return v, found, err
}

// Invitations lists a world's.
func (i *Identity) Invitations(ctx context.Context, w access.WorldID) (all []identity.Invitation, err error) {
	err = i.s.read(ctx, func(c *conn) error {
		return c.query(ctx, func(r row) error { all = append(all, invitationOf(r)); return nil },
			invitationColumns+" WHERE world = $1 ORDER BY created, n", uuidOf(w))
	})
	return all, err
}

// ClaimInvitation gives an invitation to a subject.
func (i *Identity) ClaimInvitation(ctx context.Context, id string, to access.Subject) (mine bool, err error) {
	err = i.change(ctx, func(c *conn) (int64, error) {
		n, err := c.exec(ctx, "UPDATE invitations SET subject = $2 WHERE id = $1 AND state = $3 AND subject IN ('', $2)",
			id, string(to), string(identity.InvitationOpen))
		mine = n > 0
		return n, err
	})
	return mine && err == nil, err
}

// CloseInvitation ends an invitation.
func (i *Identity) CloseInvitation(ctx context.Context, id string, as identity.InvitationState, at time.Time) (open bool, err error) {
	err = i.change(ctx, func(c *conn) (int64, error) {
		n, err := c.exec(ctx, "UPDATE invitations SET state = $2, closed = $3 WHERE id = $1 AND state = $4",
			id, string(as), nanos(at), string(identity.InvitationOpen))
		open = n > 0
		return n, err
	})
	return open && err == nil, err
}
