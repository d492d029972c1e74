package faction

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/world"
)

// Config configures a Service. All fields are required.
type Config struct {
	World *world.World
	Canon *canon.Canon // that of World
}

// Service implements the operations. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(c Config) (*Service, error) {
	if c.World == nil || c.Canon == nil {
		return nil, errors.New("faction: World and Canon are needed")
	}
	return &Service{c}, nil
}

// relationKinds are the kinds of links between factions, with the value of the relation that they stand for.
var relationKinds = map[string]int{"allied_with": 60, "vassal_of": 40, "member_of": 40, "borders": 0,
	"at_war_with": -60}

const (
	maxOthers    = 20 // factions beside the simulated one
	maxLinks     = 200
	defaultSteps = 10
)

type tickIn struct {
	FactionID    string `json:"factionId" minlen:"1" maxlen:"100" jsonschema:"Id, codename or name of the faction."`
	HorizonSteps int    `json:"horizonSteps,omitzero" min:"1" max:"50" default:"10" numeric:"string" jsonschema:"Number of steps."`
	Seed         int64  `json:"seed,omitzero" min:"0" numeric:"string" jsonschema:"The same seed gives the same steps as long as the canon is the same."`
}

type tickOut struct {
	ID    canon.CardID `json:"id"`
	Name  string       `json:"name"`
	Seed  int64        `json:"seed"`
	Steps []Step       `json:"steps"`
	Notes []string     `json:"notes" jsonschema:"Parts that the card does not have, with the values that stand in."`
}

// Surface returns the part of the surface world that this package declares.
func (s *Service) Surface() op.Surface {
	return op.Surface{Name: world.Surface, Operations: []*op.Operation{op.Define(op.Spec{
		Name: "simulate-faction-tick", Title: "Simulate a faction",
		Asked: []string{
			"how might the guild act next", "try out the future of a house", "which faction wins in the long run",
			"play the powers of the land ahead", "next moves of the thieves", "forecast for an order",
			"struggle between the houses over time", "rise and fall of a clan",
		},
		Doc: "Simulate up to 50 steps of a faction and those that it is linked to: its acts, goals, resources, influence " +
			"and relations. The state comes from the fields goals, resources and influence and from links allied_with, " +
			"at_war_with, vassal_of, member_of and borders. The same seed gives the same steps. Advice: it changes nothing.",
		Surfaces: []string{world.Surface}, Effect: access.Read, MinRole: access.RoleGM, Target: "factionId",
		Route: "POST /api/world/faction-tick",
		Examples: []op.Example{{Title: "Five steps",
			Input: `{"factionId": "faction-ninepenny", "horizonSteps": 5, "seed": 9}`}},
	}, s.tick)}}
}

func (s *Service) tick(ctx context.Context, c *op.Call, in tickIn) (out tickOut, err error) {
	var all []*Faction
	err = s.cfg.Canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) (err error) {
		m := s.cfg.World.Current(snap)
		t, ok, err := m.FindNamed(ctx, in.FactionID)
		if err != nil {
			return err
		}
		if !ok || !isFaction(t) {
			return fault.BadField("factionId", "names no card of type Faction or Organization")
		}
		out = tickOut{ID: t.ID, Name: t.Title(), Seed: in.Seed}
		all, err = readFactions(ctx, m, t)
		return err
	})
	if err != nil {
		return out, err
	}
	out.Notes = fillGaps(all[0])
	for _, f := range all[1:] {
		fillGaps(f)
	}
	out.Steps = Simulate(all, cmp.Or(in.HorizonSteps, defaultSteps), uint64(in.Seed))
	return out, nil
}

func isFaction(t world.Card) bool { return t.IsType("Faction") || t.IsType("Organization") }

