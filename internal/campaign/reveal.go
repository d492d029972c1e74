package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/marked"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func revealOps(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "reveal",
			Asked: []string{
				"tell the table they have found out", "players now know it", "let everybody learn a secret",
				"disclose, unveil or share with the group", "the party discovers it", "make known",
				"give the handout", "one player, and nobody else, learns of it", "from now on they may see it",
				"let a single player in on it", "they come upon it", "show it to them",
				"tell the table that they know of it now", "one of them learns about something",
				"let the group in on it", "he, and nobody else, finds out", "hand out the clue",
				"the party learns of it", "uncover a secret", "let players see", "share a clue",
				"spill the beans to one of them",
			},
			Title: "Reveal to players",
			Doc: "Let players know of entities, secret attributes, relationships or timeline events: all players, or named ones. For the GM. " +
				"Only the current version is revealed; older versions stay hidden. With session_id it counts as learnt in that session.",
			Route: "POST /api/campaigns/{campaign_id}/reveal",
			Examples: []op.Example{
				{Title: "A person, to all",
					Input: `{"campaign_id": "ashlar-pass", "entity_id": "01920000-0000-7000-8000-000000000001"}`},
				{Title: "Their secret, to one player",
					Input: `{"campaign_id": "ashlar-pass", "items": [{"secret_of": "01920000-0000-7000-8000-000000000001"}], "to": ["player-ada"], "session_id": "01920000-0000-7000-8000-000000000005"}`},
			},
		}, func(ctx context.Context, d *deps, c *op.Call, in revealIn) (revealOut, error) {
			return in.commitReveal(ctx, d, c, modeReveal)
		}),
		defineWrite(d, op.Spec{
			Name: "unreveal",
			Asked: []string{
				"take it back, they should not know", "hide from players again", "forget that they found out",
				"make secret again", "they should not know any more", "it was too early, conceal it",
				"hide it once more", "hide it again", "take a clue back", "I told them too soon",
				"make them forget", "players should not know it any more",
			},
			Title: "Revoke a revelation",
			Doc: "Hide revealed objects again, from all players or from named ones. For the GM. " +
				"Players may remember the texts that they read in the meantime.",
			Route: "POST /api/campaigns/{campaign_id}/unreveal",
			Examples: []op.Example{
				{Title: "A relationship, from everybody",
					Input: `{"campaign_id": "ashlar-pass", "items": [{"relationship_id": "01920000-0000-7000-8000-000000000009"}]}`},
			},
		}, func(ctx context.Context, d *deps, c *op.Call, in revealIn) (revealOut, error) {
			return in.commitReveal(ctx, d, c, modeUnreveal)
		}),
	}
}

// item is one object to reveal.
type item struct {
	EntityID       ref `json:"entity_id,omitzero" jsonschema:"The person, thing or other subject that they learn of."`
	SecretOf       ref `json:"secret_of,omitzero" jsonschema:"The secret attributes of this entity."`
	RelationshipID ref `json:"relationship_id,omitzero" jsonschema:"A relationship; players see it if they see both ends."`
	EventID        ref `json:"event_id,omitzero" jsonschema:"A timeline event."`
}

// givenIDs returns the ids that an item has, by field. A valid item has exactly one.
func (i item) givenIDs() map[string]ref {
	out := map[string]ref{}
	for field, id := range map[string]ref{"entity_id": i.EntityID, "secret_of": i.SecretOf,
		"relationship_id": i.RelationshipID, "event_id": i.EventID} {
		if id != "" {
			out[field] = id
		}
	}
	return out
}

type revealIn struct {
	inCampaign
	item
	Items     []item   `json:"items,omitzero" maxitems:"100" jsonschema:"Several objects, in place of one; each item names one."`
	To        audience `json:"to,omitzero" jsonschema:"all players, the default, or a list of subjects."`
	SessionID ref      `json:"session_id,omitzero" jsonschema:"The session in which it was learnt; an entity without discovered_session gets its number."`
	DryRun    bool     `json:"dry_run,omitzero" jsonschema:"Only check."`
}

// revealedItem is one object with the audience that sees it now.
type revealedItem struct {
	Kind    string  `json:"kind" jsonschema:"The field of the item: entity_id, secret_of, relationship_id or event_id."`
	ID      string  `json:"id"`
	KnownTo knownTo `json:"known_to"`
}

