package vault

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/decoded"
)

// TestSampleWorldContents checks that the sample world has enough cards of each type,
// and exits in all directions.
func TestSampleWorldContents(t *testing.T) {
	s := newStoredScene(t)
	s.importSample()
	ctx := t.Context()
	kinds, ways := map[string]int{}, map[string]bool{}
	err := s.Canon.Read(ctx, s.As("user"), func(l *canon.Snapshot) error {
		for c, err := range l.AllCards(ctx, canon.Filter{}) {
			if err != nil {
				return err
			}
			kinds[c.Type]++
			f := decoded.ParseObject(string(c.Fields))
			if fact := decoded.TextOf(f["factType"]); c.Type == "Lore" {
				kinds["fact "+fact]++
				if c.Codename == "" || len(decoded.ListOf(f["aliases"])) == 0 {
					t.Errorf("%q lacks a codename or an alias", c.Name)
				}
			}
			if c.Type == "Location" {
				links, _, err := l.Links(ctx, canon.LinkQuery{From: c.ID, Kinds: []string{"exit"}, Page: canon.Page{Limit: 20}})
				if err != nil {
					t.Fatal(err)
				}
				for _, link := range links {
					ways[decoded.TextOf(decoded.ParseObject(string(link.Attrs))["direction"])] = true
				}
			}
			noOverlap(t, l, c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, least := range map[string]int{"Location": 40, "Lore": 60, "Realm": 10, "Faction": 10, "Player": 3,
		"Item":               20,
		"fact location_lore": 5, "fact historical_event": 5, "fact artifact": 5, "fact creature": 5, "fact faction": 5,
		"fact character": 5} {
		if kinds[kind] < least {
			t.Errorf("%d cards of type %s, want %d", kinds[kind], kind, least)
		}
	}
	if len(ways) != 12 {
		t.Errorf("exits go in %d directions: %v", len(ways), ways)
	}
}

// noOverlap checks that no two layers of one kind on a card apply at the same time, because the
// result would depend on the order in which they were written.
func noOverlap(t *testing.T, l *canon.Snapshot, c canon.Card) {
	t.Helper()
	layers, err := l.Layers(t.Context(), canon.LayerQuery{Card: c.ID})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(layers, func(a, b canon.Layer) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), cmp.Compare(a.FromTick, b.FromTick))
	})
	for i := 1; i < len(layers); i++ {
		a, b := layers[i-1], layers[i]
		if a.Kind == b.Kind && (a.ToTick == 0 || a.ToTick >= b.FromTick) {
			t.Errorf("%q: two layers %s at tick %d: %q and %q", c.Name, a.Kind, b.FromTick, a.Text, b.Text)
		}
	}
}

// TestTheAdventureCanBeWalked follows the commands of the six parts of The Missing Voice, as a
// player who takes the items, meets the characters and uses the exits that exist.
func TestTheAdventureCanBeWalked(t *testing.T) {
	s := newScene(t)
	s.importSample()
	ctx := t.Context()
	err := s.Canon.Read(ctx, s.As("user"), func(l *canon.Snapshot) error {
		quest, err := l.Find(ctx, "The Missing Voice")
		if err != nil {
			return err
		}
		text, err := l.Content(ctx, quest)
		if err != nil {
			return err
		}
		here, err := l.Find(ctx, "Rent Quay")
		w := &walker{t: t, l: l, here: here}
		for _, part := range strings.Split(text, "[[The Missing Voice+")[1:] {
			name, _, _ := strings.Cut(part, "]]")
			step, err := l.Find(ctx, "The Missing Voice+"+name)
			if err != nil {
				return err
			}
			f := decoded.ParseObject(string(step.Fields))
			w.wantHere(decoded.TextOf(f["start"]))
			for _, command := range decoded.ListOf(f["walk"]) {
				w.do(command)
			}
			w.wantHere(decoded.TextOf(f["end"]))
		}
		if w.steps < 30 {
			t.Errorf("the adventure has %d commands", w.steps)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// walker simulates a player using only the links of the world.
type walker struct {
	t     *testing.T
	l     *canon.Snapshot
	here  canon.Card
	has   []string
	steps int
}

func (w *walker) wantHere(name string) {
	w.t.Helper()
	if w.here.Name != name {
		w.t.Fatalf("stands at %q, want %q", w.here.Name, name)
	}
}

func (w *walker) do(command string) {
	w.t.Helper()
	w.steps++
	verb, rest, _ := strings.Cut(command, " ")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "to "), "the ")
	switch verb {
	case "go":
		w.move(rest)
	case "talk":
		w.wantThere(command, "at", rest)
	case "take":
		w.wantThere(command, "holds", rest)
		w.has = append(w.has, rest)
	case "give":
		what, who, _ := strings.Cut(rest, " to ")
		if !slices.Contains(w.has, what) {
			w.t.Fatalf("%q: has %v", command, w.has)
		}
		w.wantThere(command, "at", who)
	}
}

func (w *walker) move(direction string) {
	w.t.Helper()
	for _, link := range w.links(canon.LinkQuery{From: w.here.ID, Kinds: []string{"exit"}}) {
		attrs := decoded.ParseObject(string(link.Attrs))
		if decoded.TextOf(attrs["direction"]) == direction && decoded.TextOf(attrs["lockState"]) != "locked" {
			w.here, _, _ = w.l.ByID(w.t.Context(), link.To) // wantHere reports a failure
			return
		}
	}
	w.t.Fatalf("no way %s from %q", direction, w.here.Name)
}

// wantThere checks that something of that name is linked to the place by an "at" or "holds" link.
func (w *walker) wantThere(command, kind, name string) {
	w.t.Helper()
	q := canon.LinkQuery{From: w.here.ID, Kinds: []string{kind}}
	if kind == "at" {
		q = canon.LinkQuery{To: w.here.ID, Kinds: []string{kind}}
	}
	for _, link := range w.links(q) {
		id := link.To
		if kind == "at" {
			id = link.From
		}
		c, ok, err := w.l.ByID(w.t.Context(), id)
		if err == nil && ok && strings.EqualFold(strings.TrimPrefix(c.Name, "The "), strings.TrimPrefix(name, "the ")) {
			return
		}
	}
	w.t.Fatalf("%q: not at %q", command, w.here.Name)
}

func (w *walker) links(q canon.LinkQuery) []canon.Link {
	w.t.Helper()
	q.Page = canon.Page{Limit: 100}
	list, _, err := w.l.Links(w.t.Context(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}
