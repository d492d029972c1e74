package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/proposal"
)

// placeTemplate is the prompt template for places behind pending exits.
const placeTemplate = "place"

// PlaceWish is a wish for the place behind a pending exit.
type PlaceWish struct {
	Location  string
	Direction string                        // "" for the first that is pending
	Opposite  func(direction string) string // returns the direction back
	Player    string                        // who wanted to go there; "" for nobody
}

// placeDraft is a draft of a place, as propose-place takes it.
type placeDraft struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Terrain string `json:"terrain"`
}

// placeContext is the part of get-location-context that a draft needs.
type placeContext struct {
	Location struct {
		ID, Name string
		Tags     []string
	}
	Exits         []placeExit
	NarrativeTags []string
}

type placeExit struct {
	Direction    string
	ToName       string `json:"toLocationName"`
	Availability string
}

// draftPlace proposes a place for a wish, if the exit is still pending. A draft that the gates refuse is written again
// at most twice. The result's status is skipped if there is nothing to draft.
func (t *task) draftPlace(ctx context.Context, wish PlaceWish) (r proposal.Result, err error) {
	var p *placeContext
	if err := t.readContext(ctx, "get-location-context", placeInput(wish.Location), &p); err != nil {
		return r, err
	}
	if p == nil {
		return r, fault.New(
			fault.NotFound,
			"there is no place %q; give its id as the context tools have it",
			wish.Location,
		)
	}
	i := slices.IndexFunc(p.Exits, func(e placeExit) bool {
		return (wish.Direction == "" || e.Direction == wish.Direction) && e.Availability == "pending"
	})
	if i < 0 {
		return proposal.Result{Status: Skipped}, nil
	}
	wish.Direction = p.Exits[i].Direction
	for n := 1; ; n++ {
		d, model := t.writePlace(ctx, *p, wish, n)
		in := map[string]any{"locationId": p.Location.ID, "direction": wish.Direction,
			"wayBack": wish.Opposite(wish.Direction), "name": d.Name, "text": d.Text, "terrain": d.Terrain}
		if wish.Player != "" {
			in["playerId"] = wish.Player
		}
		r, err = t.submitDraft(ctx, draft{"place_draft", "propose-place", in,
			proposal.Provenance{Model: model, ContextRefs: t.refs}})
		if err != nil || r.Rejection == nil || n > maxRetries || r.Rejection.Gate == proposal.GateRate {
			return r, err
		}
	}
}

// writePlace writes the n-th draft, from 1: the first by the model if there is one, the others by the composer. It also
// returns the name of the author.
func (t *task) writePlace(ctx context.Context, p placeContext, w PlaceWish, n int) (placeDraft, string) {
	if t.agents.cfg.AskPlaces && n == 1 {
		d, err := t.askPlace(ctx, p, w)
		if err == nil {
			return d, modelFor(t.agents.cfg.Answers, "planning")
		}
		t.agents.cfg.Logger.WarnContext(
			ctx,
			"the model drafted no place; fixed phrases are used instead",
			"error",
			err,
		)
	}
	return composePlace(p, w, n), composerModel
}

func (t *task) askPlace(ctx context.Context, p placeContext, w PlaceWish) (d placeDraft, err error) {
	data, err := marshalData(map[string]any{"context": t.answers, "direction": w.Direction})
	if err != nil {
		return d, err
	}
	text := map[string]any{"type": "string"}
	schema, err := json.Marshal(objectSchema(map[string]any{"name": text, "text": text,
		"terrain": map[string]any{"type": "string", "enum": terrains}}))
	if err != nil {
		return d, err
	}
	read := func(answer string) error {
		if json.Unmarshal([]byte(answer), &d) != nil || d.Name == "" || d.Text == "" ||
			!slices.Contains(terrains, d.Terrain) {
			return errNoPlace
		}
		return nil
	}
	answer, err := t.agents.Ask(
		ctx,
		Question{World: t.world, task: t, Purpose: "planning", Template: placeTemplate, MaxTokens: 512,
			Schema: schema, Values: map[string]string{"data": data},
			Accept: func(answer string) (string, error) { return answer, read(answer) }},
	)
	if err == nil {
		err = read(answer)
	}
	return d, err
}

var errNoPlace = fault.New(fault.Rule, "the model did not answer with a place")

// terrains are the terrains of places, in the order of the contract.
var terrains = []string{"open-plain", "dense-forest", "hilltop", "riverbank", "narrow-corridor"}

// composePlace writes the n-th draft of a place from the terrain and the neighbours of the one before it. The same
// arguments give the same draft.
func composePlace(p placeContext, w PlaceWish, n int) placeDraft {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s/%d", p.Location.ID, w.Direction, n)
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(n)))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	d := placeDraft{Terrain: terrainBeyond(append(p.Location.Tags, p.NarrativeTags...), w.Direction)}
	if d.Terrain == "" {
		d.Terrain = pick(terrains[:4])
	}
	names := placeNames[d.Terrain]
	for range 20 {
		d.Name = pick(names[0]) + " " + pick(names[1])
		if d.Name != p.Location.Name &&
			!slices.ContainsFunc(p.Exits, func(e placeExit) bool { return e.ToName == d.Name }) {
			break
		}
	}
	first := pick(terrainPhrases[d.Terrain])
	second := pick(terrainPhrases[d.Terrain])
	for second == first {
		second = pick(terrainPhrases[d.Terrain])
	}
	d.Text = strings.Join([]string{first, second, "The sounds of " + p.Location.Name + " are faint."}, " ")
	return d
}

// terrainBeyond returns the terrain of a place in a direction from one with tags, or "" if neither tells.
func terrainBeyond(tags []string, direction string) string {
	switch direction {
	case "up":
		return "hilltop"
	case "down", "in":
		return "narrow-corridor"
	}
	return terrainOf(tags)
}

// placeNames has the first and second words of the names of composed places, by terrain.
var placeNames = map[string][2][]string{
	"open-plain": {
		{"Seed", "Long", "Hare", "Pale", "Wide", "Thistle", "Lark"},
		{"Acre", "Ley", "Common", "Reach", "Fallow", "Sward"},
	},
	"dense-forest": {
		{"Alder", "Moss", "Crow", "Fern", "Hollow", "Ivy", "Bracken"},
		{"Holt", "Stand", "Thicket", "Shaw", "Coppice",
			"Dell"},
	},
	"hilltop": {
		{"Bare", "Wind", "Kite", "Cairn", "Grey", "Beacon", "Gorse"},
		{"Knoll", "Brow", "Crest", "Rise", "Tor", "Height"},
	},
	"riverbank": {
		{"Silt", "Reed", "Eel", "Willow", "Otter", "Sedge", "Heron"},
		{"Landing", "Bank", "Shallows", "Bend", "Staithe", "Strand"},
	},
	"narrow-corridor": {
		{"Damp", "Lamp", "Low", "Mortar", "Echo", "Soot", "Cold"},
		{"Passage", "Crawl", "Gallery", "Undercroft", "Stair", "Vault"},
	},
}
