package finder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/search"
	"loregate/internal/store/words"
)

// Snapshot is the part of a store's reader that a Finder needs.
type Snapshot interface {
	// Source returns the search data of a world; false if the store does not have the world.
	Source(ctx context.Context, w access.WorldID) (search.Source, bool, error)
	// Named returns the living cards that are visible only because their labels name the subject,
	// by key and id.
	Named(ctx context.Context, s canon.Visibility) ([]Named, error)
	// NamedBearers returns the visible cards that have a tag through a tag list that is visible
	// only because its label names the subject.
	NamedBearers(ctx context.Context, s canon.Visibility, tag markup.Key) ([]canon.CardID, error)
	// Text returns the searchable text of a card.
	Text(ctx context.Context, c canon.Card) (canon.SearchDoc, error)
	FindCards(ctx context.Context, s canon.Visibility, q canon.CardQuery) ([]canon.Card, error)
	// Writes reports whether the snapshot belongs to a write transaction.
	Writes() bool
}

// Named is a card with its searchable text and the names of its tags; Doc is nil if the card is not
// indexed.
type Named struct {
	Card canon.Card
	Doc  *canon.SearchDoc
	Tags []string
}

// Finder searches a store's indexes. It is safe for concurrent use.
type Finder struct{ Library *search.Library }

// SnapshotFinder is the canon.Finder of one snapshot. A store's reader embeds it.
type SnapshotFinder struct {
	finder   *Finder
	snapshot Snapshot
}

var _ canon.Finder = SnapshotFinder{}

// Bind returns the finder for a snapshot.
func (f *Finder) Bind(sn Snapshot) SnapshotFinder { return SnapshotFinder{f, sn} }

// finding is one search request.
type finding struct {
	SnapshotFinder
	ctx        context.Context // of the request
	visibility canon.Visibility
	filter     canon.Filter
	bearers    map[canon.CardID]bool // visible cards that have the filter's tag, if it has one
	named      []Named               // cards visible only by name that pass the filter
	level      access.Level          // of all hits of a search by relevance; 0 for any
	listed     bool                  // build hits from index rows, without reading the cards
}

// newFinding returns a request for cards that pass a filter.
func (f SnapshotFinder) newFinding(ctx context.Context, s canon.Visibility, filter canon.Filter) (*finding, error) {
	a := &finding{SnapshotFinder: f, ctx: ctx, visibility: s, filter: filter}
	if filter.Tag != "" {
		if err := a.findBearers(markup.KeyOf(filter.Tag)); err != nil {
			return nil, err
		}
	}
	if !a.mayBeNamed() {
		return a, nil
	}
	all, err := f.snapshot.Named(ctx, s)
	for _, n := range all {
		if a.passesFilter(n.Card) {
			a.named = append(a.named, n)
		}
	}
	return a, err
}

// mayBeNamed reports whether the caller may see cards only because labels name the subject.
func (a *finding) mayBeNamed() bool {
	return a.visibility.View.Level < access.LevelAdmin && a.visibility.View.Subject != ""
}

// findBearers finds the cards that visibly have a tag: the parents of the tag lists that contain
// it.
func (a *finding) findBearers(tag markup.Key) error {
	a.bearers = map[canon.CardID]bool{}
	if a.mayBeNamed() {
		ids, err := a.snapshot.NamedBearers(a.ctx, a.visibility, tag)
		if err != nil {
			return err
		}
		for _, id := range ids {
			a.bearers[id] = true
		}
	}
	return a.withIndex(func(x *search.Index) error {
		return x.Marked(a.ctx, tagMark+string(tag), int(a.visibility.View.Level),
			func(row []byte) { a.bearers[readRow(row).parentID()] = true })
	})
}

func (a *finding) passesFilter(c canon.Card) bool {
	return a.filter.Fits(c) && (a.filter.Tag == "" || a.bearers[c.ID])
}

// rowFilter returns passesFilter for index rows, without the types, the tag and the codename, by which
// the index query is restricted otherwise. It is nil if nothing else restricts the cards.
func (a *finding) rowFilter() func(row []byte) bool {
	rest := a.filter
	rest.Type, rest.Types, rest.Tag, rest.Coded = "", nil, "", false
	if !rest.Narrows() {
		return nil
	}
	return func(b []byte) bool { return rest.Fits(readRow(b).filterCard()) }
}

// indexQuery returns a query of the index that is restricted by the filter.
func (a *finding) indexQuery(terms []words.Term) search.Query {
	q := search.Query{Terms: terms, Level: int(a.visibility.View.Level), Keep: a.rowFilter()}
	if a.filter.Type != "" {
		q.Marks = append(q.Marks, typeMarks(a.filter.Type))
	}
	if len(a.filter.Types) > 0 {
		q.Marks = append(q.Marks, typeMarks(a.filter.Types...))
	}
	if a.filter.Coded {
		q.Marks = append(q.Marks, []string{codedMark})
	}
	for _, run := range trigrams(markup.Fold(a.filter.NameContains)) {
		q.Marks = append(q.Marks, []string{runMark + run})
	}
	q.Marks = append(q.Marks, startMarks(a.filter.NameStarts)...)
	if a.filter.Tag != "" {
		q.Among = make([]search.ID, 0, len(a.bearers))
		for id := range a.bearers {
			q.Among = append(q.Among, search.ID(id))
		}
	}
	if q.Keep == nil && len(terms)+len(q.Marks) == 0 { // lists of tags have neither words nor these marks
		q.Keep = func(b []byte) bool { return readRow(b).fixed[atFlags]&isTagList == 0 }
	}
	return q
}

