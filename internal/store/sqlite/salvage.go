package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/store/sqlstore"
)

// keptTable is a table whose rows cannot be derived from other tables.
type keptTable struct {
	name, what string // the second string describes its rows to a person
	// If dispensable rows are lost, that is reported but does not fail the repair: callers can
	// repeat or fetch the work they recorded.
	dispensable bool
}

// kept lists the tables of the store that cannot be rebuilt from its streams.
var kept = []keptTable{
	{name: "world_ids", what: "worlds"},
	{name: "commits", what: "commits"},
	{name: "streams", what: "heads of streams, which are rebuilt from the commits"},
	{name: "bodies", what: "texts of cards"},
	{name: "api_keys", what: "API keys"},
	{name: "invitations", what: "invitations"},
	{name: "identity_generation", what: "the count of changes to keys", dispensable: true},
	{name: "access_processes", what: "processes that have access records"},
	{name: "access_segments", what: "segments of access records"},
	{name: "signing_keys", what: "keys that sign tokens: clients fetch new tokens", dispensable: true},
	{name: "secrets", what: "secrets that processes share: clients start new sessions and lists",
		dispensable: true},
	{name: "repeats", what: "idempotency keys: a call that is repeated now may take effect twice", dispensable: true},
	{name: "jobs", what: "jobs", dispensable: true},
	{name: "job_owners", what: "marks of processes that run jobs", dispensable: true},
	{name: "deliveries", what: "deliveries of events in progress: an event may be delivered twice, or not at all", dispensable: true},
	{name: "placements", what: "databases of worlds"},
	{name: "fences", what: "worlds that other databases serve"},
	{name: "delivery_cursors", what: "positions of event handlers: events may be delivered twice", dispensable: true},
}

// keptRecords lists the tables of the record file.
var keptRecords = []keptTable{
	{name: "access_processes", what: "processes that have access records"},
	{name: "access_segments", what: "segments of access records"},
}

// Loss is a part of a damaged store that could not be read.
type Loss struct {
	What        string // description
	Dispensable bool   // no data of a world is lost
}

// Salvage copies the tables of a damaged store that cannot be rebuilt into new files, row by row,
// and skips damaged rows. Tables that can be rebuilt from the streams are left empty; the caller
// rebuilds them. It returns everything that it could not read. from is a copy of the damaged files,
// to which it may write; to must not exist.
func Salvage(ctx context.Context, from, to string) (lost []Loss, err error) {
	main := salvage{ctx: ctx, from: from, to: to, schema: storeSchema, tables: kept}
	if err := main.run(); err != nil {
		return nil, err
	}
	records := salvage{ctx: ctx, from: recordPath(from), to: recordPath(to), schema: recordSchema, tables: keptRecords}
	if fileSize(records.from) == 0 {
		return main.lost, nil // a backup or an older store, which has no record file
	}
	err = records.run()
	if errors.Is(err, errUnreadable) {
		records.noteLoss(false, "access records since the last backup: %v", err)
		err = nil
	}
	return append(main.lost, records.lost...), err
}

// errUnreadable means that not even a file's schema can be read.
var errUnreadable = errors.New("nothing can be read of the file")

// salvage copies one file.
type salvage struct {
	ctx      context.Context // of the Salvage call
	from, to string
	schema   schema
	tables   []keptTable

	src, dst *conn
	lost     []Loss
}

func (v *salvage) noteLoss(dispensable bool, format string, args ...any) {
	v.lost = append(v.lost, Loss{fmt.Sprintf(format, args...), dispensable})
}

