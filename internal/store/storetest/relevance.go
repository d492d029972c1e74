package storetest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// testRelevance searches by relevance: any words, misspelt words, names, side cards and pages.
func testRelevance(t *testing.T, s canon.Store) {
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		for i, d := range []struct {
			name, text, fields string
			at                 canon.Card
		}{
			{"Rent Quay", "Boats are moored here.", `{"aliases": ["The Landing"]}`, canon.Card{Label: Open}},
			{"Rent Quay+tag", "Harbours", "", canon.Card{Label: Open}},
			{"Rent Quay+tags", "Wreckers", "", canon.Card{Label: GM}},
			{"Ferry", "The ferryman carries passengers from Rent Quay over the lake.", `{"crewSize": 3}`, canon.Card{Label: Open}},
			{"Chandlery", "Ropes and lanterns are sold.", "", canon.Card{Label: Open}},
			{"Cellar", "Smuggled lanthorn oil of the passenger", "", canon.Card{Label: GM}},
			{"Lantern vault", "Rent is kept", "", canon.Card{Label: GMAlice}},
		} {
			c := Card(i+1, d.name, d.at.Label)
			if strings.HasPrefix(d.name, "Rent Quay+") {
				c.Parent = CardID(1)
			}
			if d.fields != "" {
				c.Fields = []byte(d.fields)
			}
			tx.Row(c)
			doc := &canon.SearchDoc{Name: d.name, Text: d.text}
			for _, alias := range c.Aliases() {
				doc.Name += "\n" + alias
			}
			tx.Index(c, doc)
			if c.IsTagList() {
				tx.Refs(c, refTo(tag, d.text))
			}
		}
	})
	for _, c := range []struct {
		as     access.View
		q      string
		want   []string
		mended []canon.Mending
	}{
		{AsUser, "who carried passengers from the quay", []string{"Ferry", "Rent Quay"}, nil},
		{AsUser, "rent quay", []string{"Rent Quay", "Ferry"}, nil},
		{AsUser, "harbour", []string{"Rent Quay"}, nil},
		{AsUser, "harboors", []string{"Rent Quay"}, []canon.Mending{{Word: "harboors", By: []string{"harbours"}}}},
		{AsUser, "wreckers", nil, []canon.Mending{{Word: "wreckers"}}},
		{AsGM, "wreckers", nil, []canon.Mending{{Word: "wreckers"}}},
		{AsUser, "the landing", []string{"Rent Quay"}, nil},
		{AsUser, "crew 3", []string{"Ferry"}, nil},
		{AsUser, "lanttern", []string{"Chandlery"}, []canon.Mending{{Word: "lanttern", By: []string{"lanterns"}}}},
		{AsUser, "passen", []string{"Ferry"}, []canon.Mending{{Word: "passen", By: []string{"passen*"}}}},
		{AsUser, "lanthorn", nil, []canon.Mending{{Word: "lanthorn"}}},
		{AsGM, "lanthorn", []string{"Cellar"}, nil},
		{AsUser, "smuggled ropes", []string{"Chandlery"}, []canon.Mending{{Word: "smuggled"}}},
		{AsAlice, "ropes lantern", []string{"Chandlery", "Lantern vault"}, nil},
		{AsUser, "", nil, nil},
	} {
		readAs(t, s, c.as, func(e viewReader) {
			q := canon.SearchQuery{Q: c.q, Mode: canon.MatchRelevance, Language: "en"}
			res, err := e.r.Search(e.ctx(), e.s, q, canon.Page{Limit: 20})
			e.ok("Search", err)
			if got := hitNames(res); !slices.Equal(got, c.want) || res.Total.Count != len(c.want) || !res.Ranked {
				t.Errorf("%q by relevance: %q of %+v, want %q", c.q, got, res.Total, c.want)
			}
			if !reflect.DeepEqual(res.Mended, c.mended) {
				t.Errorf("%q by relevance: mended %+v, want %+v", c.q, res.Mended, c.mended)
			}
			var pages []string
			for at := range c.want {
				one, err := e.r.Search(e.ctx(), e.s, q, canon.Page{Limit: 1, Offset: at})
				e.ok("Search", err)
				pages = append(pages, hitNames(one)...)
			}
			if !slices.Equal(pages, c.want) {
				t.Errorf("%q by relevance, page by page: %q, want %q", c.q, pages, c.want)
			}
		})
	}
	readAs(t, s, AsUser, func(e viewReader) {
		q := canon.SearchQuery{Q: `"rent quay" lake`, Mode: canon.MatchRelevance, Language: "en"}
		res, err := e.r.Search(e.ctx(), e.s, q, canon.Page{Limit: 20})
		e.ok("Search", err)
		if got := hitNames(res); !slices.Equal(got, []string{"Ferry", "Rent Quay"}) &&
			!slices.Equal(got, []string{"Rent Quay", "Ferry"}) {
			t.Errorf("a phrase: %q", got)
		}
	})
}