type revealOut struct {
	Items  []revealedItem `json:"items"`
	DryRun bool           `json:"dry_run,omitzero"`
}

// scope is the scope of reveal events.
const scope = "campaign"

// revealMode is a kind of visibility change: reveal or unreveal.
type revealMode struct {
	event     string
	label     func(own access.Label, to audience) (access.Label, error)
	discovers bool // sets the session in which an entity was discovered
}

var (
	modeReveal   = revealMode{"Campaign.Revealed", widenLabel, true}
	modeUnreveal = revealMode{"Campaign.Unrevealed", narrowLabel, false}
)

// widenLabel returns own, extended by the audience.
func widenLabel(own access.Label, to audience) (access.Label, error) {
	switch {
	case to.isEverybody(), own.Level <= access.LevelUser:
		return access.NewLabel(access.LevelUser), nil
	}
	return access.NewLabel(own.Level, append(slices.Clone(own.Subjects), to.names...)...), nil
}

// narrowLabel returns own without the audience. Hiding from some players an object that all players
// know is refused.
func narrowLabel(own access.Label, to audience) (access.Label, error) {
	switch {
	case to.isEverybody():
		return access.NewLabel(max(own.Level, access.LevelGM)), nil
	case own.Level <= access.LevelUser:
		return own, fault.BrokenRule("to",
			"all players know it, so it cannot be hidden from some of them; unreveal it from all, then reveal it to the others")
	}
	left := slices.DeleteFunc(slices.Clone(own.Subjects),
		func(s access.Subject) bool { return slices.Contains(to.names, s) })
	return access.NewLabel(own.Level, left...), nil
}

// withOne returns the input with the object that is given alone as an item.
func (in revealIn) withOne() revealIn {
	if in.item != (item{}) {
		in.Items = append([]item{in.item}, in.Items...)
	}
	return in
}

func (in revealIn) checkItems() error {
	var p problems
	if len(in.Items) == 0 {
		p.Add("entity_id",
			"nothing is named; give entity_id, secret_of, relationship_id or event_id, or a list of items")
	}
	in.To.checkSubjects(&p)
	for i, it := range in.Items {
		if n := len(it.givenIDs()); n != 1 {
			p.Add(fmt.Sprintf("items[%d]", i),
				"names %d objects; give exactly one of entity_id, secret_of, relationship_id and event_id", n)
		}
	}
	return p.Err()
}

// commitReveal changes the visibility of all items in one commit.
func (in revealIn) commitReveal(ctx context.Context, d *deps, c *op.Call, t revealMode) (revealOut, error) {
	in = in.withOne()
	if err := in.checkItems(); err != nil {
		return revealOut{}, err
	}
	return surface.Commit(ctx, d.Kit, c, surface.Change[revealOut]{
		Plan: func(p *canon.Plan) error { return in.planReveal(ctx, p, t) },
		Reply: func(l *canon.Snapshot, r canon.Receipt) (revealOut, error) {
			out := revealOut{Items: []revealedItem{}, DryRun: r.DryRun}
			for _, it := range in.Items {
				for field, id := range it.givenIDs() {
					label, err := labelOf(ctx, l, field, id)
					if err != nil {
						return revealOut{}, err
					}
					out.Items = append(out.Items, revealedItem{field, string(id), knownTo{label}})
				}
			}
			return out, nil
		},
	})
}

// revelation is the payload of a reveal event, which only the GM sees.
type revelation struct {
	Items   []item   `json:"items"`
	To      audience `json:"to"`
	Session *int     `json:"session,omitempty"`
}

func (in revealIn) planReveal(ctx context.Context, p *canon.Plan, t revealMode) error {
	done := revelation{Items: in.Items, To: in.To}
	if in.SessionID != "" {
		s, err := sessionByID(ctx, p.Snapshot, "session_id", in.SessionID)
		if err != nil {
			return err
		}
		n := numberOf(s)
		done.Session = &n
	}
	for i, it := range in.Items {
		for field, id := range it.givenIDs() {
			if err := t.applyTo(ctx, p, field, id, in.To); err != nil {
				return faultAtField(err, fmt.Sprintf("items[%d].%s", i, field))
			}
		}
		if err := t.setDiscovered(ctx, p, it, done.Session); err != nil {
			return err
		}
	}
	payload, err := json.Marshal(done)
	if err != nil {
		return err
	}
	return p.Event(canon.Event{Type: t.event, Scope: scope, Payload: payload, Label: access.NewLabel(access.LevelGM),
		Version: 1})
}