// run copies the file's tables into a new file of the same format, and migrates that file to the
// current format.
func (v *salvage) run() (err error) {
	if v.src, err = openConn(v.ctx, Config{Path: v.from}.withDefaults(), true); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	defer func() { err = errors.Join(err, v.src.close()) }()
	at, err := sqlstore.QueryInt(v.ctx, v.src, "PRAGMA user_version")
	if err == nil {
		_, err = sqlstore.QueryInt(v.ctx, v.src, "SELECT count(*) FROM sqlite_schema")
	}
	if err != nil || at < 1 || at > v.schema.version {
		return fmt.Errorf("%w (its format is %d): %w", errUnreadable, at, err)
	}
	if err := makeFile(v.to); err != nil {
		return err
	}
	if v.dst, err = openConn(v.ctx, Config{Path: v.to}.withDefaults(), false); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.dst.close()) }()
	if err := (schema{v.schema.folder, at}).migrate(v.ctx, v.dst, nil); err != nil {
		return err
	}
	// watching ctx for each row would cost more than the row
	v.dst.steady = true
	for _, sql := range []string{"PRAGMA foreign_keys = OFF", "BEGIN IMMEDIATE"} {
		// A segment may survive without its process.
		if _, err := v.dst.Exec(v.ctx, sql); err != nil {
			return err
		}
	}
	for _, t := range v.tables {
		if err := v.salvageTable(t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if _, err := v.dst.Exec(v.ctx, "COMMIT"); err != nil {
		return err
	}
	return v.schema.migrate(v.ctx, v.dst, nil)
}

// salvageTable copies the readable rows of a table.
func (v *salvage) salvageTable(t keptTable) error {
	columns, key, err := v.readColumns(t.name)
	if err != nil || len(columns) == 0 { // the table belongs to a later format
		return err
	}
	if _, err := v.dst.Exec(v.ctx, "DELETE FROM "+t.name); err != nil { // rows inserted by the migrations
		return err
	}
	r := tableCopier{v: v, name: t.name, columns: columns, key: key}
	if err := r.copyRows(); err != nil {
		return err
	}
	dispensable := t.dispensable
	if t.name == "streams" {
		// All data of a head is in the commits, which were copied before, unless some were lost.
		if err := v.restoreHeads(); err != nil {
			return err
		}
		dispensable = len(v.lost) == 0
	}
	for _, g := range r.gaps {
		v.noteLoss(dispensable, "%s: %s", t.what, g)
	}
	switch t.name {
	case "bodies":
		return v.removeDamagedTexts()
	case "identity_generation":
		_, err = v.dst.Exec(v.ctx,
			"INSERT INTO identity_generation (n) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM identity_generation)")
		return err
	}
	return nil
}

// readColumns returns the columns of a table and its primary key if it has no rowid; key is nil if
// rows are ordered by rowid.
func (v *salvage) readColumns(name string) (columns []string, key []string, err error) {
	var primary []string
	err = sqlstore.Each(v.ctx, v.dst, func(r sqlstore.Row) error {
		columns = append(columns, r.Text(0))
		if r.Int(1) > 0 {
			primary = append(primary, r.Text(0))
		}
		return nil
	}, "SELECT name, pk FROM pragma_table_info($1) ORDER BY cid", name)
	if err != nil {
		return nil, nil, err
	}
	without, err := sqlstore.QueryInt(v.ctx, v.dst, "SELECT wr FROM pragma_table_list WHERE name = $1", name)
	if without == 0 {
		primary = nil
	}
	return columns, primary, err
}

// tableCopier copies the rows of one table.
type tableCopier struct {
	v       *salvage
	name    string
	columns []string
	key     []string // nil if the table has a rowid
	gaps    []string
}

// maxProbes limits the rows inside a gap that are read one by one.
const maxProbes = 200_000

func (r *tableCopier) copyRows() error {
	if r.key != nil {
		return r.copyKeyed()
	}
	low, err := r.copyUntilDamage("rowid > $1 ORDER BY rowid", 0)
	if err != nil || low < 0 {
		return err
	}
	high, err := r.copyUntilDamage("rowid > $1 ORDER BY rowid DESC", low)
	if err != nil || high < 0 {
		return err
	}
	// Probe the gap between the last row before the damage and the first row after it.
	return r.probeGap(low, high)
}

// copyUntilDamage copies rows from one end up to the damage. It returns the last row that it read;
// -1 if it met no damage.
func (r *tableCopier) copyUntilDamage(where string, from int64) (last int64, err error) {
	descending := strings.HasSuffix(where, "DESC")
	last = from
	if descending {
		last = 1<<63 - 1
	}
	err = sqlstore.Each(r.v.ctx, r.v.src, func(one sqlstore.Row) error {
		last = one.Int(len(r.columns))
		return r.put(one)
	}, fmt.Sprintf("SELECT %s, rowid FROM %s NOT INDEXED WHERE %s", strings.Join(r.columns, ", "), r.name, where), from)
	if isDamageCode(codeOf(err)) {
		return last, nil
	}
	return -1, err
}

// probeGap reads the rows inside a gap one by one and adds the gap to gaps.
func (r *tableCopier) probeGap(low, high int64) error {
	found, asked := 0, int64(0)
	for at := low + 1; at < high && asked < maxProbes; at, asked = at+1, asked+1 {
		ok, err := sqlstore.One(r.v.ctx, r.v.src, r.put, fmt.Sprintf("SELECT %s, rowid FROM %s NOT INDEXED WHERE rowid = $1",
			strings.Join(r.columns, ", "), r.name), at)
		if err != nil && !isDamageCode(codeOf(err)) {
			return err
		}
		if ok && err == nil {
			found++
		}
	}
	end := fmt.Sprint(high - 1)
	if high == 1<<63-1 {
		end = "the end"
	}
	r.gaps = append(r.gaps, fmt.Sprintf("rows %d to %s of table %s are damaged; %d of them could be read", low+1, end,
		r.name, found))
	return nil
}

// copyKeyed copies a table without rowids, from both ends up to the damage.
func (r *tableCopier) copyKeyed() error {
	order := strings.Join(r.key, ", ")
	down := strings.Join(r.key, " DESC, ") + " DESC"
	for _, by := range []string{order, down} {
		err := sqlstore.Each(r.v.ctx, r.v.src, r.put, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(r.columns, ", "),
			r.name, by))
		if err == nil {
			return nil
		}
		if !isDamageCode(codeOf(err)) {
			return err
		}
	}
	r.gaps = append(r.gaps, fmt.Sprintf("some rows of table %s are damaged", r.name))
	return nil
}

