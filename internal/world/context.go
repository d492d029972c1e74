package world

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// onWorld names the surface of tools that are only on the surface world.
var onWorld = []string{Surface}

// toolID returns the _meta that keeps a tool's former id.
func toolID(id string) map[string]any { return map[string]any{"toolId": id} }

// contextPart declares the tools with which narrators read the world.
func (w *World) contextPart() part {
	return part{
		operations: []*op.Operation{
			healthOperation("world-context-health", "GET /api/world/health"),
			healthOperation("health", ""),
			contextTool(w, op.Spec{
				Name: "get-location-context", Title: "Everything about a place",
				Doc: "Read what a narrator needs at a place: description, exits and where they lead, realms, mood, who and what is there and what happened of late. " +
					"Without locationId it is the world's starting place; follow toLocationId of an exit to walk on. null where there is no such place.",
				Surfaces: onWorld, Unwrap: "item", Target: "locationId", Route: "GET /api/world/location-context",
				Meta: toolID("WorldContext-getLocationContext"),
				Examples: []op.Example{{Title: "Where players begin", Input: `{}`},
					{Title: "A place at noon of the first day", Input: `{"locationId": "loc-rent-quay", "tick": "43200000"}`}},
			}, locationContextOf),
			contextTool(w, op.Spec{
				Name: "get-player-context", Title: "Everything about a player",
				Doc:      "Read where a player stands, who and what is there, what it carries, its clock and what it did of late, before telling it anything. null where there is no such player.",
				Surfaces: onWorld, Unwrap: "item", Target: "playerId", Route: "GET /api/world/player-context",
				Meta:     toolID("WorldContext-getPlayerContext"),
				Examples: []op.Example{{Title: "One player", Input: `{"playerId": "0190a8e0-0000-7000-8000-000000000000"}`}},
			}, playerContextOf),
			contextTool(w, op.Spec{
				Name: "get-atmosphere", Title: "Weather, light and mood of a place",
				Doc: "Read the weather, light and mood in force at a place at a tick. A layer on the place beats one on its realms, a small realm beats a large one; " +
					"without a layer it is clear, daylight and calm.",
				Surfaces: onWorld, Target: "locationId", Route: "GET /api/world/atmosphere",
				Meta:     toolID("WorldContext-getAtmosphere"),
				Examples: []op.Example{{Title: "The starting place now", Input: `{}`}},
			}, atmosphereOf),
			contextTool(w, op.Spec{
				Name: "get-spatial-context", Title: "What lies around a place",
				Doc:      "Read which places can be reached from a place by its exits, to a depth of 1 to 5, each with the shortest way. null where there is no such place.",
				Surfaces: onWorld, Unwrap: "item", Target: "locationId", Route: "GET /api/world/spatial-context",
				Meta:     toolID("WorldContext-getSpatialContext"),
				Examples: []op.Example{{Title: "Three steps around the starting place", Input: `{"depth": 3}`}},
			}, spatialContextOf),
			contextTool(w, op.Spec{
				Name: "get-recent-events", Title: "What happened of late",
				Doc:      "List what happened of late at a place or to a player, latest first, with what was said and done. Nothing where there is no such place or player.",
				Surfaces: onWorld, Unwrap: "items", Target: "scopeId", Route: "GET /api/world/recent-events",
				Meta: toolID("WorldContext-getRecentEvents"),
				Examples: []op.Example{{Title: "At a place",
					Input: `{"scope": "location", "scopeId": "loc-rent-quay", "limit": 5}`}},
			}, recentEventsOf),
			contextTool(w, op.Spec{
				Name: "get-location", Title: "One place",
				Doc:      "Read the name, description and tags of a place. get-location-context gives more in one call. null where there is no such place.",
				Surfaces: onWorld, Unwrap: "item", Target: "locationId", Route: "GET /api/world/location",
				Meta:     toolID("World-getLocation"),
				Examples: []op.Example{{Title: "Where players begin", Input: `{}`}},
			}, plainLocation),
			contextTool(w, op.Spec{
				Name: "list-exits", Title: "Ways out of a place",
				Doc:      "List the ways out of a place in the fixed order of directions. get-location-context gives more in one call.",
				Surfaces: onWorld, Target: "locationId", Route: "GET /api/world/exits", Meta: toolID("World-listExits"),
				Examples: []op.Example{{Title: "From where players begin", Input: `{}`}},
			}, exitsOf),
		},
		resources: []*op.Resource{w.locationResource()},
		prompts:   []*op.Prompt{w.narratePrompt()},
	}
}

