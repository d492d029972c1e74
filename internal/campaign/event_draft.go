package campaign

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/marked"
	"loregate/internal/markup"
)

// eventDraft is a timeline event to write.
type eventDraft struct {
	eventFields
	description string
	entities    []ref
	known       bool
}

// setDate parses the date and sets the sort value. The date may be any text only if the precision is unknown or the
// caller gives a sort value. Without a precision, that of the date's form counts, and unknown beside a sort value.
func (draft *eventDraft) setDate(cal calendar, sort *int64) error {
	draft.Date = strings.TrimSpace(markup.Clean(draft.Date))
	s, err := cal.parseDate(draft.Date)
	if draft.Precision == "" && sort == nil && err == nil {
		draft.Precision = [...]string{toYear: "year", toMonth: "month", toDay: "exact", toMinute: "exact"}[s.grain]
	} else if draft.Precision == "" && sort != nil {
		draft.Precision = unknown
	}
	switch {
	case sort != nil:
		draft.Sort = moment(*sort)
	case draft.Precision == unknown:
		draft.Sort = undated
	case err != nil:
		return fault.BadField("date", "%v; else give sort, or precision unknown", err)
	case draft.Precision == "year":
		draft.Sort = s.from - mod(s.from, perYear)
	case draft.Precision == "month" && s.grain >= toMonth:
		draft.Sort = s.from - mod(s.from, perMonth)
	case draft.Precision == "month", draft.Precision == "exact" && s.grain < toDay:
		return fault.BadField("precision", "is finer than the date; write the date in full, or choose a coarser precision")
	default:
		draft.Sort = s.from
	}
	return nil
}

// cardTitle returns the name of an event's card: its date and the beginning of its text, without the parts that marks
// hide there.
func cardTitle(date, description string) string {
	text, _ := markup.Truncate(markup.Text(marked.OpenPart(description)), 80)
	name := strings.Map(func(r rune) rune {
		switch r {
		case '/', '+', '\n', '\t':
			return ' '
		}
		return r
	}, markup.Clean(date+" "+text))
	// signs with a meaning at the beginning of a name
	name = strings.TrimLeft(strings.Join(strings.Fields(name), " "), "~:* ")
	if markup.CheckName(name) != nil {
		return "Timeline event"
	}
	return name
}

// Retitle renames the card of a timeline event whose name tells of a text that a plan has hidden: it follows from the
// date and the text that are left. Aliases that tell of the text are removed. before is the card without the plan.
func Retitle(ctx context.Context, p *canon.Plan, before, c canon.Card) (canon.Card, error) {
	if !isType(c, typeTimeline) {
		return c, nil
	}
	dateWas, textWas, err := openText(ctx, p, before)
	if err != nil {
		return canon.Card{}, err
	}
	date, text, err := openText(ctx, p, c)
	if err != nil {
		return canon.Card{}, err
	}
	had, has := nameWords(dateWas+" "+textWas), nameWords(date+" "+text)
	tells := func(name string) bool {
		return slices.ContainsFunc(nameWords(name), func(w string) bool {
			return slices.Contains(had, w) && !slices.Contains(has, w)
		})
	}
	if aliases := c.Aliases(); slices.ContainsFunc(aliases, tells) {
		patch, err := json.Marshal(map[string]any{"aliases": slices.DeleteFunc(aliases, tells)})
		if err != nil {
			return canon.Card{}, err
		}
		if c, err = p.Update(c, canon.Edit{Fields: patch}); err != nil {
			return canon.Card{}, err
		}
	}
	name, title := lastName(c), cardTitle(date, text)
	if was := cardTitle(dateWas, textWas); !tells(name) && (was == title || !strings.HasPrefix(name, was)) {
		return c, nil
	}
	return retitleEvent(ctx, p, c, title, c.Label)
}

// lastName returns the last part of a card's name.
func lastName(c canon.Card) string {
	parts := markup.Parts(c.Name)
	return parts[len(parts)-1]
}

// openText returns the date and the text of an event that all see who see its card.
func openText(ctx context.Context, p *canon.Plan, c canon.Card) (date, text string, err error) {
	text, err = p.Body(ctx, c.Content)
	var fields eventFields
	_ = json.Unmarshal(c.Fields, &fields) // a card edited by hand may lack fields
	return fields.Date, text, err
}

// nameWords returns the words of a text as they are compared in names.
func nameWords(text string) []string {
	return strings.FieldsFunc(markup.Fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

func (draft eventDraft) fieldsJSON() (json.RawMessage, error) { return json.Marshal(draft.eventFields) }

func (draft eventDraft) eventLabel() access.Label {
	if draft.known {
		return access.NewLabel(access.LevelUser)
	}
	return access.NewLabel(access.LevelGM)
}

// createEvent plans the event's card and its links.
func (draft eventDraft) createEvent(ctx context.Context, p *canon.Plan) (canon.Card, error) {
	fields, err := draft.fieldsJSON()
	if err != nil {
		return canon.Card{}, err
	}
	label := draft.eventLabel()
	name, err := freeName(ctx, p, cardTitle(draft.Date, draft.description), label, canon.CardID{})
	if err != nil {
		return canon.Card{}, err
	}
	c, err := p.Create(canon.NewCard{Name: name, Type: typeTimeline, Content: markup.Clean(draft.description), Fields: fields,
		Label: &label, Root: true})
	if err != nil {
		return canon.Card{}, err
	}
	return c, setInvolved(ctx, p, c, draft.entities)
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
