package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

func revealOps(d *deps) []*op.Operation {
	return []*op.Operation{
		write(d, op.Spec{
			Name:  "reveal",
			Title: "Reveal to players",
			Doc: "Let players know of entities, secret attributes, relationships or timeline events: all of them, or those named. For the GM. " +
				"Only what stands now is opened; older versions stay as hidden as they were. With session_id it counts as learnt in that session.",
			Route: "POST /api/campaigns/{campaign_id}/reveal",
			Examples: []op.Example{
				{Title: "A person, to all", Input: `{"campaign_id": "ashlar-pass", "items": [{"entity_id": "01920000-0000-7000-8000-000000000001"}]}`},
				{Title: "Their secret, to one player", Input: `{"campaign_id": "ashlar-pass", "items": [{"secret_of": "01920000-0000-7000-8000-000000000001"}], "to": ["player-ada"], "session_id": "01920000-0000-7000-8000-000000000005"}`},
			},
		}, func(ctx context.Context, d *deps, c *op.Call, in revealIn) (revealOut, error) {
			return in.commit(ctx, d, c, opening)
		}),
		write(d, op.Spec{
			Name:  "unreveal",
			Title: "Take a revelation back",
			Doc: "Hide again from players what was revealed: from all of them, or from those named. For the GM. " +
				"What they read meanwhile cannot be taken out of their heads.",
			Route: "POST /api/campaigns/{campaign_id}/unreveal",
			Examples: []op.Example{
				{Title: "A relationship, from everybody", Input: `{"campaign_id": "ashlar-pass", "items": [{"relationship_id": "01920000-0000-7000-8000-000000000009"}]}`},
			},
		}, func(ctx context.Context, d *deps, c *op.Call, in revealIn) (revealOut, error) {
			return in.commit(ctx, d, c, closing)
		}),
	}
}

// item is one thing to reveal.
type item struct {
	EntityID       ref `json:"entity_id,omitzero" jsonschema:"An entity."`
	SecretOf       ref `json:"secret_of,omitzero" jsonschema:"The secret attributes of this entity."`
	RelationshipID ref `json:"relationship_id,omitzero" jsonschema:"A relationship; it shows to who sees both ends."`
	EventID        ref `json:"event_id,omitzero" jsonschema:"A timeline event."`
}

// given are the ids that an item has, by their field; just one is right.
func (i item) given() map[string]ref {
	out := map[string]ref{}
	for field, id := range map[string]ref{"entity_id": i.EntityID, "secret_of": i.SecretOf, "relationship_id": i.RelationshipID, "event_id": i.EventID} {
		if id != "" {
			out[field] = id
		}
	}
	return out
}

type revealIn struct {
	within
	Items     []item   `json:"items" minitems:"1" maxitems:"100" jsonschema:"What to reveal or hide; each item names one thing."`
	To        audience `json:"to,omitzero" jsonschema:"all players, the default, or a list of subjects."`
	SessionID ref      `json:"session_id,omitzero" jsonschema:"The session in which it was learnt; an entity without discovered_session gets its number."`
	DryRun    bool     `json:"dry_run,omitzero" jsonschema:"Only check."`
}

// opened is one thing and who sees it now.
type opened struct {
	Kind    string  `json:"kind" jsonschema:"The field of the item: entity_id, secret_of, relationship_id or event_id."`
	ID      string  `json:"id"`
	KnownTo knownTo `json:"known_to"`
}

type revealOut struct {
	Items  []opened `json:"items"`
	DryRun bool     `json:"dry_run,omitzero"`
}

// scope is that of the events that revealing leaves.
const scope = "campaign"

// turn is a way to change who sees something.
type turn struct {
	event string
	label func(own access.Label, to audience) (access.Label, error)
	finds bool // what is opened is discovered
}

var (
	opening = turn{"Campaign.Revealed", widened, true}
	closing = turn{"Campaign.Unrevealed", narrowed, false}
)

// widened is a label that is open to more.
func widened(own access.Label, to audience) (access.Label, error) {
	switch {
	case to.everybody(), own.Level <= access.LevelUser:
		return access.NewLabel(access.LevelUser), nil
	}
	return access.NewLabel(own.Level, append(slices.Clone(own.Subjects), to.names...)...), nil
}

// narrowed is a label that is open to fewer.
func narrowed(own access.Label, to audience) (access.Label, error) {
	switch {
	case to.everybody():
		return access.NewLabel(max(own.Level, access.LevelGM)), nil
	case own.Level <= access.LevelUser:
		return own, rule("to", "all players know of it, so that it cannot be hidden from some; unreveal it from all, then reveal it to those who shall keep it")
	}
	left := slices.DeleteFunc(slices.Clone(own.Subjects), func(s access.Subject) bool { return slices.Contains(to.names, s) })
	return access.NewLabel(own.Level, left...), nil
}

