package sqlstore

// Dialect has the texts and values in which two databases differ.
type Dialect struct {
	Name string // begins the texts of errors
	// Columns are the result columns that the Scan functions read.
	Columns Columns
	// Join joins a table to those before it. In SQLite it is CROSS JOIN, which keeps the order of
	// the tables: without statistics SQLite would choose the order without knowing their sizes.
	Join string
	// Plain precedes a column that must not choose the index: a plus in SQLite, nothing where the
	// database has statistics.
	Plain string
	// IndexedBy returns the clause that names the index to use for a table; "" for the database's
	// choice.
	IndexedBy func(index string) string
	// HasRow is the format of the condition that a query for at most one 1 returns a row.
	HasRow string
	// IDs converts a list of ids to an argument, and InIDs is the format of the condition that a
	// column, the first verb, is in such an argument.
	IDs   func([][16]byte) any
	InIDs string
	// FromLinks is the format of the FROM and WHERE clauses for the world's links whose column, the
	// first verb, has an id in such an argument.
	FromLinks string
	// InTexts returns the condition that a column has one of several values.
	InTexts func(a *Args, column string, values []string) string
	// NoID is stored for an optional id that is not set.
	NoID any
	// NoParent is the condition that card c has no parent, and Child the format of the condition
	// that the parent of the card with an alias has an id.
	NoParent, Child string
	// NotNamed is the format of the condition that card c does not match a glob of names; "" if the
	// database cannot match globs.
	NotNamed string
	// NameHas returns the condition that the name of card c contains a folded text, or begins with
	// it.
	NameHas func(a *Args, folded string, atStart bool) string
	// SortedArms is set if each part of a union needs an order and a limit of its own.
	SortedArms bool
	// WorldAdded is a statement that runs when a world gets its number, $1; "" for none.
	WorldAdded string
	// The statements of the table of commits. Up to $3 commits of stream $1 from number $2 on, the commit of
	// stream $1 with id $2, and the number of stream $1's last commit at time $2; the first two
	// return number, id, at, by, op, body, prev and hash. The insertion of commit $2 of stream $1,
	// whose other columns follow in that order, the change of stream $1's head to number $2 and
	// hash $3, and the removal of stream $1.
	CommitsFrom, CommitByID, CommitAt, InsertCommit, UpdateHead, DeleteCommits, RewindCommits string
}

// Columns are the result columns of each kind of row, in the order in which they are read.
type Columns struct{ Card, Version, Link, Layer, Event, World, Stream string }

// PlainColumns are the columns by their names.
var PlainColumns = Columns{
	Card: `c.id, c.parent, c.part, c.codename, c.type, c.content, c.size, c.length, c.fields,
	c.own, c.name, c.key, c.level, c.label, c.rev, c.c1, c.c2, c.c3, c.created, c.created_by,
	c.updated, c.updated_by, c.seq, c.trashed, c.trash_root, c.format, c.parts, c.places`,
	Version: `v.card, v.rev, v.from_seq, v.to_seq, v.c1, v.c2, v.c3, v.level, v.label, v.name, v.type,
	v.content, v.size, v.length, v.fields, v.trashed, v.purged, v.at, v.by, v.op, v.change,
	v.was_name, v.was_level, v.was_label, v.format, v.places`,
	Link:  "l.id, l.since, l.until, l.kind, l.from_card, l.to_card, l.attrs, l.level, l.label, l.at",
	Layer: "l.id, l.since, l.until, l.card, l.kind, l.text, l.from_tick, l.to_tick, l.level, l.label, l.at",
	Event: `v.seq, v.id, v.at, v.by, v.op, v.type, v.scope, v.actor_kind, v.actor, v.correlation, v.causation,
	v.key, v.version, v.payload, v.level, v.label`,
	World:  "i.id, d.slug, d.title, d.settings, d.created, d.origin, d.origin_seq",
	Stream: "s, seq, hash",
}

// CardWidth is the number of columns in Columns.Card.
const CardWidth = 28

// Map returns the columns changed by f.
func (c Columns) Map(f func(columns string) string) Columns {
	return Columns{f(c.Card), f(c.Version), f(c.Link), f(c.Layer), f(c.Event), f(c.World), f(c.Stream)}
}