func typeMarks(types ...string) (marks []string) {
	for _, t := range types {
		marks = append(marks, typeMark+string(markup.KeyOf(t)))
	}
	return marks
}

// maxRuns limits the trigrams of a text that the index is asked for; the rows found are compared
// with the whole text.
const maxRuns = 32

// trigrams returns the runs of three characters in a folded text.
func trigrams(folded string) (runs []string) {
	r := []rune(folded)
	for i := 0; i+3 <= len(r) && i < maxRuns; i++ {
		runs = append(runs, string(r[i:i+3]))
	}
	return runs
}

// startMarks returns the marks of names that begin with a text.
func startMarks(text string) (marks [][]string) {
	folded := markup.Fold(text)
	for i, r := range folded {
		if i == 0 {
			marks = append(marks, []string{startMark + string(r)})
		}
	}
	if folded != "" {
		for _, run := range trigrams("\x02" + folded) {
			marks = append(marks, []string{runMark + run})
		}
	}
	return marks
}

// withIndex calls f with the world's index.
func (a *finding) withIndex(f func(*search.Index) error) error {
	if a.visibility.View.Level <= access.LevelNone {
		return nil
	}
	from, ok, err := a.snapshot.Source(a.ctx, a.visibility.World)
	if err != nil || !ok {
		return err
	}
	find := a.finder.Library.Find
	if a.snapshot.Writes() {
		find = a.finder.Library.FindIn
	}
	err = find(a.ctx, search.ID(a.visibility.World), from, f)
	if errors.Is(err, search.ErrBehind) {
		return (&fault.Error{Kind: fault.Unavailable, RetryAfter: 2 * time.Second,
			Message: "the search index of this world is being built; try again in a moment"}).Because(err)
	}
	return err
}

// Search implements canon.Finder.
func (f SnapshotFinder) Search(ctx context.Context, s canon.Visibility, q canon.SearchQuery,
	p canon.Page) (canon.SearchResult, error) {
	if q.Mode == canon.MatchRelevance {
		return f.searchRelevant(ctx, s, q, p)
	}
	out := canon.SearchResult{Ranked: isRanked(q.Filter.Sort)}
	terms := words.Terms(q)
	if len(terms) == 0 {
		return out, nil
	}
	a, err := f.newFinding(ctx, s, q.Filter)
	if err != nil {
		return out, err
	}
	a.named = slices.DeleteFunc(a.named, func(n Named) bool {
		if n.Doc == nil {
			return true
		}
		columns := words.ColumnsOf(q, n.Doc.Name, n.Doc.Text, n.Card.Fields)
		return !words.AllIn(terms, columns...) || q.CaseSensitive && !words.Spelt(terms, columns...)
	})
	p.Offset, p.Limit = max(p.Offset, 0), max(p.Limit, 0)
	a.listed = q.Listed
	ask := a.indexQuery(terms)
	ask.Name, ask.Text = q.SearchedColumns()
	ask.Fields = q.InFields
	if !out.Ranked {
		ask.Compare = compareBy(q.Filter.Sort)
	}
	var hits []canon.Hit
	if q.CaseSensitive {
		hits, out.Total, err = a.findAsTyped(ask, q, terms, p)
	} else {
		hits, out.Total, err = a.findPage(ask, p)
	}
	out.Hits = hits
	return out, err
}

func isRanked(s canon.Sort) bool { return s == "" || s == canon.SortRank }

// item is a card that was found and is not read yet.
type item struct {
	id    canon.CardID
	row   []byte
	score float64
}

// itemOf returns the item of a card that is visible only by name.
func itemOf(n Named) item {
	return item{id: n.Card.ID, row: rowOf(&n.Card, n.Card.Label.Level)}
}

// findPage runs a query and adds the cards that are visible only by name: after all others if hits
// are ranked, else in their place in the order.
func (a *finding) findPage(q search.Query, p canon.Page) ([]canon.Hit, canon.Total, error) {
	q.Offset, q.Limit = p.Offset, p.Limit
	if q.Compare != nil && len(a.named) > 0 {
		q.Offset, q.Limit = 0, p.Offset+p.Limit
	}
	var result search.Result
	if err := a.withIndex(func(x *search.Index) (err error) {
		result, err = x.Find(a.ctx, q)
		return err
	}); err != nil {
		return nil, canon.Total{}, err
	}
	items := make([]item, 0, len(result.Hits))
	for _, h := range result.Hits {
		items = append(items, item{canon.CardID(h.ID), h.Row, h.Score})
	}
	total := canon.Total{Count: result.Total + len(a.named)}
	switch {
	case len(a.named) == 0:
	case q.Compare == nil:
		for i := max(p.Offset-result.Total, 0); i < len(a.named) && len(items) < p.Limit; i++ {
			items = append(items, itemOf(a.named[i]))
		}
	default:
		items = cutPage(a.mergeNamed(items, q.Compare), p)
	}
	hits, err := a.readHits(items)
	return hits, total, err
}

