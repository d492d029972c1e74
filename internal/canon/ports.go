package canon

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Visibility is what a query may touch: one world through one view. Stores apply it in the
// query itself, before counting, ordering, ranking and paging. A row is in sight when
// Visibility.View.Sees(row.Label); LevelAll sees every row. Cards in the trash are out of
// sight of every query that does not name them. A Version that a query with a Visibility gives
// is as Version.For gives it to the view.
//
// A query about a card (its versions, feed, descendants, layers, references from it)
// finds nothing where the card is out of sight. CardQuery.ID, Versions, VersionByCount and
// a Feed of one card name it, and find it in the trash for a view of LevelAdmin and up.
type Visibility struct {
	World access.WorldID
	View  access.View
}

// Page is a slice of an ordered result. Limit must be positive.
type Page struct {
	Limit, Offset int
	Uncounted     bool // the Total is not wanted, and may be anything: counting reads every row
}

// Total is how many rows a query has in all, exact unless AtLeast is set.
type Total struct {
	Count   int
	AtLeast bool // Count is a lower bound
}

// CountCap is the number of rows up to which totals of listings are exact.
const CountCap = 10_000

// Sort orders a listing.
type Sort string

// The orders. Ties are broken by key, then id; keys and ids compare by their bytes.
// A listing has no relevance: there SortRank is SortName.
const (
	SortName    Sort = "name"    // by key
	SortUpdated Sort = "updated" // latest first
	SortCreated Sort = "created" // latest first
	SortField   Sort = "field"   // by SortValue
	SortRank    Sort = "relevance"
)

// Filter narrows a listing or a search. Zero fields do not narrow.
type Filter struct {
	NameContains  string     // substring of the name, case and accents folded
	NameStarts    string     // what the name begins with, case and accents folded
	Prefix        markup.Key // whole parts: the card itself and all below it
	Below         markup.Key // whole parts: the cards below it, without the card itself
	NotName       string     // glob as markup.MatchGlob; matches are left out
	Type          string     // name of a type, compared by key
	Types         []string   // names of types, any of them
	Coded         bool       // only cards with a codename
	SortFrom      *int64     // least SortValue; cards without one are left out
	SortTo        *int64     // greatest SortValue; cards without one are left out
	Tag           string     // item of the card's visible X+tags, compared by key (see PutRefs)
	UpdatedSince  time.Time  // inclusive
	UpdatedBefore time.Time  // exclusive
	CreatedSince  time.Time  // inclusive
	CreatedBefore time.Time  // exclusive
	Filled        bool       // only cards that hold content or fields
	Parent        CardID     // direct children only; the parent itself is not looked at
	Roots         bool       // only cards without a parent
	Sort          Sort       // "" is SortName, and in a search SortRank
}

// Narrows reports whether the filter leaves anything out.
func (f Filter) Narrows() bool {
	f.Sort = ""
	return !reflect.DeepEqual(f, Filter{})
}

// Fits reports whether a card passes the filter, but for its Tag, which the card does not
// show.
func (f Filter) Fits(c Card) bool {
	switch {
	case f.NameContains != "" && !strings.Contains(markup.Fold(c.Name), markup.Fold(f.NameContains)),
		f.NameStarts != "" && !strings.HasPrefix(markup.Fold(c.Name), markup.Fold(f.NameStarts)),
		!c.Key.HasPrefix(f.Prefix),
		f.Below != "" && (c.Key == f.Below || !c.Key.HasPrefix(f.Below)),
		f.NotName != "" && markup.MatchGlob(f.NotName, c.Name),
		f.Type != "" && markup.KeyOf(f.Type) != markup.KeyOf(c.Type),
		len(f.Types) > 0 && !slices.ContainsFunc(f.Types, func(t string) bool { return markup.KeyOf(t) == markup.KeyOf(c.Type) }),
		f.Coded && c.Codename == "",
		f.Filled && c.Length == 0 && len(c.Fields) == 0,
		!f.Parent.IsZero() && c.Parent != f.Parent,
		f.Roots && !c.Parent.IsZero(),
		!Within(c.UpdatedAt, f.UpdatedSince, f.UpdatedBefore),
		!Within(c.CreatedAt, f.CreatedSince, f.CreatedBefore):
		return false
	}
	if f.SortFrom == nil && f.SortTo == nil {
		return true
	}
	at := c.SortValue()
	return at != Unsorted && (f.SortFrom == nil || at >= *f.SortFrom) && (f.SortTo == nil || at <= *f.SortTo)
}

