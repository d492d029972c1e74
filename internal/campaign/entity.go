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
	"loregate/internal/slicesx"
	"loregate/internal/surface"
)

// Last name parts of the cards below an entity.
const (
	partNotes   = "GM"
	partSecrets = "secrets"
	partTags    = "tags"
)

// Fields of an entity's card that are not attributes.
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

// mention is a reference to an entity in an answer.
type mention struct {
	ID   canon.CardID `json:"id"`
	Name string       `json:"name"`
	Type string       `json:"type"`
}

func mentionOf(c canon.Card) mention { return mention{c.ID, c.Name, kindOf(c)} }

func summaryFromCard(ctx context.Context, l *canon.Snapshot, c canon.Card) (summary, error) {
	text, err := excerptOf(ctx, l, c)
	return summary{c.ID, c.Name, kindOf(c), text}, err
}

// attributes are values by name, in stored form.
type attributes map[string]json.RawMessage

// attributesOf parses a card's fields.
func attributesOf(fields json.RawMessage) (attributes, error) {
	all := attributes{}
	if len(fields) == 0 {
		return all, nil
	}
	err := json.Unmarshal(fields, &all)
	return all, err
}

// stringValue returns an attribute that is a string, or "" if it is not a string.
func (a attributes) stringValue(name string) string {
	var s string
	_ = json.Unmarshal(a[name], &s) // a value of another type is ignored
	return s
}

func (a attributes) stringList(name string) []string {
	var list []string
	_ = json.Unmarshal(a[name], &list) // as in stringValue
	return list
}

// forReaders returns the attributes for an answer: without the reserved fields and without
// invisible characters.
func (a attributes) forReaders() attributes {
	out := attributes{}
	for k, v := range a {
		if !slices.Contains(reserved, k) {
			out[markup.Clean(k)] = json.RawMessage(markup.Clean(string(v)))
		}
	}
	return out
}

// entityParts holds the data of the cards below an entity, as far as they are visible.
type entityParts struct {
	secrets    attributes
	notes      canon.Card // zero: not visible
	noteText   string
	discovered *int
	tags       []string
}

// partsOf reads the cards below an entity.
func partsOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (f entityParts, err error) {
	if f.secrets, err = secretsOf(ctx, l, c); err != nil {
		return f, err
	}
	if f.tags, err = tagsOf(ctx, l, c); err != nil {
		return f, err
	}
	notes, ok, err := findGMPart(ctx, l, c)
	if err != nil || !ok {
		return f, err
	}
	if f.noteText, err = notesText(ctx, l, notes); err != nil {
		return f, err
	}
	f.notes = notes
	var own struct {
		Session *int `json:"discovered_session"`
	}
	_ = json.Unmarshal(notes.Fields, &own) // a value of another type is ignored
	f.discovered = own.Session
	return f, nil
}

// partCards returns the visible cards with the given last name part below a card, lowest label
// first.
func partCards(ctx context.Context, l *canon.Snapshot, c canon.Card, part string) ([]canon.Card, error) {
	all, err := l.Homonyms(ctx, c.Key+"+"+markup.KeyOf(part))
	return slices.DeleteFunc(all, func(o canon.Card) bool { return o.Parent != c.ID }), err
}

// secretCards returns the visible cards that hold an entity's secret attributes: those with the
// most readers first, then in order of creation. The first created is named X+secrets, the others
// X+secrets with a suffix of six hexadecimal digits. Revealed secrets stay in their card; secrets
// written later go to another card, which no player sees until it is revealed.
func secretCards(ctx context.Context, l *canon.Snapshot, c canon.Card) ([]canon.Card, error) {
	var all []canon.Card
	for o, err := range l.AllCards(ctx, canon.Filter{Parent: c.ID, Type: typeData}) {
		if err != nil {
			return nil, err
		}
		if first, _, _ := strings.Cut(markup.PartKey(o.Part), "_"); first == markup.PartKey(partSecrets) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b canon.Card) int {
		return cmp.Or(cmp.Compare(a.Own.Level, b.Own.Level), cmp.Compare(len(b.Own.Subjects), len(a.Own.Subjects)),
			bytes.Compare(a.ID[:], b.ID[:]))
	})
	return all, nil
}

