package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// Tx makes the writes of a transaction that are the same in every SQL database. A store's
// transaction embeds it beside its Reader.
type Tx struct{ r *Reader }

// NewTx makes a reader that of a write transaction, and returns the writes.
func NewTx(r *Reader) Tx {
	r.writes = true
	return Tx{r}
}

// Committed adds the numbers that the transaction used to the caches, once it is durable. It calls
// changed with each world that the transaction wrote to.
func (t Tx) Committed(changed func(access.WorldID, int64)) {
	for id, w := range t.r.worlds {
		t.r.caches.worlds.Store(id, w)
		changed(id, w)
	}
	for name, label := range t.r.labels {
		t.r.caches.names.Store(name, label)
	}
}

// EnsureWorld returns a world's number and assigns one if the world has none.
func (t Tx) EnsureWorld(ctx context.Context, id access.WorldID) (w int64, err error) {
	if w, err = t.r.WorldNumber(ctx, id); err == nil && w == 0 {
		w, err = QueryInt(ctx, t.r.Conn, "INSERT INTO world_ids (id) VALUES ($1) RETURNING w", id[:])
		if err == nil && t.r.Dialect.WorldAdded != "" {
			err = t.r.Conn.Put(ctx, t.r.Dialect.WorldAdded, w)
		}
	}
	if err != nil {
		return 0, err
	}
	if t.r.worlds == nil {
		t.r.worlds = make(map[access.WorldID]int64)
	}
	t.r.worlds[id] = w
	return w, nil
}

// EnsureLabel returns a world's number and the columns for a label in it. It adds a new label to
// labels.
func (t Tx) EnsureLabel(ctx context.Context, world access.WorldID, l access.Label) (w int64, of LabelRef, err error) {
	if w, err = t.EnsureWorld(ctx, world); err != nil {
		return 0, LabelRef{}, err
	}
	of, err = t.labelRef(ctx, w, l)
	return w, of, err
}

func (t Tx) labelRef(ctx context.Context, w int64, l access.Label) (of LabelRef, err error) {
	switch {
	case l.Level == access.LevelNone:
		return LabelRef{int64(access.LevelUser), unlabelled}, nil
	case len(l.Subjects) == 0:
		return LabelRef{int64(l.Level), 0}, nil
	}
	of.Level = int64(l.Level)
	name := labelName{w, l.String()}
	if n, ok := t.r.caches.names.Load(name); ok {
		of.Label = n.(int64)
		return of, nil
	}
	if n, ok := t.r.labels[name]; ok {
		of.Label = n
		return of, nil
	}
	of.Label, err = QueryInt(ctx, t.r.Conn, "SELECT label FROM labels WHERE w = $1 AND text = $2", w, name.text)
	if err == nil && of.Label == 0 {
		of.Label, err = t.addLabel(ctx, name, l)
	}
	if err != nil {
		return LabelRef{}, err
	}
	if t.r.labels == nil {
		t.r.labels = make(map[labelName]int64)
	}
	t.r.labels[name] = of.Label
	return of, nil
}

func (t Tx) addLabel(ctx context.Context, name labelName, l access.Label) (label int64, err error) {
	label, err = QueryInt(ctx, t.r.Conn, "INSERT INTO labels (w, text) VALUES ($1, $2) RETURNING label", name.w, name.text)
	for i := 0; i < len(l.Subjects) && err == nil; i++ {
		err = t.r.Conn.Put(ctx, "INSERT INTO label_subjects (w, subject, label) VALUES ($1, $2, $3)", name.w,
			string(l.Subjects[i]), label)
	}
	return label, err
}

