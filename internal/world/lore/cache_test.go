package lore

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/memory"
	"loregate/internal/world"
)

// listings is a store that counts the listings of cards.
type listings struct {
	canon.Store
	n atomic.Int64
}

type listingReader struct {
	canon.Reader
	n *atomic.Int64
}

func (s *listings) Read(ctx context.Context, f func(canon.Reader) error) error {
	return s.Store.Read(ctx, func(r canon.Reader) error { return f(listingReader{r, &s.n}) })
}

func (l listingReader) Cards(ctx context.Context, s canon.Visibility, f canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	l.n.Add(1)
	return l.Reader.Cards(ctx, s, f, p)
}

// TestSearchReadsOnlyChangedFacts checks that facts are listed once, and not again after commits
// that change a few facts, none, or hidden ones.
func TestSearchReadsOnlyChangedFacts(t *testing.T) {
	store := &listings{Store: memory.New()}
	s := newEmptyLore(t, store)
	s.fact("lamp", "The Kept Lamp", "It burns.", "", access.LevelUser)
	s.fact("bell", "The Bell", "It rings.", "", access.LevelUser)
	s.fact("secret", "The Cell", "It is shut.", "", access.LevelGM)
	s.Place("Quay", "<p>Wet.</p>", `{}`)
	who := []string{"user", "alice", "gm"}
	for _, w := range who {
		found(s.As(w), "lamp")
	}
	count := func(what string, most int64, f func()) {
		t.Helper()
		f()
		before := store.n.Load()
		for _, w := range who {
			found(s.As(w), "lamp")
		}
		if n := store.n.Load() - before; n > most {
			t.Errorf("after %s facts were listed %d times", what, n)
		}
	}
	count("an edit of a place", 0, func() { s.Edit("Quay", canon.Edit{Content: new("<p>Dry.</p>")}) })
	count("an edit of a fact", 0, func() { s.Edit("The Bell", canon.Edit{Content: new("<p>A lamp hangs in it.</p>")}) })
	count("a hidden edit", 0, func() { s.Edit("The Cell", canon.Edit{Content: new("<p>A lamp burns in it.</p>")}) })
	count("a layer", 0, func() { s.Layer("Quay", world.LayerWeather, "fog", 0, 0) })
	if got := found(s.As("user"), "lamp"); len(got) != 2 || got[0] != "lamp" || got[1] != "bell" {
		t.Errorf("a user finds %v", got)
	}
	if got := found(s.As("gm"), "lamp"); len(got) != 3 {
		t.Errorf("a gm finds %v", got)
	}
	if store.n.Load() == 0 {
		t.Error("nothing was counted")
	}
}

// TestUpdatedIndexMatchesNewIndex changes a world at random and compares the updated indexes with
// newly built ones.
func TestUpdatedIndexMatchesNewIndex(t *testing.T) {
	s := newEmptyLore(t, memory.New())
	r := rand.New(rand.NewPCG(7, 7))
	words := []string{"lamp", "bell", "salt", "tide", "widow", "crown", "ash", "river"}
	text := func() string {
		out := ""
		for range 3 + r.IntN(5) {
			out += words[r.IntN(len(words))] + " "
		}
		return out
	}
	labels := []access.Label{access.NewLabel(access.LevelUser), access.NewLabel(access.LevelGM),
		access.NewLabel(access.LevelGM, "alice"), access.NewLabel(access.LevelAdmin, "alice")}
	var names []string
	for i := range 5 {
		names = append(names, fmt.Sprintf("Fact %d", i), fmt.Sprintf("Fact %d+Lamp", i), fmt.Sprintf("Other %d", i))
	}
	made := 0
	step := func(name string) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			c, ok, err := p.Has(name)
			if err != nil {
				return err
			}
			if !ok {
				label := labels[r.IntN(len(labels))]
				made++
				_, err := p.Create(canon.NewCard{Name: name, Type: cardType, Codename: fmt.Sprintf("f%d", made), Content: text(),
					Label: &label, Orphan: true})
				return err
			}
			switch r.IntN(8) {
			case 0:
				return p.Trash(c)
			case 1:
				_, err = p.SetLabel(c, labels[r.IntN(len(labels))])
			case 2:
				_, err = p.Update(c, canon.Edit{Type: new([]string{"Lore", "RichText", "Creature"}[r.IntN(3)])})
			case 3:
				_, err = p.Update(c, canon.Edit{Fields: json.RawMessage(fmt.Sprintf(`{"aliases":[%q]}`,
					words[r.IntN(len(words))]))})
			case 4:
				list, _, err := p.Versions(t.Context(), c.ID, canon.Page{Limit: 1})
				if err != nil || len(list) == 0 || list[0].Purged || list[0].Content == (canon.Hash{}) {
					return err
				}
				return p.Purge(c, list[0])
			case 5:
				to := strings.Replace(name, "Fact", "Other", 1)
				if _, there, err := p.Has(to); err != nil || there || to == name {
					return err
				}
				_, err = p.Rename(c, to)
			default:
				_, err = p.Update(c, canon.Edit{Content: new(text())})
			}
			return err
		}
	}
	for n := range 300 {
		s.Change(step(names[r.IntN(len(names))]))
		if n%17 == 0 {
			s.Change(func(p *canon.Plan) error {
				return p.Configure("Main", canon.Settings{Starter: "Quay", GMParts: [][]string{{"gm"}, {"gm", "Fact 3"}}[n%2]})
			})
		}
		who := []string{"user", "alice", "gm"}[r.IntN(3)]
		readAs(s.Scene, who, func(snap *canon.Snapshot) error {
			for _, q := range append(words[:3:3], "fact 3", "tdie", "crwon") {
				kept, err := s.lore.rankFacts(t.Context(), snap, searchIn{q, 5}, nil)
				if err != nil {
					return err
				}
				built, err := New(Config{World: s.World, Canon: s.Canon})
				if err != nil {
					return err
				}
				anew, err := built.rankFacts(t.Context(), snap, searchIn{q, 5}, nil)
				if a, b := describeFound(snap, kept), describeFound(snap, anew); err != nil || a != b {
					t.Fatalf("step %d, %s asks %q\nkept %s\nanew %s %v", n, who, q, a, b, err)
				}
			}
			return nil
		})
	}
}

// describeFound returns everything that an answer contains of the found facts.
func describeFound(snap *canon.Snapshot, found []match) (out string) {
	for _, f := range found {
		out += fmt.Sprintln(f.card.Codename, f.card.Name, f.kind, f.score, f.card.Version(snap.View()), f.text)
	}
	return out
}