// Within reports whether t is in [since, before), where zero ends are open.
func Within(t, since, before time.Time) bool {
	return (since.IsZero() || !t.Before(since)) && (before.IsZero() || t.Before(before))
}

// MatchMode says how a search's words are matched.
type MatchMode string

// The modes.
const (
	MatchSubstring MatchMode = "substring"  // each word may be the inside of a word
	MatchWord      MatchMode = "whole_word" // each word is a whole word; word* is a prefix
	MatchPhrase    MatchMode = "phrase"     // the words in a row
	MatchStem      MatchMode = "stem"       // each word in any of its forms
)

// SearchQuery is a full-text search of living cards. Q is words as typed; all must
// match, each in one of the columns asked for, which with none set are name and content. A Q
// without a letter or digit finds nothing.
//
// Text is made of tokens: runs of letters, numbers and private-use characters, in lower
// case, accents of Latin letters removed (what FTS5 calls unicode61, remove_diacritics 2).
//   - MatchWord: each token of Q is a token of the text; of a word that ends in '*' the
//     last token is a prefix.
//   - MatchPhrase: the tokens of Q in a row, in one column.
//   - MatchSubstring: each word of Q, split at white space, lies inside a token. A word
//     of several tokens ("ell-ca") lies across tokens in a row of one column: the first
//     ends with its first piece, the last begins with its last. A word of one token
//     under three characters is a prefix of a token.
//   - MatchStem: for each token of Q a token of the text has the same stem in Language, by
//     the algorithms of the Snowball project, and begins with the same letters: those of the
//     stem but its last two, and at least two.
//
// CaseSensitive further asks that each word of Q (without a '*' at its end), or for
// MatchPhrase Q itself, trimmed, stands literally in the text of a column asked for.
type SearchQuery struct {
	Q             string
	InName        bool
	InContent     bool
	InFields      bool // FieldText of the card's fields
	Mode          MatchMode
	Language      string // of stems, by its code of ISO 639-1; Look asks in the world's
	CaseSensitive bool
	Filter        Filter
	// Listed: the cards of hits need not hold more than a list shows: world, id, parent, key,
	// name, type, content's hash, size and length, times, counts and the label's level.
	Listed bool
}

// LooksInto tells which of the columns beside the fields are asked for.
func (q SearchQuery) LooksInto() (name, content bool) {
	none := !q.InName && !q.InContent && !q.InFields
	return q.InName || none, q.InContent || none
}

// Hit is one result of a search. Score is above zero, greater is better, and 0 where
// the result is not ranked; it is computed from what is in sight alone. Cards seen only
// by being named come after all others, by key, with Score 0. Names are the card's Names.
type Hit struct {
	Card  Card
	Names []string
	Score float64
}

// SearchResult is a page of hits. Its Total is exact, however many there are, but where
// CaseSensitive made the store look at more than CountCap of them. Ranked is false where
// Filter.Sort asks for another order than relevance, which then orders all hits, named or
// not; their Scores are 0.
type SearchResult struct {
	Hits   []Hit
	Total  Total
	Ranked bool
}

// WorldQuery names worlds in one way: one field is set. The zero query finds none.
type WorldQuery struct {
	ID   access.WorldID
	Slug string
	All  bool
}

// MemberQuery asks for the members of a world, by subject, or where World is zero for the
// memberships of a subject, by world id.
type MemberQuery struct {
	World   access.WorldID
	Subject access.Subject
}

