package campaign

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// A GM's agent that has read a part of an entity cannot write it back as the whole: neither
// truncated notes nor the description of a long card.
func TestReadingAndWritingBackAnEntityLosesNothing(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	bot := gm
	bot.caller.Actor = access.AI
	notes := strings.Repeat("She keeps the second ledger. ", 1500)
	id := gm.Make("npc", "Ann", `"gm_notes": "`+notes+`", "description": "Tall."`)
	of := func(more string) string { return `{"entity_id": "` + id + `"` + more + `}` }
	rest := func(r *op.Request) { r.Transport = "rest" }

	cut := bot.Call("entity_get", of(""), atMost(32<<10)).Want("truncated", true)
	tag, part := cut.Text("etag"), cut.Text("gm_notes")
	if !strings.HasPrefix(tag, "partial-") || len(part) >= len(notes) {
		t.Fatalf("%s of %d characters", tag, len(part))
	}
	for _, who := range []actor{bot, gm} {
		who.WantFault("CONFLICT", "entity_update", of(`, "gm_notes": "`+part+`", "if_match": "`+tag+`"`))
	}
	bot.WantFault("INVALID_PARAMS", "entity_update", of(`, "gm_notes": "`+part+`"`))
	bot.WantFault("INVALID_PARAMS", "entity_update", of(`, "description": "Short.", "if_version": 1`))
	whole := gm.Call("entity_get", of(""), rest).Want("gm_notes", notes)
	bot.Call("entity_update", of(`, "attributes": {"age": 30}`))
	bot.WantFault("CONFLICT", "entity_update", of(`, "gm_notes": "x", "if_match": "`+whole.Text("etag")+`"`))
	now := gm.Call("entity_get", of(""), rest)
	gm.Call("entity_update", of(`, "attributes": {"age": 31}, "if_match": "`+now.Reply.ETag+`"`)) // the HTTP entity tag
	bot.Call("entity_update", of(`, "gm_notes": "Anew.", "if_match": "`+gm.Call("entity_get", of("")).Text("etag")+
		`"`)).Want("gm_notes", "Anew.")

	long := strings.Repeat("Salt and rent. ", 1000)
	s.change(func(p *canon.Plan) error {
		c, err := p.Card("Ann")
		if err == nil {
			_, err = p.Update(c, canon.Edit{Content: &long})
		}
		return err
	})
	cut = gm.Call("entity_get", of("")).Want("description_cut", true)
	gm.WantFault("CONFLICT", "entity_update", of(`, "description": "Salt.", "if_match": "`+cut.Text("etag")+`"`))
	all := gm.Call("entity_get", of(""), rest).WantNo("description_cut").Text("description")
	if len(all) < len(long)-1 {
		t.Errorf("over REST the description has %d characters", len(all))
	}
}
