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

// Visibility is the data that a query may read: one world, seen through one view. Stores apply it
// in the query itself, before counting, ordering, ranking and paging. A row is visible if
// Visibility.View.Sees(row.Label); LevelAll sees every row. Cards in the trash are hidden from
// every query that does not name them. Queries with a Visibility return each Version as Version.For
// returns it for the view.
//
// A query about a card (its versions, feed, descendants, layers, references from it) finds nothing
// if the card is hidden. CardQuery.ID, Versions, VersionByCount and a Feed of one card name the
// card, and find it in the trash for a view that sees the trash.
type Visibility struct {
	World access.WorldID
	View  access.View
}

// Page is a slice of an ordered result. Limit must be positive.
type Page struct {
	Limit, Offset int
	Uncounted     bool // the caller ignores the Total, which may have any value: counting reads every row
}

// Total is the number of rows of a query without its Page. It is exact unless AtLeast is set.
type Total struct {
	Count   int
	AtLeast bool // Count is a lower bound
}

// CountCap is the number of rows up to which totals of listings are exact.
const CountCap = 10_000

// Sort orders a listing.
type Sort string

// The orders. Ties are broken by key, then id; keys and ids compare by their bytes. A listing
// has no relevance, so SortRank means SortName there.
const (
	SortName    Sort = "name"    // by key
	SortUpdated Sort = "updated" // latest first
	SortCreated Sort = "created" // latest first
	SortField   Sort = "field"   // by SortValue
	SortRank    Sort = "relevance"
)

// Filter narrows a listing or a search. Zero fields do not narrow.
type Filter struct {
	NameContains  string       // substring of the name, case and accents folded
	NameStarts    string       // prefix of the name, case and accents folded
	Prefix        markup.Key   // key of a card: the card and all cards below it
	Below         markup.Key   // key of a card: the cards below it, without the card itself
	NotName       string       // pattern of markup.MatchGlob; matching cards are left out
	Type          string       // name of a type, compared by key
	Types         []string     // names of types, any of them
	Coded         bool         // only cards with a codename
	SortFrom      *int64       // lowest SortValue; cards without one are left out
	SortTo        *int64       // highest SortValue; cards without one are left out
	Tag           string       // item of the card's visible X+tags, compared by key (see PutRefs)
	Level         access.Level // level of the label, exactly
	UpdatedSince  time.Time    // inclusive
	UpdatedBefore time.Time    // exclusive
	CreatedSince  time.Time    // inclusive
	CreatedBefore time.Time    // exclusive
	Filled        bool         // only cards that have content or fields
	// TagLists lets a listing include the lists of tags, X+tags, which listings and searches leave
	// out otherwise. It cannot be set together with NameContains, NameStarts or Tag.
	TagLists bool
	Parent   CardID // only direct children of this card; the visibility of the card itself is not checked
	Roots    bool   // only cards without a parent
	Sort     Sort   // "" means SortName, and in a search SortRank
}

// Narrows reports whether the filter leaves anything out.
func (f Filter) Narrows() bool {
	f.Sort, f.TagLists = "", false
	return !reflect.DeepEqual(f, Filter{})
}

