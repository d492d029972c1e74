package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// notesEdit is a change to the GM's part of a card.
type notesEdit struct {
	text    *string
	session *int            // number of the session of discovery; negative removes it
	drafts  json.RawMessage // for a session: the fields of its unpublished notes
}

func (n notesEdit) isEmpty() bool { return n.text == nil && n.session == nil && n.drafts == nil }

// writeNotes plans a change to the GM's part of a card.
func writeNotes(ctx context.Context, p *canon.Plan, c canon.Card, n notesEdit) error {
	if n.isEmpty() {
		return nil
	}
	fields := n.drafts
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
	old, ok, err := findNotes(ctx, p, c)
	if err != nil {
		return err
	}
	if !ok {
		label := access.NewLabel(access.LevelGM)
		made := canon.NewCard{Name: markup.Join(c.Name, partNotes), Type: typeNotes, Fields: fields, Label: &label,
			Parent: c.ID}
		if n.text != nil {
			made.Content = markup.Clean(*n.text)
		}
		_, err = p.Create(made)
		return err
	}
	edit := canon.Edit{Fields: fields, Beside: true}
	if n.text != nil {
		text, err := source{field: "gm_notes", text: *n.text, hidden: true}.storedAs(ctx, p.Grant(), old.TextKind())
		if err != nil {
			return err
		}
		edit.Content = &text
	}
	_, err = p.Update(old, edit)
	return err
}

// defaultSecrets are the attributes hidden from players unless the card of the entity type names
// others.
var defaultSecrets = []string{"secrets"}

// secretFields returns the names of an entity type's attributes that are hidden from players: those
// in the field secret_fields of the card of type Cardtype that has the type's name.
func secretFields(ctx context.Context, l *canon.Snapshot, kind string) ([]string, error) {
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

// splitSecrets separates the attributes of the entity's card from those hidden from players. An
// attribute that is secret already stays secret.
func (a attributes) splitSecrets(secret []string, kept attributes) (open, hidden attributes) {
	open, hidden = attributes{}, attributes{}
	for k, v := range a {
		if _, was := kept[k]; was || slices.Contains(secret, k) {
			hidden[k] = v
			if slices.Contains(secret, k) {
				open[k] = null // it may have been written here before it became secret
			}
		} else {
			open[k] = v
		}
	}
	return open, hidden
}

var null = json.RawMessage("null")

// checkAttributes reports attribute names that are not allowed.
func (p *problems) checkAttributes(a attributes) {
	if len(a) > 200 {
		p.Add("attributes", "200 at most")
	}
	for _, k := range slices.Sorted(maps.Keys(a)) {
		at := "attributes." + markup.Clip(markup.Clean(k), 60)
		switch {
		case slices.Contains(reserved, k):
			p.Add(at, "is not an attribute; give it as a field of the entity, or choose another name")
		case strings.TrimSpace(k) == "" || len(k) > 100 || markup.Clean(k) != k:
			p.Add(at, "a name has 1 to 100 visible characters")
		}
	}
}

// writeSecrets plans a change of secret attributes. New values go to a card that only the GM sees,
// even for a secret that players know: new text is unknown until it is revealed. null removes a
// value from every card that has it.
func writeSecrets(ctx context.Context, p *canon.Plan, c canon.Card, hidden attributes) error {
	if len(hidden) == 0 {
		return nil
	}
	cards, err := secretCards(ctx, p.Snapshot, c)
	if err != nil {
		return err
	}
	for _, s := range cards {
		if err := dropSecrets(p, s, hidden); err != nil {
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
	if n := len(cards); n > 0 && isGMOnly(cards[n-1].Own) {
		newest, err := p.Card("~" + cards[n-1].ID.String()) // as dropSecrets left it
		if err == nil {
			_, err = p.Update(newest, canon.Edit{Fields: fields})
		}
		return err
	}
	name := markup.Join(c.Name, partSecrets)
	if len(cards) > 0 {
		name += " " + secretSuffix(c, p)
	}
	label := access.NewLabel(access.LevelGM)
	_, err = p.Create(canon.NewCard{Name: name, Type: typeData, Fields: fields, Label: &label, Parent: c.ID})
	return err
}

// secretSuffix returns six hexadecimal digits that distinguish a card of secrets from others
// without revealing how many there are.
func secretSuffix(c canon.Card, p *canon.Plan) string {
	sum := sha256.Sum256([]byte(c.ID.String() + p.Clock().String()))
	return hex.EncodeToString(sum[:3])
}

// dropSecrets removes from one card of secrets the attributes that are null in hidden.
func dropSecrets(p *canon.Plan, s canon.Card, hidden attributes) error {
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

// writeTags plans an entity's tags, which have the same readers as the entity itself.
func writeTags(ctx context.Context, p *canon.Plan, c canon.Card, tags []string) error {
	items := make([]string, 0, len(tags))
	for _, t := range tags {
		if t = strings.TrimSpace(markup.Clean(t)); t != "" && !slices.Contains(items, t) {
			items = append(items, t)
		}
	}
	content := markup.SetItems(items)
	cards, err := partCards(ctx, p.Snapshot, c, partTags)
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
	_, err = p.Create(canon.NewCard{Name: markup.Join(c.Name, partTags), Type: canon.TypePointer, Content: content,
		Parent: c.ID})
	return err
}