func (in revealIn) check() error {
	var p problems
	in.To.check(&p)
	for i, it := range in.Items {
		if n := len(it.given()); n != 1 {
			p.add(fmt.Sprintf("items[%d]", i), "names %d things; give one of entity_id, secret_of, relationship_id and event_id", n)
		}
	}
	return p.err()
}

// commit changes who sees all items, in one commit.
func (in revealIn) commit(ctx context.Context, d *deps, c *op.Call, t turn) (revealOut, error) {
	if err := in.check(); err != nil {
		return revealOut{}, err
	}
	return commit(ctx, d, c, task[revealOut]{
		plan: func(p *canon.Plan) error { return in.plan(ctx, p, t) },
		reply: func(l *canon.Snapshot, r canon.Receipt) (revealOut, error) {
			out := revealOut{Items: []opened{}, DryRun: r.DryRun}
			for _, it := range in.Items {
				for field, id := range it.given() {
					label, err := labelOf(ctx, l, field, id)
					if err != nil {
						return revealOut{}, err
					}
					out.Items = append(out.Items, opened{field, string(id), knownTo{label}})
				}
			}
			return out, nil
		},
	})
}

// revelation is the payload of the event that a revealing leaves, for the GM.
type revelation struct {
	Items   []item   `json:"items"`
	To      audience `json:"to"`
	Session *int     `json:"session,omitempty"`
}

func (in revealIn) plan(ctx context.Context, p *canon.Plan, t turn) error {
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
		for field, id := range it.given() {
			if err := t.apply(ctx, p, field, id, in.To); err != nil {
				return atField(err, fmt.Sprintf("items[%d].%s", i, field))
			}
		}
		if err := t.discover(ctx, p, it, done.Session); err != nil {
			return err
		}
	}
	payload, err := json.Marshal(done)
	if err != nil {
		return err
	}
	return p.Event(canon.Event{Type: t.event, Scope: scope, Payload: payload, Label: access.NewLabel(access.LevelGM), Version: 1})
}

// discover notes the session in which an entity was first met.
func (t turn) discover(ctx context.Context, p *canon.Plan, it item, session *int) error {
	if !t.finds || session == nil || it.EntityID == "" {
		return nil
	}
	c, err := entityOf(ctx, p.Snapshot, it.EntityID)
	if err != nil {
		return err
	}
	f, err := facetsOf(ctx, p.Snapshot, c)
	if err != nil || f.discovered != nil {
		return err
	}
	return writeNotes(ctx, p, c, notesEdit{session: session})
}

// apply changes who sees one thing.
func (t turn) apply(ctx context.Context, p *canon.Plan, field string, id ref, to audience) error {
	switch field {
	case "entity_id":
		c, err := entityOf(ctx, p.Snapshot, id)
		if err != nil {
			return err
		}
		return t.relabel(p, c, to)
	case "secret_of":
		return t.secrets(ctx, p, id, to)
	case "event_id":
		return t.happened(ctx, p, id, to)
	}
	k, err := relationByID(ctx, p.Snapshot, id)
	if err != nil {
		return err
	}
	if k.Label, err = t.label(k.Label, to); err != nil {
		return err
	}
	p.Rest(k)
	_, err = p.Link(k)
	return err
}

// relabel changes who sees a card. What lies below a hidden card cannot be opened alone.
func (t turn) relabel(p *canon.Plan, c canon.Card, to audience) error {
	own, err := t.label(c.Own, to)
	if err != nil {
		return err
	}
	done, err := p.SetLabel(c, own)
	if err == nil && t.finds && !done.Label.Equal(own) {
		return rule("entity_id", "is kept hidden by its name or by the entity that it lies below; reveal that one first")
	}
	return err
}

func (t turn) secrets(ctx context.Context, p *canon.Plan, id ref, to audience) error {
	c, err := entityOf(ctx, p.Snapshot, id)
	if err != nil {
		return err
	}
	cards, err := secretCards(ctx, p.Snapshot, c)
	if err != nil {
		return err
	}
	if len(cards) == 0 {
		return rule("secret_of", "has no secret attributes")
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

// happened changes who sees a timeline event. Its card is named after what it says, and
// gets another name where one of that name is open to the same already.
func (t turn) happened(ctx context.Context, p *canon.Plan, id ref, to audience) error {
	c, err := eventOf(ctx, p.Snapshot, id)
	if err != nil {
		return err
	}
	own, err := t.label(c.Own, to)
	if err != nil {
		return err
	}
	name, err := freeName(ctx, p, c.Name, own, c.ID)
	if err != nil {
		return err
	}
	if name != c.Name {
		if c, err = p.Rename(c, name); err != nil {
			return err
		}
	}
	_, err = p.SetLabel(c, own)
	return err
}

// labelOf is who sees a thing now.
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
