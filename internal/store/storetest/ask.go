package storetest

import (
	"context"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// everything is a page without a limit.
var everything = canon.Page{Limit: 1 << 30}

// visibleTo returns the visibility of the first world through a view.
func visibleTo(v access.View) canon.Visibility { return canon.Visibility{World: WorldID(1), View: v} }

// Writer wraps a Tx. Its methods fail the test on any error.
type Writer struct {
	Tx canon.Tx
	t  testing.TB
}

// write runs f in one Write, which must succeed.
func write(t testing.TB, s canon.Store, f func(Writer)) {
	t.Helper()
	err := s.Write(t.Context(), func(tx canon.Tx) error {
		f(Writer{tx, t})
		return nil
	})
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
}

func (w Writer) ok(what string, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// PutWorld writes a world.
func (w Writer) PutWorld(x canon.World) {
	w.t.Helper()
	w.ok("PutWorld", w.Tx.PutWorld(w.t.Context(), x))
}

// Card writes a card and its current version. It indexes the card with text, or removes it from the
// index if it is in the trash.
func (w Writer) Card(c canon.Card, text string) {
	w.t.Helper()
	w.Row(c)
	w.Version(Version(c))
	if c.Trashed() {
		w.Index(c, nil)
		return
	}
	w.Index(c, &canon.SearchDoc{Name: c.Name, Text: text})
}

// Row writes a card's row.
func (w Writer) Row(c canon.Card) { w.t.Helper(); w.ok("PutCard", w.Tx.PutCard(w.t.Context(), c)) }

// Version ends the current version of a card and writes the next one.
func (w Writer) Version(v canon.Version) {
	w.t.Helper()
	w.ok("EndVersion", w.Tx.EndVersion(w.t.Context(), v.World, v.Card, v.From))
	w.ok("PutVersion", w.Tx.PutVersion(w.t.Context(), v))
}

// Index makes a card searchable; a nil d removes it from the index.
func (w Writer) Index(c canon.Card, d *canon.SearchDoc) {
	w.t.Helper()
	w.ok("Index", w.Tx.Index(w.t.Context(), c, d))
}

// Refs writes the references of a card.
func (w Writer) Refs(c canon.Card, refs ...canon.Ref) {
	w.t.Helper()
	for i := range refs {
		refs[i].From, refs[i].Order = c.ID, i
	}
	w.ok("PutRefs", w.Tx.PutRefs(w.t.Context(), c.World, c.ID, refs))
}

// Link writes a link.
func (w Writer) Link(l canon.Link) { w.t.Helper(); w.ok("PutLink", w.Tx.PutLink(w.t.Context(), l)) }

// Layer writes a layer.
func (w Writer) Layer(l canon.Layer) { w.t.Helper(); w.ok("PutLayer", w.Tx.PutLayer(w.t.Context(), l)) }

// Event writes an event.
func (w Writer) Event(e canon.StoredEvent) {
	w.t.Helper()
	w.ok("PutEvent", w.Tx.PutEvent(w.t.Context(), e))
}

// Append adds the next commit to a stream.
func (w Writer) Append(s canon.StreamID) canon.StoredCommit {
	w.t.Helper()
	head, err := w.Tx.Head(w.t.Context(), s)
	w.ok("Head", err)
	c := Commit(s, head)
	w.ok("Append", w.Tx.Append(w.t.Context(), c))
	return c
}

// viewReader queries the first world through a view and fails the test on any error.
type viewReader struct {
	t testing.TB
	r canon.Reader
	s canon.Visibility
}

func (e viewReader) ctx() context.Context { return e.t.Context() }

func (e viewReader) ok(what string, err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatalf("%s: %v", what, err)
	}
}

// readAs runs f on one snapshot of a store, through a view.
func readAs(t testing.TB, s canon.Store, v access.View, f func(viewReader)) {
	t.Helper()
	err := s.Read(t.Context(), func(r canon.Reader) error {
		f(viewReader{t, r, visibleTo(v)})
		return nil
	})
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
}

func (e viewReader) findCard(n int) (canon.Card, bool) {
	e.t.Helper()
	c, ok, err := canon.First(e.r.FindCards(e.ctx(), e.s, canon.CardQuery{ID: CardID(n)}))
	e.ok("FindCards by ID", err)
	return c, ok
}

func (e viewReader) findLink(n int) (canon.Link, bool) {
	e.t.Helper()
	links, total, err := e.r.Links(e.ctx(), e.s, canon.LinkQuery{IDs: []canon.LinkID{LinkID(n)}, Page: everything})
	e.checkTotal("Links by ID", total, len(links))
	l, ok, err := canon.First(links, err)
	e.ok("Links by ID", err)
	return l, ok
}

func (e viewReader) findLayer(n int) (canon.Layer, bool) {
	e.t.Helper()
	l, ok, err := canon.First(e.r.Layers(e.ctx(), e.s, canon.LayerQuery{IDs: []canon.LayerID{LayerID(n)}}))
	e.ok("Layers by ID", err)
	return l, ok
}

func (e viewReader) listCards(f canon.Filter) []canon.Card {
	e.t.Helper()
	cards, total := e.listPage(f, everything)
	e.checkTotal("Cards", total, len(cards))
	return cards
}

func (e viewReader) listPage(f canon.Filter, p canon.Page) ([]canon.Card, canon.Total) {
	e.t.Helper()
	cards, total, err := e.r.Cards(e.ctx(), e.s, f, p)
	e.ok("Cards", err)
	return cards, total
}

func (e viewReader) searchAll(q canon.SearchQuery) canon.SearchResult {
	e.t.Helper()
	res, err := e.r.Search(e.ctx(), e.s, q, everything)
	e.ok("Search", err)
	e.checkTotal("Search", res.Total, len(res.Hits))
	return res
}

// checkTotal fails the test unless total is the exact number n of rows.
func (e viewReader) checkTotal(what string, total canon.Total, n int) {
	e.t.Helper()
	if total != (canon.Total{Count: n}) {
		e.t.Errorf("%s: the total is %+v, want exactly %d", what, total, n)
	}
}

// cardNames returns the names of cards, in their order.
func cardNames(cards []canon.Card) []string {
	out := []string{}
	for _, c := range cards {
		out = append(out, c.Name)
	}
	return out
}

// hitNames returns the names of the cards found, in their order.
func hitNames(res canon.SearchResult) []string {
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, h.Card.Name)
	}
	return out
}
