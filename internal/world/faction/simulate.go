package faction

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"loregate/internal/canon"
)

// Bounds of the numbers of a faction.
const (
	mostResources = 1000
	mostInfluence = 100
	mostRelation  = 100 // and -100 the least
	wholeGoal     = 100
)

// Numbers of a faction whose card has none.
const (
	usualResources = 10
	usualInfluence = 50
)

// Goal is an aim of a faction, with its progress in percent.
type Goal struct {
	Name     string `json:"name"`
	Progress int    `json:"progress" min:"0" max:"100"`
}

// Faction is the state of a faction in a simulation.
type Faction struct {
	ID        canon.CardID
	Name      string
	Goals     []Goal
	Resources int
	Influence int
	Relations map[canon.CardID]int // to the other factions of the simulation
}

// Step is the act of the simulated faction in a step, and its state afterwards.
type Step struct {
	N         int        `json:"n" jsonschema:"Number of the step, from 1."`
	Act       string     `json:"act" enum:"gather,pursue,court,press,hold" jsonschema:"gather: resources; pursue: a goal; court: a better relation; press: against a rival; hold: nothing."`
	Target    string     `json:"target,omitempty" jsonschema:"The goal or the other faction."`
	Why       string     `json:"why"`
	Goals     []Goal     `json:"goals"`
	Resources int        `json:"resources"`
	Influence int        `json:"influence"`
	Relations []Relation `json:"relations"`
	Others    []string   `json:"others" jsonschema:"Acts of the other factions in this step."`
}

// Relation is the relation to another faction.
type Relation struct {
	ID    canon.CardID `json:"id"`
	Name  string       `json:"name"`
	Value int          `json:"value" min:"-100" max:"100"`
}

// play is a simulation: the first faction is the one that it is about.
type play struct {
	all []*Faction
	r   *rand.Rand
}

// Simulate returns the steps of the first faction among others. It changes the factions, which are its
// caller's copies.
func Simulate(all []*Faction, steps int, seed uint64) []Step {
	p := play{all: all, r: rand.New(rand.NewPCG(seed, 0))}
	out := make([]Step, 0, steps)
	for n := range steps {
		var step Step
		for i, f := range all {
			act, target, why := p.chooseAct(f)
			if i == 0 {
				step = Step{N: n + 1, Act: act, Target: target, Why: why, Others: []string{}}
				continue
			}
			step.Others = append(step.Others, strings.TrimSpace(f.Name+": "+act+" "+target))
		}
		me := all[0]
		step.Goals, step.Resources, step.Influence = slices.Clone(me.Goals), me.Resources, me.Influence
		step.Relations = p.relationsOf(me)
		out = append(out, step)
	}
	return out
}

func (p play) relationsOf(f *Faction) []Relation {
	out := []Relation{}
	for _, o := range p.all {
		if v, ok := f.Relations[o.ID]; ok {
			out = append(out, Relation{o.ID, o.Name, v})
		}
	}
	slices.SortStableFunc(out, func(a, b Relation) int { return cmp.Compare(b.Value, a.Value) })
	return out
}

// The costs of acts, in resources, and the borders of relations.
const (
	pursueCost = 3
	courtCost  = 2
	pressCost  = 4
	friendly   = 30
	hostile    = -30
)

// chooseAct has a faction do the act that its state suggests, with some chance. It returns the act, its target and
// the reason.
func (p play) chooseAct(f *Faction) (act, target, why string) {
	goal := slices.IndexFunc(f.Goals, func(g Goal) bool { return g.Progress < wholeGoal })
	rival, ally := p.findExtreme(f, -1), p.findExtreme(f, 1)
	chance := p.r.IntN(100)
	switch {
	case f.Resources < courtCost || f.Resources < pressCost && chance < 60:
		gained := 2 + p.r.IntN(4) + f.Influence/25
		f.Resources = min(f.Resources+gained, mostResources)
		return "gather", "", fmt.Sprintf("it has too little to act with, and gains %d", gained)
	case rival != nil && f.Relations[rival.ID] <= hostile && f.Resources >= pressCost && chance < 35:
		return p.pressRival(f, rival)
	case goal >= 0 && f.Resources >= pursueCost && chance < 80:
		f.Resources -= pursueCost
		g := &f.Goals[goal]
		made := 5 + p.r.IntN(10) + f.Influence/20
		g.Progress = min(g.Progress+made, wholeGoal)
		return "pursue", g.Name, fmt.Sprintf("it spends %d and comes %d percent nearer", pursueCost, made)
	case ally != nil && f.Resources >= courtCost:
		f.Resources -= courtCost
		p.changeRelation(f, ally, 4+p.r.IntN(5))
		return "court", ally.Name, "of all others it gets on best with these"
	}
	return "hold", "", "nothing needs to be done"
}

// pressRival has a faction act against a rival. The one with more influence and resources gains.
func (p play) pressRival(f, rival *Faction) (act, target, why string) {
	f.Resources -= pressCost
	p.changeRelation(f, rival, -3-p.r.IntN(5))
	lead := f.Influence + f.Resources - rival.Influence - rival.Resources + p.r.IntN(41) - 20
	winner, loser := f, rival
	if lead < 0 {
		winner, loser = rival, f
	}
	moved := min(1+p.r.IntN(5), loser.Influence)
	loser.Influence -= moved
	winner.Influence = min(winner.Influence+moved, mostInfluence)
	for _, o := range p.all { // the friends of a rival take it ill
		if o != f && o != rival && rival.Relations[o.ID] >= friendly {
			p.changeRelation(f, o, -2)
		}
	}
	return "press", rival.Name, fmt.Sprintf("they are at odds; %s wins %d of influence", winner.Name, moved)
}

// changeRelation changes the relation of two factions, on both sides.
func (p play) changeRelation(a, b *Faction, by int) {
	a.Relations[b.ID] = min(max(a.Relations[b.ID]+by, -mostRelation), mostRelation)
	b.Relations[a.ID] = a.Relations[b.ID]
}

// findExtreme returns the faction to which the relation is the best (sign 1) or the worst (-1).
func (p play) findExtreme(f *Faction, sign int) (found *Faction) {
	for _, o := range p.all {
		if _, knows := f.Relations[o.ID]; knows && (found == nil || sign*f.Relations[o.ID] > sign*f.Relations[found.ID]) {
			found = o
		}
	}
	return found
}