// secretsOf merges an entity's visible secret attributes. If two cards have the same attribute, the
// card with fewer readers wins, and of cards with equally many the newer one.
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

// isGMOnly reports whether a card's own label hides it from every player.
func isGMOnly(own access.Label) bool {
	return own.Level == access.LevelGM && len(own.Subjects) == 0
}

// findGMPart returns the card of the GM's notes, which may stand beside hidden parts of the entity's text. Of all cards
// with that name only one that is visible to the GM alone qualifies.
func findGMPart(ctx context.Context, l *canon.Snapshot, c canon.Card) (canon.Card, bool, error) {
	all, err := partCards(ctx, l, c, partNotes)
	for _, o := range all {
		if isGMOnly(o.Label) {
			return o, true, err
		}
	}
	return canon.Card{}, false, err
}

// notesText returns the text of the GM's notes, without the hidden parts of another text that their card holds.
func notesText(ctx context.Context, l *canon.Snapshot, notes canon.Card) (string, error) {
	text, err := l.Beside(ctx, notes)
	if notes.HoldsParts() {
		text = strings.TrimSuffix(text, "\n") // it separates them from the parts
	}
	return toMarkdown(ctx, notes.TextKind(), text), err
}

// tagsOf returns an entity's tags as written in its card X+tags.
func tagsOf(ctx context.Context, l *canon.Snapshot, c canon.Card) ([]string, error) {
	cards, err := partCards(ctx, l, c, partTags)
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
			if item = markup.Clean(item); !slices.Contains(tags, item) {
				tags = append(tags, item)
			}
		}
	}
	return tags, nil
}

// entityOf returns the visible entity with an id.
func entityOf(ctx context.Context, l *canon.Snapshot, id ref) (canon.Card, error) {
	c, ok, err := l.ByID(ctx, id.toCardID())
	if err != nil {
		return canon.Card{}, err
	}
	if !ok || kindOf(c) == "" {
		return canon.Card{}, absentFault("entity", id, "entity_search")
	}
	return c, nil
}

// entity is an entity with all details that its reader may see.
type entity struct {
	ID               canon.CardID     `json:"id"`
	Name             string           `json:"name"`
	Type             string           `json:"type"`
	Description      string           `json:"description" jsonschema:"Markdown, with [[links]] to other entities."`
	DescriptionCut   bool             `json:"description_cut,omitzero" jsonschema:"The description is longer; get_card returns all of it."`
	Attributes       attributes       `json:"attributes"`
	Aliases          []string         `json:"aliases"`
	Tags             []string         `json:"tags"`
	SourceDocument   string           `json:"source_document,omitzero"`
	SourceConfidence string           `json:"source_confidence,omitzero"`
	Version          uint32           `json:"version"`
	ETag             op.ReadTag       `json:"etag,omitzero" jsonschema:"Send it as if_match with a write. A tag that begins with partial belongs to a description or notes that were cut; a new description or new notes refuse it."`
	UpdatedAt        surface.Stamp    `json:"updated_at"`
	Relationships    []entityRelation `json:"relationships" jsonschema:"As seen from this entity, at most 50; relationship_map returns all."`
	More             int              `json:"more_relationships,omitzero" jsonschema:"Number of relationships left out."`

	SecretAttributes  []string `json:"secret_attributes,omitzero" jsonschema:"For the GM: the attributes that are hidden from players."`
	GMNotes           *string  `json:"gm_notes,omitzero" jsonschema:"For the GM."`
	NotesOffset       int      `json:"notes_offset,omitzero" jsonschema:"Characters of gm_notes that were skipped."`
	DiscoveredSession *int     `json:"discovered_session,omitzero" jsonschema:"For the GM: number of the session in which the players discovered it."`
	KnownTo           knownTo  `json:"known_to,omitzero" jsonschema:"For the GM: who sees the entity."`
	SecretsKnownTo    knownTo  `json:"secrets_known_to,omitzero" jsonschema:"For the GM: the players who see secret attributes, if there are any."`

	part op.ReadTag // tag of a truncated answer
}

