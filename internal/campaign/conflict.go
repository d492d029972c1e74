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
	"loregate/internal/surface"
)

// The statuses of a conflict, and the standings of a value in it.
const (
	detected     = "DETECTED"
	acknowledged = "ACKNOWLEDGED"
	resolved     = "RESOLVED"

	current    = "CURRENT"
	claimed    = "CLAIMED"
	superseded = "SUPERSEDED"
)

// maxValues is the number of values that a conflict keeps at most; those superseded first are
// dropped first.
const maxValues = 50

// conflictRecord is the content of the fields of a conflict's card.
type conflictRecord struct {
	Entity     canon.CardID `json:"entity"`
	Field      string       `json:"field"`
	Status     string       `json:"status"`
	Values     []claim      `json:"values"`
	Resolution string       `json:"resolution,omitempty"`
}

// claim is one value of a field with its source.
type claim struct {
	Value    json.RawMessage `json:"value"`
	Source   string          `json:"source"`
	Standing string          `json:"standing" jsonschema:"CURRENT is the entity's value, CLAIMED the value from another source, SUPERSEDED a value that was decided against."`
}

// conflict is a conflict in an answer to the GM.
type conflict struct {
	ID         canon.CardID `json:"id"`
	EntityID   canon.CardID `json:"entity_id"`
	Entity     string       `json:"entity"`
	Field      string       `json:"field"`
	Values     []claim      `json:"values"`
	Status     string       `json:"status"`
	Resolution string       `json:"resolution,omitzero"`
}

func recordOfConflict(c canon.Card) conflictRecord {
	var d conflictRecord
	_ = json.Unmarshal(c.Fields, &d) // a card edited by hand may lack fields
	return d
}

func conflictOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (conflict, error) {
	d := recordOfConflict(c)
	e, _, err := l.ByID(ctx, d.Entity)
	out := conflict{c.ID, d.Entity, e.Name, markup.Clean(d.Field), []claim{}, d.Status, d.Resolution}
	for _, v := range d.Values {
		out.Values = append(out.Values, claim{json.RawMessage(markup.Clean(string(v.Value))), markup.Clean(v.Source),
			v.Standing})
	}
	return out, err
}

// raiseConflicts returns the part of a draft that may be written. If the entity is authoritative
// and the draft comes from another source, it plans a conflict for each field in which they differ
// instead. A draft without a source counts as another source than a named one. A draft that lowers
// the confidence may be written as a whole.
func (d entityDraft) raiseConflicts(ctx context.Context, p *canon.Plan, c canon.Card) (entityDraft, error) {
	fields, err := attributesOf(c.Fields)
	if err != nil {
		return d, err
	}
	own, from := fields.stringValue(fieldSource), ""
	setIfGiven(&from, d.source)
	if fields.stringValue(fieldConfidence) != authoritative || from == own || d.confidence != nil &&
		*d.confidence != authoritative {
		return d, nil
	}
	said, err := factsOf(ctx, p, c, fields)
	if err != nil {
		return d, err
	}
	claims := d.claimsByField()
	for _, field := range slices.Sorted(maps.Keys(claims)) {
		if sameJSON(said[field], claims[field]) {
			continue
		}
		raised, err := raiseConflict(ctx, p, c, field, claim{orNull(said[field]), own, current},
			claim{claims[field], from, claimed})
		if err != nil {
			return d, err
		}
		p.Target(raised.ID)
	}
	d.name, d.kind, d.description, d.attributes, d.source = nil, nil, nil, nil, nil
	return d, nil
}

// claimsByField returns the facts that a draft states, by field.
func (d entityDraft) claimsByField() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for field, text := range map[string]*string{"name": d.name, "entity_type": d.kind, "description": d.description} {
		if text != nil {
			out[field] = jsonString(strings.TrimSpace(*text))
		}
	}
	for k, v := range d.attributes {
		out["attributes."+k] = v
	}
	return out
}

// factsOf returns the facts that an entity states now, by field.
func factsOf(ctx context.Context, p *canon.Plan, c canon.Card, fields attributes) (map[string]json.RawMessage, error) {
	content, err := p.Content(ctx, c)
	if err != nil {
		return nil, err
	}
	secrets, err := secretsOf(ctx, p.Snapshot, c)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{"name": jsonString(c.Name), "entity_type": jsonString(kindOf(c)),
		"description": jsonString(toMarkdown(ctx, c.TextKind(), content))}
	for _, a := range []attributes{fields, secrets} {
		for k, v := range a {
			out["attributes."+k] = v
		}
	}
	return out, nil
}

func jsonString(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil { // a string always has a JSON form
		return null
	}
	return b
}

// sameJSON reports whether two values are the same JSON value. No value is null.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(orNull(a), &x) != nil || json.Unmarshal(orNull(b), &y) != nil {
		return false
	}
	one, err1 := json.Marshal(x)
	two, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// raiseConflict plans a conflict about a field, or adds the claim to the existing conflict.