// Fits reports whether a card passes the filter. It ignores Tag, because a Card does not hold its
// tags.
func (f Filter) Fits(c Card) bool {
	switch {
	case !f.TagLists && c.IsTagList(),
		f.NameContains != "" && !strings.Contains(markup.Fold(c.Name), markup.Fold(f.NameContains)),
		f.NameStarts != "" && !strings.HasPrefix(markup.Fold(c.Name), markup.Fold(f.NameStarts)),
		!c.Key.HasPrefix(f.Prefix),
		f.Below != "" && (c.Key == f.Below || !c.Key.HasPrefix(f.Below)),
		f.NotName != "" && markup.MatchGlob(f.NotName, c.Name),
		f.Type != "" && markup.KeyOf(f.Type) != markup.KeyOf(c.Type),
		len(f.Types) > 0 && !slices.ContainsFunc(f.Types,
			func(t string) bool { return markup.KeyOf(t) == markup.KeyOf(c.Type) }),
		f.Coded && c.Codename == "",
		f.Level != access.LevelNone && f.Level != c.Label.Level,
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

// Within reports whether t is in [since, before). A zero bound does not limit.
func Within(t, since, before time.Time) bool {
	return (since.IsZero() || !t.Before(since)) && (before.IsZero() || t.Before(before))
}

// MatchMode is the way in which the words of a search are matched.
type MatchMode string

// The modes.
const (
	MatchSubstring MatchMode = "substring"  // each word may be part of a word
	MatchWord      MatchMode = "whole_word" // each word is a whole word; word* is a prefix
	MatchPhrase    MatchMode = "phrase"     // the words in sequence
	MatchStem      MatchMode = "stem"       // each word in any of its forms
	MatchRelevance MatchMode = "relevance"  // any of the words, in any form; see SearchQuery
)

// SearchQuery is a full-text search of living cards. Q is words as typed. All of them must match,
// each in one of the selected columns; if no column is selected, these are name and content. A Q
// without a letter or digit finds nothing.
//
// Text consists of tokens: runs of letters, numbers and private-use characters, in lower case, with
// accents of Latin letters removed (FTS5's unicode61 with remove_diacritics 2).
//
//   - MatchWord: each token of Q is a token of the text. If a word ends in '*', its last token is a
//     prefix.
//
//   - MatchPhrase: the tokens of Q follow each other in one column.
//
//   - MatchSubstring: each word of Q, split at white space, is part of a token. A word of several
//     tokens ("ell-ca") spans consecutive tokens of one column: the first one ends with the word's
//     first token, the last one begins with its last. A word of a single token under three
//     characters is a prefix of a token.
//
//   - MatchStem: for each token of Q, a token of the text has the same stem in Language, by the
//     algorithms of the Snowball project. Both also begin with the same letters: those of the stem
//     without its last two, but at least two.
//
//   - MatchRelevance: any word of Q is in the name, the text, the FieldText, the AttributeText or a
//     tag, in any form as for MatchStem, or Q resembles a name. Texts in double quotes must occur as for MatchPhrase. A word
//     that no visible card has is replaced by words that are spelt alike. Hits are always ordered by
//     relevance, and all columns are searched. The words of a list of tags count if the list has the
//     card's label. A card that only has words of the card above it
//     follows that card.
//
// If CaseSensitive is set, each word of Q (without a '*' at its end), or for MatchPhrase the
// trimmed Q itself, must also occur literally in the text of a selected column.
type SearchQuery struct {
	Q             string
	InName        bool
	InContent     bool
	InFields      bool // FieldText of the card's fields
	Mode          MatchMode
	Language      string // of stems, as an ISO 639-1 code; Snapshot.Search sets the language of the world
	CaseSensitive bool
	Filter        Filter
	// Level, if set, leaves only cards whose label has this level in an answer by relevance.
	Level access.Level
	// Listed allows the cards of hits to hold only the data of a list: world, id, parent, key,
	// name, type, hash, size and length of the content, times, counts and the label's level.
	Listed bool
	// Near are the cards that are near in meaning to a query by relevance, best first; Snapshot.Search sets them.
	// Their scores count beside those by words, where the best hit has 1.
	Near []NearCard
}

// NearCard is a card whose text is near in meaning to a query, with a score above 0.
type NearCard struct {
	ID    CardID
	Score float64
}

// Nearness finds cards by meaning.
type Nearness interface {
	// Near returns cards of a world that everyone at a level sees, best first. The result depends only on such cards.
	Near(ctx context.Context, w access.WorldID, level access.Level, query string) NearResult
}

// NearResult is the result of Near. Ready is false if cards of the levels that were asked for could not be
// compared, or not yet. At is the commit whose cards were compared.
type NearResult struct {
	Cards []NearCard
	Ready bool
	At    Seq
}

// SearchedColumns returns which of the columns name and content are searched.
func (q SearchQuery) SearchedColumns() (name, content bool) {
	none := !q.InName && !q.InContent && !q.InFields
	return q.InName || none, q.InContent || none
}

// Hit is one result of a search. Score is above zero, and greater is better; it is 0 if the result
// is not ranked. It is computed only from visible data. Cards that the view sees only through its
// subject come after all others, by key, with Score 0. Names are the card's Names.
type Hit struct {
	Card  Card
	Names []string
	Score float64
}

// SearchResult is a page of hits. Its Total is exact for any number of hits, unless CaseSensitive
// made the store examine more than CountCap of them. Ranked is false if Filter.Sort asks for an
// order other than relevance. That order then applies to all hits, including those seen only
// through the subject, and their Scores are 0.
type SearchResult struct {
	Hits    []Hit
	Total   Total
	Ranked  bool
	Terms   []string  // texts that a query by relevance looked for, to mark them in excerpts
	Cut     bool      // a query by relevance had more words than are searched
	Mended  []Mending // words of a query by relevance that no visible card has, in their order
	Unready bool      // some visible cards could not be found by meaning, or not yet
}

// Mending is a word of a query that no card has, with the words that were searched instead: those
// that are spelt most alike. There are none if no word is.
type Mending struct {
	Word string
	By   []string
}

// WorldQuery selects worlds by the one field that is set. The zero query finds none.
type WorldQuery struct {
	ID   access.WorldID
	Slug string
	All  bool
}

// MemberQuery asks for the members of a world, by subject. If World is zero, it asks for the
// memberships of a subject, by world id.
type MemberQuery struct {
	World   access.WorldID
	Subject access.Subject
}

// CardQuery selects cards by the one field that is set, apart from Prefetch. The zero query finds
// nothing.
type CardQuery struct {
	// ID finds the card; for a view that sees the trash, there too.
	ID CardID
	// IDs finds living cards in the order of the ids; absent ones are left out.
	IDs []CardID
	// Key finds the living cards with a key, in the order of CompareHomonyms.
	Key markup.Key
	// Alias finds the living cards that have an alias with this key, in the order of Key.
	Alias markup.Key
	// Codename finds the living card with a codename: of several visible ones, the one with
	// the lowest level, then the lowest id.
	Codename string
	// OldKey finds living cards that once had the key and now have another one, latest rename
	// first. The view must see the version that had the key; for a Former name, it must see the
	// label of that name. Each card counts with its latest such version. A current version is the
	// latest of all; others are ordered by To. Ties are broken by id.
	OldKey markup.Key
	// TrashRoot finds the visible cards that were put in the trash with a card: that card first,
	// the others by key, then id.
	TrashRoot CardID
	// Prefetch does not change the result. It tells the Reader that the caller will next read
	// the bodies of the cards found by ID or Key, and count their visible children.
	Prefetch bool
}

// RefQuery asks for references. Exactly one of From and Target is set. Kind 0 means any kind.
// References from a card are ordered by kind, then order; references to a target by the source
// card's key, id, then kind and order.
type RefQuery struct {
	From   CardID
	Target markup.Key
	Kind   RefKind
	Page   Page
}

// RefRow is a reference with its source card, which is visible.
type RefRow struct {
	Ref  Ref
	Card Card
}

// Wanted is the target of a RefLink that is neither the name nor an alias of a visible card, with the
// number of visible cards that refer to it. Lists of tags, X+tags, do not count as references here. Listed by Count,
// greatest first, then by key.
type Wanted struct {
	Key   markup.Key
	Name  string // as first written in the referring card with the lowest id
	Count int
}

// TagCount is a tag with the number of visible cards that visibly have it. Listed by Count,
// greatest first, then by key.
type TagCount struct {
	Key   markup.Key
	Name  string // the lowest spelling in these cards, by its bytes
	Count int
}

// FeedQuery asks for changes, latest first: visible versions of visible cards, by time, then
// commit. Within a commit they are ordered by card id, then latest version first.
type FeedQuery struct {
	Since, Before time.Time // inclusive, exclusive
	Type          string    // type of the version, compared by key
	Author        access.Subject
	Card          CardID // zero: any card
	Trash         bool   // a view that sees the trash also gets the changes of cards in the trash
	Except        []Span // changes that are left out
	Page          Page
}

// Span is the commits of an operation from one number to another, both included.
type Span struct {
	From, To Seq
	Op       string
}

// Has reports whether a version was written in the span.
func (s Span) Has(v Version) bool { return s.From <= v.From && v.From <= s.To && v.Op == s.Op }

// NamesTrash reports whether the query finds cards in the trash for a view.
func (q FeedQuery) NamesTrash(v access.View) bool {
	return v.SeesTrash() && (q.Trash || !q.Card.IsZero())
}

// LinkQuery asks for current links whose label and both ends are visible. Zero fields do not
// narrow. AsOf asks for the links that were current just after a commit, between cards that are
// visible now. Links are ordered by id.
type LinkQuery struct {
	From, To CardID
	Froms    []CardID // any of them
	IDs      []LinkID // any of them
	Kinds    []string
	AsOf     Seq
	Page     Page
}

// ReachQuery asks which cards can be reached from a card along visible links.
type ReachQuery struct {
	From      CardID
	Kinds     []string // kinds of links to follow; empty means all
	Both      bool     // follow links against their direction too
	Depth     int      // greatest number of steps
	Limit     int      // greatest number of cards, including the first one; must be positive
	AsOf      Seq      // follow the links just after a commit; 0 means now
	CardsOnly bool     // leave out the links between the cards
}

// Reached is the result of a ReachQuery. Cards are ordered by the lowest number of steps to them,
// then key and id; the start card comes first, with 0 steps. Links are all links of the requested
// kinds between these cards, by id. Cut reports that more than Limit cards could be reached.
type Reached struct {
	Cards []Card
	Depth []int // number of steps to the card at the same index
	Links []Link
	Cut   bool
}

// LayerQuery asks for visible layers of visible cards, latest written first (by Since, then the
// higher id first). It selects those with any of IDs; else those of Card; if Card is zero, those of
// any of Cards. If Active is set, it selects only layers that are active at Tick: FromTick <= Tick,
// and Tick <= ToTick unless ToTick is 0.
type LayerQuery struct {
	IDs    []LayerID
	Card   CardID
	Cards  []CardID
	Active bool
	Tick   int64
	AsOf   Seq
}

// EventQuery asks for events with a visible label, latest commit first, or oldest first if Oldest
// is set. Zero fields do not narrow. An event matches if it has any of the Scopes and any of the
// Types.
type EventQuery struct {
	Scopes, Types []string
	Actor         string // id of the event's actor
	Key           string
	ID            uuid.UUID // of the commit
	After         Seq       // exclusive
	AsOf          Seq       // only events up to this commit
	Oldest        bool
	Page          Page
}

// Finder is the part of a Reader that searches words and names.
type Finder interface {
	Search(ctx context.Context, s Visibility, q SearchQuery, p Page) (SearchResult, error)
	// NearNames returns visible names that resemble a name, best first, each once. The store
	// decides which names are similar; one with a single different letter must be.
	NearNames(ctx context.Context, s Visibility, name string, n int) ([]string, error)
	// NearCards returns up to n living cards that pass a filter, by the Likeness of their names to
	// a text, greatest first, then by key and id, none below NearFloor. It may leave out some cards
	// that share only frequent trigrams with the text.
	NearCards(ctx context.Context, s Visibility, text string, f Filter, n int) ([]Hit, error)
	// CompleteNames returns visible names that begin with a text, case and accents folded, in key
	// order, each once.
	CompleteNames(ctx context.Context, s Visibility, prefix string, n int) ([]string, error)
}

// Reader reads one consistent snapshot of a store. Look-ups return (zero, false, nil) both for
// absent and for hidden rows. A Reader is used by one goroutine, inside the function that received
// it.
type Reader interface {
	WorldReader
	CardReader
	Finder
	LinkReader
	HistoryReader
	StreamReader
	Dumper
}

// WorldReader reads worlds and their members.
type WorldReader interface {
	// Worlds returns worlds by slug. The caller must not change them.
	Worlds(ctx context.Context, q WorldQuery) ([]World, error)
	// Members returns memberships, including those of removed members, with RoleNone.
	Members(ctx context.Context, q MemberQuery) ([]Member, error)
	// Stale lists the worlds, by id, whose tables must be rebuilt from their streams after an
	// upgrade of the store. Tx.Clear removes a world from the list.
	Stale(ctx context.Context) ([]access.WorldID, error)
}

// CardReader reads cards as they are now, and stored bodies.
type CardReader interface {
	// FindCards returns the cards that a query selects.
	FindCards(ctx context.Context, s Visibility, q CardQuery) ([]Card, error)
	// Cards lists living cards.
	Cards(ctx context.Context, s Visibility, f Filter, p Page) ([]Card, Total, error)
	// Descendants lists the living cards below a card down to a depth (1 means children), with
	// their number. Generations come in order; each generation is in the order of its parents, and
	// siblings are ordered by creation, then id. A Limit of 0 asks only for the number.
	Descendants(ctx context.Context, s Visibility, id CardID, depth int, p Page) ([]Card, Total, error)
	// Trash lists the cards that were put in the trash themselves, latest first, then by key and
	// id. Only a view that sees the trash sees any.
	Trash(ctx context.Context, s Visibility, p Page) ([]Card, Total, error)
	// TypeUse counts visible living cards by the key of their type.
	TypeUse(ctx context.Context, s Visibility) (map[string]int, error)
	// Body returns stored bytes, or false if they are absent or erased.
	Body(ctx context.Context, w access.WorldID, h Hash) ([]byte, bool, error)
}

// LinkReader reads what connects cards: references, tags, links and layers.
type LinkReader interface {
	Refs(ctx context.Context, s Visibility, q RefQuery) ([]RefRow, Total, error)
	Wanted(ctx context.Context, s Visibility, p Page) ([]Wanted, Total, error)
	// Tags lists tags whose Name begins with a prefix, case and accents folded.
	Tags(ctx context.Context, s Visibility, prefix string, p Page) ([]TagCount, Total, error)
	Links(ctx context.Context, s Visibility, q LinkQuery) ([]Link, Total, error)
	Reach(ctx context.Context, s Visibility, q ReachQuery) (Reached, error)
	// LinkMax returns the greatest integer attribute of the visible current links of a kind. For
	// ClockKind and ClockAttr it uses an index.
	LinkMax(ctx context.Context, s Visibility, kind, attr string) (int64, bool, error)
	Layers(ctx context.Context, s Visibility, q LayerQuery) ([]Layer, error)
}

// HistoryReader reads versions of cards and events.
type HistoryReader interface {
	// Versions lists the visible versions of a card, latest first.
	Versions(ctx context.Context, s Visibility, id CardID, p Page) ([]Version, Total, error)
	// VersionByCount finds the visible version whose Counts.For(s.View.Level) is n. For a card that
	// the view sees only through its subject, n counts at the card's level. If several versions
	// have the number, it returns the first one.
	VersionByCount(ctx context.Context, s Visibility, id CardID, n uint32) (Version, bool, error)
	// VersionByRev finds a version regardless of its label, for internal use by package canon.
	VersionByRev(ctx context.Context, w access.WorldID, id CardID, rev uint32) (Version, bool, error)
	Feed(ctx context.Context, s Visibility, q FeedQuery) ([]Version, Total, error)
	// CardsAt returns the versions of living cards that were current just after a commit, in the
	// order of ids. It leaves out a card if the card or that version of it is hidden or was in the
	// trash.
	CardsAt(ctx context.Context, s Visibility, ids []CardID, at Seq) ([]Version, error)
	Events(ctx context.Context, s Visibility, q EventQuery) ([]StoredEvent, Total, error)
}

// StreamReader reads streams of commits.
type StreamReader interface {
	// Streams lists the streams of a kind that have a commit, by id, each with its head. These are
	// the streams whose id begins with the kind and a colon; "" means all.
	Streams(ctx context.Context, kind string) ([]StreamHead, error)
	Head(ctx context.Context, s StreamID) (Head, error)
	// SeqAt returns the number of the last commit to a world at a time: the commit with the latest
	// time that is not after it, and of several the last. 0 means before the first commit.
	SeqAt(ctx context.Context, w access.WorldID, at time.Time) (Seq, error)
	// Commits yields a stream's commits from a number on, in order. If the bytes of a commit are damaged, it yields
	// the commits before it and an error with ErrDamaged.
	Commits(ctx context.Context, s StreamID, from Seq) iter.Seq2[StoredCommit, error]
	CommitByID(ctx context.Context, s StreamID, id uuid.UUID) (StoredCommit, bool, error)
	// Repeat finds the use of an account's idempotency key, expired or not.
	Repeat(ctx context.Context, account, key string) (Repeat, bool, error)
}

// Dumper writes projected tables in a form that can be compared between stores.
type Dumper interface {
	// Dump yields one line of canonical text for each row of a projected table of a
	// world, in an order that depends on the rows alone. Two stores with the same canon
	// dump the same lines: each is json.Marshal of the row (a World, Member, Card, Version,
	// Ref, Link, Layer or StoredEvent; for "search" a struct of Card CardID, Label, Name
	// and Text), times in UTC, and lines are sorted by their bytes.
	Dump(ctx context.Context, w access.WorldID, table Table) iter.Seq2[string, error]
}

// First returns the first row of a query. Its arguments are the results of the query.
func First[T any](rows []T, err error) (row T, found bool, _ error) {
	if err != nil || len(rows) == 0 {
		return row, false, err
	}
	return rows[0], true, nil
}

// Table names a projected table for Dump.
type Table string

// Tables lists all tables that a rebuild recreates from the streams.
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

// SearchDoc is the searchable text of a card: its name, with its aliases on further lines, and its
// content as plain text. Derived reports that Text is PlainText of the card's type and stored body,
// so that a store need not keep it.
type SearchDoc struct {
	Name, Text string
	Derived    bool
}

// Tx is a Reader with writes, and sees its own writes. Rows of projected tables are given in full:
// a Put replaces the row with the same identity. The identity is the id; for a version the card and
// Rev, for a link or layer the id and Since, for an event Seq. A refused write changes nothing, and
// f may continue. Times are stored in UTC, to the millisecond.
type Tx interface {
	Reader

	// Append adds the next commit of a stream. It refuses a commit that the head does not precede (see
	// Head.Precedes).
	Append(ctx context.Context, c StoredCommit) error
	PutRepeat(ctx context.Context, r Repeat) error
	PutBody(ctx context.Context, w access.WorldID, h Hash, b []byte) error
	// EraseBody removes bytes, even if rows still refer to them.
	EraseBody(ctx context.Context, w access.WorldID, h Hash) error
	// BodyInUse reports whether a version that is not purged, of any card, has the body.
	BodyInUse(ctx context.Context, w access.WorldID, h Hash) (bool, error)

	// PutWorld writes a world's row. It refuses a slug that another world uses, with ErrTaken.
	PutWorld(ctx context.Context, w World) error
	// PutMember writes a membership. A row with RoleNone is kept: it distinguishes a removed member
	// from a subject that never was a member and whose key alone decides.
	PutMember(ctx context.Context, m Member) error
	// PutCard writes a card's row. It refuses, with ErrTaken, a second living card with the same
	// key and label, or with the same codename and label. Cards in the trash do not count for that,
	// and no alias finds them.
	PutCard(ctx context.Context, c Card) error
	PutVersion(ctx context.Context, v Version) error
	// EndVersion closes the current version of a card at a commit.
	EndVersion(ctx context.Context, w access.WorldID, id CardID, to Seq) error
	// PutRefs replaces the references of a card; an empty refs removes them all. Ref.From is that
	// card, for a RefTag too, where it is X+tags. The tag belongs to the card's parent X, if X's
	// key is the card's key without its last part. References of kind RefTag from cards whose key
	// is not that of a tag list are ignored. Index is called after it.
	PutRefs(ctx context.Context, w access.WorldID, from CardID, refs []Ref) error
	// Index replaces the searchable text of a card, in the partition of its world and level; nil
	// removes it. The caller indexes a card again when its label changes, and removes its text when
	// it is put in the trash. Index of a list of tags makes the words of the card above it follow; the
	// caller indexes that card again when the list gets another name.
	Index(ctx context.Context, c Card, doc *SearchDoc) error
	PutLink(ctx context.Context, l Link) error
	// EndLink closes the current state of a link at a commit. EndLink, EndLayer and EndVersion do
	// nothing if there is no current state.
	EndLink(ctx context.Context, w access.WorldID, id LinkID, to Seq) error
	PutLayer(ctx context.Context, l Layer) error
	EndLayer(ctx context.Context, w access.WorldID, id LayerID, to Seq) error
	// PutEvent writes the event of a commit, which has at most one.
	PutEvent(ctx context.Context, e StoredEvent) error
	// Clear empties every projected table of a world. It keeps streams, bodies and used idempotency
	// keys.
	Clear(ctx context.Context, w access.WorldID) error
	// Discard removes a world that was never shown to anyone: the rows of its tables, its bodies,
	// used idempotency keys and stream. The world's row and its stream are removed last, together.
	// A call removes up to about rows rows and reports whether any are left for another call.
	Discard(ctx context.Context, w access.WorldID, rows int) (left bool, err error)
}

// Store persists all worlds. It is safe for concurrent use by several goroutines and, if the store
// says so, by several processes.
type Store interface {
	// Read runs f on one snapshot.
	Read(ctx context.Context, f func(Reader) error) error
	// Write runs f as the only writer and returns once its effects are durable. All effects of f
	// are kept; if f panics, or if f or the store fails, none. Concurrent writes may share one
	// durable transaction, so f must not assume that it is the first in it. If ctx ends before f
	// begins, f does not run.
	Write(ctx context.Context, f func(Tx) error) error
	// Changed returns a channel that is closed at the next write by this process or, within a
	// second, by another one. Get it before reading, and wait on it afterwards.
	Changed() <-chan struct{}
	Close() error
}

// ErrTaken is returned by PutCard if a living card with the same key and label, or the same
// codename and label, exists, and by PutWorld if the slug is in use.
var ErrTaken = errors.New("canon: name or codename is taken")
