package archive

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/store/sqlite/sqlitetest"
)

// TestHiddenCardsChangeNoAnswer compares two wikis that look the same to a player, one of which
// has secrets as well. Every read must return the same bytes in both.
func TestHiddenCardsChangeNoAnswer(t *testing.T) {
	t.Run("memory", func(t *testing.T) { tellApart(t, newScene(t), newScene(t)) })
	t.Run("sqlite", func(t *testing.T) {
		tellApart(t, newSceneOn(t, sqlitetest.Open(t)),
			newSceneOn(t, sqlitetest.Open(t)))
	})
}

func tellApart(t *testing.T, bare, full *scene) {
	tell(bare, false)
	tell(full, true)
	asked := 0
	for _, o := range full.ops.All() {
		if o.Effect != access.Read || o.MinRole > access.RoleUser || o.Operator {
			continue
		}
		inputs := questions[o.Name]
		if !askedElsewhere[o.Name] {
			for _, e := range o.Examples {
				inputs = append(inputs, e.Input)
			}
		}
		for _, input := range inputs {
			asked++
			if a, b := heard(bare, o.Name, input), heard(full, o.Name, input); a != b {
				t.Errorf("%s %s:\nwithout secrets %s\nwith them       %s", o.Name, input, a, b)
			}
		}
	}
	if asked < 60 {
		t.Errorf("only %d questions", asked)
	}
	if a, b := total(bare, "gm"), total(full, "gm"); a == b {
		t.Errorf("there are no secrets to tell the wikis apart by: %v cards", a)
	}
}

func total(s *scene, who string) any {
	n, _ := s.As(who).Call("search_cards", `{}`).At("total")
	return n
}

// askedElsewhere are reads of jobs and backups; other tests cover them.
var askedElsewhere = map[string]bool{"get_job": true, "list_jobs": true, "get_backup": true}

// heard returns everything that a player receives from one call.
func heard(s *scene, name, input string) string {
	got, err := s.As("user").invoke(name, input, func(r *op.Request) { r.Transport = "rest"; r.MaxText = 3000 })
	if err != nil {
		shown, _ := json.Marshal(fault.Show(err, "c"))
		return fmt.Sprint(fault.KindOf(err).HTTPStatus(), " ", string(shown))
	}
	return fmt.Sprint(got.Reply.Status, got.Reply.ETag, got.Reply.File, string(got.Output), string(got.Older))
}

// tell writes the wiki. Each public step has its own time and ids, so secret writes before it do
// not change them.
func tell(s *scene, secrets bool) {
	gm := access.NewLabel(access.LevelGM)
	step := 0
	public := func(f func(*canon.Plan) error) {
		step++
		s.now = time.Date(2026, 2, 1, 0, step, 0, 0, time.UTC)
		s.ids.After(uint64(step) * 1000)
		s.change(f)
	}
	secret := func(f func(*canon.Plan) error) {
		if secrets {
			s.ids.After(1_000_000 + s.ids.Last())
			s.change(f)
		}
	}
	create := func(cards ...canon.NewCard) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			for _, c := range cards {
				if _, err := p.Create(c); err != nil {
					return err
				}
			}
			return nil
		}
	}
	edit := func(name, content string) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			c, err := p.Card(name)
			if err == nil {
				_, err = p.Update(c, canon.Edit{Content: &content})
			}
			return err
		}
	}
	public(create(canon.NewCard{Name: "Inn",
		Content: "<h2>Door</h2><p>A lamp. [[Oda]] [[Vault]] {{+cellar}} {{Vault}} {{Inn+GM}}</p>", Codename: "inn"},
		canon.NewCard{Name: "Inn+cellar", Content: "damp lamp"},
		canon.NewCard{Name: "Oda", Type: "Character", Content: "Keeps the [[Inn]] and its lamp."}))
	secret(create(canon.NewCard{Name: "Vault", Content: "lamp lamp lamp [[Inn]] {{Inn}} [[Nowhere]]", Label: &gm},
		canon.NewCard{Name: "Inn+GM", Content: "lamp [[Oda]]"}, canon.NewCard{Name: "Inn+attic", Content: "lamp", Label: &gm},
		canon.NewCard{Name: "Odd Lamp", Type: "Character", Content: "lamp", Label: &gm},
		canon.NewCard{Name: "Oda+tags", Content: "[[Liar]]\n[[Keeper]]", Label: &gm}))
	public(create(canon.NewCard{Name: "Inn+tags", Content: "[[Place]]\n[[Old]]"},
		canon.NewCard{Name: "Lane", Content: "[[Inn]] {{Inn}} lamp"},
		canon.NewCard{Name: "people", Type: "Query", Content: `{"type": "Character", "name": "{{n}}"}`}))
	secret(edit("Vault", "lamp [[Oda]] [[Lane]]"))
	secret(create(canon.NewCard{Name: "secret_people", Type: "Query", Content: `{"type": "Character"}`, Label: &gm},
		canon.NewCard{Name: "Conspiracy", Type: "Cardtype", Label: &gm},
		canon.NewCard{Name: "Vault+tags", Content: "[[Place]]\n[[Old]]"},
		canon.NewCard{Name: "Chart", Type: "File", File: []byte("%PDF-x"), Label: &gm}))
	public(edit("Inn", "<h2>Door</h2><p>Two lamps. [[Oda]] [[Vault]] {{+cellar}} {{Vault}} {{Inn+GM}}</p>"))
	public(create(canon.NewCard{Name: "Map", Type: "File", File: []byte("%PDF-1")}))
	secret(edit("Odd Lamp", "more lamp"))
}

