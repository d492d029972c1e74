package canon_test

import (
	"slices"
	"testing"

	"loregate/internal/canon"
)

func TestAliases(t *testing.T) {
	for fields, want := range map[string][]string{
		``:                       nil,
		`{"aliases":"Old Mill"}`: nil,
		`{"aliases":[]}`:         nil,
		`{"x":["aliases"]}`:      nil,
		`{"aliases":["Old Mill","old  MILLS"," ","",7,null,"\u200bGrey\nMill "]}`: {"Old Mill", "Grey Mill"},
	} {
		if got := (canon.Card{Fields: []byte(fields)}).Aliases(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", fields, got, want)
		}
	}
}

func nearness(a, b string) float64 { return canon.LikenessTo(a).Of(b) }

func TestLikeness(t *testing.T) {
	if n := nearness("Été", "ete"); n != 1 {
		t.Errorf("the same name: %v", n)
	}
	if n := nearness("Hall", "Moor"); n != 0 {
		t.Errorf("another name: %v", n)
	}
	near, far := nearness("Old Mill", "Old Mil"), nearness("Old Mill", "Mill")
	if near <= far || far <= 0 || near >= 1 || nearness("Old Mil", "Old Mill") != near {
		t.Errorf("a letter missing: %v, a word missing: %v", near, far)
	}
}

// An alias finds a card like its name does, while the card has the alias and for callers who see
// the card.
func TestACardIsFoundByItsAliases(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	gm.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Grinder", Fields: []byte(`{"aliases":["Old Mill"]}`)})
		if err == nil {
			_, err = p.Create(canon.NewCard{Name: "Secret+GM", Fields: []byte(`{"aliases":["Old Mill"]}`)})
		}
		return err
	})
	found := func(who string) (names, near, alias int) {
		t.Helper()
		err := s.as(who).read(func(snap *canon.Snapshot) error {
			res, err := snap.Search(t.Context(), canon.SearchQuery{Q: "old mill", InName: true, Mode: canon.MatchPhrase},
				canon.Page{Limit: 9})
			if err != nil {
				return err
			}
			hits, err := snap.NearCards(t.Context(), "Old Mil", canon.Filter{}, 9)
			if err != nil {
				return err
			}
			cards, err := snap.ByAlias(t.Context(), "Old Mills")
			names, near, alias = len(res.Hits), len(hits), len(cards)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names, near, alias
	}
	for who, want := range map[string]int{"user": 1, "gm": 2} {
		if a, b, c := found(who); a != want || b != want || c != want {
			t.Errorf("%s finds %d by search, %d by nearness, %d by alias; want %d", who, a, b, c, want)
		}
	}
	s.wantRebuilt()
	if err := gm.on("Grinder", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Update(c, canon.Edit{Fields: []byte(`{"aliases":null}`)})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if a, b, c := found("user"); a+b+c != 0 {
		t.Errorf("without the alias: %d, %d, %d", a, b, c)
	}
	s.wantRebuilt()
}

// TestRepeatedTrigramCountsOnce compares names with a repeated trigram, and names with characters
// beyond the first 65,536.
func TestRepeatedTrigramCountsOnce(t *testing.T) {
	if n := nearness("aaaaaa", "aaa"); n != 1 {
		t.Errorf("names of the same runs: %v", n)
	}
	if n := nearness("\U0001F409ab", "\uF409ab"); n != 2.0/6 {
		t.Errorf("names of 4 runs, of which both have 2: %v", n)
	}
	want := []string{"\x02\U0001F409b", "b\x01\x01", "b\U0001F409b", "\U0001F409b\x01", "\U0001F409b\U0001F409"}
	if got := canon.Trigrams("\U0001F409b\U0001F409b"); !slices.Equal(got, want) {
		t.Errorf("runs %q, want %q", got, want)
	}
}

func TestNamesOfACard(t *testing.T) {
	c := canon.Card{Name: "Marsh+Old Mill", Fields: []byte(`{"aliases":["Grinder"]}`)}
	if got := c.Names(); !slices.Equal(got, []string{"Marsh+Old Mill", "Old Mill", "Grinder"}) {
		t.Errorf("%q", got)
	}
}
