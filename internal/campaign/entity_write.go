package campaign

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// draftOf is an entity as a caller wants it; nil leaves a part as it is.
type draftOf struct {
	name, kind, description *string
	attributes              attributes // merged; null removes
	aliases, tags           *[]string
	source, confidence      *string
	notes                   notesEdit
}

// notesEdit is a change to what only the GM has of a card.
type notesEdit struct {
	text    *string
	session *int // number of the session of discovery; negative removes
}

func (n notesEdit) empty() bool { return n.text == nil && n.session == nil }

// writeNotes plans the GM's part of a card.
func writeNotes(ctx context.Context, p *canon.Plan, c canon.Card, n notesEdit) error {
	if n.empty() {
		return nil
	}
	var fields json.RawMessage
	if n.session != nil {
		v := any(*n.session)
		if *n.session < 0 {
			v = nil
		}
		b, err := json.Marshal(map[string]any{"discovered_session": v})
		if err != nil {
			return err
		}
		fields = b
	}
	old, ok, err := notesIn(ctx, p, c)
	if err != nil {
		return err
	}
	if !ok {
		label := access.NewLabel(access.LevelGM)
		made := canon.NewCard{Name: markup.Join(c.Name, partNotes), Type: typeNotes, Fields: fields, Label: &label, Parent: c.ID}
		if n.text != nil {
			made.Content = clean(*n.text)
		}
		_, err = p.Create(made)
		return err
	}
	edit := canon.Edit{Fields: fields}
	if n.text != nil {
		text, err := stored("gm_notes", old.Type, *n.text)
		if err != nil {
			return err
		}
		edit.Content = &text
	}
	_, err = p.Update(old, edit)
	return err
}

// defaultSecrets are the attributes that players do not see where the type of card says
// nothing else.
var defaultSecrets = []string{"secrets"}

// secretFields are the names of an entity type's attributes that players do not see: those
// in the field secret_fields of the card, of type Cardtype, that bears the type's name.
func secretFields(ctx context.Context, l *canon.Look, kind string) ([]string, error) {
	cards, err := l.Homonyms(ctx, markup.KeyOf(typesOf(kind)[0]))
	if err != nil {
		return nil, err
	}
	for _, c := range cards {
		var own struct {
			Names []string `json:"secret_fields"`
		}
		if isType(c, canon.TypeCardtype) && json.Unmarshal(c.Fields, &own) == nil && own.Names != nil {
			return own.Names, nil
		}
	}
	return defaultSecrets, nil
}

// split parts attributes into those of the entity's card and those to be kept from
// players. What is secret already stays so.
func (a attributes) split(secret []string, kept attributes) (open, hidden attributes) {
	open, hidden = attributes{}, attributes{}
	for k, v := range a {
		if _, was := kept[k]; was || slices.Contains(secret, k) {
			hidden[k] = v
			if slices.Contains(secret, k) {
				open[k] = null // it may have been written here before it was a secret
			}
		} else {
			open[k] = v
		}
	}
	return open, hidden
}

var null = json.RawMessage("null")

// checkAttributes says what attributes cannot be called.
func (p *problems) attributes(a attributes) {
	if len(a) > 200 {
		p.add("attributes", "200 at most")
	}
	for _, k := range slices.Sorted(maps.Keys(a)) {
		at := "attributes." + clip(clean(k), 60)
		switch {
		case slices.Contains(reserved, k):
			p.add(at, "is not an attribute; give it as a field of the entity, or choose another name")
		case strings.TrimSpace(k) == "" || len(k) > 100 || clean(k) != k:
			p.add(at, "a name has 1 to 100 characters that can be seen")
		}
	}
}

func clip(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), n)])
}