// CardQuery names cards in one way: one field is set, besides Prefetch. The zero query finds nothing.
type CardQuery struct {
	// ID finds the card in the trash too, for a view of LevelAdmin and up.
	ID CardID
	// IDs finds living cards in the order of the ids; absent ones are left out.
	IDs []CardID
	// Key finds the living cards of a key, lowest level first, then those open to more
	// subjects, then by id.
	Key markup.Key
	// Alias finds the living cards that have an alias of a key, in the order of Key.
	Alias markup.Key
	// Codename finds the living card of a codename: of those in sight the one of the lowest
	// level, then by id.
	Codename string
	// OldKey finds living cards that once had the key, latest rename first, where the
	// version that had it is in sight, or for a Former name the view sees that one's label,
	// and the card bears another key now. The latest such version of each card counts; a
	// current one is latest of all, then by To; ties by id.
	OldKey markup.Key
	// TrashRoot finds the cards in sight that went to the trash with a card: this one first,
	// the others by key, then id.
	TrashRoot CardID
	// Prefetch changes nothing of what is found. It tells the Reader that the bodies of the cards
	// found by ID or Key, and how many children they have in the same sight, are asked for next.
	Prefetch bool
}

// RefQuery asks for references. Exactly one of From and Target is set. Kind 0 is any.
// From a card they come by kind, then order; to a target by the source card's key, id,
// then kind and order.
type RefQuery struct {
	From   CardID
	Target markup.Key
	Kind   RefKind
	Page   Page
}

// RefRow is a reference with its source card, which is in sight.
type RefRow struct {
	Ref  Ref
	Card Card
}

// Wanted is the target of a RefLink that does not exist in sight, and how many cards in
// sight point at it. A list of tags, X+tags, points at nothing here: only texts want cards.
// Most wanted first, then by key.
type Wanted struct {
	Key   markup.Key
	Name  string // as written first in the one of them with the least id
	Count int
}

// TagCount is a tag and how many cards in sight bear it in sight. Most used first, then
// by key.
type TagCount struct {
	Key   markup.Key
	Name  string // the least, by its bytes, of those written in them
	Count int
}

// FeedQuery asks for changes, latest first: versions in sight of cards in sight, by
// time, then commit, within one by card id, then latest version first.
type FeedQuery struct {
	Since, Before time.Time // inclusive, exclusive
	Type          string    // type of the version, compared by key
	Author        access.Subject
	Card          CardID // zero for all cards
	Page          Page
}

// LinkQuery asks for current links whose label and both ends are in sight. Zero fields
// do not narrow. AsOf asks for those current just after a commit, between cards that are
// in sight now. They come by id or, where Newest is set, latest written first (by Since,
// later id first).
type LinkQuery struct {
	From, To   CardID
	Froms, Tos []CardID // any of them
	IDs        []LinkID // any of them
	Kinds      []string
	AsOf       Seq
	Newest     bool
	Page       Page
}

// ReachQuery asks which cards can be reached from one along links in sight.
type ReachQuery struct {
	From      CardID
	Kinds     []string // of links to follow; none follows all
	Both      bool     // against their direction too
	Depth     int      // steps at most
	Limit     int      // cards at most, the first one among them; must be positive
	AsOf      Seq      // along the links of just after a commit; 0 for now
	CardsOnly bool     // the cards alone, without the links among them
}

// Reached is what a ReachQuery found: cards by the least number of steps to them, then
// key and id, the card started from first, with 0. Links are all links of the kinds asked
// for among these cards, by id. Cut says that more than Limit could be reached.
type Reached struct {
	Cards []Card
	Depth []int // of the card at the same place
	Links []Link
	Cut   bool
}

// LayerQuery asks for layers in sight of cards in sight, latest written first (by Since,
// later id first): for those of any of IDs, or else of Card, or where that is zero of any of
// Cards. Tick narrows to the active ones when Active is set: FromTick <= Tick, and
// Tick <= ToTick unless that is 0.
type LayerQuery struct {
	IDs    []LayerID
	Card   CardID
	Cards  []CardID
	Active bool
	Tick   int64
	Kind   string
	AsOf   Seq
}

