package campaign

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/surface"
)

func entityReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "entity_search",
			Asked: []string{
				"who is this character", "look up people, items and organisations of our story",
				"list all suspects", "which creatures are there", "find somebody by a trait", "who in our story",
				"which of our people", "somebody whose name I half remember",
				"who does a certain work in our story", "which of our people can do something",
				"everybody with a certain trade", "the name of a person in our story",
				"find a suspect, a weapon or a clue", "look for a person of the story",
				"find a place or a thing in our notes", "who is somebody in our campaign", "clues and suspects",
				"which villains do we know",
			},
			Cacheable: true,
			Title:     "Search entities",
			Doc: "Find people, places, things and factions of the campaign by words of their name, alias, description or attributes, by type and by tags; without query it lists them. " +
				"A misspelt name finds entities with similar names. Answers are short: read an entity with entity_get.",
			Route: "GET /api/campaigns/{campaign_id}/entities",
			Examples: []op.Example{
				{Title: "By name", Input: `{"campaign_id": "ashlar-pass", "query": "doctor quill"}`},
				{Title: "All clues about the line",
					Input: `{"campaign_id": "ashlar-pass", "entity_type": "clue", "tags": ["line"], "limit": 50}`},
			},
		}, entitySearch),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "entity_get",
			Asked: []string{
				"all that is known of a character", "details, secrets and notes of a person or thing",
				"tell me about somebody", "dossier", "we know of him or her", "hidden about a person",
				"everything on file about a person", "his traits", "describe one of our people",
				"all notes on a person", "file on a suspect", "read about one thing of the story",
				"secrets of a character",
			},
			Cacheable: true,
			Title:     "Read an entity",
			Doc: "Read one entity of the campaign when you know its id: description, attributes, tags and relationships, as far as you may see them. " +
				"The GM also gets notes, secret attributes, and the players who know of it.",
			Route:  "GET /api/campaigns/{campaign_id}/entities/{entity_id}",
			Target: "entity_id",
			Examples: []op.Example{
				{Title: "Read one", Input: `{"campaign_id": "ashlar-pass", "entity_id": "01920000-0000-7000-8000-000000000001"}`},
			},
		}, d.entityGet),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "entity_compare",
			Asked: []string{
				"how do two characters differ", "are these two the same person", "side by side", "duplicates",
				"which of the two", "sets them apart", "two persons have in common",
				"differences between two things", "two persons side by side", "differences between suspects",
				"which of them is older",
			},
			Title: "Compare two entities",
			Doc: "Compare two entities field by field, if they may be duplicates or are easily confused. " +
				"Equal fields are listed by name only.",
			Route:  "GET /api/campaigns/{campaign_id}/entities/{entity_id}/compare/{other_id}",
			Target: "entity_id",
			Examples: []op.Example{
				{Title: "Are they one?",
					Input: `{"campaign_id": "ashlar-pass", "entity_id": "01920000-0000-7000-8000-000000000001", "other_id": "01920000-0000-7000-8000-000000000002"}`},
			},
		}, entityCompare),
	}
}

type entitySearchIn struct {
	inCampaign
	Query      string   `json:"query,omitzero" maxlen:"500" jsonschema:"Words of the name, an alias, the description or the attributes."`
	EntityType string   `json:"entity_type,omitzero" enum:"npc,location,item,faction,clue,creature,organization,event,document,other" jsonschema:"Only entities of this type."`
	Tags       []string `json:"tags,omitzero" maxitems:"10" minlen:"1" maxlen:"255" jsonschema:"Only entities with all of these tags."`
	page
}

type entitiesOut struct {
	Entities []summary `json:"entities"`
	paged
}

func entitySearch(ctx context.Context, l *canon.Snapshot, _ *op.Call, in entitySearchIn) (entitiesOut, error) {
	found, pg, err := in.findEntities(ctx, l)
	if err != nil {
		return entitiesOut{}, err
	}
	out := entitiesOut{Entities: make([]summary, len(found.cards)), paged: pg}
	for i, c := range found.cards {
		if out.Entities[i], err = summaryFromCard(ctx, l, c); err != nil {
			return entitiesOut{}, err
		}
	}
	return out, nil
}