// writeSecrets plans secret attributes. New values go to a card that only the GM sees,
// also those of a secret that players know: what is written is not known before it is
// revealed. null removes a value wherever it stands.
func writeSecrets(ctx context.Context, p *canon.Plan, c canon.Card, hidden attributes) error {
	if len(hidden) == 0 {
		return nil
	}
	cards, err := secretCards(ctx, p.Look, c)
	if err != nil {
		return err
	}
	for _, s := range cards {
		if err := drop(p, s, hidden); err != nil {
			return err
		}
	}
	hidden = maps.Clone(hidden)
	maps.DeleteFunc(hidden, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	if len(hidden) == 0 {
		return nil
	}
	fields, err := json.Marshal(hidden)
	if err != nil {
		return err
	}
	if n := len(cards); n > 0 && forGMAlone(cards[n-1].Own) {
		newest, err := p.Card("~" + cards[n-1].ID.String()) // as drop left it
		if err == nil {
			_, err = p.Update(newest, canon.Edit{Fields: fields})
		}
		return err
	}
	name := markup.Join(c.Name, partSecrets)
	if len(cards) > 0 {
		name += " " + figures6(c, p)
	}
	label := access.NewLabel(access.LevelGM)
	_, err = p.Create(canon.NewCard{Name: name, Type: typeData, Fields: fields, Label: &label, Parent: c.ID})
	return err
}

// figures6 are six figures that tell a card of secrets from others, and nothing of how
// many there are.
func figures6(c canon.Card, p *canon.Plan) string {
	sum := sha256.Sum256([]byte(c.ID.String() + p.Clock().String()))
	return hex.EncodeToString(sum[:3])
}

// drop removes from a card of secrets those that are taken away.
func drop(p *canon.Plan, s canon.Card, hidden attributes) error {
	have, err := attributesOf(s.Fields)
	if err != nil {
		return err
	}
	gone := attributes{}
	for k, v := range hidden {
		if _, ok := have[k]; ok && string(v) == "null" {
			gone[k] = null
		}
	}
	if len(gone) == 0 {
		return nil
	}
	fields, err := json.Marshal(gone)
	if err != nil {
		return err
	}
	_, err = p.Update(s, canon.Edit{Fields: fields})
	return err
}

// writeTags plans an entity's tags, which are as open as the entity itself.
func writeTags(ctx context.Context, p *canon.Plan, c canon.Card, tags []string) error {
	items := make([]string, 0, len(tags))
	for _, t := range tags {
		if t = strings.TrimSpace(clean(t)); t != "" && !slices.Contains(items, t) {
			items = append(items, t)
		}
	}
	content := markup.SetItems(items)
	cards, err := below(ctx, p.Look, c, partTags)
	if err != nil {
		return err
	}
	for _, old := range cards {
		if old.Label.Equal(c.Label) {
			_, err = p.Update(old, canon.Edit{Content: &content})
			return err
		}
	}
	if len(items) == 0 {
		return nil
	}
	_, err = p.Create(canon.NewCard{Name: markup.Join(c.Name, partTags), Type: canon.TypePointer, Content: content, Parent: c.ID})
	return err
}

// fieldsOf are the public fields of a draft, to be merged.
func (d draftOf) fieldsOf(open attributes) (json.RawMessage, error) {
	all := map[string]any{}
	for k, v := range open {
		all[k] = v
	}
	if d.aliases != nil {
		all[fieldAliases] = orNil(cleaned(*d.aliases))
	}
	if d.source != nil {
		all[fieldSource] = orEmpty(clean(*d.source))
	}
	if d.confidence != nil {
		all[fieldConfidence] = *d.confidence
	}
	if len(all) == 0 {
		return nil, nil
	}
	return json.Marshal(all)
}

func orNil(list []string) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

func orEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// create plans a new entity, which the players see where open is set.
func (d draftOf) create(ctx context.Context, p *canon.Plan, open bool) (canon.Card, error) {
	names, err := secretFields(ctx, p.Look, *d.kind)
	if err != nil {
		return canon.Card{}, err
	}
	public, hidden := d.attributes.split(names, nil)
	maps.DeleteFunc(public, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	fields, err := d.fieldsOf(public)
	if err != nil {
		return canon.Card{}, err
	}
	label := access.NewLabel(access.LevelGM)
	if open {
		label = access.NewLabel(access.LevelUser)
	}
	n := canon.NewCard{Name: strings.TrimSpace(*d.name), Type: typesOf(*d.kind)[0], Fields: fields, Label: &label}
	if d.description != nil {
		if n.Content, err = stored("description", n.Type, *d.description); err != nil {
			return canon.Card{}, err
		}
	}
	c, err := p.Create(n)
	if err != nil {
		return canon.Card{}, err
	}
	return c, d.writeParts(ctx, p, c, hidden)
}

// writeParts plans what lies below an entity.
func (d draftOf) writeParts(ctx context.Context, p *canon.Plan, c canon.Card, hidden attributes) error {
	if err := writeSecrets(ctx, p, c, hidden); err != nil {
		return err
	}
	if d.tags != nil {
		if err := writeTags(ctx, p, c, *d.tags); err != nil {
			return err
		}
	}
	return writeNotes(ctx, p, c, d.notes)
}

// update plans a change of an entity. Where a source says something else than an
// authoritative entity does, a conflict is noted instead of each such change.
func (d draftOf) update(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, error) {
	d, err := d.contest(ctx, p, c)
	if err != nil {
		return canon.Card{}, err
	}
	return d.overwrite(ctx, p, c)
}

// overwrite plans a change of an entity whatever its sources say.
func (d draftOf) overwrite(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, error) {
	kept, err := secretsOf(ctx, p.Look, c)
	if err != nil {
		return canon.Card{}, err
	}
	names, err := secretFields(ctx, p.Look, kindOf(c))
	if err != nil {
		return canon.Card{}, err
	}
	public, hidden := d.attributes.split(names, kept)
	edit, err := d.edit(ctx, p, c, public)
	if err != nil {
		return canon.Card{}, err
	}
	if c, err = p.Update(c, edit); err != nil {
		return canon.Card{}, err
	}
	if err := d.writeParts(ctx, p, c, hidden); err != nil {
		return canon.Card{}, err
	}
	if d.name == nil || strings.TrimSpace(*d.name) == c.Name {
		return c, nil
	}
	return p.Rename(c, strings.TrimSpace(*d.name))
}

// edit is the change of the entity's own card.
func (d draftOf) edit(ctx context.Context, p *canon.Plan, c canon.Card, public attributes) (e canon.Edit, err error) {
	if e.Fields, err = d.fieldsOf(public); err != nil {
		return e, err
	}
	typ := c.Type
	if d.kind != nil && !keepsType(c, *d.kind) {
		typ = typesOf(*d.kind)[0]
		e.Type = &typ
	}
	content, err := p.Content(ctx, c)
	if err != nil {
		return e, err
	}
	now := prose(c.Type, content)
	switch {
	case d.description != nil && *d.description != now:
		text, err := stored("description", typ, *d.description)
		e.Content = &text
		return e, err
	case canon.TextOf(typ) != canon.TextOf(c.Type):
		text, err := stored("description", typ, now)
		e.Content = &text
		return e, err
	}
	return e, nil
}

// likeness is an entity that resembles one that is to be made.
type likeness struct {
	ID    canon.CardID `json:"id"`
	Name  string       `json:"name"`
	Type  string       `json:"type"`
	Score float64      `json:"score"`
}

const (
	// alike is how near a name must come to be taken for the same, of 1. Found by hand: it
	// takes one wrong letter in six, or a title before a name of two words.
	alike = 0.55
	// likenesses is how many resembling entities are shown.
	likenesses = 5
)

// similar are the entities in sight whose names or aliases resemble a name, best first.
func similar(ctx context.Context, l *canon.Look, name string, own canon.CardID) ([]likeness, error) {
	list := []likeness{}
	add := func(c canon.Card, score float64) {
		if c.ID != own && kindOf(c) != "" && !slices.ContainsFunc(list, func(x likeness) bool { return x.ID == c.ID }) {
			list = append(list, likeness{c.ID, c.Name, kindOf(c), float64(int(score*100)) / 100})
		}
	}
	same, err := l.Homonyms(ctx, markup.KeyOf(name))
	if err != nil {
		return nil, err
	}
	aliased, err := l.ByAlias(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, c := range append(same, aliased...) {
		add(c, 1)
	}
	near, err := l.NearCards(ctx, name, canon.Filter{Types: every}, likenesses+1)
	if err != nil {
		return nil, err
	}
	for _, h := range near {
		if h.Score >= alike {
			add(h.Card, h.Score)
		}
	}
	slices.SortStableFunc(list, func(a, b likeness) int { return cmp.Compare(b.Score, a.Score) })
	return list[:min(len(list), likenesses)], nil
}

// resembles refuses a name that others resemble.
func resembles(list []likeness) error {
	if len(list) == 0 {
		return nil
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	e := fault.New(fault.Conflict, "there are similar entities already: %s; use one of them, or repeat the call with allow_similar: true", strings.Join(names, ", "))
	e.Fields = []fault.Field{{Field: "allow_similar", Error: "must be true where similar entities are meant to stay apart"}}
	return e.With("similar", list)
}