type healthOut struct {
	OK      bool   `json:"ok"`
	Service string `json:"service"`
}

func healthOperation(name, route string) *op.Operation {
	return op.Define(op.Spec{
		Name: name, Title: "Is the world there", Doc: "Check that the context of the world can be read.", Surfaces: onWorld,
		Effect: access.Read, MinRole: access.RoleUser, Route: route, Meta: toolID("WorldContext-health"),
		Examples: []op.Example{{Title: "Check", Input: `{}`}},
	}, func(context.Context, *op.Call, struct{}) (healthOut, error) {
		return healthOut{true, "world-context"}, nil
	})
}

// atPlace is the input of tools about a place.
type atPlace struct {
	LocationID string `json:"locationId,omitzero" maxlen:"100" jsonschema:"Id or codename of the place; where players begin unless given."`
	timeInput
}

// lengthInput is the part of an input that limits the length of a description. It is absent from
// older references.
type lengthInput struct {
	MaxChars int `json:"maxChars,omitzero" min:"1" max:"16000" default:"512" numeric:"string" jsonschema:"How many characters of the description are given at most. It is cut after a sentence."`
}

func (f lengthInput) maxChars() int {
	if f.MaxChars == 0 {
		return maxText
	}
	return f.MaxChars
}

// aboutPlace is the input of tools that describe a place.
type aboutPlace struct {
	atPlace
	lengthInput
}

type locationContext struct {
	citation
	Tick          int64           `json:"tick"`
	Location      location        `json:"location"`
	Exits         []exit          `json:"exits"`
	Realms        realms          `json:"realms"`
	NarrativeTags []string        `json:"narrativeTags"`
	Ambient       slot            `json:"ambient"`
	Layers        map[string]slot `json:"layers,omitempty" jsonschema:"Base and dynamic layers in force, which add to the description."`
	NearbyPlayers []playerRef     `json:"nearbyPlayers"`
	company
	RecentEvents []eventSummary `json:"recentEvents"`
}

type locationContextOut struct {
	Item *locationContext `json:"item"`
}

func (o *locationContextOut) citeAs(ref string) {
	if o.Item != nil {
		o.Item.citeAs(ref)
	}
}

// maxRecent bounds the events that a context lists.
const maxRecent = 20

func locationContextOf(ctx context.Context, m *asOf, in aboutPlace) (out locationContextOut, err error) {
	t, ok, err := m.findPlace(ctx, in.LocationID)
	if err != nil || !ok {
		return out, err
	}
	if err := m.prefetchPlace(ctx, t.ID); err != nil {
		return out, err
	}
	if err := m.settleTick(ctx, &t); err != nil {
		return out, err
	}
	c := locationContext{Tick: m.tick}
	if c.Location, err = m.toLocation(ctx, t, in.maxChars()); err != nil {
		return out, err
	}
	if c.Exits, err = m.readNamedExits(ctx, t); err != nil {
		return out, err
	}
	around, err := m.realmsOf(ctx, t)
	if err != nil {
		return out, err
	}
	c.Realms, c.NarrativeTags = groupRealms(around), narrativeTags(around)
	layers, err := m.findActiveLayers(ctx, t, around)
	if err != nil {
		return out, err
	}
	c.Ambient = slotOf(layers, LayerAmbient)
	for _, kind := range []string{LayerBase, LayerDynamic} {
		if s := slotOf(layers, kind); s.Present {
			if c.Layers == nil {
				c.Layers = map[string]slot{}
			}
			c.Layers[kind] = s
		}
	}
	here, err := m.cardsHere(ctx, t.ID)
	if err != nil {
		return out, err
	}
	c.NearbyPlayers = playersAmong(here, canon.CardID{})
	if c.company, err = m.companyOf(ctx, here, t.ID); err != nil {
		return out, err
	}
	c.RecentEvents, err = m.recentEvents(ctx, canon.EventQuery{Scopes: []string{string(LocationScope(t.ID))}}, maxRecent)
	return locationContextOut{&c}, err
}

