package campaign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Words of a conflict's status and of a value's standing in it.
const (
	detected     = "DETECTED"
	acknowledged = "ACKNOWLEDGED"
	resolved     = "RESOLVED"

	current    = "CURRENT"
	claimed    = "CLAIMED"
	superseded = "SUPERSEDED"
)

// maxValues is how many values a conflict keeps; those longest superseded go first.
const maxValues = 50

// dispute is what a conflict's card holds in its fields.
type dispute struct {
	Entity     canon.CardID `json:"entity"`
	Field      string       `json:"field"`
	Status     string       `json:"status"`
	Values     []claim      `json:"values"`
	Resolution string       `json:"resolution,omitempty"`
}

// claim is one value of a field with where it comes from.
type claim struct {
	Value    json.RawMessage `json:"value"`
	Source   string          `json:"source"`
	Standing string          `json:"standing" jsonschema:"CURRENT is what the entity says, CLAIMED what another source says, SUPERSEDED what was decided against."`
}

// conflict is a conflict as the GM is shown it.
type conflict struct {
	ID         canon.CardID `json:"id"`
	EntityID   canon.CardID `json:"entity_id"`
	Entity     string       `json:"entity"`
	Field      string       `json:"field"`
	Values     []claim      `json:"values"`
	Status     string       `json:"status"`
	Resolution string       `json:"resolution,omitzero"`
}

func disputeOf(c canon.Card) dispute {
	var d dispute
	_ = json.Unmarshal(c.Fields, &d) // written by another hand, it may say less
	return d
}

func conflictOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (conflict, error) {
	d := disputeOf(c)
	e, _, err := l.ByID(ctx, d.Entity)
	out := conflict{c.ID, d.Entity, e.Name, clean(d.Field), []claim{}, d.Status, d.Resolution}
	for _, v := range d.Values {
		out.Values = append(out.Values, claim{json.RawMessage(clean(string(v.Value))), clean(v.Source), v.Standing})
	}
	return out, err
}

// contest leaves of a draft what may be written: where the entity is authoritative and the
// draft comes from another source, what it says differently becomes conflicts. An update
// that names no source is another source than one that is named; lowering the confidence
// in the same call lets everything through.
func (d draftOf) contest(ctx context.Context, p *canon.Plan, c canon.Card) (draftOf, error) {
	fields, err := attributesOf(c.Fields)
	if err != nil {
		return d, err
	}
	own, from := fields.text(fieldSource), ""
	set(&from, d.source)
	if fields.text(fieldConfidence) != authoritative || from == own || d.confidence != nil && *d.confidence != authoritative {
		return d, nil
	}
	said, err := saidOf(ctx, p, c, fields)
	if err != nil {
		return d, err
	}
	claims := d.claims()
	for _, field := range slices.Sorted(maps.Keys(claims)) {
		if sameJSON(said[field], claims[field]) {
			continue
		}
		raised, err := raise(ctx, p, c, field, claim{orNull(said[field]), own, current}, claim{claims[field], from, claimed})
		if err != nil {
			return d, err
		}
		p.Target(raised.ID)
	}
	d.name, d.kind, d.description, d.attributes, d.source = nil, nil, nil, nil, nil
	return d, nil
}

// claims are the facts that a draft states, by field.
func (d draftOf) claims() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for field, text := range map[string]*string{"name": d.name, "entity_type": d.kind, "description": d.description} {
		if text != nil {
			out[field] = quoted(strings.TrimSpace(*text))
		}
	}
	for k, v := range d.attributes {
		out["attributes."+k] = v
	}
	return out
}

// saidOf are the facts that an entity states now, by field.
func saidOf(ctx context.Context, p *canon.Plan, c canon.Card, fields attributes) (map[string]json.RawMessage, error) {
	content, err := p.Content(ctx, c)
	if err != nil {
		return nil, err
	}
	secrets, err := secretsOf(ctx, p.Snapshot, c)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{"name": quoted(c.Name), "entity_type": quoted(kindOf(c)), "description": quoted(prose(ctx, c.Type, content))}
	for _, a := range []attributes{fields, secrets} {
		for k, v := range a {
			out["attributes."+k] = v
		}
	}
	return out, nil
}

func quoted(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil { // a string always has a JSON form
		return null
	}
	return b
}

// sameJSON reports whether two values are one, however they are written. None is null.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(orNull(a), &x) != nil || json.Unmarshal(orNull(b), &y) != nil {
		return false
	}
	one, err1 := json.Marshal(x)
	two, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// raise plans a conflict about a field, or adds to the one there is.
func raise(ctx context.Context, p *canon.Plan, c canon.Card, field string, now, other claim) (canon.Card, error) {
	all, err := conflictsOf(ctx, p.Snapshot, c)
	if err != nil {
		return canon.Card{}, err
	}
	for _, old := range all {
		if d := disputeOf(old); d.Field == field {
			return put(p, old, d.with(now, other))
		}
	}
	fields, err := json.Marshal(dispute{Entity: c.ID, Field: field, Status: detected}.with(now, other))
	if err != nil {
		return canon.Card{}, err
	}
	notes, err := notesOf(ctx, p, c)
	if err != nil {
		return canon.Card{}, err
	}
	label := access.NewLabel(access.LevelGM)
	name, err := freeName(ctx, p, markup.Join(notes.Name, "conflict"), label, canon.CardID{})
	if err != nil {
		return canon.Card{}, err
	}
	return p.Create(canon.NewCard{Name: name, Type: typeConflict, Fields: fields, Label: &label, Parent: notes.ID})
}

// notesIn is the GM's part of an entity, as the plan leaves it.
func notesIn(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, bool, error) {
	made, ok, err := p.Has(markup.Join(c.Name, partNotes))
	if err != nil || ok && made.Parent == c.ID && forGMAlone(made.Label) {
		return made, ok, err
	}
	return gmPart(ctx, p.Snapshot, c)
}

