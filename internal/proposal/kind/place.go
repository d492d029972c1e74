package kind

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// GenerateSetting is the key in a world's extra settings for places behind pending exits: off (the default), propose,
// or live, which lets drafts of places pass without a person.
const GenerateSetting = "generate"

// placesAnHour bounds the places that are drafted for one player, or by one author without a player.
const placesAnHour = 3

// placeDraft is the payload of propose-place.
type placeDraft struct {
	LocationID string `json:"locationId" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Id or codename of the place with the pending exit."`
	Direction  string `json:"direction" maxlen:"20" jsonschema:"Direction of the pending exit."`
	Name       string `json:"name" minlen:"2" maxlen:"60" jsonschema:"Name of the new place: letters, digits, spaces, hyphens and apostrophes."`
	Text       string `json:"text" minlen:"1" maxlen:"4000" jsonschema:"Description, at most 600 characters."`
	Terrain    string `json:"terrain" enum:"open-plain,dense-forest,hilltop,riverbank,narrow-corridor" jsonschema:"Terrain of the new place."`
	WayBack    string `json:"wayBack" maxlen:"20" jsonschema:"Direction from the new place back, normally the opposite one."`
	PlayerID   string `json:"playerId,omitzero" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"The player who wanted to go there. At most three places an hour are drafted for a player."`

	cfg Config
}

func placeKind(c Config) *proposal.Kind {
	return proposal.DefineWith(proposal.Kind{
		Name: "place_draft", Version: 1, Purpose: proposal.ForPlanning, Policy: proposal.Review, Tokens: 800,
		Live: GenerateSetting, PlayerHour: placesAnHour, Refs: []string{"locationId", "playerId"},
		Tool: proposal.Tool{
			Name:  "propose-place",
			ID:    "WorldMutation-proposePlace",
			Title: "Propose a place behind a pending exit",
			Asked: []string{
				"make the place where a pending exit leads", "draft a new location beyond the mist",
				"let there be something behind an unfinished way", "add a place where the way is still open",
				"create a room behind a pending door", "fill in the place beyond an exit that is pending",
			},
			Doc: "Propose the place to which a pending exit leads, with the way there and back. A person decides, unless the " +
				"world's setting generate is live. Read get-location-context first and send the contextRef of its answer.",
			Examples: []op.Example{{Title: "Beyond the mist",
				Input: `{"locationId": "01900000-0000-7000-8000-000000000000", "direction": "west", "name": "Silt Landing", "text": "Reeds nod to each other across the mud.", "terrain": "riverbank", "wayBack": "east"}`}},
		},
		Fallbacks: []string{
			"The way is not there yet.", "Whatever lies that way has not made up its mind.",
			"You go a few steps, and find yourself where you were.",
		},
	}, func(d placeDraft) proposal.Draft { d.cfg = c; return d })
}

func (d placeDraft) Scope() string     { return "loc:" + strings.ToLower(d.LocationID) }
func (d placeDraft) Player() string    { return strings.ToLower(d.PlayerID) }
func (d placeDraft) Sanitized() string { return cleanText(d.Text) }
func (d placeDraft) Texts() []proposal.Text {
	return []proposal.Text{{Field: "name", Text: d.Name, Max: 60}, {Field: "text", Text: d.Text, Max: 600}}
}

