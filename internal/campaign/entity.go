package campaign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"crypto/sha256"
	"encoding/binary"
	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// Names of the parts below an entity.
const (
	partNotes   = "GM"
	partSecrets = "secrets"
	partTags    = "tags"
)

// Fields of an entity's card that are no attributes.
const (
	fieldAliases    = "aliases"
	fieldSource     = "source_document"
	fieldConfidence = "source_confidence"
	fieldSort       = "sort"
)

var reserved = []string{fieldAliases, fieldSource, fieldConfidence, fieldSort}

// Words of source_confidence.
const (
	draft         = "DRAFT"
	authoritative = "AUTHORITATIVE"
)

// summary is an entity in a list.
type summary struct {
	ID          canon.CardID `json:"id"`
	Name        string       `json:"name"`
	Type        string       `json:"type"`
	Description string       `json:"description" jsonschema:"The beginning of the description, as plain text."`
}

// mention is an entity that something else speaks of.
type mention struct {
	ID   canon.CardID `json:"id"`
	Name string       `json:"name"`
	Type string       `json:"type"`
}

func mentionOf(c canon.Card) mention { return mention{c.ID, c.Name, kindOf(c)} }

func summarize(ctx context.Context, l *canon.Snapshot, c canon.Card) (summary, error) {
	text, err := excerpt(ctx, l, c)
	return summary{c.ID, c.Name, kindOf(c), text}, err
}

// attributes are values by name, as they are stored.
type attributes map[string]json.RawMessage

// attributesOf reads a card's fields.
func attributesOf(fields json.RawMessage) (attributes, error) {
	all := attributes{}
	if len(fields) == 0 {
		return all, nil
	}
	err := json.Unmarshal(fields, &all)
	return all, err
}

// text is an attribute that is a string; "" where it is none.
func (a attributes) text(name string) string {
	var s string
	_ = json.Unmarshal(a[name], &s) // another kind of value is as good as none
	return s
}

func (a attributes) texts(name string) []string {
	var list []string
	_ = json.Unmarshal(a[name], &list) // as in text
	return list
}

// shown are the attributes as readers get them: without what is not theirs to be, and
// cleaned of what cannot be seen.
func (a attributes) shown() attributes {
	out := attributes{}
	for k, v := range a {
		if !slices.Contains(reserved, k) {
			out[clean(k)] = json.RawMessage(clean(string(v)))
		}
	}
	return out
}

// facets are what the parts below an entity add to it, as far as they are in sight.
type facets struct {
	secrets    attributes
	notes      canon.Card // zero: none in sight
	noteText   string
	discovered *int
	tags       []string
}

// facetsOf reads the parts of an entity.
func facetsOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (f facets, err error) {
	if f.secrets, err = secretsOf(ctx, l, c); err != nil {
		return f, err
	}
	if f.tags, err = tagsOf(ctx, l, c); err != nil {
		return f, err
	}
	notes, ok, err := gmPart(ctx, l, c)
	if err != nil || !ok {
		return f, err
	}
	content, err := l.Content(ctx, notes)
	if err != nil {
		return f, err
	}
	f.notes, f.noteText = notes, prose(ctx, notes.Type, content)
	var own struct {
		Session *int `json:"discovered_session"`
	}
	_ = json.Unmarshal(notes.Fields, &own) // another kind of value is as good as none
	f.discovered = own.Session
	return f, nil
}

// below are the cards in sight that bear a part below a card, lowest label first.
func below(ctx context.Context, l *canon.Snapshot, c canon.Card, part string) ([]canon.Card, error) {
	all, err := l.Homonyms(ctx, c.Key+"+"+markup.KeyOf(part))
	return slices.DeleteFunc(all, func(o canon.Card) bool { return o.Parent != c.ID }), err
}