// mergeNamed adds the cards that are visible only by name to items and sorts them.
func (a *finding) mergeNamed(items []item, order func(a, b []byte) int) []item {
	for _, n := range a.named {
		items = append(items, itemOf(n))
	}
	slices.SortFunc(items, func(x, y item) int { return cmp.Or(order(x.row, y.row), compareKeys(x.row, y.row)) })
	return items
}

func cutPage[T any](list []T, p canon.Page) []T {
	return list[min(p.Offset, len(list)):min(p.Offset+p.Limit, len(list))]
}

// readHits reads the cards of items. It leaves out cards that the snapshot does not have because it
// is older than the index.
func (a *finding) readHits(items []item) ([]canon.Hit, error) {
	if a.listed {
		return a.listHits(items), nil
	}
	ids := make([]canon.CardID, len(items))
	for i, x := range items {
		ids[i] = x.id
	}
	cards, err := a.snapshot.FindCards(a.ctx, a.visibility, canon.CardQuery{IDs: ids})
	if err != nil || len(cards) == 0 {
		return nil, err
	}
	hits := make([]canon.Hit, 0, len(cards))
	for _, x := range items {
		if len(cards) > 0 && cards[0].ID == x.id {
			hits = append(hits, canon.Hit{Card: cards[0], Names: readRow(x.row).nameList(), Score: x.score})
			cards = cards[1:]
		}
	}
	return hits, nil
}

// listHits returns the cards of items with the data that a list shows.
func (a *finding) listHits(items []item) []canon.Hit {
	hits := make([]canon.Hit, 0, len(items))
	for _, x := range items {
		r := readRow(x.row)
		i := slices.IndexFunc(a.named, func(n Named) bool { return n.Card.ID == x.id })
		if i >= 0 {
			hits = append(hits, canon.Hit{Card: a.named[i].Card, Names: r.nameList(), Score: x.score})
		} else {
			hits = append(hits, canon.Hit{Card: r.listedCard(a.visibility.World), Names: r.nameList(), Score: x.score})
		}
	}
	return hits
}

// findAsTyped answers a query whose hits must be spelt exactly as typed. It checks at most
// canon.CountCap hits.
func (a *finding) findAsTyped(ask search.Query, q canon.SearchQuery, terms []words.Term,
	p canon.Page) ([]canon.Hit, canon.Total, error) {
	a.listed = a.listed && !q.InFields // index rows contain no fields
	all, found, err := a.findPage(ask, canon.Page{Limit: canon.CountCap})
	if err != nil {
		return nil, canon.Total{}, err
	}
	spelt := all[:0]
	for _, h := range all {
		if err := a.ctx.Err(); err != nil {
			return nil, canon.Total{}, err
		}
		doc, err := a.snapshot.Text(a.ctx, h.Card)
		if err != nil {
			return nil, canon.Total{}, err
		}
		if words.Spelt(terms, words.ColumnsOf(q, doc.Name, doc.Text, h.Card.Fields)...) {
			spelt = append(spelt, h)
		}
	}
	total := canon.Total{Count: len(spelt), AtLeast: found.Count > canon.CountCap}
	return cutPage(spelt, p), total, nil
}

// AnswersListing reports whether Cards should answer a listing: one by a tag or by names. A text of
// less than three characters is better compared with each name in turn, which ends early because
// most names contain it; if there is a prefix, the range of keys is the narrower one.
func AnswersListing(f canon.Filter) bool {
	return f.Tag != "" || utf8.RuneCountInString(markup.Fold(f.NameContains)) >= 3 || f.NameStarts != "" && f.Prefix == ""
}

// Cards lists cards by a tag, or by a text that their names contain or begin with.
func (f SnapshotFinder) Cards(ctx context.Context, s canon.Visibility, filter canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	a, err := f.newFinding(ctx, s, filter)
	if err != nil {
		return nil, canon.Total{}, err
	}
	q := a.indexQuery(nil)
	q.Compare = compareBy(filter.Sort)
	p.Offset = max(p.Offset, 0)
	hits, total, err := a.findPage(q, p)
	cards := make([]canon.Card, len(hits))
	for i, h := range hits {
		cards[i] = h.Card
	}
	return cards, total, err
}

// compareKeys compares rows only by key and id.
func compareKeys(a, b []byte) int {
	x, y := readRow(a), readRow(b)
	return cmp.Or(bytes.Compare(x.key, y.key), bytes.Compare(x.fixed[:atUpdated], y.fixed[:atUpdated]))
}

// Verify compares the indexes with their worlds and returns the faults.
func (f *Finder) Verify(ctx context.Context) (faults []string, err error) {
	wrong, err := f.Library.Verify(ctx)
	for _, dir := range wrong {
		faults = append(faults, "the search index in "+dir+
			" differs from its world; remove the folder, and the index is built again")
	}
	return faults, err
}
