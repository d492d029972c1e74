package front

import (
	"cmp"
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

type contextIn struct {
	Place    string `json:"place,omitzero" maxlen:"1020" jsonschema:"Name of a place; by default where new players begin."`
	Player   string `json:"player,omitzero" maxlen:"1020" jsonschema:"In place of place: name of a player, for its surroundings."`
	MaxChars int    `json:"max_chars,omitzero" default:"1500" min:"100" max:"8000" jsonschema:"Most characters of the description."`
}

// contextOut is the scene around a place or player. Rows name things; ids are found by name.
type contextOut struct {
	Place       string   `json:"place,omitzero"`
	Player      string   `json:"player,omitzero"`
	Description string   `json:"description,omitzero"`
	More        string   `json:"more,omitzero" jsonschema:"The call that gives the whole description."`
	Weather     string   `json:"weather,omitzero"`
	Light       string   `json:"light,omitzero"`
	Mood        string   `json:"mood,omitzero"`
	Hour        string   `json:"time_of_day,omitzero"`
	Exits       []exit   `json:"exits,omitempty"`
	Realms      []string `json:"realms,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Players     []string `json:"players_here,omitempty"`
	People      []string `json:"people_here,omitempty"`
	Things      []string `json:"things_here,omitempty"`
	Carries     []string `json:"carries,omitempty"`
	Events      []string `json:"recent_events,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
	Tick        int64    `json:"tick"`
	Ref         string   `json:"contextRef,omitzero" jsonschema:"Send it with a proposal that rests on this."`
}

type exit struct {
	Direction   string `json:"direction"`
	To          string `json:"to,omitzero"`
	Description string `json:"description,omitzero"`
	State       string `json:"state,omitzero"`
}

func (f *Front) contextOp() *op.Operation {
	return define(op.Spec{
		Name: "context", Title: "The scene for a narrator", Effect: access.Read,
		Asked: []string{"describe this place to the players", "which exits are there", "where is a player now", "weather and light here"},
		Doc: "Get all that a narrator needs to describe a scene: what a place looks, sounds and smells like, its " +
			"weather, light and " +
			"mood (rain, fog, wind, warm or cold, day or night), the exits, doors and ways out and where they lead, " +
			"who and what is there, and what just happened; or where a player stands, and the surroundings, " +
			"belongings and " +
			"bag of that hero. " +
			"Its contextRef goes with propose.",
		Examples: []op.Example{{Title: "A place", Input: `{"place": "Rent Quay"}`}, {Title: "Where players begin",
			Input: `{}`}},
	}, f.context)
}

// scene is the part of both context answers that the set shows.
type scene struct {
	Ref      string    `json:"contextRef"`
	Tick     int64     `json:"tick"`
	Location *location `json:"location"`
	Player   row       `json:"player"`
	Exits    []struct {
		Direction    string `json:"direction"`
		To           string `json:"toLocationName"`
		Description  string `json:"description"`
		Lock         string `json:"lockState"`
		Availability string `json:"availability"`
	} `json:"exits"`
	Realms    map[string][]row `json:"realms"`
	Tags      []string         `json:"narrativeTags"`
	Ambient   struct{ Value string }
	Players   []row    `json:"nearbyPlayers"`
	NPCs      []row    `json:"npcs"`
	Items     []row    `json:"items"`
	Inventory []row    `json:"inventory"`
	Warnings  []string `json:"warnings"`
	Events    []struct {
		Text string `json:"text"`
	} `json:"recentEvents"`
}

type location struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Cut         map[string]int `json:"fieldTruncations"`
}

func (f *Front) context(ctx context.Context, c *op.Call, in contextIn) (out contextOut, err error) {
	if in.Place != "" && in.Player != "" {
		return out, fault.BadField("player", "give either place or player; for example {\"place\": \"Rent Quay\"}")
	}
	operation, field, name := "get-location-context", "locationId", in.Place
	if in.Player != "" {
		operation, field, name = "get-player-context", "playerId", in.Player
	}
	query := args{"maxChars": in.MaxChars}
	if name != "" {
		card, err := f.findCard(ctx, c, name)
		if err != nil {
			return out, err
		}
		query[field] = card.ID
	}
	found, err := invoke[struct {
		Item *scene `json:"item"`
	}](ctx, f, c, operation, query)
	if err != nil {
		return out, err
	}
	if found.Item == nil {
		return out, fault.New(fault.NotFound, "%q is not a %s; see what it is with browse {\"name\": %q}", name,
			map[bool]string{true: "player", false: "place"}[in.Player != ""], name)
	}
	out = found.Item.show()
	if found.Item.Location != nil {
		err = f.addAtmosphere(ctx, c, found.Item.Location.ID, &out)
	}
	return out, err
}

// addAtmosphere adds the weather, light, mood and time of day at a place.
func (f *Front) addAtmosphere(ctx context.Context, c *op.Call, place string, out *contextOut) error {
	type slot struct {
		Value string `json:"value"`
	}
	air, err := invoke[struct {
		Hour     string `json:"timeOfDay"`
		Weather  slot   `json:"weather"`
		Lighting slot   `json:"lighting"`
		Ambient  slot   `json:"ambient"`
	}](ctx, f, c, "get-atmosphere", args{"locationId": place})
	if err != nil {
		return ignoreAbsent(err)
	}
	out.Weather, out.Light, out.Hour = air.Weather.Value, air.Lighting.Value, air.Hour
	out.Mood = cmp.Or(out.Mood, air.Ambient.Value)
	return nil
}

// show returns the scene as the set shows it.
func (s *scene) show() contextOut {
	out := contextOut{Player: s.Player.Name, Mood: s.Ambient.Value, Tags: s.Tags, Players: namesOf(s.Players),
		People: namesOf(s.NPCs), Things: namesOf(s.Items), Carries: namesOf(s.Inventory), Warnings: s.Warnings,
		Tick: s.Tick, Ref: s.Ref}
	if s.Location != nil {
		out.Place, out.Description = s.Location.Name, s.Location.Description
		if s.Location.Cut["description"] > 0 {
			out.More = callText("fetch", args{"id": s.Location.ID})
		}
	}
	for _, e := range s.Exits {
		state := e.Lock
		if state == "" && e.Availability != "hard" {
			state = e.Availability
		}
		out.Exits = append(out.Exits, exit{e.Direction, e.To, e.Description, state})
	}
	for _, kind := range []string{"geographic", "political", "weather", "functional"} {
		out.Realms = append(out.Realms, namesOf(s.Realms[kind])...)
	}
	for _, e := range s.Events {
		if e.Text != "" {
			out.Events = append(out.Events, e.Text)
		}
	}
	return out
}

func namesOf(rows []row) (names []string) {
	for _, r := range rows {
		names = append(names, r.Name)
	}
	return names
}
