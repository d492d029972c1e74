package world

import (
	"cmp"
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// onWorld names the surface of tools that are only on the surface world.
var onWorld = []string{Surface}

// ToolID returns the _meta that keeps a tool's former id.
func ToolID(id string) map[string]any { return map[string]any{"toolId": id} }

// contextOperations declares the tools with which narrators read the world.
func (w *World) contextOperations() []*op.Operation {
	return []*op.Operation{
		healthOperation("world-context-health", "GET /api/world/health", ""),
		healthOperation("health", "", "world-context-health"),
		ContextTool(w, op.Spec{
			Name: "get-location-context", Title: "Everything about a place",
			Asked: []string{
				"describe where we are", "you see there", "who stands there", "scene at a spot", "lies about",
				"who and there", "paint the scene", "it like here", "I see, hear and smell",
				"which people and things are at a place", "set the scene", "look around at a spot",
				"where does everybody start", "describe where I am",
				"everything at a spot: people, things, doors", "look around a place", "scene around somebody",
				"who and which things are here",
			},
			Doc: "Read a place for narration: its description, exits (the ways out) and where they lead, realms, mood, the people and " +
				"things there, and recent events. " +
				"Without locationId it is the world's starting place; follow toLocationId of an exit to walk on. null if there " +
				"is no such place.",
			Surfaces: onWorld, Unwrap: "item", Target: "locationId", Route: "GET /api/world/location-context",
			Meta: ToolID("WorldContext-getLocationContext"),
			Examples: []op.Example{{Title: "Where players begin", Input: `{}`},
				{Title: "A place at noon of the first day", Input: `{"locationId": "loc-rent-quay", "tick": "43200000"}`}},
		}, locationContextOf),
		ContextTool(w, op.Spec{
			Name: "get-player-context", Title: "Everything about a player",
			Asked: []string{
				"a hero carry", "where is an adventurer and who is near",
				"possessions and surroundings of a character that somebody plays", "pockets, bag and belongings",
				"somebody on them", "where does somebody stand right now", "a hero got", "inventory",
				"she holding", "where is the player at the moment", "where is a hero now",
				"belongings of an adventurer", "situation of one participant", "in whose company is she",
				"which way does he face", "pockets of a hero",
			},
			Doc: "Read a player's place, the people and things there, its inventory, its clock and its recent events, " +
				"before you narrate to that player. null if there is no such player.",
			Surfaces: onWorld, Unwrap: "item", Target: "playerId", Player: "playerId",
			Route:    "GET /api/world/player-context",
			Meta:     ToolID("WorldContext-getPlayerContext"),
			Examples: []op.Example{{Title: "One player", Input: `{"playerId": "0190a8e0-0000-7000-8000-000000000000"}`}},
		}, playerContextOf),
		ContextTool(w, op.Spec{
			Name: "get-narration-context", Title: "All that a narration needs",
			Asked: []string{
				"material for telling the next moment", "prepare a reply of a character",
				"brief a storyteller within a budget", "background for a paragraph of the tale",
				"collect all that a narrator needs", "prepare to tell a scene",
				"facts and mood for the next passage", "brief me before I narrate",
			},
			Doc: "Read, within a budget of tokens, the texts for a narration to a player or about a place: the place, time and " +
				"mood, who and what is here with its attitude, ways out, the player's things, recent events, memories between " +
				"a character and the player, linked lore, and what must not be claimed. null if a named card does not exist.",
			Surfaces: onWorld, Unwrap: "item", Target: "playerId", Player: "playerId",
			Route: "GET /api/world/narration-context",
			Examples: []op.Example{{Title: "Where players begin", Input: `{}`},
				{Title: "A short context of a place", Input: `{"locationId": "loc-rent-quay", "maxTokens": 300}`}},
		}, narrationContextOf),
		ContextTool(w, op.Spec{
			Name: "get-atmosphere", Title: "Weather, light and mood of a place",
			Asked: []string{
				"is it raining", "rain or shine, bright or dim", "how does it feel outdoors",
				"sky, fog, wind and light", "mood of a spot", "do I need a coat", "is it dark or light there",
				"how does it feel there", "the weather", "fine or foul", "sun, snow or storm",
				"temperature and light", "time of day is it there", "how is the mood of a place",
				"weather at a place", "is it cold, foggy or bright", "time of day and light",
				"air, sounds and smells", "should I take an umbrella",
			},
			Doc: "Read how it is outdoors at a place: the weather, the light and the mood at a tick. A layer on the place takes precedence over one on " +
				"its realms, and a small realm over a large one; " +
				"without a layer they are clear, daylight and calm.",
			Surfaces: onWorld, Target: "locationId", Route: "GET /api/world/atmosphere",
			Meta:     ToolID("WorldContext-getAtmosphere"),
			Examples: []op.Example{{Title: "The starting place now", Input: `{}`}},
		}, atmosphereOf),
		ContextTool(w, op.Spec{
			Name: "get-spatial-context", Title: "Places near a place",
			Asked: []string{
				"nearby", "how do I get from here to there", "route or walk between places",
				"within a few steps", "neighbouring spots", "shortest way", "I reach in two moves",
				"how far is it", "places around", "by which way do I get there", "close by",
				"map of the vicinity", "places within two steps", "how many moves is it to there",
				"directions from one place to another", "places nearby", "how far can one get",
				"map of the surroundings", "neighbourhood within some steps", "within walking distance",
			},
			Doc: "Read the places that can be reached from a place by exits, to a depth of 1 to 5, each with the " +
				"shortest path and the realms that it lies in. null if there is no such place.",
			Surfaces: onWorld, Unwrap: "item", Target: "locationId", Route: "GET /api/world/spatial-context",
			Meta:     ToolID("WorldContext-getSpatialContext"),
			Examples: []op.Example{{Title: "Three steps around the starting place", Input: `{"depth": 3}`}},
		}, spatialContextOf),
		ContextTool(w, op.Spec{
			Name: "get-recent-events", Title: "Recent events",
			Asked: []string{
				"just happened here", "a hero do lately", "latest happenings at a spot", "who came and went",
				"has anybody turned up lately", "who passed through", "went on at a place",
				"been going on at a spot", "somebody just do", "anything new at a place", "who was here last",
				"latest happenings at a place", "news from the market", "did anything happen here",
				"who came or went", "past hours at a spot",
			},
			Doc: "List the recent events at a place or of a player, latest first, each with a sentence that describes " +
				"it. Empty if there is no such place or player.",
			Surfaces: onWorld, Unwrap: "items", Target: "scopeId", Route: "GET /api/world/recent-events",
			Meta: ToolID("WorldContext-getRecentEvents"),
			Examples: []op.Example{{Title: "At a place",
				Input: `{"scope": "location", "scopeId": "loc-rent-quay", "limit": 5}`}},
		}, recentEventsOf),
		ContextTool(w, op.Spec{
			Name: "get-location", Title: "One place",
			Asked: []string{
				"short description of a spot", "this site", "sort of place is it", "kind of place is this",
				"describe the spot in a line", "a place in brief", "what kind of spot", "labels of a place",
			},
			Doc: "Read the name, description and tags of a place. get-location-context gives more in one call. null if " +
				"there is no such place.",
			Surfaces: onWorld, Unwrap: "item", Target: "locationId", Route: "GET /api/world/location",
			Meta:     ToolID("World-getLocation"),
			Examples: []op.Example{{Title: "Where players begin", Input: `{}`}},
		}, plainLocation),
		ContextTool(w, op.Spec{
			Name: "list-exits", Title: "Exits of a place",
			Asked: []string{
				"ways out", "where can I go from here", "doors, gates, stairs and paths",
				"which directions lead somewhere", "locked doors", "which ways lead out",
				"where do the ways lead", "how do I leave", "where does the north door lead",
				"which directions are open", "routes out of a place", "doors and paths from here",
				"roads out of town", "where can I go", "ways and their length",
			},
			Doc:      "List the exits of a place in the fixed order of directions. get-location-context gives more in one call.",
			Surfaces: onWorld, Target: "locationId", Route: "GET /api/world/exits", Meta: ToolID("World-listExits"),
			Examples: []op.Example{{Title: "From where players begin", Input: `{}`}},
		}, exitsOf),
	}
}

type healthOut struct {
	OK      bool   `json:"ok"`
	Service string `json:"service"`
}

func healthOperation(name, route, aliasOf string) *op.Operation {
	return op.Define(op.Spec{
		Name: name, Title: "Check the world", Doc: "Check that the surface world answers.", Surfaces: onWorld,
		Effect: access.Read, MinRole: access.RoleUser, Route: route, AliasOf: aliasOf,
		Meta:     ToolID("WorldContext-health"),
		Examples: []op.Example{{Title: "Check", Input: `{}`}},
	}, func(context.Context, *op.Call, struct{}) (healthOut, error) {
		return healthOut{true, "world-context"}, nil
	})
}

// atPlace is the input of tools about a place.
type atPlace struct {
	LocationID string `json:"locationId,omitzero" maxlen:"100" jsonschema:"Id or codename of the place; by default the place where players begin."`
	timeInput
}

// lengthInput is the part of an input that limits the length of a description. It is absent from
// older references.
type lengthInput struct {
	MaxChars int `json:"maxChars,omitzero" min:"1" max:"16000" default:"512" numeric:"string" jsonschema:"Most characters of the description. A longer one is cut after a sentence."`
}

func (f lengthInput) maxChars() int {
	return cmp.Or(f.MaxChars, MaxText)
}

// aboutPlace is the input of tools that describe a place.
type aboutPlace struct {
	atPlace
	lengthInput
}

type locationContext struct {
	Citation
	Tick          int64           `json:"tick"`
	Location      location        `json:"location"`
	Exits         []Exit          `json:"exits"`
	Realms        realms          `json:"realms"`
	NarrativeTags []string        `json:"narrativeTags"`
	Ambient       slot            `json:"ambient"`
	Layers        map[string]slot `json:"layers,omitempty" jsonschema:"Active base and dynamic layers, which add to the description."`
	NearbyPlayers []playerRef     `json:"nearbyPlayers"`
	company
	RecentEvents []eventSummary `json:"recentEvents"`
}

// maxRecent bounds the events that a context lists.
const maxRecent = 20

func locationContextOf(ctx context.Context, m *AsOf, in aboutPlace) (out Item[locationContext], err error) {
	t, ok, err := m.FindPlace(ctx, in.LocationID)
	if err != nil || !ok {
		return out, err
	}
	if err := m.PrefetchPlace(ctx, t.ID); err != nil {
		return out, err
	}
	if err := m.settleTick(ctx, &t); err != nil {
		return out, err
	}
	c := locationContext{Tick: m.Tick}
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
	here, err := m.CardsHere(ctx, t.ID)
	if err != nil {
		return out, err
	}
	c.NearbyPlayers = playersAmong(here, canon.CardID{})
	if c.company, err = m.companyOf(ctx, here, t.ID); err != nil {
		return out, err
	}
	c.RecentEvents, err = m.recentEvents(ctx, canon.EventQuery{Scopes: []string{string(LocationScope(t.ID))}}, maxRecent)
	return Item[locationContext]{&c}, err
}
