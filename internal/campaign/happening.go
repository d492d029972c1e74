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

// happening is a timeline event to be written.
type happening struct {
	dated
	description string
	entities    []ref
	known       bool
}

// at reads the date of a happening. Only with precision unknown, or with a sort value of
// the caller's own, may the date be any text.
func (h *happening) at(cal calendar, sort *int64) error {
	h.Date = strings.TrimSpace(clean(h.Date))
	switch s, err := cal.read(h.Date); {
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

// title is the name of a happening's card.
func (h happening) title() string {
	text, _ := markup.Truncate(markup.Text(h.description), 80)
	name := strings.Map(func(r rune) rune {
		switch r {
		case '/', '+', '\n', '\t':
			return ' '
		}
		return r
	}, clean(h.Date+" "+text))
	name = strings.TrimLeft(strings.Join(strings.Fields(name), " "), "~:* ") // signs that mean something before a name
	if markup.CheckName(name) != nil {
		return "Timeline event"
	}
	return name
}

func (h happening) fields() (json.RawMessage, error) { return json.Marshal(h.dated) }

func (h happening) label() access.Label {
	if h.known {
		return access.NewLabel(access.LevelUser)
	}
	return access.NewLabel(access.LevelGM)
}

// add plans the event with its links.
func (h happening) add(ctx context.Context, p *canon.Plan) (canon.Card, error) {
	fields, err := h.fields()
	if err != nil {
		return canon.Card{}, err
	}
	label := h.label()
	name, err := freeName(ctx, p, h.title(), label, canon.CardID{})
	if err != nil {
		return canon.Card{}, err
	}
	c, err := p.Create(canon.NewCard{Name: name, Type: typeTimeline, Content: clean(h.description), Fields: fields, Label: &label, Root: true})
	if err != nil {
		return canon.Card{}, err
	}
	return c, involve(ctx, p, c, h.entities)
}

// involve plans the links of an event to entities, and ends those to others.
func involve(ctx context.Context, p *canon.Plan, c canon.Card, entities []ref) error {
	want := map[canon.CardID]bool{}
	for _, id := range entities {
		e, err := entityOf(ctx, p.Snapshot, id)
		if err != nil {
			return err
		}
		want[e.ID] = true
	}
	old, err := allLinks(ctx, p.Snapshot, canon.LinkQuery{From: c.ID, Kinds: []string{kindInvolves}})
	if err != nil {
		return err
	}
	for _, k := range old {
		if !want[k.To] {
			p.Unlink(k)
		}
		delete(want, k.To)
	}
	for _, id := range entities {
		if !want[id.card()] {
			continue
		}
		delete(want, id.card())
		k := canon.Link{ID: canon.LinkIDOf(kindInvolves, c.ID.String(), id.card().String()), Kind: kindInvolves, From: c.ID, To: id.card()}
		if _, err := p.Link(k); err != nil {
			return err
		}
	}
	return nil
}

// freeName is a name that no card in sight bears under a label, but the one named: the
// wanted one, or that with a number. Cards under other labels do not count, lest the
// number tell of them.
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
	return "", fault.New(fault.Conflict, "there are a thousand events of this date and description already")
}
