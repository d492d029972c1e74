package rule

import (
	"errors"
	"strings"
	"testing"

	"loregate/internal/fault"
)

// scene is a game set up by hand: seat 1 is the Original AI and CTO, the others are human, and hold
// the roles of the contract in its order.
type scene struct {
	t *testing.T
	s State
	n Millis
}

// cast are the roles by seat.
var cast = []Role{CTO, EthicsVP, CISO, CEO, CFO, COO, PlatformsVP, Staff}

func set(t *testing.T, m Mandate) *scene {
	c := &scene{t: t, n: 1000}
	c.tell(&Created{ID: "g-0", Host: "host", Settings: Settings{Seconds: defaultSeconds(), Days: 10, Messages: 100},
		Seed: Seed{1}})
	e := &Dealt{Deck: []Crisis{TaintedData, APIBargain, RedTeam, Wellness, LegalHold}}
	for i, r := range cast {
		c.tell(&Joined{Name: "N" + string(rune('1'+i))}, &Seated{Seat: Seat(i + 1), Played: ByPerson, Host: i == 0})
		e.Roles, e.Alignments, e.KPIs = append(e.Roles, r), append(e.Alignments, Human), append(e.KPIs, "")
	}
	e.Alignments[0] = OriginalAI
	c.tell(&Started{Mandate: m, Tokens: 1}, e)
	return c
}

func (c *scene) tell(events ...Event) *scene {
	for _, e := range events {
		c.s = Apply(c.s, e)
	}
	return c
}

// at puts the game into a phase of a day with a crisis.
func (c *scene) at(day int, p Phase, x Crisis) *scene {
	if c.s.Public.Day != day {
		c.tell(&PhaseBegan{Phase: Sitrep, Day: day, Ends: c.n + 1})
		if x != "" {
			c.tell(&CrisisStruck{x})
		}
		slots := &turn{State: c.s}
		slots.updateCounts()
		c.s = slots.State
	}
	return c.tell(&PhaseBegan{Phase: p, Day: day, Ends: c.n + 1})
}

// hide changes the secret half of a seat, show the public half.
func (c *scene) hide(s Seat, f func(*Hidden)) *scene { f(c.s.Secret.Seats.Of(s)); return c }
func (c *scene) show(s Seat, f func(*Person)) *scene { f(c.s.Public.Players.Of(s)); return c }

func (c *scene) tokens(n int, seats ...Seat) *scene {
	for _, s := range seats {
		c.show(s, func(p *Person) { p.Tokens = n })
	}
	return c
}

func (c *scene) unlock(seats ...Seat) *scene {
	for _, s := range seats {
		c.show(s, func(p *Person) { p.Milestones = c.s.Public.Needed() })
	}
	return c
}

// do decides commands that must be legal, and checks the resulting events.
func (c *scene) do(cmds ...Command) *scene {
	c.t.Helper()
	for _, cmd := range cmds {
		before := c.s
		after, events, err := Step(before, cmd, c.n, before.Dice())
		if err != nil {
			c.t.Fatalf("%#v: %v", cmd, err)
		}
		if err := Check(&before, &after, events); err != nil {
			c.t.Fatalf("%#v: %v", cmd, err)
		}
		c.s = after
	}
	return c
}

// refuses decides a command that must be illegal, with an error that contains a text.
func (c *scene) refuses(cmd Command, why string) {
	c.t.Helper()
	events, err := Decide(c.s, cmd, c.n, c.s.Dice())
	if err == nil || len(events) > 0 || !strings.Contains(err.Error(), why) {
		c.t.Errorf("%#v: %v, want a refusal with %q", cmd, err, why)
	}
	if !errors.Is(err, fault.Rule) && !errors.Is(err, fault.Invalid) {
		c.t.Errorf("%#v: %v is neither a rule nor an invalid input", cmd, err)
	}
}

// pass lets the phase end.
func (c *scene) pass() *scene {
	c.t.Helper()
	c.n = c.s.Public.Ends
	return c.do(Tick{})
}

func (c *scene) vote(choices ...Choice) *scene {
	c.t.Helper()
	for i, choice := range choices {
		if choice != "" {
			c.do(CastVote{Seat(i + 1), choice})
		}
	}
	return c
}

func (c *scene) want(what string, got, want any) {
	c.t.Helper()
	if got != want {
		c.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (c *scene) person(s Seat) *Person { return c.s.Public.Players.Of(s) }
func (c *scene) hidden(s Seat) *Hidden { return c.s.Secret.Seats.Of(s) }

// said reports whether the chat contains a text.
func (c *scene) said(text string) bool {
	for m := range c.s.Public.Log.After(0) {
		if strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}

// noted reports whether a seat received a private notice with a text.
func (c *scene) noted(s Seat, text string) bool {
	for _, n := range c.hidden(s).Notices {
		if strings.Contains(n.Text, text) {
			return true
		}
	}
	return false
}

func mine(s, target Seat) Command { return GiveAction{s, Action{Do: Mine, Target: target}} }

func able(s Seat, a Action) Command { return GiveAction{s, a} }
