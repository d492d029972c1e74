package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/service"
)

var selectWorlds = "SELECT " + unnamedColumns("i.id, d.slug, d.title, d.settings, d.created, d.origin, d.origin_seq") +
	" FROM worlds d JOIN world_ids i ON i.w = d.w"

func (r *reader) queryWorlds(ctx context.Context, where string, args ...any) (list []canon.World, err error) {
	err = r.c.query(ctx, func(row row) error {
		w := canon.World{
			ID: readBlob[access.WorldID](row.bytesAt(0)), Slug: row.textAt(1), Title: row.textAt(2),
			CreatedAt: service.Time(row.intAt(4)), Origin: readBlob[access.WorldID](row.bytesAt(5)),
			OriginSeq: canon.Seq(row.intAt(6)),
		}
		if text := row.textAt(3); text == "{}" { // the settings of most worlds; every call reads them
			list = append(list, w)
			return nil
		} else if err := json.Unmarshal([]byte(text), &w.Settings); err != nil {
			return fmt.Errorf("settings of world %s: %w", w.ID, err)
		}
		list = append(list, w)
		return nil
	}, selectWorlds+where, args...)
	return list, err
}

func (r *reader) Worlds(ctx context.Context, q canon.WorldQuery) ([]canon.World, error) {
	switch {
	case !q.ID.IsZero():
		return r.cachedWorld(ctx, q.ID)
	case q.All:
		return r.queryWorlds(ctx, " ORDER BY d.slug")
	}
	return r.queryWorlds(ctx, " WHERE d.slug = ?1", q.Slug)
}

// cachedWorld returns the world with an id from the connection's cache. Every call needs it.
func (r *reader) cachedWorld(ctx context.Context, id access.WorldID) ([]canon.World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.writes == nil { // Begin refreshes the cache of a write transaction
		if err := r.c.worlds.refresh(r.c); err != nil {
			return nil, err
		}
	}
	if list, ok := r.c.worlds.rows[id]; ok {
		return list, nil
	}
	list, err := r.queryWorlds(context.Background(), " WHERE i.id = ?1", id[:])
	if err == nil && len(list) > 0 {
		r.c.worlds.rows[id] = list
	}
	return list, err
}

// worldCache caches the rows of worlds that a connection has read, until another connection writes
// to the file. A write or rollback on this connection clears it.
type worldCache struct {
	version int64                            // data_version of the file as this connection sees it
	rows    map[access.WorldID][]canon.World // lists of one world
}

// refresh drops the cached rows if the file has changed.
func (k *worldCache) refresh(c *conn) error {
	v, err := c.queryInt(context.Background(), "PRAGMA data_version")
	if err == nil && (v != k.version || k.rows == nil) {
		k.version, k.rows = v, map[access.WorldID][]canon.World{}
	}
	return err
}

func (k *worldCache) forgetRows() { clear(k.rows) }

func (r *reader) Members(ctx context.Context, q canon.MemberQuery) (list []canon.Member, err error) {
	where, arg := "m.subject = ?1 ORDER BY i.id", any(string(q.Subject))
	if !q.World.IsZero() {
		where, arg = "i.id = ?1 ORDER BY m.subject", q.World[:]
	}
	err = r.c.query(ctx, func(row row) error {
		list = append(list, canon.Member{
			World: readBlob[access.WorldID](row.bytesAt(0)), Subject: access.Subject(row.textAt(1)),
			Role: access.Role(row.intAt(2)), Player: readBlob[canon.CardID](row.bytesAt(3)),
		})
		return nil
	}, "SELECT i.id, m.subject, m.role, m.player FROM members m JOIN world_ids i ON i.w = m.w WHERE "+where, arg)
	return list, err
}

// Body returns stored bytes.
func (r *reader) Body(ctx context.Context, w access.WorldID, h canon.Hash) (b []byte, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if b, ok := r.prefetched.findBody(h); ok {
		return b, true, nil
	}
	n, err := r.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return nil, false, err
	}
	found, err = r.c.queryOne(context.Background(), func(row row) error {
		b = bodyAt(row, 0)
		return nil
	}, "SELECT body FROM bodies WHERE w = ?1 AND hash = ?2", n, h[:])
	return b, found, err
}

// bodyAt returns the body in a column. An empty body is not nil.
func bodyAt(r row, column int) []byte {
	if b := r.bytesAt(column); b != nil {
		return b
	}
	return []byte{}
}