// EventQuery asks for events whose label is in sight, latest commit first, or the
// oldest first where Oldest is set. Zero fields do not narrow; of Scopes and Types any
// will do.
type EventQuery struct {
	Scopes, Types []string
	Actor         string // id of who did it
	Key           string
	ID            uuid.UUID // of the commit
	After, Before Seq       // both exclusive
	AsOf          Seq       // what was there just after a commit
	Oldest        bool
	Page          Page
}

// Finder answers what a Reader is asked of words and names.
type Finder interface {
	Search(ctx context.Context, s Visibility, q SearchQuery, p Page) (SearchResult, error)
	// NearNames gives names in sight that resemble a name, best first, each once. What
	// resembles is the store's to say; the same name but for one letter does.
	NearNames(ctx context.Context, s Visibility, name string, n int) ([]string, error)
	// NearCards gives up to n living cards that pass a filter by their Likeness to a
	// text, greatest first, then by key and id, none below NearFloor. Of cards that share
	// only frequent runs of characters with the text, some may be left out.
	NearCards(ctx context.Context, s Visibility, text string, f Filter, n int) ([]Hit, error)
	// CompleteNames gives names in sight that begin with a text, case and accents folded,
	// in key order, each once.
	CompleteNames(ctx context.Context, s Visibility, prefix string, n int) ([]string, error)
}

