package storytest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// checker reads the record of a story.
type checker struct {
	*stage
	free, changed, lines, modelled int

	found map[string]int // faults, and how often each was found
}

// report notes a fault, the first few of each kind with all details.
func (c *checker) report(format string, args ...any) {
	if c.found == nil {
		c.found = map[string]int{}
	}
	if len(c.found) < 40 {
		c.found[fmt.Sprintf(format, args...)]++
	}
}

// window is the number of turns within which no line is repeated.
const window = 20

// checkPlayer checks the turns of one player.
func (c *checker) checkPlayer(p *player) {
	said := map[string]int{} // the latest turn of each line
	for n, t := range p.turns {
		if t.Free {
			c.countFree(p, t)
		}
		for _, r := range t.Results {
			if r.Outcome == "done" && r.EventID == nil {
				c.report("%s: %q is done without an event", p.name, t.Text)
			}
			if strings.TrimSpace(r.Text) == "" && r.Outcome != "skipped" {
				c.report("%s: %q: an act has no text: %+v", p.name, t.Text, r)
			}
			if r.Outcome == "impossible" && claimsSuccess.MatchString(r.Text) {
				c.report("%s: %q is impossible, and told as %q", p.name, t.Text, r.Text)
			}
			for _, line := range linesOf(r.Verb, r.Outcome, r.Text) {
				c.lines++
				if before, ok := said[line]; ok && n-before <= window && n > before {
					c.report("%s repeats after %d turns: %s", p.name, n-before, line)
				}
				said[line] = n
			}
		}
		for _, d := range c.dead {
			if strings.Contains(t.Narration, d.Title()+" says") {
				c.report("%s: %q: the dead speak: %s", p.name, t.Text, t.Narration)
			}
		}
	}
}

// claimsSuccess matches narrations of acts that were done.
var claimsSuccess = regexp.MustCompile(`^You (take|give|put|go|run|throw|strike|manage) `)

// quoted matches the lines that characters say.
var quoted = regexp.MustCompile(`\S+ says: “[^”]*”`)

// linesOf returns the lines of a result that must not be repeated: what characters say, and what comes of free acts.
func linesOf(verb, outcome, text string) []string {
	list := quoted.FindAllString(text, -1)
	if len(list) == 0 && outcome == "done" &&
		slices.Contains([]string{string(command.Attempt), string(command.Talk)}, verb) {
		list = []string{text}
	}
	return list
}

// countFree counts a free act, and whether it changed a state, a cost or an attitude. A check, a duration and a
// change of the player's surroundings are all in the events of the act.
func (c *checker) countFree(p *player, t turn) {
	c.free++
	if len(t.Results) == 0 {
		c.report("%s: the free act %q has no outcome: %s", p.name, t.Text, t.Narration)
	}
	if slices.ContainsFunc(t.Events, func(e struct{ Payload cost }) bool {
		return e.Payload.DurationMs+e.Payload.CutMs > 0
	}) {
		c.changed++
	} else if os.Getenv("STORY_SHOW") != "" {
		c.t.Logf("%s at %s: %q: %s", p.name, p.seen.Location.Name, t.Text, t.Narration)
	}
}

