package play_test

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/ruleset"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// dicey settles acts as it is told, and notes the checks.
type dicey struct {
	succeed bool
	checks  []string
}

func (d *dicey) settle(
	_ canon.Settings,
	skill string,
	bonus *int,
	level string,
	m ruleset.Mode,
) (ruleset.Outcome, string) {
	own := 0
	if bonus != nil {
		own = *bonus
	}
	d.checks = append(d.checks, fmt.Sprintf("%s %s %d %d", skill, level, own, m))
	return ruleset.Outcome{Success: d.succeed, Total: 12, Target: 10}, "5eed"
}

func newDicey(t *testing.T) (*worldtest.Scene, *dicey) {
	d := &dicey{succeed: true}
	return worldtest.New(t, func(set *worldtest.Setup) { set.Settle = d.settle }), d
}

func TestFreeActs(t *testing.T) {
	s, d := newDicey(t)
	p := s.Joins("Mira")
	for text, want := range map[string]string{
		"climb the tariff board":         "climb the tariff board",
		"please try to juggle my ropes":  "juggle your ropes",
		"whistle":                        "whistle.",
		"smile":                          "smile.", // no call to those who are there
		"pet the salt hound":             "Salt Hound",
		"threaten the hound with a rope": "Salt Hound",
	} {
		got := p.Does(text)
		got.Is("results.0.outcome", "done", "results.0.verb", "attempt")
		if told, _ := got.At("narration").(string); !strings.Contains(told, want) {
			t.Errorf("%s: %q, want %q", text, told, want)
		}
	}
	d.succeed = false
	got := p.Does("swing on the tariff board")
	got.Is("results.0.outcome", "done", "events.0.payload.effect", "failed", "events.0.payload.check.total", 12,
		"events.0.payload.check.seed", "5eed")
}

// A gesture behind another act is an act of its own, and no thing of a list.
func TestGesturesBehindOtherActs(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	for text, gesture := range map[string]string{
		"look at the tariff board and yawn": "yawn",
		"climb the tariff board and smile":  "smile",
		"sit down, shrug and laugh":         "laugh",
		"wait and look up":                  "sky",
	} {
		got := p.Does(text)
		got.Is("results.1.outcome", "done")
		if told, _ := got.At("narration").(string); !strings.Contains(told, gesture) {
			t.Errorf("%q: %q", text, told)
		}
	}
}

// TestBreakingAndBurningByOtherVerbs has acts that are known by another verb: they change the thing, and do no more than it bears.
func TestBreakingAndBurningByOtherVerbs(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	for _, step := range [][3]string{
		{"snap the tariff board over my knee", "done", ""},
		{"snap the tariff board over my knee", "impossible", "already"},
		{"set the tariff board alight", "done", ""},
		{"set fire to the tariff board", "impossible", "already"},
		{"pour some beer over the tariff board", "impossible", "no beer"},
	} {
		got := p.Does(step[0])
		got.Is("results.0.outcome", step[1])
		if told, _ := got.At("narration").(string); !strings.Contains(told, step[2]) {
			t.Errorf("%q: %q, want %q", step[0], told, step[2])
		}
	}
}

// Nothing is done, and the question is asked, if the command names nothing that is present, and a
// hidden card is as absent as none.
func TestFreeActNeedsAThing(t *testing.T) {
	s, d := newDicey(t)
	p := s.Joins("Mira")
	for _, text := range []string{"frobnicate", "frobnicate the moon", "tickle the ghost", "tickle the goose",
		"persuade the ghost to leave", "persuade the goose to leave"} {
		p.Does(text).Is("events.#", 0)
	}
	hidden, none := p.Does("tickle the ghost").Raw, p.Does("tickle the goose").Raw
	if strings.ReplaceAll(hidden, "ghost", "goose") != none {
		t.Errorf("%s\n%s", hidden, none)
	}
	if len(d.checks) > 0 {
		t.Errorf("checks %v", d.checks)
	}
	other := s.Joins("Ben")
	p.Does("hug Ben").Is("results.0.outcome", "impossible", "results.0.reason", "player")
	if other.Clock() != 0 {
		t.Error("the other player's clock moved")
	}
}

// Somebody who trusts the player is easier to win, and a repeated command changes nothing more.
func TestAttitudesChange(t *testing.T) {
	s, d := newDicey(t)
	p := s.Joins("Mira")
	p.Does("go north")
	first := p.Does("flatter Oda Tarn", worldtest.Keyed("k"))
	again := p.Does("flatter Oda Tarn", worldtest.Keyed("k"))
	if first.At("narration") != again.At("narration") || len(d.checks) != 1 {
		t.Errorf("%v, then %v; %v", first.At("narration"), again.At("narration"), d.checks)
	}
	for range 4 {
		p.Does("comfort Oda Tarn")
	}
	if last := d.checks[len(d.checks)-1]; last != "persuasion easy 0 1" {
		t.Errorf("the last check is %q; want advantage, as she trusts the player", last)
	}
}

