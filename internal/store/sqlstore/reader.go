package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/finder"
)

// Caches holds rows that never change once they are committed. A transaction adds its own rows only
// when it is durable. The zero value is empty.
type Caches struct {
	worlds sync.Map // access.WorldID -> int64
	labels sync.Map // int64 -> access.Label
	names  sync.Map // labelName -> int64
}

// Clear removes all rows.
func (c *Caches) Clear() {
	c.worlds.Clear()
	c.labels.Clear()
	c.names.Clear()
}

// labelName identifies a label by its world's number and its text.
type labelName struct {
	w    int64
	text string
}

// Reader answers the queries of one snapshot that are the same in every SQL database. A store's
// reader embeds it.
type Reader struct {
	finder.SnapshotFinder
	Conn    Conn
	Dialect *Dialect
	caches  *Caches

	writes bool // the snapshot belongs to a write transaction
	worlds map[access.WorldID]int64
	labels map[labelName]int64
	heads  []StreamRow // streams whose heads are known; few
}

// NewReader returns a reader on a connection. The caller sets its SnapshotFinder.
func NewReader(c Conn, d *Dialect, known *Caches) Reader {
	return Reader{Conn: c, Dialect: d, caches: known}
}

// Writes reports whether the reader belongs to a write transaction.
func (r *Reader) Writes() bool { return r.writes }

// WorldNumber returns the number of a world; 0 if the store does not know the world.
func (r *Reader) WorldNumber(ctx context.Context, id access.WorldID) (int64, error) {
	if w, ok := r.caches.worlds.Load(id); ok {
		return w.(int64), nil
	}
	if w, ok := r.worlds[id]; ok {
		return w, nil
	}
	w, err := QueryInt(ctx, r.Conn, "SELECT w FROM world_ids WHERE id = $1", id[:])
	if err == nil && w != 0 && !r.writes {
		r.caches.worlds.Store(id, w)
	}
	return w, err
}

// unlabelled marks a row whose label has LevelNone. The row is stored with LevelUser, since both
// levels are visible to the same views.
const unlabelled = -1

// LabelRef holds the label columns of a row. The label is resolved after the query has ended.
type LabelRef struct{ Level, Label int64 }

// knownLabel returns the label that a row's level and label columns encode, if it need not be
// queried.
func (r *Reader) knownLabel(of LabelRef) (l access.Label, known bool) {
	switch of.Label {
	case 0:
		return access.Label{Level: access.Level(of.Level)}, true
	case unlabelled:
		return access.Label{}, true
	}
	if l, ok := r.caches.labels.Load(of.Label); ok {
		return l.(access.Label), true
	}
	return access.Label{}, false
}

// resolveLabel returns the label that a row's level and label columns encode.
func (r *Reader) resolveLabel(ctx context.Context, of LabelRef) (access.Label, error) {
	if l, known := r.knownLabel(of); known {
		return l, nil
	}
	rows := r.Conn.Query(ctx, "SELECT text FROM labels WHERE label = $1", of.Label)
	text := ""
	if rows.Next() {
		text = rows.Text(0)
	}
	if err := rows.Close(); err != nil {
		return access.Label{}, err
	}
	var l access.Label
	if err := l.UnmarshalText([]byte(text)); err != nil {
		return access.Label{}, err
	}
	if !r.writes {
		r.caches.labels.Store(of.Label, l)
	}
	return l, nil
}

// ResolveLabels resolves the labels of rows, in order, and passes each to set.
func (r *Reader) ResolveLabels(ctx context.Context, list []LabelRef, set func(int, access.Label)) error {
	for i, of := range list {
		l, err := r.resolveLabel(ctx, of)
		if err != nil {
			return err
		}
		set(i, l)
	}
	return nil
}

// ScanWorld reads the columns of Columns.World.
func ScanWorld(r Row) (canon.World, error) {
	w := canon.World{ID: ReadID[access.WorldID](r, 0), Slug: r.Text(1), Title: r.Text(2), CreatedAt: Time(r.Int(4)),
		Origin: ReadID[access.WorldID](r, 5), OriginSeq: canon.Seq(r.Int(6))}
	text := r.Text(3)
	if text == "{}" { // the settings of most worlds; every call reads them
		return w, nil
	}
	if err := json.Unmarshal([]byte(text), &w.Settings); err != nil {
		return w, fmt.Errorf("settings of world %s: %w", w.ID, err)
	}
	return w, nil
}

// SelectWorlds returns the query for worlds that meet a condition.
func (d *Dialect) SelectWorlds(where string) string {
	return "SELECT " + d.Columns.World + " FROM worlds d JOIN world_ids i ON i.w = d.w " + where
}

// Worlds returns worlds by slug.
func (r *Reader) Worlds(ctx context.Context, q canon.WorldQuery) ([]canon.World, error) {
	switch {
	case !q.ID.IsZero():
		return queryAll(ctx, r.Conn, ScanWorld, r.Dialect.SelectWorlds("WHERE i.id = $1"), q.ID[:])
	case q.All:
		return queryAll(ctx, r.Conn, ScanWorld, r.Dialect.SelectWorlds("ORDER BY d.slug"))
	}
	return queryAll(ctx, r.Conn, ScanWorld, r.Dialect.SelectWorlds("WHERE d.slug = $1"), q.Slug)
}

// Members returns memberships.
func (r *Reader) Members(ctx context.Context, q canon.MemberQuery) ([]canon.Member, error) {
	where, arg := "m.subject = $1 ORDER BY i.id", any(string(q.Subject))
	if !q.World.IsZero() {
		where, arg = "i.id = $1 ORDER BY m.subject", q.World[:]
	}
	return queryAll(ctx, r.Conn, func(r Row) (canon.Member, error) {
		return canon.Member{World: ReadID[access.WorldID](r, 0), Subject: access.Subject(r.Text(1)),
			Role: access.Role(r.Int(2)), Player: ReadID[canon.CardID](r, 3),
			May: access.May(r.Int(4))}, nil
	}, "SELECT i.id, m.subject, m.role, m.player, m.may FROM members m JOIN world_ids i ON i.w = m.w WHERE "+where, arg)
}

// Stale lists worlds whose tables must be rebuilt from their streams.
func (r *Reader) Stale(ctx context.Context) ([]access.WorldID, error) {
	return queryAll(ctx, r.Conn, func(r Row) (access.WorldID, error) { return ReadID[access.WorldID](r, 0), nil },
		"SELECT i.id FROM stale s JOIN world_ids i ON i.w = s.w ORDER BY i.id")
}
