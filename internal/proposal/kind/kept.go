package kind

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// kept is a text that players still read or hear, as it is judged again. It is no proposal: see [proposal.Service.Vet].
type kept struct {
	PlaceID   uuid.UUID `json:"locationId,omitzero"`
	SpeakerID uuid.UUID `json:"npcId,omitzero"`
	Level     string    `json:"level" enum:"user,gm,admin"` // of its readers
	Text      string    `json:"text" maxlen:"4000"`

	cfg Config
}

// KeptKind returns the kind by which the gates judge texts that are kept beside the canon.
func KeptKind(c Config) *proposal.Kind {
	return proposal.DefineWith(proposal.Kind{Name: "kept", Version: 1, Purpose: proposal.ForNarration,
		Policy: proposal.Auto, Repeats: true}, func(k kept) proposal.Draft { k.cfg = c; return k })
}

func (k kept) Scope() string          { return "kept:" + k.PlaceID.String() + k.SpeakerID.String() }
func (k kept) Player() string         { return "" }
func (k kept) Texts() []proposal.Text { return []proposal.Text{{Field: "text", Text: k.Text}} }

// Check judges the claims of the text in the view of its readers. A claim that the canon does not settle was let through
// before, so it is no fault.
func (k kept) Check(ctx context.Context, s proposal.State) (proposal.Finding, error) {
	i := newInspection(ctx, s)
	level, _ := access.ParseLevel(k.Level) // the schema allows only levels
	i.label = access.NewLabel(level)
	i.checkClaims("text", k.Text, k.cfg.Directions,
		scene{place: canon.CardID(k.PlaceID), speaker: canon.CardID(k.SpeakerID)})
	i.review, i.doubt = "", nil
	return i.finding()
}

// Plan fails: a kept text is judged, and not proposed.
func (k kept) Plan(context.Context, *canon.Plan, access.Label) (canon.Event, error) {
	return canon.Event{}, fault.New(fault.Internal, "a kept text is not applied as a proposal")
}

// DriftSetting is the key in a world's extra settings for layers that the canon denies: live ends them without a person.
const DriftSetting = "drift"

// layerEnd is the payload of propose-layer-end.
type layerEnd struct {
	LocationID string `json:"locationId" pattern:"^[0-9A-Za-z._-]{1,100}$" jsonschema:"Id or codename of the place."`
	LayerID    string `json:"layerId" format:"uuid" jsonschema:"Id of the layer, as audit-drift returns it."`
	Reason     string `json:"reason" minlen:"1" maxlen:"500" jsonschema:"Reason, for the person who decides."`

	cfg Config
}

func layerEndKind(c Config) *proposal.Kind {
	return proposal.DefineWith(proposal.Kind{
		Name: "layer_end", Version: 1, Purpose: proposal.ForAmbience, Policy: proposal.Review, Live: DriftSetting,
		Refs: []string{"locationId"},
		Tool: proposal.Tool{Name: "propose-layer-end", ID: "WorldMutation-proposeLayerEnd", Title: "Propose to end a layer",
			Asked: []string{
				"take a mood away from a place", "remove ambience that is wrong now", "the fog is no longer there",
				"end the weather at a spot", "this mood contradicts what happened", "lift a layer off a place",
				"clear an outdated impression",
			},
			Doc: "Propose that a layer over a place ends, because the canon denies it by now; audit-drift finds such layers. A " +
				"person decides, unless the world's setting drift is live. The layer stays in the history.",
			Examples: []op.Example{{Title: "A ferry that sank",
				Input: `{"locationId": "01900000-0000-7000-8000-000000000000", "layerId": "01900000-0000-7000-8000-000000000001", "reason": "The ferry sank."}`}}},
		Fallbacks: []string{"The place keeps its quiet."},
	}, func(l layerEnd) proposal.Draft { l.cfg = c; return l })
}

func (l layerEnd) Scope() string  { return "layer:" + strings.ToLower(l.LayerID) }
func (l layerEnd) Player() string { return "" }
func (l layerEnd) Texts() []proposal.Text {
	return []proposal.Text{{Field: "reason", Text: l.Reason, Max: 500}}
}

// Check requires a layer of the place that the author sees and that has not ended.
func (l layerEnd) Check(ctx context.Context, s proposal.State) (proposal.Finding, error) {
	i := newInspection(ctx, s)
	place, ok := i.checkCard("locationId", l.LocationID, "place", typeLocation)
	if !ok {
		return i.finding()
	}
	layer, ok, err := l.findLayer(ctx, s.Snapshot)
	if i.err == nil {
		i.err = err
	}
	if !ok || layer.Card != place.ID || layer.ToTick == endedTick {
		i.add("layerId", "is no layer that lies over this place; audit-drift returns the ids")
	} else {
		i.label = i.label.Meet(layer.Label)
	}
	return i.finding()
}

// findLayer returns the layer.
func (l layerEnd) findLayer(ctx context.Context, s *canon.Snapshot) (canon.Layer, bool, error) {
	list, err := s.Layers(ctx, canon.LayerQuery{IDs: []canon.LayerID{canon.LayerID(cardIDOf(l.LayerID))}})
	if err != nil || len(list) == 0 {
		return canon.Layer{}, false, err
	}
	return list[0], true, nil
}

// endedTick is the last tick of a layer that was ended. Its first tick is later, so that it is active at no time.
const endedTick = 1

// Plan ends the layer.
func (l layerEnd) Plan(ctx context.Context, p *canon.Plan, label access.Label) (canon.Event, error) {
	layer, _, err := l.findLayer(ctx, p.Snapshot)
	if err != nil {
		return canon.Event{}, err
	}
	layer.FromTick, layer.ToTick = endedTick+1, endedTick
	if _, err := p.Layer(layer); err != nil {
		return canon.Event{}, err
	}
	return eventOf(l.cfg.LayerEnded, "loc:"+strings.ToLower(l.LocationID), label, map[string]any{
		"locationId": layer.Card, "layerType": layer.Kind, "layerId": layer.ID})
}