type playerIn struct {
	PlayerID string `json:"playerId" minlen:"1" maxlen:"100" jsonschema:"Id or codename of the player."`
	timeInput
	lengthInput
}

type playerView struct {
	ID      canon.CardID `json:"id"`
	Name    string       `json:"name"`
	Clock   int64        `json:"clock" jsonschema:"Milliseconds of world time that the player has lived to."`
	Heading Direction    `json:"heading,omitempty"`
}

type playerContext struct {
	citation
	Tick      int64      `json:"tick"`
	Player    playerView `json:"player"`
	Location  *location  `json:"location"`
	Inventory []carried  `json:"inventory"`
	company
	RecentEvents []eventSummary `json:"recentEvents"`
	Warnings     []string       `json:"warnings"`
}

type playerContextOut struct {
	Item *playerContext `json:"item"`
}

func (o *playerContextOut) citeAs(ref string) {
	if o.Item != nil {
		o.Item.citeAs(ref)
	}
}

func playerContextOf(ctx context.Context, m *asOf, in playerIn) (out playerContextOut, err error) {
	t, ok, err := m.findCard(ctx, in.PlayerID)
	if err != nil || !ok || !t.isType(typePlayer) {
		return out, err
	}
	c := playerContext{Player: playerView{ID: t.ID, Name: markup.Clean(t.Name)}, Warnings: []string{},
		company: company{NPCs: []inhabitant{}, Items: []carried{}}}
	at, stands, err := m.findAtLink(ctx, t.ID)
	if err != nil {
		return out, err
	}
	var where *cardAt
	if stands {
		p := presenceOf(at)
		c.Player.Clock, c.Player.Heading = p.Clock, p.Heading
		if where, err = m.placeByID(ctx, at.To); err != nil {
			return out, err
		}
	}
	if where != nil {
		if err := m.prefetchPlace(ctx, where.ID); err != nil {
			return out, err
		}
	}
	if err := m.settleTick(ctx, where); err != nil {
		return out, err
	}
	c.Tick = m.tick
	if where == nil {
		c.Warnings = append(c.Warnings, "the player stands nowhere")
	} else {
		l, err := m.toLocation(ctx, *where, in.maxChars())
		if err != nil {
			return out, err
		}
		c.Location = &l
		here, err := m.cardsHere(ctx, where.ID)
		if err != nil {
			return out, err
		}
		if c.company, err = m.companyOf(ctx, here, where.ID); err != nil {
			return out, err
		}
	}
	if c.Inventory, err = m.heldItems(ctx, t.ID); err != nil {
		return out, err
	}
	c.RecentEvents, err = m.recentPlayerEvents(ctx, t.ID, maxRecent)
	return playerContextOut{&c}, err
}

// placeByID returns the place with an id, or nil if that card is not a visible place.
func (m *asOf) placeByID(ctx context.Context, id canon.CardID) (*cardAt, error) {
	t, ok, err := m.cardAt(ctx, id)
	if err != nil || !ok || !t.isType(typeLocation) {
		return nil, err
	}
	return &t, nil
}

type atmosphere struct {
	citation
	Tick       int64         `json:"tick"`
	LocationID *canon.CardID `json:"locationId"`
	TimeOfDay  string        `json:"timeOfDay" enum:"dawn,morning,afternoon,dusk,night"`
	Weather    slot          `json:"weather"`
	Lighting   slot          `json:"lighting"`
	Ambient    slot          `json:"ambient"`
}

