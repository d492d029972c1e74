package play_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/proposal/kind"
	"loregate/internal/world/play"
	"loregate/internal/world/worldtest"
)

// teller is a narrator with given texts. It refuses texts that contain "forbidden", and waits for the end of a turn's
// time if it has no texts.
type teller struct {
	texts []play.Text
	told  []play.Told
}

func (r *teller) Phrase(ctx context.Context, _ access.WorldID, of play.Told) (play.Phrasing, error) {
	r.told = append(r.told, of)
	if r.texts == nil {
		<-ctx.Done()
	}
	return play.Phrasing{Texts: r.texts, By: "stub-1", Template: "narration"}, nil
}

func (r *teller) Vet(_ context.Context, _ access.Grant, t play.Text, _ play.Told) error {
	if strings.Contains(t.Text, "forbidden") {
		return errors.New("refused")
	}
	return nil
}

func told(t *testing.T, texts ...play.Text) (*worldtest.Scene, *teller) {
	r := &teller{texts: texts}
	return worldtest.New(t, func(c *worldtest.Setup) { c.Narrator, c.Patience = r, 100*time.Millisecond }), r
}

func TestNarratorPhrasesACommittedResult(t *testing.T) {
	s, r := told(
		t,
		play.Text{Class: kind.Result, Text: "Up you go, step by wet step."},
		play.Text{Class: kind.Flavour, Text: "Tar hangs in the air."},
		play.Text{
			Class: kind.Hint,
			Text:  "The well hums.",
		},
		play.Text{Class: kind.Ambient, Text: "A hush lies over the stalls."},
	)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	one := follow(t, p, p, "")
	const text = "Up you go, step by wet step. Tar hangs in the air."
	r.texts = r.texts[:3]
	p.Does("north", worldtest.Keyed("k")).
		Is("narration", text+"\n\nThe well hums.", "events.#", 2, "results.0.text", text+"\n\nThe well hums.")
	if len(r.told) != 1 || !strings.HasPrefix(r.told[0].Text, "You go north. Square.") ||
		!strings.Contains(
			string(r.told[0].Context),
			"Oda Tarn",
		) || strings.Contains(string(r.told[0].Context), "secret") {
		t.Errorf("the narrator was told %+v", r.told)
	}
	p.Does("north", worldtest.Keyed("k")).Is("narration", text)
	if len(r.told) != 1 {
		t.Error("a repeated command was phrased again")
	}
	list := []string{}
	for len(list) == 0 || list[len(list)-1] != "narration.done" {
		m := one.next()
		list = append(list, m.Event)
		if m.Event == "narration.done" &&
			(!strings.Contains(string(m.Data), text) || !strings.Contains(string(m.Data), `"by":"stub-1"`)) {
			t.Errorf("%s", m.Data)
		}
	}
	if got := strings.Join(list, " "); got != "turn.began result event narration.delta narration.delta narration.done" {
		t.Errorf("the stream had %s", got)
	}
	events := `{"scope":"player","scopeId":"` + p.ID.String() + `"}`
	s.As("gm").Call("get-recent-events", events).Is("items.0.eventType", "Player.Narrated", "items.0.text", text,
		"items.0.actorKind", "ai")
	for _, who := range []worldtest.Actor{s.As("user"), q.Actor} {
		who.Caller.Audience = ""
		who.Call("get-recent-events", events).Is("items.#", 2)
	}
	r.texts = []play.Text{
		{Class: kind.Result, Text: "You look about."},
		{Class: kind.Ambient, Text: "A hush lies over the stalls."},
	}
	p.Does("look").Is("narration", "You look about.")
	r.texts[1].Text = "A second mood."
	p.Does("look at the well")
	s.As("gm").
		Call("get-atmosphere", `{"locationId":"loc-square","tick":`+s.TickText(p)+`}`).
		Is("ambient.value", "A hush lies over the stalls.")
	s.As("user").
		Call("get-atmosphere", `{"locationId":"loc-square","tick":`+s.TickText(p)+`}`).
		Is("ambient.defaulted", true)
}

func TestTemplateStandsWhereTheNarratorFails(t *testing.T) {
	for name, texts := range map[string][]play.Text{
		"late": nil, "refused": {{Class: kind.Result, Text: "This is forbidden."}},
		"no result": {{Class: kind.Flavour, Text: "Tar."}},
		"too many": {{Class: kind.Result, Text: "a"}, {Class: kind.Result, Text: "b"}, {Class: kind.Result, Text: "c"},
			{Class: kind.Result, Text: "d"}},
	} {
		s, _ := told(t, texts...)
		p := s.Joins("Mira")
		one := follow(t, p, p, "")
		p.Does("say hello. say goodbye").
			Is("narration", "You say: “Hello.” Nobody answers.\n\nYou say: “Goodbye.” There is no answer.")
		said := map[string]bool{}
		for len(said) < 2 {
			if m := one.next(); m.Event == "narration.done" {
				said[string(m.Data)] = strings.Contains(string(m.Data), `"by":"rules"`)
			}
		}
		for done, byRules := range said {
			if !byRules {
				t.Errorf("%s: %s", name, done)
			}
		}
		p.Does("west").Is("narration", "The mist has not lifted yet.")
	}
}

// A follower who may not see the narrations of a player gets the rules' ones.
func TestStreamClosesATurnWithoutItsNarration(t *testing.T) {
	s, _ := told(t, play.Text{Class: kind.Result, Text: "Up you go."})
	p := s.Joins("Mira")
	host := p
	host.Caller = s.As("host").Caller
	one := follow(t, host, p, "")
	p.Does("say hello")
	if _, text := one.turn(); text != "You say: “Hello.” Nobody answers." {
		t.Errorf("the host of a player is told %q", text)
	}
}