// Reader reads one consistent snapshot of a store. Lookups answer (zero, false, nil)
// for what is absent or out of sight, which are the same. It is used by one goroutine,
// inside the function it was given to.
type Reader interface {
	// Worlds gives worlds by slug. The caller does not change them.
	Worlds(ctx context.Context, q WorldQuery) ([]World, error)
	// Members gives memberships; somebody who was removed is among them, with RoleNone.
	Members(ctx context.Context, q MemberQuery) ([]Member, error)

	// FindCards gives the cards that a query names.
	FindCards(ctx context.Context, s Visibility, q CardQuery) ([]Card, error)
	// Cards lists living cards.
	Cards(ctx context.Context, s Visibility, f Filter, p Page) ([]Card, Total, error)
	// Descendants lists living cards below a card to a depth (1 is children), generation
	// by generation, each in the order of its parents, siblings by creation, then id, and
	// how many there are. A Limit of 0 asks for that alone.
	Descendants(ctx context.Context, s Visibility, id CardID, depth int, p Page) ([]Card, Total, error)
	// Trash lists roots of what is in the trash, latest first, then by key and id, for a
	// view of LevelAdmin and up; others see none.
	Trash(ctx context.Context, s Visibility, p Page) ([]Card, Total, error)

	Finder

	// Versions lists versions of a card that are in sight, latest first.
	Versions(ctx context.Context, s Visibility, id CardID, p Page) ([]Version, Total, error)
	// VersionByCount finds the version in sight whose Counts.For(s.View.Level) is n.
	// For a card seen only by being named, n counts for the card's level. Where several
	// have the number, it is the first of them.
	VersionByCount(ctx context.Context, s Visibility, id CardID, n uint32) (Version, bool, error)
	// VersionByRev finds a version of any label; the door's own use.
	VersionByRev(ctx context.Context, w access.WorldID, id CardID, rev uint32) (Version, bool, error)
	Feed(ctx context.Context, s Visibility, q FeedQuery) ([]Version, Total, error)
	// CardsAt gives the versions of living cards that were current just after a commit, in the
	// order of ids. One is left out where the card, or that version of it, is out of sight, or
	// was in the trash.
	CardsAt(ctx context.Context, s Visibility, ids []CardID, at Seq) ([]Version, error)

	Refs(ctx context.Context, s Visibility, q RefQuery) ([]RefRow, Total, error)
	Wanted(ctx context.Context, s Visibility, p Page) ([]Wanted, Total, error)
	// Tags lists tags whose Name begins with a prefix, case and accents folded.
	Tags(ctx context.Context, s Visibility, prefix string, p Page) ([]TagCount, Total, error)
	Links(ctx context.Context, s Visibility, q LinkQuery) ([]Link, Total, error)
	Reach(ctx context.Context, s Visibility, q ReachQuery) (Reached, error)
	// LinkMax gives the greatest integer attribute of current links of a kind in sight. For
	// ClockKind and ClockAttr it is answered from an index.
	LinkMax(ctx context.Context, s Visibility, kind, attr string) (int64, bool, error)
	Layers(ctx context.Context, s Visibility, q LayerQuery) ([]Layer, error)
	Events(ctx context.Context, s Visibility, q EventQuery) ([]StoredEvent, Total, error)
	// TypeUse counts living cards in sight by the key of their type.
	TypeUse(ctx context.Context, s Visibility) (map[string]int, error)

	// Body gives stored bytes, or false where they are not there or were erased.
	Body(ctx context.Context, w access.WorldID, h Hash) ([]byte, bool, error)

	// Streams lists the streams of a kind that have a commit, by id, each with its head: those
	// whose id begins with the kind and a colon, or all for "".
	Streams(ctx context.Context, kind string) ([]StreamHead, error)
	Head(ctx context.Context, s StreamID) (Head, error)
	// SeqAt gives the number of the commit to a world that stood at a time: the one of the
	// latest time that is not after it, of several the last. 0 is before the first.
	SeqAt(ctx context.Context, w access.WorldID, at time.Time) (Seq, error)
	// Commits yields a stream's commits from a number on, in order.
	Commits(ctx context.Context, s StreamID, from Seq) iter.Seq2[StoredCommit, error]
	CommitByID(ctx context.Context, s StreamID, id uuid.UUID) (StoredCommit, bool, error)
	// Stale lists the worlds, by id, whose tables an upgrade of the store left to be made
	// again from their streams; Tx.Clear takes a world off the list.
	Stale(ctx context.Context) ([]access.WorldID, error)
	// Repeat finds what an account's idempotency key was used for, expired or not.
	Repeat(ctx context.Context, account, key string) (Repeat, bool, error)
	// Dump yields one line of canonical text for each row of a projected table of a
	// world, in an order that depends on the rows alone. Two stores with the same canon
	// dump the same lines: each is json.Marshal of the row (a World, Member, Card, Version,
	// Ref, Link, Layer or StoredEvent; for "search" a struct of Card CardID, Label, Name
	// and Text), times in UTC, and lines are sorted by their bytes.
	Dump(ctx context.Context, w access.WorldID, table Table) iter.Seq2[string, error]
}

// First gives the first row that a query found. It takes the results of the query.
func First[T any](rows []T, err error) (row T, found bool, _ error) {
	if err != nil || len(rows) == 0 {
		return row, false, err
	}
	return rows[0], true, nil
}

// Table names a projected table for Dump.
type Table string

// Tables are all tables that a rebuild recreates from the streams.
var Tables = []Table{"world", "members", "cards", "versions", "refs", "links", "layers", "events", "search"}

// Repeat is a used idempotency key.
type Repeat struct {
	Account   string
	Key       string
	InputHash [32]byte
	Stream    StreamID
	Seq       Seq
	Expires   time.Time
}

// SearchDoc is what is indexed of a card: its name, with its aliases on further lines,
// and its content as plain text. Derived says that Text is PlainText of the card's type and stored body, so that it need not be
// kept to be known again.
type SearchDoc struct {
	Name, Text string
	Derived    bool
}