// heldEntity describes the entity for the read tags. The entity must have its full description and
// notes.
func (e entity) heldEntity(l *canon.Snapshot) op.Held {
	world, notes := l.World().ID, ""
	if e.GMNotes != nil {
		notes = *e.GMNotes
	}
	sum := sha256.Sum256([]byte(notes))
	return op.Held{Name: e.Name, Version: e.Version, Length: len([]rune(e.Description)) + len([]rune(notes)),
		Read:    `entity_get {"entity_id":"` + e.ID.String() + `"}`,
		Instead: "change a part of a long description with update_card and a patch",
		Marks:   [][]byte{[]byte("entity"), world[:], e.ID[:], binary.BigEndian.AppendUint32(nil, e.Version), sum[:]}}
}

// Cut shortens the notes.
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
	part, end, cut := surface.CutText(*e.GMNotes, e.NotesOffset, budget-len(b))
	e.GMNotes, e.ETag = &part, e.part
	return e, map[string]any{"notes_offset": end}, cut
}

// maxName and maxDescription are the contract's limits in characters.
const (
	maxName        = 200
	maxDescription = 10_000
)

// shownRelations is the number of relationships that an entity shows.
const shownRelations = 50

// describeEntity reads an entity with all its parts.
func describeEntity(ctx context.Context, l *canon.Snapshot, c canon.Card) (entity, error) {
	f, err := partsOf(ctx, l, c)
	if err != nil {
		return entity{}, err
	}
	content, err := l.Content(ctx, c)
	if err != nil {
		return entity{}, err
	}
	own, err := l.Fields(ctx, c)
	if err != nil {
		return entity{}, err
	}
	fields, err := attributesOf(own)
	if err != nil {
		return entity{}, err
	}
	e := entity{ID: c.ID, Name: c.Name, Type: kindOf(c), Attributes: fields.forReaders(), Tags: f.tags,
		Aliases:          cleanAll(fields.stringList(fieldAliases)),
		SourceDocument:   markup.Clean(fields.stringValue(fieldSource)),
		SourceConfidence: markup.Clean(fields.stringValue(fieldConfidence)),
		Version:          c.Version(l.View()), UpdatedAt: surface.Stamp(c.UpdatedAt)}
	if e.Description, e.DescriptionCut = markup.Truncate(toMarkdown(ctx, c.TextKind(), content),
		maxDescription); e.DescriptionCut {
		e.Description = strings.TrimSpace(e.Description)
	}
	maps.Copy(e.Attributes, f.secrets.forReaders())
	if e.Relationships, e.More, err = relationsOf(ctx, l, c); err != nil {
		return entity{}, err
	}
	if l.View().Level >= access.LevelGM {
		err = e.addForGM(ctx, l, c, f)
	}
	return e, err
}

// addForGM adds the data that only the GM gets.
func (e *entity) addForGM(ctx context.Context, l *canon.Snapshot, c canon.Card, f entityParts) error {
	e.SecretAttributes = slices.Sorted(maps.Keys(f.secrets.forReaders()))
	e.GMNotes, e.DiscoveredSession = &f.noteText, f.discovered
	e.KnownTo = shownTo(l, c.Label)
	cards, err := secretCards(ctx, l, c)
	if len(cards) > 0 && !isGMOnly(cards[0].Own) {
		e.SecretsKnownTo = shownTo(l, cards[0].Label)
	}
	return err
}

func cleanAll(list []string) []string {
	return slicesx.Map(list, markup.Clean)
}
