package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"loregate/internal/fault"
)

// arc is a draft of a quest, in the form of the seedSpec of propose-quest.
type arc struct {
	Title      string    `json:"title"`
	Hook       string    `json:"hook"`
	GiverID    string    `json:"giverId,omitempty"`
	Objectives []arcStep `json:"objectives"`
	Factions   []string  `json:"factions,omitempty"`
	Rewards    []string  `json:"rewards,omitempty"`
}

type arcStep struct {
	ID          string   `json:"id"`
	Text        string   `json:"text"`
	LocationID  string   `json:"locationId,omitempty"`
	Bring       string   `json:"bring,omitempty"`
	To          string   `json:"to,omitempty"`
	Talk        string   `json:"talk,omitempty"`
	About       string   `json:"about,omitempty"`
	WaitMinutes int      `json:"waitMinutes,omitempty"`
	Requires    []string `json:"requires,omitempty"`
}

// named is a card that an arc may refer to.
type named struct{ ID, Name string }

// cast are the cards that arcs are made of. A card without an id is missing.
type cast struct {
	Here, There named // the place of the giver, and one beside it from which a way leads back
	Giver       named
	Wants       string // of the giver
	Other       named  // a person in There
	Thing       named  // a portable thing in There
	Faction     named
	Reward      string
}

// production is a rule of the grammar of arcs.
type production struct {
	needs func(cast) bool
	write func(cast, func(...string) string) arc
}

// productions is the grammar of arcs. The acts of each arc can be done in the order of its steps.
var productions = []production{
	{func(c cast) bool { return c.Thing.ID != "" }, composeErrand},
	{func(c cast) bool { return c.Other.ID != "" }, composeMessage},
	{func(c cast) bool { return c.Other.ID != "" && c.Faction.ID != "" }, composeQuestion},
	{func(c cast) bool { return c.There.ID != "" }, composeWatch},
	{func(cast) bool { return true }, composePatience},
}

func composeErrand(c cast, pick func(...string) string) arc {
	return arc{Title: c.Thing.Name + " for " + c.Giver.Name,
		Hook: pick(c.Giver.Name+" asks for "+c.Thing.Name+" from "+c.There.Name+".",
			c.Thing.Name+" is at "+c.There.Name+". "+c.Giver.Name+" would like to have it."),
		Objectives: []arcStep{goTo(c.There),
			{ID: "fetch", Text: "Take " + c.Thing.Name + ".", Bring: c.Thing.ID, Requires: []string{"go"}},
			{ID: "deliver", Text: "Give it to " + c.Giver.Name + ".", Bring: c.Thing.ID, To: c.Giver.ID,
				Requires: []string{"fetch"}}}}
}

func composeMessage(c cast, pick func(...string) string) arc {
	return arc{Title: "A Word with " + c.Other.Name,
		Hook: pick(c.Giver.Name+" has a message for "+c.Other.Name+" at "+c.There.Name+", and waits for the answer.",
			c.Giver.Name+" asks for someone to speak with "+c.Other.Name+" at "+c.There.Name+"."),
		Objectives: []arcStep{goTo(c.There),
			{ID: "speak", Text: "Talk to " + c.Other.Name + ".", Talk: c.Other.ID, Requires: []string{"go"}},
			c.reportAfter("speak")}}
}

func composeQuestion(c cast, pick func(...string) string) arc {
	return arc{Title: c.Other.Name + " on " + c.Faction.Name, Factions: []string{c.Faction.ID},
		Hook: pick(c.Giver.Name+" would like to know how "+c.Other.Name+" speaks of "+c.Faction.Name+".",
			"How does "+c.Other.Name+" speak of "+c.Faction.Name+"? "+c.Giver.Name+" asks."),
		Objectives: []arcStep{goTo(c.There),
			{ID: "ask", Text: "Ask " + c.Other.Name + " about " + c.Faction.Name + ".", Talk: c.Other.ID,
				About: c.Faction.Name, Requires: []string{"go"}},
			c.reportAfter("ask")}}
}