// findEntities runs a search. The index filters by the first tag; for further tags the results for
// each tag, which are all visible to the caller, are intersected.
func (in entitySearchIn) findEntities(ctx context.Context, l *canon.Snapshot) (entityPage, paged, error) {
	f := canon.Filter{Types: typesOf(in.EntityType)}
	if len(in.Tags) > 0 {
		f.Tag = in.Tags[0]
	}
	q := strings.TrimSpace(in.Query)
	if len(in.Tags) <= 1 {
		found, err := searchEntities(ctx, l, q, f, in.toCanonPage())
		return found, pagedAt(in.page, found.total, len(found.cards)), err
	}
	var both entityPage
	for i, tag := range in.Tags {
		f.Tag = tag
		found, err := searchEntities(ctx, l, q, f, canon.Page{Limit: canon.CountCap})
		if err != nil {
			return entityPage{}, paged{}, err
		}
		if i > 0 {
			have := map[canon.CardID]bool{}
			for _, c := range found.cards {
				have[c.ID] = true
			}
			found.cards = slices.DeleteFunc(both.cards, func(c canon.Card) bool { return !have[c.ID] })
		}
		both = found
	}
	rows, pg := pageOf(both.cards, in.page)
	return entityPage{cards: rows}, pg, nil
}

// entityPage is a page of search results.
type entityPage struct {
	cards []canon.Card
	total canon.Total
}

// searchEntities lists entities, or searches for words. A query without results is treated as a
// misspelling.
func searchEntities(ctx context.Context, l *canon.Snapshot, q string, f canon.Filter,
	p canon.Page) (found entityPage, err error) {
	if q == "" {
		found.cards, found.total, err = l.Cards(ctx, f, p)
		return found, err
	}
	words := canon.SearchQuery{Q: q, InName: true, InContent: true, InFields: true, Mode: canon.MatchSubstring, Filter: f,
		Listed: true}
	result, err := l.Search(ctx, words, p)
	if err != nil || result.Total.Count > 0 {
		return entityPage{cardsOf(result.Hits), result.Total}, err
	}
	cards, err := findMisspelt(ctx, l, q, f)
	from := min(p.Offset, len(cards))
	return entityPage{cards: cards[from:min(from+p.Limit, len(cards))], total: canon.Total{Count: len(cards)}}, err
}

func cardsOf(hits []canon.Hit) []canon.Card {
	return slicesx.Map(hits, func(h canon.Hit) canon.Card { return h.Card })
}

type entityGetIn struct {
	inCampaign
	EntityID    ref `json:"entity_id" jsonschema:"Id of the entity; entity_search finds it."`
	NotesOffset int `json:"notes_offset,omitzero" default:"0" min:"0" jsonschema:"Characters of gm_notes to skip."`
}

func (d *deps) entityGet(ctx context.Context, l *canon.Snapshot, c *op.Call, in entityGetIn) (entity, error) {
	card, err := entityOf(ctx, l, in.EntityID)
	if err != nil {
		return entity{}, err
	}
	e, err := describeEntity(ctx, l, card)
	if err != nil {
		return entity{}, err
	}
	if c.Reply.ETag, err = digestOf(e); err != nil {
		return entity{}, err
	}
	if e.DescriptionCut && !c.OverMCP() {
		content, err := l.Content(ctx, card)
		if err != nil {
			return entity{}, err
		}
		e.Description, e.DescriptionCut = toMarkdown(ctx, card.TextKind(), content), false
	}
	held := e.heldEntity(l)
	e.part = d.tags.Part(held)
	if e.ETag = d.tags.Whole(held); e.DescriptionCut || in.NotesOffset > 0 {
		e.ETag = e.part
	}
	if e.GMNotes != nil && in.NotesOffset > 0 {
		r := []rune(*e.GMNotes)
		rest := string(r[min(in.NotesOffset, len(r)):])
		e.GMNotes, e.NotesOffset = &rest, in.NotesOffset
	}
	if e.ETag.Partial() {
		c.Reply.ETag = string(e.ETag)
	}
	return e, nil
}