// atmosphereOf returns the default atmosphere if there is no such place: every place without layers
// has the same.
func atmosphereOf(ctx context.Context, m *asOf, in atPlace) (a atmosphere, err error) {
	layers := map[string]canon.Layer{}
	t, ok, err := m.findPlace(ctx, in.LocationID)
	if err != nil {
		return a, err
	}
	where := &t
	if !ok {
		where = nil
	}
	if err := m.settleTick(ctx, where); err != nil {
		return a, err
	}
	a.Tick, a.TimeOfDay = m.tick, TimeOfDay(m.tick)
	if ok {
		a.LocationID = &t.ID
		around, err := m.realmsOf(ctx, t)
		if err != nil {
			return a, err
		}
		if layers, err = m.findActiveLayers(ctx, t, around); err != nil {
			return a, err
		}
	}
	a.Weather, a.Lighting, a.Ambient = slotOf(layers, LayerWeather), slotOf(layers, LayerLighting),
		slotOf(layers, LayerAmbient)
	return a, nil
}

type eventsIn struct {
	Scope   string `json:"scope" enum:"location,player" jsonschema:"What it happened to."`
	ScopeID string `json:"scopeId" minlen:"1" maxlen:"100" jsonschema:"Id or codename of the place or player."`
	Limit   int    `json:"limit,omitzero" numeric:"string" default:"20" jsonschema:"How many, 1 to 100."`
	AsOf    string `json:"as_of,omitzero" maxlen:"64" jsonschema:"The state at a time such as 2026-01-31T18:00:00Z; for a GM also the number of a commit."`
}

func (e eventsIn) requestedTime() timeInput { return timeInput{AsOf: e.AsOf, Tick: new(int64)} }
func (e *eventsIn) fixTick(int64)           { e.AsOf = "" }

type eventsOut struct {
	Items []eventSummary `json:"items"`
	citation
}

func recentEventsOf(ctx context.Context, m *asOf, in eventsIn) (eventsOut, error) {
	limit := min(max(in.Limit, 1), 100)
	none := eventsOut{Items: []eventSummary{}}
	t, ok, err := m.findCard(ctx, in.ScopeID)
	if err != nil || !ok {
		return none, err
	}
	var events []canon.StoredEvent
	switch {
	case in.Scope == "player" && t.isType(typePlayer):
		events, err = m.playerEvents(ctx, t.ID, limit)
	case in.Scope == "location" && t.isType(typeLocation):
		events, err = m.readEvents(ctx, canon.EventQuery{Scopes: []string{string(LocationScope(t.ID))}}, limit)
	default:
		return none, nil
	}
	if err != nil {
		return none, err
	}
	items, err := m.recountEvents(ctx, events)
	return eventsOut{Items: items}, err
}

// citedLocation is a place that is itself the answer of a tool.
type citedLocation struct {
	citation
	location
}

type plainLocationOut struct {
	Item *citedLocation `json:"item"`
}

func (o *plainLocationOut) citeAs(ref string) {
	if o.Item != nil {
		o.Item.citeAs(ref)
	}
}

func plainLocation(ctx context.Context, m *asOf, in aboutPlace) (out plainLocationOut, err error) {
	t, ok, err := m.findPlace(ctx, in.LocationID)
	if err != nil || !ok {
		return out, err
	}
	l, err := m.toLocation(ctx, t, in.maxChars())
	return plainLocationOut{&citedLocation{location: l}}, err
}

type exitsOut struct {
	citation
	Exits []exit `json:"exits"`
}

func exitsOf(ctx context.Context, m *asOf, in atPlace) (exitsOut, error) {
	t, ok, err := m.findPlace(ctx, in.LocationID)
	if err != nil || !ok {
		return exitsOut{Exits: []exit{}}, err
	}
	exits, err := m.readNamedExits(ctx, t)
	return exitsOut{Exits: exits}, err
}