func raiseConflict(ctx context.Context, p *canon.Plan, c canon.Card, field string, now,
	other claim) (canon.Card, error) {
	all, err := conflictsOf(ctx, p.Snapshot, c)
	if err != nil {
		return canon.Card{}, err
	}
	for _, old := range all {
		if d := recordOfConflict(old); d.Field == field {
			return updateConflict(p, old, d.addClaim(now, other))
		}
	}
	fields, err := json.Marshal(conflictRecord{Entity: c.ID, Field: field, Status: detected}.addClaim(now, other))
	if err != nil {
		return canon.Card{}, err
	}
	notes, err := ensureNotes(ctx, p, c)
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

// findNotes returns the card of an entity's GM notes, as the plan leaves it.
func findNotes(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, bool, error) {
	made, ok, err := p.Has(markup.Join(c.Name, partNotes))
	if err != nil || ok && made.Parent == c.ID && isGMOnly(made.Label) {
		return made, ok, err
	}
	return findGMPart(ctx, p.Snapshot, c)
}

// ensureNotes is findNotes, but creates the card if it is missing.
func ensureNotes(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, error) {
	notes, ok, err := findNotes(ctx, p, c)
	if err != nil || ok {
		return notes, err
	}
	label := access.NewLabel(access.LevelGM)
	return p.Create(canon.NewCard{Name: markup.Join(c.Name, partNotes), Type: typeNotes, Label: &label, Parent: c.ID})
}

// addClaim adds a claim to a conflict, which reopens it.
func (d conflictRecord) addClaim(now, other claim) conflictRecord {
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

// updateConflict plans new fields for a conflict's card.
func updateConflict(p *canon.Plan, c canon.Card, d conflictRecord) (canon.Card, error) {
	fields, err := json.Marshal(d)
	if err != nil {
		return canon.Card{}, err
	}
	return p.Update(c, canon.Edit{Fields: fields, Replace: true})
}

// conflictsOf returns the conflicts of an entity, or all conflicts if c is the zero card.
func conflictsOf(ctx context.Context, l *canon.Snapshot, c canon.Card) ([]canon.Card, error) {
	f := canon.Filter{Type: typeConflict}
	if !c.ID.IsZero() {
		f.Prefix = c.Key
	}
	cards, _, err := canon.CollectUpTo(l.AllCards(ctx, f), canon.CountCap)
	return slices.DeleteFunc(cards, func(k canon.Card) bool {
		return !c.ID.IsZero() && recordOfConflict(k).Entity != c.ID
	}), err
}

// raisedBy returns the conflicts that a write to an entity recorded.
func raisedBy(ctx context.Context, l *canon.Snapshot, r canon.Receipt, entity canon.CardID) ([]conflict, error) {
	var out []conflict
	for n := range r.Targets[1:] {
		card, ok, err := surface.TargetCard(ctx, l, r, n+1)
		if err != nil {
			return nil, err
		}
		if !ok || recordOfConflict(card).Entity != entity {
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

// resolveWith returns the conflict after the GM's decision, and the new value of the entity's
// field; nil keeps the present value.
func (d conflictRecord) resolveWith(resolution string,
	chosen json.RawMessage) (conflictRecord, json.RawMessage, error) {
	d.Values = slices.Clone(d.Values)
	d.Status, d.Resolution = resolved, resolution
	switch resolution {
	case "keep":
		d.supersedeAll(claimed)
		return d, nil, nil
	case "merge":
		if len(chosen) == 0 || string(chosen) == "null" {
			return d, nil, fault.BadField("chosen_value", "give the value that replaces both")
		}
		d.supersedeAll(claimed)
		d.supersedeAll(current)
		d.Values = append(d.Values, claim{chosen, "merged by the game master", current})
		return d, chosen, nil
	}
	at := d.claimIndex(chosen)
	if at < 0 {
		return d, nil, fault.BrokenRule("chosen_value",
			"must be one of the values that another source claims; canon_check lists them, and resolution merge takes any")
	}
	value := d.Values[at].Value
	d.supersedeAll(claimed)
	d.supersedeAll(current)
	d.Values[at].Standing = current
	return d, value, nil
}

func (d conflictRecord) supersedeAll(standing string) {
	for i := range d.Values {
		if d.Values[i].Standing == standing {
			d.Values[i].Standing = superseded
		}
	}
}

// claimIndex returns the index of the claimed value that was chosen. If no value is given, a single
// open claim counts as chosen. It returns -1 if no open claim matches.
func (d conflictRecord) claimIndex(chosen json.RawMessage) int {
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

// toDraft returns the change that gives the entity's field the value.
func (d conflictRecord) toDraft(value json.RawMessage) (entityDraft, error) {
	if name, ok := strings.CutPrefix(d.Field, "attributes."); ok {
		return entityDraft{attributes: attributes{name: value}}, nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil || text == "" {
		return entityDraft{}, fault.BrokenRule("chosen_value", "must be a non-empty text")
	}
	switch d.Field {
	case "name":
		if len([]rune(text)) > maxName {
			return entityDraft{}, fault.BrokenRule("chosen_value", "a name has at most %d characters", maxName)
		}
		return entityDraft{name: &text}, nil
	case "entity_type":
		if !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == text }) {
			return entityDraft{}, fault.BrokenRule("chosen_value", "is not an entity type")
		}
		return entityDraft{kind: &text}, nil
	}
	if len([]rune(text)) > maxDescription {
		return entityDraft{}, fault.BrokenRule("chosen_value", "a description has at most %d characters", maxDescription)
	}
	return entityDraft{description: &text}, nil
}

// compareConflicts orders conflicts by entity, then by field.
func compareConflicts(a, b conflict) int {
	return cmp.Or(cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Field, b.Field), bytes.Compare(a.ID[:], b.ID[:]))
}