// Upsert returns a statement that inserts a row, or replaces the columns after the first keys ones
// of the row with the same key. Its arguments are the columns.
func Upsert(table string, keys int, columns string) string {
	names := strings.Split(columns, ", ")
	marks, sets := make([]string, len(names)), make([]string, 0, len(names))
	for i, name := range names {
		marks[i] = "$" + strconv.Itoa(i+1)
		if i >= keys {
			sets = append(sets, name+" = "+marks[i])
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET %s", table, columns,
		strings.Join(marks, ", "), strings.Join(names[:keys], ", "), strings.Join(sets, ", "))
}

var (
	putWorld   = Upsert("worlds", 1, "w, slug, title, settings, created, origin, origin_seq")
	putMember  = Upsert("members", 2, "w, subject, role, player, may")
	putRepeat  = Upsert("repeats", 2, "account, key, input, stream, seq, expires")
	putVersion = Upsert("versions", 3, "w, card, rev, from_seq, to_seq, c1, c2, c3, level, label, name, key, type, "+
		"type_key, content, size, length, fields, trashed, purged, at, by, op, change, was_name, was_key, was_level, was_label, format, places")
	putLink  = Upsert("links", 3, "w, id, since, until, kind, from_card, to_card, attrs, level, label, at, clock")
	putLayer = Upsert("layers", 3, "w, id, since, until, card, kind, text, from_tick, to_tick, level, label, at")
	putEvent = Upsert("events", 2, "w, seq, id, at, by, op, type, scope, actor_kind, actor, correlation, causation, key, "+
		"version, payload, level, label")
)

// PutWorld writes a world's row. It looks first whether the slug is free: while the writer lock is
// held nobody can take it, and in PostgreSQL a failing statement would end the transaction.
func (t Tx) PutWorld(ctx context.Context, d canon.World) error {
	taken, err := QueryInt(ctx, t.r.Conn,
		"SELECT 1 FROM worlds d JOIN world_ids i ON i.w = d.w WHERE d.slug = $1 AND i.id <> $2", d.Slug, d.ID[:])
	if err != nil {
		return err
	}
	if taken != 0 {
		return fmt.Errorf("slug %q: %w", d.Slug, canon.ErrTaken)
	}
	w, err := t.EnsureWorld(ctx, d.ID)
	if err != nil {
		return err
	}
	settings, err := json.Marshal(d.Settings)
	if err != nil {
		return err
	}
	if t.r.Dialect.WorldAdded != "" { // a world that was discarded keeps its number
		if err := t.r.Conn.Put(ctx, t.r.Dialect.WorldAdded, w); err != nil {
			return err
		}
	}
	return t.r.Conn.Put(ctx, putWorld, w, d.Slug, d.Title, string(settings), Millis(d.CreatedAt),
		t.r.Dialect.IDValue(d.Origin), uint64(d.OriginSeq))
}

// PutMember stores a membership; RoleNone stores that it was revoked.
func (t Tx) PutMember(ctx context.Context, m canon.Member) error {
	w, err := t.EnsureWorld(ctx, m.World)
	if err != nil {
		return err
	}
	return t.r.Conn.Put(ctx, putMember, w, string(m.Subject), int64(m.Role), t.r.Dialect.IDValue(m.Player), int64(m.May))
}

// PutBody stores bytes under their hash.
func (t Tx) PutBody(ctx context.Context, world access.WorldID, h canon.Hash, b []byte) error {
	w, err := t.EnsureWorld(ctx, world)
	if err != nil {
		return err
	}
	if b == nil {
		b = []byte{}
	}
	return t.r.Conn.Put(ctx, "INSERT INTO bodies (w, hash, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", w, h[:], b)
}

// BodyInUse scans all versions of the world: only the operator's purge calls it, and an index by
// hash would slow down every write.
func (t Tx) BodyInUse(ctx context.Context, world access.WorldID, h canon.Hash) (bool, error) {
	w, err := t.r.WorldNumber(ctx, world)
	if err != nil || w == 0 {
		return false, err
	}
	used, err := QueryInt(ctx, t.r.Conn, "SELECT 1 FROM versions WHERE w = $1 AND content = $2 AND NOT purged LIMIT 1",
		w, h[:])
	return used != 0, err
}

// PutVersion writes a version.
func (t Tx) PutVersion(ctx context.Context, v canon.Version) error {
	w, of, err := t.EnsureLabel(ctx, v.World, v.Label)
	if err != nil {
		return err
	}
	var was LabelRef
	if v.Former.Name != "" {
		if was, err = t.labelRef(ctx, w, v.Former.Label); err != nil {
			return err
		}
	}
	return t.r.Conn.Put(ctx, putVersion, w, v.Card[:], int64(v.Rev), uint64(v.From), uint64(v.To),
		int64(v.Counts[0]), int64(v.Counts[1]), int64(v.Counts[2]), of.Level, of.Label, v.Name, string(markup.KeyOf(v.Name)),
		v.Type, string(markup.KeyOf(v.Type)), HashValue(v.Content), int64(v.Size), int64(v.Length), JSONValue(v.Fields),
		v.Trashed, v.Purged, Millis(v.At), string(v.By), v.Op, v.Change[:],
		v.Former.Name, string(markup.KeyOf(v.Former.Name)), was.Level, was.Label, int64(v.Format), PlacesValue(v.Places))
}

// PutLink writes a state of a link.
func (t Tx) PutLink(ctx context.Context, l canon.Link) error {
	w, of, err := t.EnsureLabel(ctx, l.World, l.Label)
	if err != nil {
		return err
	}
	return t.r.Conn.Put(ctx, putLink, w, l.ID[:], uint64(l.Since), uint64(l.Until), l.Kind, l.From[:], l.To[:],
		JSONValue(l.Attrs), of.Level, of.Label, Millis(l.At), worldTime(l))
}

// PutLayer writes a state of a layer.
func (t Tx) PutLayer(ctx context.Context, l canon.Layer) error {
	w, of, err := t.EnsureLabel(ctx, l.World, l.Label)
	if err != nil {
		return err
	}
	return t.r.Conn.Put(ctx, putLayer, w, l.ID[:], uint64(l.Since), uint64(l.Until), l.Card[:], l.Kind, l.Text,
		l.FromTick, l.ToTick, of.Level, of.Label, Millis(l.At))
}

// PutEvent writes the event of a commit.
func (t Tx) PutEvent(ctx context.Context, e canon.StoredEvent) error {
	w, of, err := t.EnsureLabel(ctx, e.World, e.Label)
	if err != nil {
		return err
	}
	return t.r.Conn.Put(ctx, putEvent, w, uint64(e.Seq), e.ID[:], Millis(e.At), string(e.By), e.Op, e.Type, e.Scope,
		e.Actor.Kind, e.Actor.ID, e.Correlation, e.Causation, e.Key, int64(e.Version), JSONValue(e.Payload),
		of.Level, of.Label)
}

// EndVersion ends the current version of a card at a commit.
func (t Tx) EndVersion(ctx context.Context, w access.WorldID, id canon.CardID, to canon.Seq) error {
	return t.endState(ctx, w, "UPDATE versions SET to_seq = $3 WHERE w = $1 AND card = $2 AND to_seq = 0", id, to)
}

// EndLink ends the current state of a link at a commit.
func (t Tx) EndLink(ctx context.Context, w access.WorldID, id canon.LinkID, to canon.Seq) error {
	return t.endState(ctx, w, "UPDATE links SET until = $3 WHERE w = $1 AND id = $2 AND "+t.r.Dialect.Plain+"until = 0",
		id, to)
}

// EndLayer ends the current state of a layer at a commit.
func (t Tx) EndLayer(ctx context.Context, w access.WorldID, id canon.LayerID, to canon.Seq) error {
	return t.endState(ctx, w, "UPDATE layers SET until = $3 WHERE w = $1 AND id = $2 AND until = 0", id, to)
}

// endState ends the current version, link or layer at a commit. It does nothing if there is none.
func (t Tx) endState(ctx context.Context, world access.WorldID, update string, id [16]byte, to canon.Seq) error {
	w, err := t.r.WorldNumber(ctx, world)
	if err != nil || w == 0 {
		return err
	}
	return t.r.Conn.Put(ctx, update, w, id[:], uint64(to))
}

const unlessFenced = " AND NOT EXISTS (SELECT 1 FROM fences f JOIN world_ids i ON i.id = f.world WHERE i.w = $1)"

// DiscardStream deletes a world's stream and the rows beside its projected tables. It keeps the label
// with the highest number: SQLite would give that number to the next label, and other processes may
// have cached its old meaning. It keeps all labels of a world that another database serves: the world
// may come back, and other processes would use the numbers that they have cached.
func (t Tx) DiscardStream(ctx context.Context, id access.WorldID, w int64) error {
	stream := canon.WorldStream(id)
	at, err := t.r.StreamRow(ctx, stream)
	if err != nil {
		return err
	}
	t.r.ForgetStreams()
	for _, s := range []struct {
		sql string
		arg any
	}{
		{t.r.Dialect.DeleteCommits, at.Number},
		{"DELETE FROM streams WHERE s = $1", at.Number},
		{"DELETE FROM repeats WHERE stream = $1", string(stream)},
		{"DELETE FROM searched WHERE w = $1", w},
		{"DELETE FROM labels WHERE w = $1 AND label < (SELECT max(label) FROM labels)" + unlessFenced, w},
		{"DELETE FROM label_subjects WHERE w = $1" + unlessFenced, w},
	} {
		if err := t.r.Conn.Put(ctx, s.sql, s.arg); err != nil {
			return err
		}
	}
	return nil
}
