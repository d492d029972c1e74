package play_test

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// shed is a place with things for every act.
const shed = "<p>A tariff board leans here, over nets, a bucket, a lantern and a coil of rope. Pies cool on a bench by the water. " +
	"A bollard, a bell and a crate stand at the edge. The rope smells of pine. A knife lies on a hat.</p>"

func newShed(t *testing.T) (worldtest.Player, *dicey, *worldtest.Scene) {
	s, d := newDicey(t)
	s.Edit("Quay", canon.Edit{Content: new(shed)})
	return s.Joins("Mira"), d, s
}

// Each act has an outcome about the thing that it names, and a later look tells the change.
func TestActsOnThingsLeaveTraces(t *testing.T) {
	p, _, _ := newShed(t)
	for _, row := range []struct{ act, told, look, trace string }{
		{"open the crate", "crate", "look at the crate", "It is open."},
		{"close the crate", "crate", "look at the crate", "It is shut."},
		{"light the lantern", "lantern", "look at the lantern", "It is alight."},
		{"blow the lantern out", "lantern", "look at the lantern", "It is out."},
		{"break the tariff board", "tariff board", "examine the tariff board", "It is broken."},
		{"fix the tariff board", "tariff board", "examine the tariff board", "It is mended."},
		{"write my name on the tariff board", "“Mira”", "read the tariff board", "It bears the words “Mira”"},
		{"take a net", "You take the net.", "i", "You carry a net."},
		{"put it on", "net", "i", "net (worn)"},
		{"tie the net to the bollard", "You tie the net to the bollard.", "look at the bollard", "Tied to it is a net."},
		{"untie the net", "You untie the net from the bollard.", "i", "You carry nothing."},
		{"fill the bucket with water", "bucket", "look in the bucket", "It is full of water."},
		{"pour the water on the lantern", "the bucket", "look at the bucket", "It is empty."},
		{"take the knife", "You take the knife.", "i", "a knife"},
		{"cut the rope with the knife", "the knife", "look at the rope", "It is cut."},
		{"hide the knife behind the crate", "behind the crate", "look behind the crate", "Behind it lies a knife."},
		{"take the knife", "You take the knife.", "look behind the crate", "behind the crate"},
		{"put the knife in the bucket", "You put the knife into the bucket.", "look in the bucket", "It holds a knife."},
		{"take the knife out of the bucket", "You take the knife.", "i", "a knife"},
		{"push the crate", "crate", "look at the crate", "It is shut."},
		{"clean the bell", "bell", "look at the bell", "It is clean."},
		{"put my hand in the bucket", "You put your hand in the bucket.", "look in the bucket", "in the bucket"},
		{"put the rope over my shoulder", "rope", "i", "a rope (worn)"},
		{"eat a pie", "pie", "examine the bench", "bench"},
	} {
		got := p.Does(row.act)
		got.Is("results.0.outcome", "done")
		if told, _ := got.At("narration").(string); !strings.Contains(told, row.told) {
			t.Errorf("%s: %q, want %q", row.act, told, row.told)
		}
		if seen, _ := p.Does(row.look).At("narration").(string); !strings.Contains(seen, row.trace) {
			t.Errorf("%s, then %s: %q, want %q", row.act, row.look, seen, row.trace)
		}
	}
}

// Acts without a state have an outcome about the thing, and never a blank one.
func TestActsOnThingsAreTold(t *testing.T) {
	p, _, _ := newShed(t)
	for _, row := range [][2]string{
		{"ring the bell", "bell"}, {"smell the rope", "The rope smells of pine."}, {"touch the bollard", "bollard"},
		{"sit on the bench", "sit on the bench"}, {"hide behind the crate", "hide behind the crate"},
		{"knock on the crate", "crate"},
		{"throw the rope at the crate", "the crate"}, {"hit the bollard with the knife", "bollard"},
		{"hold the lantern up to the light", "lantern"},
		{"swim", "out"}, {"dig a hole", "ground"}, {"wait for the ferry", "the ferry"}, {"shake the crate", "crate"},
		{"show the hat to the hound", "Salt Hound"}, {"follow the hound", "Salt Hound"}, {"use the bench", "bench"},
		{"look under the bench", "under the bench"},
		{"jump into the water", "water"}, {"listen", "You listen."}, {"kick the bucket", "bucket"}, {"wear the hat",
			"hat"}, {"take off the hat", "hat"},
		{"take down the rope", "You take the rope."}, {"wake the hound", "Salt Hound"},
		{"make the lantern dance", "the lantern"}, {"make the hound dance", "the Salt Hound"}, {"make the bucket roll", "the bucket"}, {"pull on the rope", "rope"},
		{"tug at the rope", "rope"}, {"warm my hands at the lantern", "lantern"}, {"pet the hound", "the Salt Hound"},
		{"follow the smell of pine", "the pine"}, {"follow the noise of the bell", "the bell"},
		{"listen to the sound of the bell", "You listen to the bell."},
	} {
		act, want := row[0], row[1]
		got := p.Does(act)
		told, _ := got.At("narration").(string)
		if !strings.Contains(told, want) || strings.Contains(told, "{") || strings.Contains(told, "Nothing comes of it") {
			t.Errorf("%s: %q, want %q", act, told, want)
		}
	}
}