// put writes a row that was read. A row that violates a constraint is damaged itself.
func (r *tableCopier) put(one sqlstore.Row) error {
	values := make([]any, len(r.columns))
	marks := make([]string, len(r.columns))
	for i := range r.columns {
		values[i], marks[i] = valueAt(one, i), fmt.Sprintf("$%d", i+1)
	}
	n, err := r.v.dst.Exec(r.v.ctx, fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)", r.name,
		strings.Join(r.columns, ", "), strings.Join(marks, ", ")), values...)
	if err == nil && n == 0 && r.key == nil && len(r.gaps) < maxFaults {
		r.gaps = append(r.gaps, fmt.Sprintf("row %d of table %s is damaged", one.Int(len(r.columns)), r.name))
	}
	return err
}

// restoreHeads rebuilds the lost rows of streams from the commits, which name their stream.
func (v *salvage) restoreHeads() error {
	type head struct {
		s, n       int64
		body, hash []byte
	}
	var list []head
	if err := sqlstore.Each(v.ctx, v.dst, func(r sqlstore.Row) error {
		list = append(list, head{r.Int(0), r.Int(1), slices.Clone(r.Bytes(2)), slices.Clone(r.Bytes(3))})
		return nil
	}, "SELECT n >> 40, n, body, hash FROM commits WHERE n IN (SELECT max(n) FROM commits GROUP BY n >> 40) AND n >> 40 NOT IN (SELECT s FROM streams)"); err != nil {
		return err
	}
	for _, h := range list {
		var rec struct {
			Stream string `json:"stream"`
		}
		if err := json.Unmarshal(h.body, &rec); err != nil || rec.Stream == "" {
			continue // verification will report the missing chain
		}
		if _, err := v.dst.Exec(v.ctx, "INSERT OR IGNORE INTO streams (s, name, seq, hash) VALUES ($1, $2, $3, $4)", h.s,
			rec.Stream, h.n&(1<<streamShift-1), h.hash); err != nil {
			return err
		}
	}
	return nil
}

// removeDamagedTexts removes bodies that do not match their hash, and reports them as losses.
func (v *salvage) removeDamagedTexts() error {
	var wrong []int64
	if err := sqlstore.Each(v.ctx, v.dst, func(r sqlstore.Row) error {
		if sha256.Sum256(r.Bytes(2)) != [32]byte(sqlstore.ReadHash(r, 1)) {
			wrong = append(wrong, r.Int(0))
			v.noteLoss(false, "texts of cards: the text with hash %s is damaged", sqlstore.ReadHash(r, 1))
		}
		return nil
	}, "SELECT rowid, hash, body FROM bodies"); err != nil {
		return err
	}
	for _, id := range wrong {
		if _, err := v.dst.Exec(v.ctx, "DELETE FROM bodies WHERE rowid = $1", id); err != nil {
			return err
		}
	}
	return nil
}
