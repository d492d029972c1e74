package benchtest

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
)

// queries are typical queries of narrators, one of them misspelt.
var queries = []string{"spell that turns you invisible", "gaze turns to stone", "owlbaer",
	"bring a dead creature back to life",
	"flying carpet", "sneak attack", "what happens when I fall to 0 hit points", "dragon that breathes lightning"}

// rulesStage serves the product with the 2,000 facts of the rules reference. The target searches
// them.
func rulesStage(b *testing.B) (*stage, *target) {
	b.Helper()
	rules := filepath.Join("..", "..", "..", "..", "shared", "data", "srd-2014")
	if _, err := os.Stat(rules); err != nil {
		b.Skip("no real data: ../shared/data/srd-2014 is not beside the repository")
	}
	s := serve(b, b.TempDir())
	if _, err := s.app.Import(b.Context(), "srd", worldName, rules,
		app.ImportOptions{Level: access.LevelUser}); err != nil {
		b.Fatal(err)
	}
	return s, s.getTarget(func(n int64) string { return "/api/lore/search?query=" + url.QueryEscape(queries[int(n)%len(queries)]) })
}

// BenchmarkSearchLore sends 200 queries a second, however long the answers take.
func BenchmarkSearchLore(b *testing.B) {
	requireBench(b)
	_, t := rulesStage(b)
	measureSteady(b, t, 200)
}

// BenchmarkSearchLoreWhileWritten searches after each of 100 commits. One series of commits changes
// no fact, like the moves of players; the other changes a fact.
func BenchmarkSearchLoreWhileWritten(b *testing.B) {
	requireBench(b)
	s, t := rulesStage(b)
	fact := ""
	for name, write := range map[string]func(*canon.Plan, canon.Card, int) error{
		"other": func(p *canon.Plan, c canon.Card, _ int) error {
			_, err := p.Layer(canon.Layer{Card: c.ID, Kind: "ambient", Text: "It is quiet.", ToTick: 1})
			return err
		},
		"fact": func(p *canon.Plan, c canon.Card, n int) error {
			text := "<p>Changed " + strconv.Itoa(n) + " times.</p>"
			_, err := p.Update(c, canon.Edit{Content: &text})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			client, err := dial(t.addr)
			if err != nil {
				b.Fatal(err)
			}
			defer client.conn.Close()
			m := medians{}
			for b.Loop() {
				var took []time.Duration
				for n := range 100 {
					change(b, s.app, s.world, func(p *canon.Plan) error {
						c, err := someFact(b, p, &fact)
						if err != nil {
							return err
						}
						return write(p, c, n)
					})
					began := time.Now()
					if err := t.call(client, t.next.add()); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(began))
				}
				slices.Sort(took)
				m.add("p50-ms", ms(took[50]))
				m.add("p99-ms", ms(took[99]))
			}
			m.report(b)
		})
	}
}

// someFact returns the same fact at each call with the same codename variable.
func someFact(b *testing.B, p *canon.Plan, codename *string) (canon.Card, error) {
	b.Helper()
	if *codename == "" {
		cards, _, err := p.Cards(b.Context(), canon.Filter{Coded: true, Type: "Creature"}, canon.Page{Limit: 1})
		if err != nil || len(cards) == 0 {
			return canon.Card{}, err
		}
		*codename = cards[0].Codename
	}
	return p.Card(":" + *codename)
}
