package play_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/raceenabled"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// things counts the cards below a place that a reader sees.
func things(s *worldtest.Scene, who worldtest.Actor) (n int) {
	s.T.Helper()
	who.Caller.Audience = ""
	list := who.Call("get-recent-events", `{"scope":"location","scopeId":"loc-quay","limit":100}`).Raw
	return strings.Count(list, `"World.Thing.Made"`)
}

func TestHandledNounBecomesACard(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	p.Does("take the rope").
		Is("results.0.text", "You take the rope.", "events.#", 1, "events.0.payload.objects.0.name", "rope")
	p.Does("i").Is("results.0.text", "You carry a rope.")
	p.Does("examine the rope").Is("results.0.text", "Black stone and wet rope.")
	q.Does("take the rope").Is("results.0.reason", "absent")
	q.Does("take the tariff board").
		Is("results.0.reason", "fixed", "results.0.text", "The tariff board stays where it is.")
	q.Does("examine the tariff board").Is("results.0.text", "A tariff board leans here.")
	p.Does("throw the rope at the hound").Is("results.0.outcome", "done")
	for _, text := range []string{"take the anchor", "take the wet", "take the golden rope", "examine the throne",
		"attack the board"} {
		p.Does(text).Is("results.0.outcome", "impossible")
	}
	if n := things(s, s.As("user")); n != 2 {
		t.Errorf("%d things were made", n)
	}
	s.As("user").Call("get-recent-events", `{"scope":"location","scopeId":"loc-quay","limit":30}`).Is("items.#", 7)
}

// The first to handle a noun makes its card; after the text has changed it may be made again.
func TestNounIsMadeOnceByItsText(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("take rope")
	p.Does("n")
	p.Does("drop rope")
	p.Does("s")
	p.Does("take rope").Is("results.0.reason", "absent")
	s.Edit("Quay", canon.Edit{Content: new("<p>A new rope hangs here.</p>")})
	p.Does("take rope").Is("results.0.reason", "absent") // the name is that of the first rope's card
	p.Does("look").Is("results.0.outcome", "done")
}

// The card of a noun that stands in a private layer is as private.
func TestNounOfAPrivateLayerStaysPrivate(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	s.Change(func(plan *canon.Plan) error {
		c, err := plan.Card("Quay")
		if err == nil {
			_, err = plan.Layer(
				canon.Layer{Card: c.ID, Kind: world.LayerDynamic, Text: "A silver bell hangs from a nail.",
					Label: access.NewLabel(access.LevelGM, p.Caller.Subject)},
			)
		}
		return err
	})
	absent := q.Does("take the bell").Raw
	p.Does("take the bell").Is("results.0.text", "You take the bell.")
	if got := q.Does("take the bell").Raw; got != absent {
		t.Errorf("another player is told %s", got)
	}
	if n := things(s, q.Actor); n != 0 {
		t.Errorf("another player sees %d things made", n)
	}
	q.Does("look at Mira")
	if n := things(s, s.As("gm")); n != 1 {
		t.Errorf("the game master sees %d", n)
	}
}

// A hidden card of the same name changes nothing for those who do not see it.
func TestHiddenNamesakeNeitherBlocksNorMerges(t *testing.T) {
	answers := []string{}
	for _, hidden := range []bool{false, true} {
		s := worldtest.New(t)
		p := s.Joins("Mira")
		label := access.NewLabel(access.LevelGM)
		name := "Elsewhere"
		if hidden {
			name = "Quay+Rope"
		}
		s.Card(canon.NewCard{Name: name, Type: "Item", Label: &label, Content: "<p>secretrope</p>"})
		got := ""
		for _, text := range []string{"take the rope", "examine the rope", "i", "drop rope", "look"} {
			got += p.Does(text).Raw + "\n"
		}
		answers = append(answers, got)
	}
	if answers[0] != answers[1] {
		t.Errorf("without it\n%s\nwith it\n%s", answers[0], answers[1])
	}
}

func TestMadeThingsAreLimited(t *testing.T) {
	if raceenabled.Detected {
		t.Skip("the players act one after the other; make test runs it without the race detector")
	}
	s := worldtest.New(t)
	p := s.Joins("Mira")
	nouns := strings.Fields(
		"lamp bucket hammer bell net cup plate spoon crate bowl jar mug basket broom candle towel cloak coat drum " +
			"flute glove hat mitten kettle ladle lantern needle pan pot barrel saddle shoe",
	)
	s.Edit("Quay", canon.Edit{Content: new("<p>Here are a " + strings.Join(nouns, ", a ") + ".</p>")})
	for n, noun := range nouns {
		want := "done"
		if n >= 30 {
			want = "impossible"
		}
		p.Does("take the "+noun).Is("results.0.outcome", want)
	}
	s.Pass(time.Hour)
	p.Does("take the shoe").Is("results.0.outcome", "done")
	for n := range 4 {
		q := s.Joins(fmt.Sprintf("Player %d", n))
		for _, noun := range nouns {
			q.Does("examine the " + noun)
		}
	}
	if n := things(s, s.As("user")); n > 40 {
		t.Errorf("%d things were made at one place", n)
	}
}