// No act succeeds without its means, and one that a thing does not bear is refused in words about the thing.
func TestActsNeedTheirMeans(t *testing.T) {
	p, d, _ := newShed(t)
	for _, row := range [][2]string{
		{"break the bell with the sword", "You have no sword."},
		{"polish the bell with the sword", "You have no sword."},
		{"juggle with the axe", "You have no axe."},
		{"pay a penny", `You have no "penny".`},
		{"tie the chain to the bollard", "You have no chain."},
		{"cut the rope", "You have nothing with an edge to cut the rope with."},
		{"cut the rope with the hat", "The hat has no edge to cut with."},
		{"open the bollard", "There is nothing about the bollard that opens."},
		{"light the bollard", "The bollard would not take a light."},
		{"eat the bollard", "The bollard is nothing to eat."},
		{"wear the bollard", "The bollard stays where it is."},
		{"fix the bell", "The bell needs no mending."},
		{"tear the bell", "The bell is not made for tearing."},
		{"unlock the crate", "The crate is not locked."},
		{"lock the crate", "You have no key for the crate."},
		{"put the sword in the crate", "You have no sword."},
		{"fill the bucket with wine", "There is no wine here to fill the bucket with."},
		{"take off the bonnet", "You are not wearing any bonnet."},
		{"show the sword to the hound", "You have no sword."},
		{"throw the sword into the water", "You have no sword."},
		{"put the crate in the crate", "The crate cannot hold itself."},
		{"write HELLO on the sword", "You see no sword here."},
		{"braid the hair into the rope", "You see no hair here."},
		{"give the hound the slip of bone", `You have no "slip of bone".`},
		{"open the crate with the crowbar", "You have no crowbar."},
		{"hit the bollard with the sledgehammer", "You have no sledgehammer."},
	} {
		act, want := row[0], row[1]
		got := p.Does(act)
		if told, _ := got.At("narration").(string); told != want {
			t.Errorf("%s: %q, want %q", act, told, want)
		}
		got.Is("results.0.outcome", "impossible")
	}
	if len(d.checks) > 0 {
		t.Errorf("checks without means: %v", d.checks)
	}
}

// The trace of a hidden thing is as hidden as the thing.
func TestTraceIsAsHiddenAsTheThing(t *testing.T) {
	s, _ := newDicey(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	s.Change(func(plan *canon.Plan) error {
		c, err := plan.Card("Quay")
		if err == nil {
			_, err = plan.Layer(canon.Layer{Card: c.ID, Kind: world.LayerDynamic, Text: "A silver chest stands by the steps.",
				Label: access.NewLabel(access.LevelGM, p.Caller.Subject)})
		}
		return err
	})
	absent := q.Does("open the chest").Raw
	p.Does("open the chest").Is("results.0.outcome", "done")
	if seen, _ := p.Does("look at the chest").At("narration").(string); !strings.HasSuffix(seen, "It is open.") {
		t.Errorf("the player sees %q", seen)
	}
	if got := q.Does("open the chest").Raw; got != absent {
		t.Errorf("another player is told %s", got)
	}
	seen := s.As("user").Call("get-recent-events", `{"scope":"location","scopeId":"loc-quay","limit":30}`).Raw
	if strings.Contains(seen, "chest") {
		t.Errorf("others see %s", seen)
	}
}

// Acts of the player's own body need nothing else, and never fail. The other clauses of a command are carried out.
func TestOwnActsAreTold(t *testing.T) {
	p, _, _ := newShed(t)
	for text, want := range map[string]string{
		"wash my hands in the water":               "wash your hands in the water",
		"dance a little jig":                       "dance a little jig",
		"scratch my head":                          "scratch your head",
		"put my ear to the bollard":                "You put your ear to the bollard.",
		"dip my finger into the bucket":            "You dip your finger into the bucket.",
		"pretend the crate is my ship":             "pretend the crate is your ship",
		"dance on the bollard like a king":         "dance on the bollard like a king",
		"pull really hard on the bollard":          "bollard",
		"steer the crate":                          "steer the crate",
		"jump into the water":                      "water",
		"kneel by the bell and squint at the nets": "nets",
		"climb on the crate and shout ahoy":        "Ahoy.",
		"break my arm":                             "You think better of it",
		"fly over the sea":                         "That is more than you can do.",
		"down":                                     "You cannot go down from here.",
	} {
		if told, _ := p.Does(text).At("narration").(string); !strings.Contains(told, want) {
			t.Errorf("%s: %q, want %q", text, told, want)
		}
	}
}