// digestOf returns the entity tag of an answer: a digest of everything that it shows.
func digestOf(v any) (string, error) {
	b, err := json.Marshal(v)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), err
}

type compareIn struct {
	inCampaign
	EntityID ref `json:"entity_id" jsonschema:"Id of one entity."`
	OtherID  ref `json:"other_id" jsonschema:"Id of the other."`
}

// difference is one field in which two entities differ; null if one of them lacks it.
type difference struct {
	Field string          `json:"field"`
	A     json.RawMessage `json:"a"`
	B     json.RawMessage `json:"b"`
}

type compareOut struct {
	A           mention      `json:"a"`
	B           mention      `json:"b"`
	Differences []difference `json:"differences"`
	Same        []string     `json:"same" jsonschema:"Fields that are equal."`
	Shared      []mention    `json:"shared" jsonschema:"Entities to which both are related."`
	Related     []string     `json:"related" jsonschema:"How the first is related to the second."`
}

func entityCompare(ctx context.Context, l *canon.Snapshot, _ *op.Call, in compareIn) (compareOut, error) {
	var sides [2]entity
	for i, id := range []ref{in.EntityID, in.OtherID} {
		c, err := entityOf(ctx, l, id)
		if err != nil {
			return compareOut{}, err
		}
		if sides[i], err = describeEntity(ctx, l, c); err != nil {
			return compareOut{}, err
		}
	}
	a, b := sides[0], sides[1]
	out := compareOut{A: mention{a.ID, a.Name, a.Type}, B: mention{b.ID, b.Name, b.Type}, Differences: []difference{},
		Same: []string{}, Related: []string{}}
	left, right := a.comparableFields(), b.comparableFields()
	names := slices.Collect(maps.Keys(left))
	for k := range right {
		if left[k] == nil {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	for _, k := range names {
		if bytes.Equal(left[k], right[k]) {
			out.Same = append(out.Same, k)
			continue
		}
		out.Differences = append(out.Differences, difference{k, orNull(left[k]), orNull(right[k])})
	}
	out.Shared, out.Related = commonRelations(a, b)
	return out, nil
}

func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// comparableFields returns an entity's own fields by name.
func (e entity) comparableFields() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	put := func(name string, v any) {
		if b, err := json.Marshal(v); err == nil {
			out[name] = b
		}
	}
	put("name", e.Name)
	put("type", e.Type)
	put("description", e.Description)
	put("tags", e.Tags)
	put("aliases", e.Aliases)
	put("source_document", e.SourceDocument)
	put("source_confidence", e.SourceConfidence)
	if e.GMNotes != nil {
		put("gm_notes", *e.GMNotes)
		put("discovered_session", e.DiscoveredSession)
		put("known_to", e.KnownTo)
	}
	for k, v := range e.Attributes {
		out["attributes."+k] = v
	}
	return out
}

// commonRelations returns the entities to which both are related, and the types by which a is
// related to b.
func commonRelations(a, b entity) (shared []mention, related []string) {
	shared, related = []mention{}, []string{}
	with := map[canon.CardID]bool{}
	for _, r := range b.Relationships {
		with[r.Entity.ID] = true
	}
	for _, r := range a.Relationships {
		if r.Entity.ID == b.ID {
			related = append(related, r.Type)
		}
		if with[r.Entity.ID] && !slices.Contains(shared, r.Entity) {
			shared = append(shared, r.Entity)
		}
	}
	slices.SortFunc(shared,
		func(x, y mention) int { return cmp.Or(cmp.Compare(x.Name, y.Name), bytes.Compare(x.ID[:], y.ID[:])) })
	return shared, related
}