// notesOf is notesIn, made where it is not there.
func notesOf(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, error) {
	notes, ok, err := notesIn(ctx, p, c)
	if err != nil || ok {
		return notes, err
	}
	label := access.NewLabel(access.LevelGM)
	return p.Create(canon.NewCard{Name: markup.Join(c.Name, partNotes), Type: typeNotes, Label: &label, Parent: c.ID})
}

// with adds a claim to a dispute, which is open again.
func (d dispute) with(now, other claim) dispute {
	d.Values = slices.DeleteFunc(slices.Clone(d.Values), func(v claim) bool {
		return v.Standing == current || sameJSON(v.Value, other.Value) && v.Source == other.Source
	})
	d.Values = append(d.Values, now, other)
	for len(d.Values) > maxValues {
		oldest := max(slices.IndexFunc(d.Values, func(v claim) bool { return v.Standing == superseded }), 0)
		d.Values = slices.Delete(d.Values, oldest, oldest+1)
	}
	if d.Status != acknowledged {
		d.Status = detected
	}
	d.Resolution = ""
	return d
}

// put plans what a conflict's card holds.
func put(p *canon.Plan, c canon.Card, d dispute) (canon.Card, error) {
	fields, err := json.Marshal(d)
	if err != nil {
		return canon.Card{}, err
	}
	return p.Update(c, canon.Edit{Fields: fields, Replace: true})
}

// conflictsOf are an entity's conflicts; of the zero card, all.
func conflictsOf(ctx context.Context, l *canon.Snapshot, c canon.Card) ([]canon.Card, error) {
	f := canon.Filter{Type: typeConflict}
	if !c.ID.IsZero() {
		f.Prefix = c.Key
	}
	var all []canon.Card
	for p := (canon.Page{Limit: 1000}); p.Offset < canon.CountCap; p.Offset += p.Limit {
		cards, _, err := l.Cards(ctx, f, p)
		if err != nil {
			return nil, err
		}
		for _, k := range cards {
			if c.ID.IsZero() || disputeOf(k).Entity == c.ID {
				all = append(all, k)
			}
		}
		if len(cards) < p.Limit {
			break
		}
	}
	return all, nil
}

// raisedBy are the conflicts that a write to an entity recorded.
func raisedBy(ctx context.Context, l *canon.Snapshot, r canon.Receipt, entity canon.CardID) ([]conflict, error) {
	var out []conflict
	for n := range r.Targets[1:] {
		card, ok, err := target(ctx, l, r, n+1)
		if err != nil {
			return nil, err
		}
		if !ok || disputeOf(card).Entity != entity {
			continue
		}
		k, err := conflictOf(ctx, l, card)
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// decide is a dispute as a GM's decision leaves it, and the value that the entity is to
// have; nil where it keeps what it has.
func (d dispute) decide(resolution string, chosen json.RawMessage) (dispute, json.RawMessage, error) {
	d.Values = slices.Clone(d.Values)
	d.Status, d.Resolution = resolved, resolution
	switch resolution {
	case "keep":
		d.supersede(claimed)
		return d, nil, nil
	case "merge":
		if len(chosen) == 0 || string(chosen) == "null" {
			return d, nil, fault.BadField("chosen_value", "give the value that both become")
		}
		d.supersede(claimed)
		d.supersede(current)
		d.Values = append(d.Values, claim{chosen, "merged by the game master", current})
		return d, chosen, nil
	}
	at := d.pick(chosen)
	if at < 0 {
		return d, nil, rule("chosen_value", "must be one of the values that another source claims; canon_check lists them, and resolution merge takes any")
	}
	value := d.Values[at].Value
	d.supersede(claimed)
	d.supersede(current)
	d.Values[at].Standing = current
	return d, value, nil
}

func (d dispute) supersede(standing string) {
	for i := range d.Values {
		if d.Values[i].Standing == standing {
			d.Values[i].Standing = superseded
		}
	}
}

// pick is the place of the claimed value that is chosen; of the only one where none is
// given, and -1 where it is none of them.
func (d dispute) pick(chosen json.RawMessage) int {
	var open []int
	for i, v := range d.Values {
		if v.Standing == claimed {
			open = append(open, i)
		}
	}
	if len(chosen) == 0 && len(open) == 1 {
		return open[0]
	}
	for _, i := range open {
		if len(chosen) > 0 && sameJSON(d.Values[i].Value, chosen) {
			return i
		}
	}
	return -1
}

// draft is the change of an entity that gives a field a value.
func (d dispute) draft(value json.RawMessage) (draftOf, error) {
	if name, ok := strings.CutPrefix(d.Field, "attributes."); ok {
		return draftOf{attributes: attributes{name: value}}, nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil || text == "" {
		return draftOf{}, rule("chosen_value", "must be a text that is not empty")
	}
	switch d.Field {
	case "name":
		if len([]rune(text)) > maxName {
			return draftOf{}, rule("chosen_value", "a name has at most %d characters", maxName)
		}
		return draftOf{name: &text}, nil
	case "entity_type":
		if !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == text }) {
			return draftOf{}, rule("chosen_value", "is no entity type")
		}
		return draftOf{kind: &text}, nil
	}
	if len([]rune(text)) > maxDescription {
		return draftOf{}, rule("chosen_value", "a description has at most %d characters", maxDescription)
	}
	return draftOf{description: &text}, nil
}

// byPlace orders conflicts: by entity, then field.
func byPlace(a, b conflict) int {
	return cmp.Or(cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Field, b.Field), bytes.Compare(a.ID[:], b.ID[:]))
}