// Tx is a Reader that sees its own writes, and the writes. Projection rows are given
// whole: a Put replaces the row of the same identity, which is the id, for a version the
// card and Rev, for a link or layer the id and Since, for an event Seq. A write that is
// refused changes nothing, and f may go on. Times are kept to the millisecond, in UTC.
type Tx interface {
	Reader

	// Append adds the next commit of a stream: one whose Seq does not follow the head's,
	// or whose Prev is not the head's Hash, is refused.
	Append(ctx context.Context, c StoredCommit) error
	PutRepeat(ctx context.Context, r Repeat) error
	PutBody(ctx context.Context, w access.WorldID, h Hash, b []byte) error
	// EraseBody removes bytes, whoever refers to them.
	EraseBody(ctx context.Context, w access.WorldID, h Hash) error
	// BodyInUse reports whether an unpurged version of any card has the body.
	BodyInUse(ctx context.Context, w access.WorldID, h Hash) (bool, error)

	// PutWorld writes a world's row; a slug in use by another is refused with ErrTaken.
	PutWorld(ctx context.Context, w World) error
	// PutMember writes a membership. RoleNone stays as a row: somebody who was removed is
	// told from somebody who never was a member, whose key alone decides.
	PutMember(ctx context.Context, m Member) error
	// PutCard writes a card's row. Two living cards of one key and label are refused
	// with ErrTaken; so are two of one codename and label. Cards in the trash hold
	// neither, and are found by no alias.
	PutCard(ctx context.Context, c Card) error
	PutVersion(ctx context.Context, v Version) error
	// EndVersion closes the current version of a card at a commit.
	EndVersion(ctx context.Context, w access.WorldID, id CardID, to Seq) error
	// PutRefs replaces what the content of one card refers to; none removes. Ref.From is
	// that card, for a RefTag too: X+tags. The card that bears the tag is its parent X,
	// where X's key is all of the other's but the last part; references of that kind from
	// cards that do not hold tags by their key count for nothing. Index follows it.
	PutRefs(ctx context.Context, w access.WorldID, from CardID, refs []Ref) error
	// Index replaces what is searchable of a card, in the partition of its world and
	// level; nil removes it. The writer indexes anew when a card's label changes, and
	// removes when it goes to the trash.
	Index(ctx context.Context, c Card, doc *SearchDoc) error
	PutLink(ctx context.Context, l Link) error
	// EndLink closes the current state of a link at a commit; where there is none, none
	// of the Ends does anything.
	EndLink(ctx context.Context, w access.WorldID, id LinkID, to Seq) error
	PutLayer(ctx context.Context, l Layer) error
	EndLayer(ctx context.Context, w access.WorldID, id LayerID, to Seq) error
	// PutEvent writes the event of a commit, of which there is one at most.
	PutEvent(ctx context.Context, e StoredEvent) error
	// Clear empties every projected table of a world, and leaves streams, bodies and used
	// idempotency keys.
	Clear(ctx context.Context, w access.WorldID) error
	// Discard takes away a world that nobody was shown: the rows of its tables, its bodies,
	// used idempotency keys and stream, the world's row and the stream together at last. It
	// removes up to about rows of the many, and reports whether any are left to be removed by
	// a further call.
	Discard(ctx context.Context, w access.WorldID, rows int) (left bool, err error)
}

// Store keeps worlds. It is safe for concurrent use by several goroutines and, where the
// store says so, several processes.
type Store interface {
	// Read runs f on one snapshot.
	Read(ctx context.Context, f func(Reader) error) error
	// Write runs f alone among writers, and returns once its effects are durable; all
	// of f's effects or, when it panics or it or the store fails, none. Concurrent writes
	// may share one durable transaction; f must not assume that it is the first in it.
	// A ctx that ends before f begins keeps f from being run.
	Write(ctx context.Context, f func(Tx) error) error
	// Changed is closed at the next write by anyone, this process or another (then
	// within a second). Ask before reading, wait after.
	Changed() <-chan struct{}
	Close() error
}

// ErrTaken is what PutCard answers where a living card of the same key and label, or of
// the same codename, is there already, and PutWorld where the slug is.
var ErrTaken = errors.New("canon: name or codename is taken")