// setDiscovered stores the session in which an entity was first met.
func (t revealMode) setDiscovered(ctx context.Context, p *canon.Plan, it item, session *int) error {
	if !t.discovers || session == nil || it.EntityID == "" {
		return nil
	}
	c, err := entityOf(ctx, p.Snapshot, it.EntityID)
	if err != nil {
		return err
	}
	f, err := partsOf(ctx, p.Snapshot, c)
	if err != nil || f.discovered != nil {
		return err
	}
	return writeNotes(ctx, p, c, notesEdit{session: session})
}

// applyTo changes the visibility of one object.
func (t revealMode) applyTo(ctx context.Context, p *canon.Plan, field string, id ref, to audience) error {
	switch field {
	case "entity_id":
		c, err := entityOf(ctx, p.Snapshot, id)
		if err != nil {
			return err
		}
		return t.relabelCard(p, c, to)
	case "secret_of":
		return t.relabelSecrets(ctx, p, id, to)
	case "event_id":
		return t.relabelEvent(ctx, p, id, to)
	}
	k, err := relationByID(ctx, p.Snapshot, id)
	if err != nil {
		return err
	}
	if k.Label, err = t.label(k.Label, to); err != nil {
		return err
	}
	p.DependOnLink(k)
	_, err = p.Link(k)
	return err
}

// relabelCard changes the visibility of a card. A card below a hidden card cannot be revealed
// alone.
func (t revealMode) relabelCard(p *canon.Plan, c canon.Card, to audience) error {
	own, err := t.label(c.Own, to)
	if err != nil {
		return err
	}
	done, err := p.SetLabel(c, own)
	if err == nil && t.discovers && !done.Label.Equal(own) {
		return fault.BrokenRule("entity_id",
			"is hidden by its name or by the entity above it; reveal that entity first")
	}
	return err
}

func (t revealMode) relabelSecrets(ctx context.Context, p *canon.Plan, id ref, to audience) error {
	c, err := entityOf(ctx, p.Snapshot, id)
	if err != nil {
		return err
	}
	cards, err := secretCards(ctx, p.Snapshot, c)
	if err != nil {
		return err
	}
	if len(cards) == 0 {
		return fault.BrokenRule("secret_of", "has no secret attributes")
	}
	for _, s := range cards {
		own, err := t.label(s.Own, to)
		if err != nil {
			return err
		}
		if _, err := p.SetLabel(s, own); err != nil {
			return err
		}
	}
	return nil
}

// relabelEvent changes the visibility of a timeline event. The name of its card follows from the open part of its text;
// the card is renamed if it tells more, as earlier program versions did, or if another card with that name has the new
// label already.
func (t revealMode) relabelEvent(ctx context.Context, p *canon.Plan, id ref, to audience) error {
	c, err := eventOf(ctx, p.Snapshot, id)
	if err != nil {
		return err
	}
	own, err := t.label(c.Own, to)
	if err != nil {
		return err
	}
	date, text, err := openText(ctx, p, c)
	if err != nil {
		return err
	}
	title := lastName(c)
	if marked.MayHide(text) {
		title = cardTitle(date, text)
	}
	if c, err = retitleEvent(ctx, p, c, title, own); err != nil {
		return err
	}
	_, err = p.SetLabel(c, own)
	return err
}

// labelOf returns the current label of an object.
func labelOf(ctx context.Context, l *canon.Snapshot, field string, id ref) (access.Label, error) {
	switch field {
	case "relationship_id":
		k, err := relationByID(ctx, l, id)
		return k.Label, err
	case "event_id":
		c, err := eventOf(ctx, l, id)
		return c.Label, err
	}
	c, err := entityOf(ctx, l, id)
	if err != nil || field == "entity_id" {
		return c.Label, err
	}
	cards, err := secretCards(ctx, l, c)
	if err != nil || len(cards) == 0 {
		return access.NewLabel(access.LevelGM), err
	}
	return cards[0].Label, nil
}