// Free acts in a row are not told in the same words.
func TestAttemptsVary(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	last := ""
	for range 6 {
		told, _ := p.Does("climb the tariff board").At("narration").(string)
		if told == last {
			t.Errorf("twice: %q", told)
		}
		last = told
	}
}

// What the mood over a place names is there for acts and looks of those who may see the mood, and for nobody else.
func TestMoodsAreThere(t *testing.T) {
	s, _ := newDicey(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	absent := q.Does("examine the drizzle").At("narration")
	s.Change(func(plan *canon.Plan) error {
		c, err := plan.Card("Quay")
		if err == nil {
			_, err = plan.Layer(canon.Layer{Card: c.ID, Kind: world.LayerAmbient, Text: "A thin drizzle and a far gong.",
				Label: access.NewLabel(access.LevelGM, p.Caller.Subject)})
		}
		return err
	})
	p.Does("examine the drizzle").Is("results.0.text", "A thin drizzle and a far gong.")
	p.Does("smell the air").Is("results.0.text", "You sniff the air. A thin drizzle and a far gong.")
	p.Does("kick the gong").Is("results.0.outcome", "done")
	q.Does("smell the air").Is("results.0.text", "You sniff the air. There is nothing out of the ordinary.")
	q.Does("kick the gong").Is("results.0.text", "You see no gong here.")
	if got := q.Does("examine the drizzle").At("narration"); got != absent {
		t.Errorf("another player is told %s, before the mood %s", got, absent)
	}
	seen := s.As("user").Call("get-recent-events", `{"scope":"location","scopeId":"loc-quay","limit":30}`).Raw
	if strings.Contains(seen, "gong") || strings.Contains(seen, "drizzle") {
		t.Errorf("others see %s", seen)
	}
}

func TestWordsAboutAbsentThings(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	s.Edit("Quay", canon.Edit{Content: new("<p>They wait until the moment is past. Bunting hangs from a pole.</p>")})
	for text, want := range map[string]string{
		"sneak past the guard":      "You see no guard here.",
		"climb onto the slate roof": "You see no slate roof here.",
		"go east":                   "You cannot go east from here. Ways out: ",
	} {
		got := p.Does(text)
		got.Is("events.#", 0)
		if told, _ := got.At("narration").(string); !strings.HasPrefix(told, want) {
			t.Errorf("%s: %q, want %q", text, told, want)
		}
	}
	p.Does("examine the bunting")
	if told, _ := p.Does("look").At("narration").(string); strings.Contains(told, "Here: Bunting") {
		t.Errorf("the fabric is taken for a bird: %s", told)
	}
	p.Does("go north")
	got := p.Does("shake Oda Tarn's hand")
	got.Is("results.0.outcome", "done")
}

// Owners and parts do not hide a thing that is there, nobody fails to lie down, and no act only sounds as if it led
// away.
func TestActsByOtherNames(t *testing.T) {
	s, d := newDicey(t)
	s.Change(func(plan *canon.Plan) error {
		quay, err := plan.Card("Quay")
		if err != nil {
			return err
		}
		odile, err := plan.Create(canon.NewCard{Name: "Odile of the Ferry", Type: "Character"})
		if err != nil {
			return err
		}
		_, err = plan.Link(canon.Link{ID: canon.LinkIDOf(world.LinkAt, odile.ID.String(), quay.ID.String()),
			Kind: world.LinkAt, From: odile.ID, To: quay.ID})
		return err
	})
	s.Edit(
		"Quay",
		canon.Edit{Content: new("<p>The bed is good. A bill hangs by it, and a lid. Boats lie at the steps.</p>")},
	)
	p := s.Joins("Mira")
	p.Does("examine Lucien's bill").Is("results.0.outcome", "done", "results.0.text", "A bill hangs by it, and a lid.")
	p.Does("lie on the bed").Is("results.0.outcome", "done")
	if len(d.checks) > 0 {
		t.Errorf("lying down takes %v", d.checks)
	}
	p.Does("untie one of the boats").Is("results.0.outcome", "done")
	got := p.Does("climb onto the bed")
	if told, _ := got.At("narration").(string); !strings.Contains(told, "climb onto the bed") {
		t.Errorf("the climb: %q", told)
	}
	if told, _ := p.Does("rip the lid out of the crate").At("narration").(string); strings.Contains(told, "Odile") {
		t.Errorf("a part of a name is taken for somebody: %q", told)
	}
}