var questions = map[string][]string{
	"get_card": {`{"name": "Inn"}`, `{"name": "inn", "rendered": true}`, `{"name": "Inn", "with_children": true}`,
		`{"name": "Vault"}`, `{"name": "Volt"}`,
		`{"name": "Inn+GM"}`, `{"name": ":inn"}`, `{"name": "Lane", "rendered": true}`, `{"name": "Inn+attic"}`,
		`{"name": "Odd Lam"}`, `{"name": "Od"}`, `{"name": "Inn", "max_content_length": 20}`},
	"search_cards": {`{}`, `{"q": "lamp"}`, `{"q": "lamp", "search_in": "content", "highlight": true}`,
		`{"q": "lamp", "search_in": "both", "limit": 2}`,
		`{"q": "lamp", "search_in": "both", "limit": 2, "offset": 2}`, `{"prefix": "Inn"}`, `{"tag": "Place"}`,
		`{"tag": "Liar"}`, `{"type": "Character"}`, `{"sort": "updated_at"}`,
		`{"q": "od", "sort": "relevance"}`, `{"q": "tags:Place OR tags:Liar"}`, `{"include_virtual": false, "q": "lamp"}`,
		`{"prefix": "Od"}`, `{"q": "la lam", "search_in": "content", "match_mode": "whole_word"}`, `{"type": "Conspiracy"}`,
		`{"not_name": "Inn*"}`, `{"limit": 1, "offset": 7}`},
	"list_children": {`{"name": "Inn", "include_virtual": false}`, `{"name": "Inn"}`, `{"name": "Inn", "depth": 3}`,
		`{"name": "Inn", "limit": 1}`, `{"name": "Vault"}`},
	"get_card_outline": {`{"name": "Inn"}`, `{"name": "Vault"}`},
	"find_in_card":     {`{"name": "Inn", "q": "lamp"}`, `{"name": "Vault", "q": "lamp"}`},
	"get_card_history": {`{"name": "Inn"}`, `{"name": "Vault"}`},
	"get_revision": {`{"name": "Inn", "version": 1}`, `{"name": "Inn", "version": 3}`,
		`{"name": "Vault", "version": 1}`},
	"diff_card":      {`{"name": "Inn"}`, `{"name": "Vault"}`},
	"recent_changes": {`{}`, `{"limit": 2, "offset": 1}`, `{"type": "Character"}`, `{"since": "2026-02-01T00:02:00Z"}`},
	"audit_changes":  {`{}`, `{"card": "Inn"}`, `{"card": "Vault", "limit": 1}`},
	"wanted_cards":   {`{}`, `{"limit": 1}`},
	"get_relationships": {`{"name": "Inn"}`, `{"name": "Inn", "kind": "links"}`, `{"name": "Inn", "kind": "nests"}`,
		`{"name": "Inn", "kind": "nested_in"}`, `{"name": "Inn", "kind": "linked_by"}`, `{"name": "Oda"}`,
		`{"name": "Lane"}`},
	"get_tags":       {`{}`, `{"name": "Inn"}`, `{"name": "Oda"}`, `{"prefix": "l"}`},
	"search_by_tags": {`{"tags": ["Place"]}`, `{"tags": ["Place", "Old"]}`, `{"tags": ["Liar", "Old"], "match": "any"}`},
	"suggest_tags":   {`{"name": "Oda"}`, `{"name": "Lane"}`},
	"run_query": {`{"content": "lamp"}`, `{"query": {"content": "lamp", "created_at": [">=", "2026-01-01"]}}`,
		`{"type": "Character"}`, `{"name": "a"}`, `{"query_name": "people", "args": {"n": "od"}}`,
		`{"query_name": "secret_people"}`},
	"run_named_query":  {`{"q": "people", "args": {"n": "o"}}`, `{"q": "secret_people"}`},
	"list_queries":     {`{}`},
	"render_snippet":   {`{"name": "Inn"}`, `{"name": "Vault"}`, `{"html": "{{Vault}}{{Inn}}{{Inn+GM}}"}`},
	"render_markdown":  {`{"markdown": "{{Vault}} [[Inn]]"}`},
	"list_types":       {`{}`, `{"limit": 3, "offset": 1}`},
	"get_file_url":     {`{"name": "Map"}`, `{"name": "Chart"}`, `{"name": "Inn"}`},
	"get_card_stats":   {`{"name": "Inn"}`, `{"name": "Vault"}`, `{"name": "Inn+GM"}`},
	"get_template":     {`{"type_name": "Character"}`, `{"type_name": "Conspiracy"}`},
	"get_site_context": {`{}`},
	"get_type":         {`{"name": "Conspiracy"}`, `{"name": "Conspirator"}`},
	"get_attachment":   {`{"name": "Map"}`, `{"name": "Chart"}`},
	"search": {`{"query": "lamp"}`, `{"query": "conspiracy"}`, `{"query": "lanp conspirasy valt"}`,
		`{"query": "lamp type:Conspirac"}`, `{"query": "lamp tag:Liar"}`, `{"query": "level:gm lamp"}`,
		`{"query": "lamp in:Valt"}`,
		`{"query": "type:Character"}`},
	"fetch": {`{"id": "Inn"}`, `{"id": "Vault"}`},
}
