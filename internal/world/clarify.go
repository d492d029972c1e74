package world

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

type parseIn struct {
	Text       string `json:"text" maxlen:"500" jsonschema:"What the player typed."`
	PlayerID   string `json:"playerId,omitzero" maxlen:"100" jsonschema:"Who typed it: names are then looked up where that player stands."`
	LocationID string `json:"locationId,omitzero" maxlen:"100" jsonschema:"Where it is typed, where no player is named."`
}

// parserPart declares the parser as a tool.
func (w *World) parserPart() part {
	return part{operations: []*op.Operation{op.Define(op.Spec{
		Name: "parse-command", Title: "Read a player's command",
		Doc: "Read what a player typed as acts in order, before deciding what comes of it. With playerId or locationId it also says which names mean several things there, or none. " +
			"Ask the player where needsClarification is true.",
		Surfaces: onWorld, Effect: access.Read, MinRole: access.RoleUser, Route: "POST /api/world/parse-command",
		Meta: toolID("IntentParser-parseCommand"),
		Examples: []op.Example{{Title: "Two acts", Input: `{"text": "go north then look at the well"}`},
			{Title: "A slip, at a place", Input: `{"text": "tkae the lamp", "locationId": "loc-rent-quay"}`}},
	}, w.parseCommand)}}
}

func (w *World) parseCommand(ctx context.Context, c *op.Call, in parseIn) (out Parsed, err error) {
	out = Parse(in.Text)
	if in.PlayerID == "" && in.LocationID == "" {
		return out, nil
	}
	err = w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		s, ok, err := w.newReadOnlyTurn(ctx, snap, in)
		if err != nil || !ok {
			return err
		}
		return s.addAmbiguities(&out)
	})
	return out, err
}

// newReadOnlyTurn returns a turn without a plan: the player and the place that a command refers to.
// It returns false if they are not found.
func (w *World) newReadOnlyTurn(ctx context.Context, snap *canon.Snapshot, in parseIn) (*turn, bool, error) {
	m := &asOf{Snapshot: snap, w: w, readAt: w.cfg.Now()}
	s := &turn{asOf: m, ctx: ctx}
	if in.PlayerID != "" {
		who, ok, err := m.findCard(ctx, in.PlayerID)
		if err != nil || !ok || !who.isType(typePlayer) {
			return s, false, err
		}
		at, ok, err := m.findAtLink(ctx, who.ID)
		if err != nil || !ok {
			return s, false, err
		}
		s.player, s.atLink = who, at
		s.place, ok, err = m.cardAt(ctx, at.To)
		return s, ok, err
	}
	var ok bool
	var err error
	s.place, ok, err = m.findPlace(ctx, in.LocationID)
	return s, ok, err
}

// addAmbiguities adds to p the names that are unclear or match nothing at the place. It does not
// change the parsed intents.
func (s *turn) addAmbiguities(p *Parsed) error {
	all, err := s.listLookTargets()
	if err != nil {
		return err
	}
	exits, err := s.readExits(s.ctx, s.place)
	if err != nil {
		return err
	}
	for _, e := range exits {
		if e.To != nil {
			if t, ok, err := s.cardAt(s.ctx, *e.To); err != nil {
				return err
			} else if ok {
				all = append(all, t)
			}
		}
	}
	text, err := s.readText(s.ctx, s.place)
	if err != nil {
		return err
	}
	for _, i := range p.Intents {
		for _, name := range append([]string{i.DirectObject}, i.Targets...) {
			if a, ok := ambiguityOf(p.RawText, name, i.Verb, all, text); ok {
				p.Ambiguities = append(p.Ambiguities, a)
				p.NeedsClarification = p.NeedsClarification || a.Critical
			}
		}
	}
	return nil
}

// ambiguityOf returns the ambiguity of a name at a place, if there is one.
func ambiguityOf(raw, name string, verb Verb, all []cardAt, description string) (Ambiguity, bool) {
	_, what := splitCount(name)
	if name == "" || len(bareWords(what)) == 0 || isHere(what) {
		return Ambiguity{}, false
	}
	found := findMatches(what, all)
	switch {
	case len(found) > 1:
		return Ambiguity{"reference", spanOf(raw, name), titlesOf(found), true}, true
	case len(found) == 0 && (verb == VerbLook || verb == VerbExamine) && sentenceAbout(description, what) != "":
		return Ambiguity{}, false
	case len(found) == 0 && slices.ContainsFunc(bareWords(what), func(w string) bool { return doorWords[w] }):
		return Ambiguity{}, false
	case len(found) == 0:
		return Ambiguity{"absent", spanOf(raw, name), []string{}, false}, true
	}
	return Ambiguity{}, false
}

// spanOf returns the position of a name in a text, in characters, or the span of the whole text if
// the name does not occur in it literally.
func spanOf(raw, name string) Span {
	at := strings.Index(raw, name)
	if at < 0 {
		return Span{0, len([]rune(raw))}
	}
	start := len([]rune(raw[:at]))
	return Span{start, start + len([]rune(name))}
}
