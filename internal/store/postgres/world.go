package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/service"
)

const selectWorlds = "SELECT i.id, d.slug, d.title, d.settings, d.created, d.origin, d.origin_seq FROM worlds d JOIN world_ids i ON i.w = d.w "

func readWorld(r row) (canon.World, error) {
	w := canon.World{ID: readID[access.WorldID](r[0]), Slug: r.textAt(1), Title: r.textAt(2),
		CreatedAt: service.Time(r.intAt(4)),
		Origin:    readID[access.WorldID](r[5]), OriginSeq: canon.Seq(r.intAt(6))}
	if err := json.Unmarshal(r[3], &w.Settings); err != nil {
		return w, fmt.Errorf("settings of world %s: %w", w.ID, err)
	}
	return w, nil
}

func (r *reader) queryWorlds(ctx context.Context, where string, args ...any) (list []canon.World, err error) {
	err = r.c.query(ctx, func(r row) error {
		w, err := readWorld(r)
		list = append(list, w)
		return err
	}, selectWorlds+where, args...)
	return list, err
}

func (r *reader) Worlds(ctx context.Context, q canon.WorldQuery) ([]canon.World, error) {
	switch {
	case q.All:
		return r.queryWorlds(ctx, "ORDER BY d.slug")
	case q.ID.IsZero():
		return r.queryWorlds(ctx, "WHERE d.slug = $1", q.Slug)
	}
	if w, ok := r.prefetched.worlds[q.ID]; ok {
		return []canon.World{w}, nil
	}
	return r.queryWorlds(ctx, "WHERE i.id = $1", uuidOf(q.ID))
}

func (r *reader) Members(ctx context.Context, q canon.MemberQuery) (list []canon.Member, err error) {
	where, arg := "m.subject = $1 ORDER BY i.id", any(string(q.Subject))
	if !q.World.IsZero() {
		where, arg = "i.id = $1 ORDER BY m.subject", uuidOf(q.World)
	}
	err = r.c.query(ctx, func(r row) error {
		list = append(list, canon.Member{World: readID[access.WorldID](r[0]), Subject: access.Subject(r.textAt(1)),
			Role: access.Role(r.intAt(2)), Player: readID[canon.CardID](r[3])})
		return nil
	}, "SELECT i.id, m.subject, m.role, m.player FROM members m JOIN world_ids i ON i.w = m.w WHERE "+where, arg)
	return list, err
}

// Body returns stored bytes.
func (r *reader) Body(ctx context.Context, w access.WorldID, h canon.Hash) (b []byte, found bool, err error) {
	n, err := r.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return nil, false, err
	}
	if b, ok := r.prefetched.bodies[bodyRef{n, h}]; ok {
		return slices.Clone(b), b != nil, nil
	}
	found, err = r.c.queryOne(ctx, func(r row) error { b = r.bytesAt(0); return nil },
		"SELECT body FROM bodies WHERE w = $1 AND hash = $2", n, h[:])
	return b, found, err
}

// ensureWorldNumber returns a world's number and assigns one if the world has none.
func (t *tx) ensureWorldNumber(ctx context.Context, id access.WorldID) (int64, error) {
	w, err := t.findWorldNumber(ctx, id)
	if err == nil && w == 0 {
		if w, err = t.c.queryInt(ctx, "INSERT INTO world_ids (id) VALUES ($1) RETURNING w", uuidOf(id)); err == nil {
			t.c.enqueue("INSERT INTO searched (w) VALUES ($1) ON CONFLICT DO NOTHING", w)
		}
	}
	if err != nil {
		return 0, err
	}
	if t.worlds == nil {
		t.worlds = make(map[access.WorldID]int64)
	}
	t.worlds[id] = w
	return w, nil
}

func (t *tx) PutWorld(ctx context.Context, d canon.World) error {
	delete(t.prefetched.worlds, d.ID)
	taken, err := t.c.queryInt(ctx,
		"SELECT 1 FROM worlds d JOIN world_ids i ON i.w = d.w WHERE d.slug = $1 AND i.id <> $2", d.Slug, uuidOf(d.ID))
	if err != nil {
		return err
	}
	if taken != 0 {
		return fmt.Errorf("slug %q: %w", d.Slug, canon.ErrTaken)
	}
	w, err := t.ensureWorldNumber(ctx, d.ID)
	if err != nil {
		return err
	}
	settings, err := json.Marshal(d.Settings)
	if err != nil {
		return err
	}
	t.c.enqueue(`INSERT INTO worlds (w, slug, title, settings, created, origin, origin_seq) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (w) DO UPDATE SET slug = $2, title = $3, settings = $4, created = $5, origin = $6, origin_seq = $7`,
		w, d.Slug, d.Title, string(settings), service.Millis(d.CreatedAt), uuidOf(d.Origin), uint64(d.OriginSeq))
	return nil
}

// PutMember stores a membership; RoleNone stores that it was revoked.
func (t *tx) PutMember(ctx context.Context, m canon.Member) error {
	w, err := t.ensureWorldNumber(ctx, m.World)
	if err != nil {
		return err
	}
	t.c.enqueue(`INSERT INTO members (w, subject, role, player) VALUES ($1, $2, $3, $4) ON CONFLICT (w, subject) DO UPDATE SET role = $3, player = $4`,
		w, string(m.Subject), int64(m.Role), uuidOf(m.Player))
	return nil
}

func (t *tx) PutBody(ctx context.Context, w access.WorldID, h canon.Hash, b []byte) error {
	n, err := t.ensureWorldNumber(ctx, w)
	if err != nil {
		return err
	}
	if b == nil {
		b = []byte{}
	}
	delete(t.prefetched.bodies, bodyRef{n, h})
	t.c.enqueue("INSERT INTO bodies (w, hash, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", n, h[:], b)
	return nil
}

func (t *tx) EraseBody(ctx context.Context, w access.WorldID, h canon.Hash) error {
	n, err := t.findWorldNumber(ctx, w)
	if err == nil && n != 0 {
		delete(t.prefetched.bodies, bodyRef{n, h})
		t.c.enqueue("DELETE FROM bodies WHERE w = $1 AND hash = $2", n, h[:])
		t.scrubIndex(w, n)
	}
	return err
}

// BodyInUse scans all versions of the world: only the operator's purge calls it, and an index by
// hash would slow down every write.
func (t *tx) BodyInUse(ctx context.Context, w access.WorldID, h canon.Hash) (bool, error) {
	n, err := t.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return false, err
	}
	used, err := t.c.queryInt(ctx,
		"SELECT 1 FROM versions WHERE w = $1 AND content IS NOT DISTINCT FROM $2 AND NOT purged LIMIT 1", n, hashBytes(h))
	return used != 0, err
}