// Check requires a place that the author sees, with a pending exit in a direction in which it has no exit, and a name
// that no card has. The label is that of the place, so that the new place is no more open than the one before it.
func (d placeDraft) Check(ctx context.Context, s proposal.State) (proposal.Finding, error) {
	i := newInspection(ctx, s)
	if d.PlayerID != "" {
		i.checkCard("playerId", d.PlayerID, "player", typePlayer)
	}
	if !slices.Contains(d.cfg.Directions, d.WayBack) {
		i.add("wayBack", "is no direction; use one of "+strings.Join(d.cfg.Directions, ", "))
	}
	place, ok := i.checkCard("locationId", d.LocationID, "place", typeLocation)
	switch {
	case !ok:
	case !isPending(place.Fields, d.Direction):
		i.add("direction", "is not pending at that place; see exits in get-location-context")
	case slices.Contains(i.exitDirections(place.ID), d.Direction):
		i.add("direction", "has an exit already; choose another that is pending")
	}
	if bad := strings.IndexFunc(d.Name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" '’-", r)
	}); bad >= 0 || strings.TrimSpace(d.Name) != d.Name {
		i.add("name", "must be letters, digits, spaces, hyphens and apostrophes")
	} else if i.err == nil && s.At == 0 {
		var taken bool
		if _, taken, i.err = s.Exists(ctx, d.Name); taken {
			i.add("name", "is the name of another card; choose a new one")
		}
	}
	i.checkClaims("text", d.Text, d.cfg.Directions, scene{})
	return i.finding()
}

// isPending reports whether the fields of a place have a pending exit in a direction.
func isPending(fields json.RawMessage, direction string) bool {
	var f struct {
		ExitAvailability struct {
			Pending   map[string]json.RawMessage `json:"pending"`
			Forbidden map[string]json.RawMessage `json:"forbidden"`
		} `json:"exitAvailability"`
	}
	if json.Unmarshal(fields, &f) != nil {
		return false
	}
	_, pending := f.ExitAvailability.Pending[direction]
	_, forbidden := f.ExitAvailability.Forbidden[direction]
	return pending && !forbidden
}

// Plan creates the place, the exits there and back, and the links to the realms of the place before it.
func (d placeDraft) Plan(ctx context.Context, p *canon.Plan, label access.Label) (canon.Event, error) {
	from := cardIDOf(d.LocationID)
	links, _, err := p.Links(
		ctx,
		canon.LinkQuery{From: from, Kinds: []string{"exit", "within"}, Page: canon.Page{Limit: 200}},
	)
	if err != nil {
		return canon.Event{}, err
	}
	fields, err := json.Marshal(map[string]any{"terrain": d.Terrain, "tags": []string{d.Terrain}})
	if err != nil {
		return canon.Event{}, err
	}
	card, err := p.Create(canon.NewCard{Name: d.Name, Type: typeLocation, Fields: fields, Label: &label, Root: true,
		Content: "<p>" + escapeContent(d.Sanitized()) + "</p>"})
	if err != nil {
		return canon.Event{}, err
	}
	p.Target(card.ID)
	// The id holds the label, so that a draft never meets one that its author does not see.
	there := canon.Link{
		ID:    canon.LinkIDOf("exit", "draft", from.String(), d.Direction, label.String()),
		Kind:  "exit",
		From:  from,
		To:    card.ID,
		Attrs: directionAttrs(d.Direction),
		Label: label,
	}
	p.DependOnLink(there)
	back := canon.Link{
		ID:    canon.LinkIDOf("exit", "draft", card.ID.String(), d.WayBack),
		Kind:  "exit",
		From:  card.ID,
		To:    from,
		Attrs: directionAttrs(d.WayBack),
		Label: label,
	}
	add := []canon.Link{there, back}
	for _, l := range links {
		switch {
		case l.Kind == "within":
			add = append(add, canon.Link{ID: canon.LinkIDOf("within", card.ID.String(), l.To.String()), Kind: "within",
				From: card.ID, To: l.To, Label: label.Meet(l.Label)})
		case string(l.Attrs) == string(there.Attrs):
			return canon.Event{}, fault.New(fault.Rule, "there is an exit %s already", d.Direction)
		}
	}
	for _, l := range add {
		if _, err := p.Link(l); err != nil {
			return canon.Event{}, err
		}
	}
	return eventOf(d.cfg.ExitCreated, d.Scope(), label, map[string]any{"fromId": from, "toId": card.ID,
		"direction": d.Direction})
}

func directionAttrs(direction string) json.RawMessage {
	b, _ := json.Marshal(map[string]string{"direction": direction}) // strings always encode
	return b
}