// checkRecord checks the events of the world, and the things that are left.
func (c *checker) checkRecord() {
	c.read(func(snap *canon.Snapshot) {
		m := (*world.World)(nil).Current(snap)
		given, done := begin{}, map[string]int{}
		q := canon.EventQuery{Oldest: true, Page: canon.Page{Limit: 500, Uncounted: true}}
		texts := map[string]world.Narration{}
		var acts []canon.StoredEvent
		for {
			list, _, err := snap.Events(c.t.Context(), q)
			if err != nil {
				c.t.Fatal(err)
			}
			for _, e := range list {
				if e, err = m.Perceive(c.t.Context(), e); err != nil {
					c.t.Fatal(err)
				}
				switch event.Type(e.Type) {
				case world.PlayerMove:
					c.checkMove(m, e)
					acts = append(acts, e)
				case world.PlayerAct:
					c.checkAct(e)
					acts = append(acts, e)
				case world.QuestAdvanced:
					var q world.QuestProgress
					world.DecodeFields(e.Payload, &q)
					for _, move := range q.Quests {
						for _, o := range move.Given {
							given[o.ID] += max(o.Quantity, 1)
						}
						if move.State == world.QuestDone {
							done[q.PlayerID.String()+move.QuestID.String()]++
						}
					}
				case world.ThingMade:
					var made struct {
						ThingID canon.CardID `json:"thingId"`
					}
					world.DecodeFields(e.Payload, &made)
					given[made.ThingID]++
				case world.PlayerNarrated:
					var n world.Narration
					world.DecodeFields(e.Payload, &n)
					texts[n.EventID.String()] = n
					if n.By != world.ByRules {
						c.modelled++
					}
				}
			}
			if len(list) < q.Page.Limit {
				break
			}
			q.After = list[len(list)-1].Seq
		}
		for id, n := range c.countThings(snap) {
			if n > c.begin[id]+given[id] {
				t, _, _ := m.CardByID(c.t.Context(), id)
				c.report("there are %d of %s; %d were there and %d were given", n, t.Title(), c.begin[id], given[id])
			}
		}
		for what, n := range done {
			if n > 1 {
				c.report("a quest was completed %d times: %s", n, what)
			}
		}
		for _, e := range acts {
			if n, ok := texts[e.ID.String()]; ok && n.By != world.ByRules {
				c.checkNarration(m, e, n)
			}
		}
	})
}

// checkMove checks that no closed way was passed.
func (c *checker) checkMove(m *world.AsOf, e canon.StoredEvent) {
	var d world.Action
	world.DecodeFields(e.Payload, &d)
	if d.From == nil {
		return
	}
	then := *m
	then.Seq = e.Seq - 1
	from, ok, err := then.CardByID(c.t.Context(), *d.From)
	if err != nil || !ok {
		c.report("a move from nowhere: %s", e.Payload)
		return
	}
	exits, err := then.Exits(c.t.Context(), from)
	if err != nil {
		c.t.Fatal(err)
	}
	way, ok := world.ExitToward(exits, d.Direction)
	if !ok || way.Availability != world.ExitHard || way.LockState == "locked" {
		c.report("a closed way was passed: %s from %s, %+v", d.Direction, from.Title(), way)
	}
}

// checkAct checks that nobody who is dead answers, and that free acts have an outcome.
func (c *checker) checkAct(e canon.StoredEvent) {
	var d world.Action
	world.DecodeFields(e.Payload, &d)
	if d.Target != nil && slices.ContainsFunc(c.dead, func(t world.Card) bool { return t.ID == d.Target.ID }) &&
		(d.Answer != "" || d.Verb == command.Talk || d.Verb == command.Give || d.Verb == command.Attack) {
		c.report("the dead take part: %s", e.Payload)
	}
	if d.Verb == command.Attempt && d.Effect == "" && strings.Contains(d.Detail, " ") {
		c.report("a free act without an outcome: %s", e.Payload)
	}
}

// checkNarration checks a model's narration of an act against the act.
func (c *checker) checkNarration(m *world.AsOf, e canon.StoredEvent, n world.Narration) {
	var d world.Action
	world.DecodeFields(e.Payload, &d)
	for _, lie := range lies {
		if strings.Contains(n.Text, lie) {
			c.report("a model's lie was told of %s: %s", e.Payload, n.Text)
		}
	}
	switch {
	case d.To != nil && event.Type(e.Type) == world.PlayerMove:
		to, _, err := m.CardByID(c.t.Context(), *d.To)
		if err != nil {
			c.t.Fatal(err)
		}
		if going.MatchString(n.Text) && !strings.Contains(n.Text, d.Direction.Going()) &&
			!strings.Contains(n.Text, to.Title()) {
			c.report("a move to %s was told as %s", to.Title(), n.Text)
		}
	case d.Effect == "failed" && strings.Contains(n.Text, "You manage"),
		d.Effect == "managed" && strings.Contains(n.Text, "do not manage"):
		c.report("%s was told as %s", d.Effect, n.Text)
	}
}

var going = regexp.MustCompile(`\bYou (go|run|walk) `)
