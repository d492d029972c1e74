package play

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

type parseIn struct {
	Text       string `json:"text" maxlen:"500" jsonschema:"The player's text."`
	PlayerID   string `json:"playerId,omitzero" maxlen:"100" jsonschema:"The player who typed it; names are looked up at that player's place."`
	LocationID string `json:"locationId,omitzero" maxlen:"100" jsonschema:"Place at which names are looked up if no player is given."`
}

// parseOperation declares the parser as a tool.
func (h *Host) parseOperation() *op.Operation {
	return op.Define(op.Spec{
		Name: "parse-command", Title: "Read a player's command",
		Asked: []string{
			"a player mean by this sentence", "take apart typed words into acts",
			"understand a hero wants to do", "how would the game understand I type",
			"which acts are in a sentence", "verbs of a typed order", "interpret a player enters",
			"split a typed order into its steps", "the game do with these words",
			"how is a sentence of a player read", "understand a typed order", "split an order into its acts",
			"which verbs and things are meant", "how is this line read", "grammar of an order",
		},
		Doc: "Parse a player's text into acts, in order, before their results are decided. With playerId or locationId it " +
			"also lists the names that mean several things at that place, or none. " +
			"If needsClarification is true, ask the player.",
		Surfaces: onWorld, Effect: access.Read, MinRole: access.RoleUser, Route: "POST /api/world/parse-command",
		Meta: world.ToolID("IntentParser-parseCommand"),
		Examples: []op.Example{{Title: "Two acts", Input: `{"text": "go north then look at the well"}`},
			{Title: "A typing error, at a place", Input: `{"text": "tkae the lamp", "locationId": "loc-rent-quay"}`}},
	}, h.parseCommand)
}

func (h *Host) parseCommand(ctx context.Context, c *op.Call, in parseIn) (out command.Parsed, err error) {
	out = h.readCommand(ctx, c.Grant.World(), in.Text, command.Parse(in.Text))
	if in.PlayerID == "" && in.LocationID == "" {
		return out, nil
	}
	err = h.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		s, ok, err := h.newReadOnlyTurn(ctx, snap, in)
		if err != nil || !ok {
			return err
		}
		return s.addAmbiguities(&out)
	})
	return out, err
}

// newReadOnlyTurn returns a turn without a plan: the player and the place that a command refers to.
// It returns false if they are not found.
func (h *Host) newReadOnlyTurn(ctx context.Context, snap *canon.Snapshot, in parseIn) (*turn, bool, error) {
	m := h.world.Current(snap)
	s := &turn{AsOf: m, ctx: ctx}
	if in.PlayerID != "" {
		who, ok, err := m.FindCard(ctx, in.PlayerID)
		if err != nil || !ok || !who.IsType(world.TypePlayer) {
			return s, false, err
		}
		at, ok, err := m.FindAtLink(ctx, who.ID)
		if err != nil || !ok {
			return s, false, err
		}
		s.player, s.atLink = who, at
		s.place, ok, err = m.CardByID(ctx, at.To)
		return s, ok, err
	}
	var ok bool
	var err error
	s.place, ok, err = m.FindPlace(ctx, in.LocationID)
	return s, ok, err
}

// addAmbiguities adds to p the names that are unclear or match nothing at the place. It does not
// change the parsed intents.
func (s *turn) addAmbiguities(p *command.Parsed) error {
	all, err := s.listLookTargets()
	if err != nil {
		return err
	}
	exits, err := s.Exits(s.ctx, s.place)
	if err != nil {
		return err
	}
	for _, e := range exits {
		if e.To != nil {
			if t, ok, err := s.CardByID(s.ctx, *e.To); err != nil {
				return err
			} else if ok {
				all = append(all, t)
			}
		}
	}
	texts, err := s.textsShown()
	if err != nil {
		return err
	}
	for _, i := range p.Intents {
		for _, name := range append([]string{i.DirectObject}, i.Targets...) {
			if a, ok := ambiguityOf(p.RawText, name, all, texts); ok {
				p.Ambiguities = append(p.Ambiguities, a)
				p.NeedsClarification = p.NeedsClarification || a.Critical
			}
		}
	}
	return nil
}

// ambiguityOf returns the ambiguity of a name at a place, if there is one.
func ambiguityOf(raw, name string, all []world.Card, texts []passage) (command.Ambiguity, bool) {
	_, what := command.SplitCount(name)
	if name == "" || len(command.BareWords(what)) == 0 || command.MeansHere(what) {
		return command.Ambiguity{}, false
	}
	found := findMatches(what, all)
	switch {
	case len(found) > 1:
		return command.Ambiguity{Kind: "reference", Span: command.SpanOf(raw, name), Options: titlesOf(found),
			Critical: true}, true
	case len(found) == 1 || namesDoor(what):
		return command.Ambiguity{}, false
	case command.MeansAll(what) || command.MeansSelf(what) || findMention(texts, what, command.SameWords).isMentioned():
		return command.Ambiguity{}, false
	}
	return command.Ambiguity{Kind: "absent", Span: command.SpanOf(raw, name), Options: []string{}}, true
}