// readFactions returns a faction and those that it is linked to, with the relations among all of them.
func readFactions(ctx context.Context, m *world.AsOf, first world.Card) ([]*Faction, error) {
	kinds := slices.Sorted(maps.Keys(relationKinds))
	var ids []canon.CardID
	for _, q := range []canon.LinkQuery{{From: first.ID, Kinds: kinds}, {To: first.ID, Kinds: kinds}} {
		links, err := m.ReadLinks(ctx, q, maxLinks)
		if err != nil {
			return nil, err
		}
		for _, l := range links {
			ids = append(ids, l.From, l.To)
		}
	}
	slices.SortFunc(ids, func(a, b canon.CardID) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.DeleteFunc(slices.Compact(ids), func(id canon.CardID) bool { return id == first.ID })
	others, err := m.CardsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	all := []*Faction{readFaction(first)}
	for _, t := range others {
		if isFaction(t) && len(all) <= maxOthers {
			all = append(all, readFaction(t))
		}
	}
	froms := make([]canon.CardID, len(all))
	for i, f := range all {
		froms[i] = f.ID
	}
	links, err := m.ReadLinks(ctx, canon.LinkQuery{Froms: froms, Kinds: kinds}, maxLinks*len(all))
	addRelations(all, links)
	return all, err
}

// addRelations sets the relations that links stand for. The worst of several counts.
func addRelations(all []*Faction, links []canon.Link) {
	byID := map[canon.CardID]*Faction{}
	for _, f := range all {
		byID[f.ID] = f
	}
	for _, l := range links {
		a, b := byID[l.From], byID[l.To]
		if a == nil || b == nil || a == b {
			continue
		}
		v := relationKinds[l.Kind]
		if old, ok := a.Relations[b.ID]; ok {
			v = min(v, old)
		}
		a.Relations[b.ID], b.Relations[a.ID] = v, v
	}
}

// maxGoals bounds the goals of a faction.
const maxGoals = 10

// readFaction reads the state of a faction from its fields: goals is a list of texts or of objects with name and
// progress, resources a number or an object of numbers, influence a number.
func readFaction(t world.Card) *Faction {
	f := &Faction{ID: t.ID, Name: t.Title(), Resources: -1, Influence: -1, Relations: map[canon.CardID]int{}}
	var raw struct {
		Goals     []json.RawMessage `json:"goals"`
		Resources json.RawMessage   `json:"resources"`
		Influence *float64          `json:"influence"`
	}
	world.DecodeFields(t.Fields, &raw)
	for _, one := range raw.Goals[:min(len(raw.Goals), maxGoals)] {
		var g Goal
		if json.Unmarshal(one, &g.Name) != nil {
			world.DecodeFields(one, &g)
		}
		if g.Name = markup.Clip(markup.Clean(g.Name), 200); g.Name != "" {
			g.Progress = min(max(g.Progress, 0), wholeGoal)
			f.Goals = append(f.Goals, g)
		}
	}
	var sum float64
	var parts map[string]float64
	switch {
	case len(raw.Resources) == 0:
	case json.Unmarshal(raw.Resources, &sum) == nil:
		f.Resources = bound(sum, mostResources)
	case json.Unmarshal(raw.Resources, &parts) == nil:
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			sum += parts[name]
		}
		f.Resources = bound(sum, mostResources)
	}
	if raw.Influence != nil {
		f.Influence = bound(*raw.Influence, mostInfluence)
	}
	return f
}

func bound(x float64, most int) int { return int(min(max(x, 0), float64(most))) }

// fillGaps gives a faction the numbers that its card does not have, and returns a note on each.
func fillGaps(f *Faction) []string {
	notes := []string{}
	if len(f.Goals) == 0 {
		f.Goals = []Goal{{Name: "hold its ground"}}
		notes = append(notes, "the card has no field goals; it wants to hold its ground")
	}
	if f.Resources < 0 {
		f.Resources = usualResources
		notes = append(notes, fmt.Sprintf("the card has no field resources; it has %d", usualResources))
	}
	if f.Influence < 0 {
		f.Influence = usualInfluence
		notes = append(notes, fmt.Sprintf("the card has no field influence; it has %d of %d", usualInfluence, mostInfluence))
	}
	if len(f.Relations) == 0 {
		notes = append(notes, "no link of a kind that counts leads to another faction")
	}
	return notes
}
