package campaign

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// eventDraft is a timeline event to write.
type eventDraft struct {
	eventFields
	description string
	entities    []ref
	known       bool
}

// setDate parses the date and sets the sort value. The date may be any text only if the precision
// is unknown or the caller gives a sort value.
func (h *eventDraft) setDate(cal calendar, sort *int64) error {
	h.Date = strings.TrimSpace(markup.Clean(h.Date))
	switch s, err := cal.parseDate(h.Date); {
	case sort != nil:
		h.Sort = moment(*sort)
	case h.Precision == unknown:
		h.Sort = undated
	case err != nil:
		return fault.BadField("date", "%v; else give sort, or precision unknown", err)
	case h.Precision == "year":
		h.Sort = s.from - mod(s.from, perYear)
	case h.Precision == "month" && s.grain >= toMonth:
		h.Sort = s.from - mod(s.from, perMonth)
	case h.Precision == "month", h.Precision == "exact" && s.grain < toDay:
		return fault.BadField("precision", "is finer than the date; write the date in full, or choose a coarser precision")
	default:
		h.Sort = s.from
	}
	return nil
}

// cardTitle returns the name of the event's card.
func (h eventDraft) cardTitle() string {
	text, _ := markup.Truncate(markup.Text(h.description), 80)
	name := strings.Map(func(r rune) rune {
		switch r {
		case '/', '+', '\n', '\t':
			return ' '
		}
		return r
	}, markup.Clean(h.Date+" "+text))
	// signs with a meaning at the beginning of a name
	name = strings.TrimLeft(strings.Join(strings.Fields(name), " "), "~:* ")
	if markup.CheckName(name) != nil {
		return "Timeline event"
	}
	return name
}

func (h eventDraft) fieldsJSON() (json.RawMessage, error) { return json.Marshal(h.eventFields) }

func (h eventDraft) eventLabel() access.Label {
	if h.known {
		return access.NewLabel(access.LevelUser)
	}
	return access.NewLabel(access.LevelGM)
}

// createEvent plans the event's card and its links.
func (h eventDraft) createEvent(ctx context.Context, p *canon.Plan) (canon.Card, error) {
	fields, err := h.fieldsJSON()
	if err != nil {
		return canon.Card{}, err
	}
	label := h.eventLabel()
	name, err := freeName(ctx, p, h.cardTitle(), label, canon.CardID{})
	if err != nil {
		return canon.Card{}, err
	}
	c, err := p.Create(canon.NewCard{Name: name, Type: typeTimeline, Content: markup.Clean(h.description), Fields: fields,
		Label: &label, Root: true})
	if err != nil {
		return canon.Card{}, err
	}
	return c, setInvolved(ctx, p, c, h.entities)
}

// setInvolved plans links from an event to the given entities, and removes its links to others.
func setInvolved(ctx context.Context, p *canon.Plan, c canon.Card, entities []ref) error {
	want := map[canon.CardID]bool{}
	for _, id := range entities {
		e, err := entityOf(ctx, p.Snapshot, id)
		if err != nil {
			return err
		}
		want[e.ID] = true
	}
	for k, err := range p.AllLinks(ctx, canon.LinkQuery{From: c.ID, Kinds: []string{kindInvolves}}) {
		if err != nil {
			return err
		}
		if !want[k.To] {
			p.Unlink(k)
		}
		delete(want, k.To)
	}
	for _, id := range entities {
		if !want[id.toCardID()] {
			continue
		}
		delete(want, id.toCardID())
		k := canon.Link{ID: canon.LinkIDOf(kindInvolves, c.ID.String(), id.toCardID().String()), Kind: kindInvolves,
			From: c.ID, To: id.toCardID()}
		if _, err := p.Link(k); err != nil {
			return err
		}
	}
	return nil
}

// freeName returns a name that no visible card with the given label has, except the card own: want
// itself, or want with a number. Cards with other labels do not count, because the number would
// reveal them.
func freeName(ctx context.Context, p *canon.Plan, want string, label access.Label, own canon.CardID) (string, error) {
	for n := 1; n < 1000; n++ {
		name := want
		if n > 1 {
			name += " (" + strconv.Itoa(n) + ")"
		}
		same, err := p.Homonyms(ctx, markup.KeyOf(name))
		if err != nil {
			return "", err
		}
		if c, ok, err := p.Has(name); err != nil {
			return "", err
		} else if ok {
			same = append(same, c)
		}
		if !slices.ContainsFunc(same, func(c canon.Card) bool { return c.ID != own && c.Label.Equal(label) }) {
			return name, nil
		}
	}
	return "", fault.New(fault.Conflict, "there are already a thousand events with this date and description")
}