// secretCards are the cards in sight that hold an entity's secret attributes, those of the
// most readers first, then as they were made. The first is named X+secrets, the others
// X+secrets and some figures; what is revealed keeps its card, and what is written later
// gets another, which nobody sees before it is revealed.
func secretCards(ctx context.Context, l *canon.Snapshot, c canon.Card) ([]canon.Card, error) {
	var all []canon.Card
	for p := (canon.Page{Limit: 100}); ; p.Offset += p.Limit {
		cards, _, err := l.Cards(ctx, canon.Filter{Parent: c.ID, Type: typeData}, p)
		if err != nil {
			return nil, err
		}
		for _, o := range cards {
			if first, _, _ := strings.Cut(markup.PartKey(o.Part), "_"); first == markup.PartKey(partSecrets) {
				all = append(all, o)
			}
		}
		if len(cards) < p.Limit {
			break
		}
	}
	slices.SortFunc(all, func(a, b canon.Card) int {
		return cmp.Or(cmp.Compare(a.Own.Level, b.Own.Level), cmp.Compare(len(b.Own.Subjects), len(a.Own.Subjects)), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return all, nil
}

// secretsOf joins an entity's secret attributes that are in sight. Where two cards say one
// of a name, the one of fewer readers holds, and of those the newer.
func secretsOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (attributes, error) {
	cards, err := secretCards(ctx, l, c)
	if err != nil {
		return nil, err
	}
	joined := attributes{}
	for _, s := range cards {
		own, err := attributesOf(s.Fields)
		if err != nil {
			return nil, err
		}
		maps.Copy(joined, own)
	}
	return joined, nil
}

// forGMAlone reports whether a label of a card's own keeps it from every player.
func forGMAlone(own access.Label) bool {
	return own.Level == access.LevelGM && len(own.Subjects) == 0
}

// gmPart is the card of the GM's notes: only one that is the GM's alone will do, whatever
// else bears the name.
func gmPart(ctx context.Context, l *canon.Snapshot, c canon.Card) (canon.Card, bool, error) {
	all, err := below(ctx, l, c, partNotes)
	for _, o := range all {
		if forGMAlone(o.Label) {
			return o, true, err
		}
	}
	return canon.Card{}, false, err
}

// tagsOf are an entity's tags as they are written in its part X+tags.
func tagsOf(ctx context.Context, l *canon.Snapshot, c canon.Card) ([]string, error) {
	cards, err := below(ctx, l, c, partTags)
	if err != nil {
		return nil, err
	}
	tags := []string{}
	for _, t := range cards {
		content, err := l.Content(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, item := range markup.Items(content) {
			if item = clean(item); !slices.Contains(tags, item) {
				tags = append(tags, item)
			}
		}
	}
	return tags, nil
}

// entityOf finds an entity in sight by its id.
func entityOf(ctx context.Context, l *canon.Snapshot, id ref) (canon.Card, error) {
	c, ok, err := l.ByID(ctx, id.card())
	if err != nil {
		return canon.Card{}, err
	}
	if !ok || kindOf(c) == "" {
		return canon.Card{}, absent("entity", id, "entity_search")
	}
	return c, nil
}

// entity is an entity in full, as its reader may see it.
type entity struct {
	ID               canon.CardID  `json:"id"`
	Name             string        `json:"name"`
	Type             string        `json:"type"`
	Description      string        `json:"description" jsonschema:"Markdown, with [[links]] to other entities."`
	DescriptionCut   bool          `json:"description_cut,omitzero" jsonschema:"The description is longer; get_card gives all of it."`
	Attributes       attributes    `json:"attributes"`
	Aliases          []string      `json:"aliases"`
	Tags             []string      `json:"tags"`
	SourceDocument   string        `json:"source_document,omitzero"`
	SourceConfidence string        `json:"source_confidence,omitzero"`
	Version          uint32        `json:"version"`
	ETag             op.ReadTag    `json:"etag,omitzero" jsonschema:"Send it as if_match with a write. One that begins with partial is of a description or notes that were cut, and is refused with a new description or notes."`
	UpdatedAt        stamp         `json:"updated_at"`
	Relationships    []relatedness `json:"relationships" jsonschema:"As seen from this entity, at most 50; relationship_map has all."`
	More             int           `json:"more_relationships,omitzero" jsonschema:"Relationships left out."`

	SecretAttributes  []string `json:"secret_attributes,omitzero" jsonschema:"For the GM: which attributes are kept from players."`
	GMNotes           *string  `json:"gm_notes,omitzero" jsonschema:"For the GM."`
	NotesOffset       int      `json:"notes_offset,omitzero" jsonschema:"Characters of gm_notes that were skipped."`
	DiscoveredSession *int     `json:"discovered_session,omitzero" jsonschema:"For the GM: number of the session in which the players came upon it."`
	KnownTo           knownTo  `json:"known_to,omitzero" jsonschema:"For the GM: who sees the entity."`
	SecretsKnownTo    knownTo  `json:"secrets_known_to,omitzero" jsonschema:"For the GM: the players who see secret attributes, where there are any."`

	part op.ReadTag // the tag of an answer that is cut
}

// held is an entity as the tags of what was read know it. It is to be described whole.
func (e entity) held(l *canon.Snapshot) op.Held {
	world, notes := l.World().ID, ""
	if e.GMNotes != nil {
		notes = *e.GMNotes
	}
	sum := sha256.Sum256([]byte(notes))
	return op.Held{Name: e.Name, Version: e.Version, Length: len([]rune(e.Description)) + len([]rune(notes)),
		Read: `entity_get {"entity_id":"` + e.ID.String() + `"}`, Instead: "change a part of a long description with update_card and a patch",
		Marks: [][]byte{[]byte("entity"), world[:], e.ID[:], binary.BigEndian.AppendUint32(nil, e.Version), sum[:]}}
}

// Cut gives less of the notes.
func (e entity) Cut(budget int) (any, map[string]any, bool) {
	if e.GMNotes == nil {
		return e, nil, false
	}
	rest := e
	rest.GMNotes = nil
	b, err := json.Marshal(rest)
	if err != nil {
		return e, nil, false
	}
	part := fitText(*e.GMNotes, budget-len(b)-overhead)
	if len(part) == len(*e.GMNotes) {
		return e, nil, false
	}
	e.GMNotes, e.ETag = &part, e.part
	return e, map[string]any{"notes_offset": e.NotesOffset + len([]rune(part))}, true
}

// fitText is the longest beginning of a text that takes at most budget bytes as JSON, and
// no less than 256 characters.
func fitText(text string, budget int) string {
	for i, r := range []rune(text) {
		b, err := json.Marshal(string(r))
		if err != nil {
			return text
		}
		if budget -= len(b) - 2; budget < 0 && i >= 256 {
			return string([]rune(text)[:i])
		}
	}
	return text
}

// maxDescription, maxNotes and maxName are the contract's caps, in characters.
const (
	maxName        = 200
	maxDescription = 10_000
)

// shownRelations is how many relationships an entity shows.
const shownRelations = 50

// describe reads an entity in full.
func describe(ctx context.Context, l *canon.Snapshot, c canon.Card) (entity, error) {
	f, err := facetsOf(ctx, l, c)
	if err != nil {
		return entity{}, err
	}
	content, err := l.Content(ctx, c)
	if err != nil {
		return entity{}, err
	}
	fields, err := attributesOf(c.Fields)
	if err != nil {
		return entity{}, err
	}
	e := entity{ID: c.ID, Name: c.Name, Type: kindOf(c), Attributes: fields.shown(), Tags: f.tags, Aliases: cleaned(fields.texts(fieldAliases)),
		SourceDocument: clean(fields.text(fieldSource)), SourceConfidence: clean(fields.text(fieldConfidence)),
		Version: c.Version(l.View()), UpdatedAt: stamp(c.UpdatedAt)}
	if e.Description, e.DescriptionCut = markup.Truncate(prose(ctx, c.Type, content), maxDescription); e.DescriptionCut {
		e.Description = strings.TrimSpace(e.Description)
	}
	maps.Copy(e.Attributes, f.secrets.shown())
	if e.Relationships, e.More, err = relationsOf(ctx, l, c); err != nil {
		return entity{}, err
	}
	if l.View().Level >= access.LevelGM {
		err = e.addForGM(ctx, l, c, f)
	}
	return e, err
}

// addForGM adds what only the GM is told.
func (e *entity) addForGM(ctx context.Context, l *canon.Snapshot, c canon.Card, f facets) error {
	e.SecretAttributes = slices.Sorted(maps.Keys(f.secrets.shown()))
	e.GMNotes, e.DiscoveredSession = &f.noteText, f.discovered
	e.KnownTo = openTo(l, c.Label)
	cards, err := secretCards(ctx, l, c)
	if len(cards) > 0 && !forGMAlone(cards[0].Own) {
		e.SecretsKnownTo = openTo(l, cards[0].Label)
	}
	return err
}

func cleaned(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(s)
	}
	return out
}
