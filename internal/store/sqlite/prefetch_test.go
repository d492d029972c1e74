package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlstore"
)

// TestPrefetchedCardTakesOneStatement reads a card with its body and the number of its children.
// The prefetched data needs no further statement and is used only for the visibility it was read
// with.
func TestPrefetchedCardTakesOneStatement(t *testing.T) {
	s := openNew(t)
	gm, user := access.NewLabel(access.LevelGM), access.NewLabel(access.LevelUser)
	if err := s.Write(t.Context(), func(tx canon.Tx) error {
		if err := tx.PutWorld(t.Context(), canon.World{ID: testWorld, Slug: "w", Title: "W",
			CreatedAt: testTime}); err != nil {
			return err
		}
		place := cardOf(1, "Place", user, "A quay.")
		if err := tx.PutBody(t.Context(), testWorld, place.Content, []byte("A quay.")); err != nil {
			return err
		}
		open, hidden := cardOf(2, "Place+Open", user, ""), cardOf(3, "Place+Hidden", gm, "")
		open.Parent, hidden.Parent = place.ID, place.ID
		for _, c := range []canon.Card{place, open, hidden} {
			if err := tx.PutCard(t.Context(), c); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []canon.CardQuery{{Key: "place", Prefetch: true}, {ID: idOf(1), Prefetch: true}} {
		if err := s.read(t.Context(), func(c *conn) error {
			r, sight := newReader(s, c), visibilityOf(access.LevelUser)
			card, ok, err := canon.First(r.FindCards(t.Context(), sight, q))
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			clear(c.stmts) // any statement from here on is prepared again and counted
			body, found, err := r.Body(t.Context(), testWorld, card.Content)
			if err != nil || !found || string(body) != "A quay." {
				t.Errorf("%+v: body %q, %v, %v", q, body, found, err)
			}
			if _, n, err := r.Descendants(t.Context(), sight, card.ID, 1, canon.Page{}); err != nil || n.Count != 1 {
				t.Errorf("%+v: %d children, want 1; %v", q, n.Count, err)
			}
			if len(c.stmts) > 0 {
				t.Errorf("%+v: statements were made for what was read along: %d", q, len(c.stmts))
			}
			if _, n, err := r.Descendants(t.Context(), visibilityOf(access.LevelGM), card.ID, 1, canon.Page{}); err != nil ||
				n.Count != 2 {
				t.Errorf("%+v: a GM has %d children, want 2; %v", q, n.Count, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBodyIsReadByHash reads cards whose rows name the row of another body, a row that does not
// exist, and NULL, as they may after a repair.
func TestBodyIsReadByHash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	s := openTest(t, path)
	texts := []string{"A mill.", "A bakery.", "A bridge."}
	if err := s.Write(t.Context(), func(tx canon.Tx) error {
		err := tx.PutWorld(t.Context(), canon.World{ID: testWorld, Slug: "w", Title: "W", CreatedAt: testTime})
		for i, text := range texts {
			c := cardOf(i+1, text, access.NewLabel(access.LevelUser), text)
			err = errors.Join(err, tx.PutBody(t.Context(), testWorld, c.Content, []byte(text)), tx.PutCard(t.Context(), c))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	read := func(rows string) {
		t.Helper()
		for i, text := range texts {
			if err := s.Read(t.Context(), func(r canon.Reader) error {
				c, _, err := canon.First(r.FindCards(t.Context(),
					canon.Visibility{World: testWorld, View: access.View{Level: access.LevelUser}},
					canon.CardQuery{ID: idOf(i + 1), Prefetch: true}))
				if err != nil {
					return err
				}
				b, _, err := r.Body(t.Context(), testWorld, c.Content)
				if string(b) != text {
					t.Errorf("%s: the text of card %d is %q", rows, i+1, b)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	read("as written")
	if err := s.Read(t.Context(), func(r canon.Reader) error {
		n, err := sqlstore.QueryInt(t.Context(), r.(*reader).c,
			"SELECT count(*) FROM cards c JOIN bodies b ON b.rowid = c.body AND b.hash = c.content")
		if n != int64(len(texts)) {
			t.Errorf("%d of %d cards name the row of their text", n, len(texts))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"(SELECT max(rowid) FROM bodies)", "4711", "NULL"} {
		if err := execIn(t, path, "UPDATE cards SET body = "+row); err != nil {
			t.Fatal(err)
		}
		read(row)
	}
}
