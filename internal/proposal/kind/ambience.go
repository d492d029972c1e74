package kind

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// ambience is the payload of propose-ambience.
type ambience struct {
	LocationID string `json:"locationId" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Id or codename of the place."`
	LayerType  string `json:"layerType" enum:"ambient,dynamic,weather,lighting" jsonschema:"Kind of layer."`
	Text       string `json:"text" minlen:"1" maxlen:"4000" jsonschema:"The text, at most 180 characters."`
	FromTick   *int64 `json:"fromTick,omitzero" min:"0" numeric:"string" jsonschema:"First tick of the layer, in milliseconds of world time. Default: from the beginning."`
	ToTick     *int64 `json:"toTick,omitzero" min:"0" numeric:"string" jsonschema:"Last tick of the layer. Default: no end."`

	cfg Config
}

func ambienceKind(c Config) *proposal.Kind {
	return proposal.DefineWith(proposal.Kind{
		Name: "ambience", Version: 1, Purpose: proposal.ForAmbience, Policy: proposal.Auto, Tokens: 800,
		Refs: []string{"locationId"},
		Tool: proposal.Tool{Name: "propose-ambience", ID: "WorldMutation-proposeAmbience", Title: "Propose ambience",
			Asked: []string{
				"offer a smell, sound or sight for a spot", "set a mood for a place", "add colour to a scene",
				"change the weather, fog or light there", "short impression",
				"short mood, to be judged before anybody sees it", "a sound or smell that I offer",
				"one smells or hears at a place, if somebody agrees", "offer a line of mood",
				"let fog or music be there", "offer a mood for a place", "suggest a line of atmosphere",
				"a smell or sound for a spot", "add a touch of colour to a place",
			},
			Doc: "Lay a short text over a place: the sights, sounds or smells that are there now. At most 180 characters, and nothing that the canon does not have: " +
				"no new exit, thing, arrival or death. Read get-location-context first and send the contextRef of its answer.",
			Examples: []op.Example{{Title: "Water under a quay",
				Input: `{"locationId": "01900000-0000-7000-8000-000000000000", "layerType": "ambient", "text": "Somewhere under the planks the water counts."}`}}},
		Fallbacks: []string{
			"The place keeps its quiet.", "For a moment the light seems about to change; then it is as before.",
			"Nothing here has altered that you could name.",
			"You thought you noticed something. Whatever it was, it has stopped.",
		},
	}, func(a ambience) proposal.Draft { a.cfg = c; return a })
}

func (a ambience) Scope() string     { return "loc:" + strings.ToLower(a.LocationID) }
func (a ambience) Player() string    { return "" }
func (a ambience) Sanitized() string { return cleanText(a.Text) }
func (a ambience) Texts() []proposal.Text {
	return []proposal.Text{{Field: "text", Text: a.Text, Max: 180}}
}

func (a ambience) Check(ctx context.Context, s proposal.State) (proposal.Finding, error) {
	i := newInspection(ctx, s)
	if a.FromTick != nil && a.ToTick != nil && *a.ToTick < *a.FromTick {
		i.add("toTick", "is before fromTick")
	}
	if place, ok := i.checkCard("locationId", a.LocationID, "place", typeLocation); ok {
		i.checkClaims("text", a.Text, a.cfg.Directions, scene{place: place.ID})
	}
	return i.finding()
}

// Conflicts implements proposal.Reviewer.
func (a ambience) Conflicts(ctx context.Context, s proposal.State) ([]proposal.Issue, error) {
	return findConflicts(ctx, s, a.cfg.Directions, a.Texts()[0], scene{place: cardIDOf(a.LocationID)})
}

func (a ambience) Plan(_ context.Context, p *canon.Plan, label access.Label) (canon.Event, error) {
	place := canon.CardID(uuid.MustParse(a.LocationID)) // Check has found it
	layer := canon.Layer{Card: place, Kind: a.LayerType, Text: a.Sanitized(), Label: label}
	if a.FromTick != nil {
		layer.FromTick = *a.FromTick
	}
	if a.ToTick != nil {
		layer.ToTick = *a.ToTick
	}
	id, err := p.Layer(layer)
	if err != nil {
		return canon.Event{}, err
	}
	return eventOf(a.cfg.Ambience, a.Scope(), label, map[string]any{"locationId": place, "layerType": a.LayerType,
		"layerId": id, "text": layer.Text})
}