// ensureWorldNumber returns a world's number and assigns one if the world has none.
func (t *tx) ensureWorldNumber(ctx context.Context, id access.WorldID) (int64, error) {
	w, err := t.findWorldNumber(ctx, id)
	if err != nil || w != 0 {
		if w != 0 {
			t.rememberWorld(id, w)
		}
		return w, err
	}
	if w, err = t.c.insert(ctx, "INSERT INTO world_ids (id) VALUES (?1)", id[:]); err == nil {
		t.rememberWorld(id, w)
	}
	return w, err
}

func (t *tx) rememberWorld(id access.WorldID, w int64) {
	if t.worlds == nil {
		t.worlds = make(map[access.WorldID]int64)
	}
	t.worlds[id] = w
}

// ensureLabelNumbers returns the level and label columns for a label and adds a new label to
// labels.
func (t *tx) ensureLabelNumbers(ctx context.Context, w int64, l access.Label) (level, label int64, err error) {
	switch {
	case l.Level == access.LevelNone:
		return int64(access.LevelUser), unlabelled, nil
	case len(l.Subjects) == 0:
		return int64(l.Level), 0, nil
	}
	level = int64(l.Level)
	if label, err = t.c.queryInt(ctx, "SELECT label FROM labels WHERE w = ?1 AND text = ?2", w, l.String()); err != nil ||
		label != 0 {
		return level, label, err
	}
	if _, err = t.c.exec(ctx, "INSERT INTO labels (w, text) VALUES (?1, ?2)", w, l.String()); err != nil {
		return 0, 0, err
	}
	if label, err = t.c.queryInt(ctx, "SELECT last_insert_rowid()"); err != nil {
		return 0, 0, err
	}
	for _, s := range l.Subjects {
		if _, err = t.c.exec(ctx, "INSERT INTO label_subjects (w, subject, label) VALUES (?1, ?2, ?3)", w, string(s),
			label); err != nil {
			return 0, 0, err
		}
	}
	return level, label, nil
}

func (t *tx) PutWorld(ctx context.Context, d canon.World) error {
	w, err := t.ensureWorldNumber(ctx, d.ID)
	if err != nil {
		return err
	}
	settings, err := json.Marshal(d.Settings)
	if err != nil {
		return err
	}
	_, err = t.c.exec(ctx, `INSERT INTO worlds (w, slug, title, settings, created, origin, origin_seq) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
		ON CONFLICT (w) DO UPDATE SET slug = ?2, title = ?3, settings = ?4, created = ?5, origin = ?6, origin_seq = ?7`,
		w, d.Slug, d.Title, string(settings), service.Millis(d.CreatedAt), idBlob(d.Origin), uint64(d.OriginSeq))
	t.c.worlds.forgetRows()
	if isTaken(err) {
		return fmt.Errorf("slug %q: %w", d.Slug, canon.ErrTaken)
	}
	return err
}

// PutMember stores a membership; RoleNone stores that it was revoked.
func (t *tx) PutMember(ctx context.Context, m canon.Member) error {
	w, err := t.ensureWorldNumber(ctx, m.World)
	if err != nil {
		return err
	}
	_, err = t.c.exec(ctx, `INSERT INTO members (w, subject, role, player) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT DO UPDATE SET role = ?3, player = ?4`, w, string(m.Subject), int64(m.Role), idBlob(m.Player))
	return err
}

func (t *tx) PutBody(ctx context.Context, w access.WorldID, h canon.Hash, b []byte) error {
	n, err := t.ensureWorldNumber(ctx, w)
	if err != nil {
		return err
	}
	if b == nil {
		b = []byte{}
	}
	_, err = t.c.exec(ctx, "INSERT OR IGNORE INTO bodies (w, hash, body) VALUES (?1, ?2, ?3)", n, h[:], b)
	return err
}

func (t *tx) EraseBody(ctx context.Context, w access.WorldID, h canon.Hash) error {
	n, err := t.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return err
	}
	if err := t.storeTextsOfBody(ctx, w, n, h); err != nil {
		return err
	}
	if _, err := t.c.exec(ctx, "DELETE FROM bodies WHERE w = ?1 AND hash = ?2", n, h[:]); err != nil {
		return err
	}
	return t.scrubIndex(ctx, w, n)
}

// BodyInUse scans all versions of the world: only the operator's purge calls it, and an index by
// hash would slow down every write.
func (t *tx) BodyInUse(ctx context.Context, w access.WorldID, h canon.Hash) (bool, error) {
	n, err := t.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return false, err
	}
	used, err := t.c.queryInt(ctx, "SELECT 1 FROM versions WHERE w = ?1 AND content = ?2 AND purged = 0 LIMIT 1", n, h[:])
	return used != 0, err
}