func composeWatch(c cast, pick func(...string) string) arc {
	return arc{Title: "An Eye on " + c.There.Name,
		Hook: pick(c.Giver.Name+" would like someone to look in at "+c.There.Name+" and stay a while.",
			"Somebody ought to keep an eye on "+c.There.Name+", says "+c.Giver.Name+"."),
		Objectives: []arcStep{goTo(c.There), stay(10), c.reportAfter("stay")}}
}

func composePatience(c cast, pick func(...string) string) arc {
	return arc{Title: "Patience at " + c.Here.Name,
		Hook:       pick(c.Giver.Name+" is glad of company at "+c.Here.Name+".", c.Giver.Name+" asks for a little patience."),
		Objectives: []arcStep{goTo(c.Here), stay(20), c.reportAfter("stay")}}
}

// goTo is the first step of every arc. A quest is shown only to those who see all the cards that its steps refer to, so
// an arc may name its place in words only because a step refers to it.
func goTo(place named) arcStep {
	return arcStep{ID: "go", Text: "Be at " + place.Name + ".", LocationID: place.ID}
}

func stay(minutes int) arcStep {
	return arcStep{ID: "stay", Text: fmt.Sprintf("Let %d minutes pass.", minutes), WaitMinutes: minutes,
		Requires: []string{"go"}}
}

// reportAfter is the last step of an arc: to tell the giver.
func (c cast) reportAfter(step string) arcStep {
	return arcStep{ID: "report", Text: "Return to " + c.Giver.Name + " and talk.", Talk: c.Giver.ID,
		Requires: []string{step}}
}

// The streams of chance of one seed.
const (
	castStream = iota
	arcStream
)

// composeArcs writes k different arcs, or fewer if the cast has no more. The same arguments give the same arcs.
func composeArcs(c cast, seed uint64, k int) []arc {
	r := rand.New(rand.NewPCG(seed, arcStream))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	possible := slices.DeleteFunc(slices.Clone(productions), func(p production) bool { return !p.needs(c) })
	r.Shuffle(len(possible), func(i, j int) { possible[i], possible[j] = possible[j], possible[i] })
	var list []arc
	for _, p := range possible[:min(k, len(possible))] {
		a := p.write(c, pick)
		a.GiverID, a.Rewards = c.Giver.ID, []string{cmp.Or(c.Reward, "the thanks of "+c.Giver.Name)}
		if c.Wants != "" {
			a.Hook += " " + c.Giver.Name + " wants " + strings.TrimRight(c.Wants, ". ") + "."
		}
		list = append(list, a)
	}
	return list
}

// arcSchema is the form of an arc by a model. Parts that do not apply are empty.
func arcSchema() (json.RawMessage, error) {
	text, number := map[string]any{"type": "string"}, map[string]any{"type": "integer"}
	list := func(of map[string]any) map[string]any { return map[string]any{"type": "array", "items": of} }
	step := objectSchema(map[string]any{"id": text, "text": text, "locationId": text, "bring": text, "to": text,
		"talk": text, "about": text, "waitMinutes": number, "requires": list(text)})
	return json.Marshal(objectSchema(map[string]any{"title": text, "hook": text, "objectives": list(step)}))
}

var errNoArc = fault.New(fault.Rule, "the model did not answer with a quest")

// readArc returns the arc in a model's answer. Giver and reward are the cast's: a model does not choose who pays.
func readArc(c cast, answer string) (a arc, err error) {
	if json.Unmarshal([]byte(answer), &a) != nil || a.Title == "" || a.Hook == "" || len(a.Objectives) == 0 {
		return a, errNoArc
	}
	a.GiverID, a.Factions, a.Rewards = c.Giver.ID, nil, []string{cmp.Or(c.Reward, "the thanks of "+c.Giver.Name)}
	return a, nil
}
