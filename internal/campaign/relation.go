package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// kindRelation is the link kind of relationships.
const kindRelation = "relationship"

// relationType is a type of relationship. Every relationship stores its type's names too, so a
// reader can see them even if the type's card is hidden.
type relationType struct {
	Name      string `json:"name"`
	Inverse   string `json:"inverse" jsonschema:"Its name from the other side."`
	Symmetric bool   `json:"symmetric" jsonschema:"It is the same from both sides."`
}

// builtinTypes are the types of every campaign.
var builtinTypes = []relationType{
	{"ally of", "ally of", true}, {"enemy of", "enemy of", true}, {"rival of", "rival of", true},
	{"friend of", "friend of", true},
	{"sibling of", "sibling of", true}, {"married to", "married to", true}, {"lover of", "lover of", true},
	{"related to", "related to", true},
	{"acquainted with", "acquainted with", true}, {"parent of", "child of", false}, {"mentor of", "student of", false},
	{"employs", "employed by", false}, {"leads", "led by", false}, {"member of", "has member", false},
	{"serves", "served by", false},
	{"owns", "owned by", false}, {"carries", "carried by", false}, {"located in", "contains", false},
	{"lives in", "home of", false},
	{"created", "created by", false}, {"guards", "guarded by", false}, {"fears", "feared by", false},
	{"hunts", "hunted by", false},
	{"worships", "worshipped by", false}, {"betrayed", "betrayed by", false}, {"killed", "killed by", false},
	{"knows of", "known to", false},
	{"points to", "pointed to by", false}, {"caused", "caused by", false}, {"mentions", "mentioned in", false},
}

// relationAttrs are the attributes of a relationship's link.
type relationAttrs struct {
	Type      string `json:"type"`
	Inverse   string `json:"inverse"`
	Symmetric bool   `json:"symmetric,omitempty"`
	Tone      string `json:"tone"`
	Strength  int    `json:"strength"`
}

func attrsOf(l canon.Link) relationAttrs {
	var b relationAttrs
	_ = json.Unmarshal(l.Attrs, &b) // a link edited by hand may lack attributes
	b.Type, b.Inverse, b.Tone = markup.Clean(b.Type), markup.Clean(b.Inverse), markup.Clean(b.Tone)
	b.Inverse = cmp.Or(b.Inverse, b.Type)
	return b
}

// normalizeType returns the normal form of a type's name, in which names are stored and compared.
func normalizeType(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(markup.Clean(name)),
		func(r rune) bool { return r == ' ' || r == '_' || r == '\t' || r == '\n' || r == '\u00a0' }), " ")
}

// relationTypesOf returns the types visible to the caller: the built-in ones, then those of the
// campaign by name.
func relationTypesOf(ctx context.Context, l *canon.Snapshot) ([]relationType, error) {
	all := slices.Clone(builtinTypes)
	for c, err := range l.AllCards(ctx, canon.Filter{Type: typeRelation}) {
		if err != nil {
			return nil, err
		}
		var t relationType
		if json.Unmarshal(c.Fields, &t) == nil && normalizeType(t.Name) != "" {
			t.Name, t.Inverse = normalizeType(t.Name), normalizeType(t.Inverse)
			t.Inverse = cmp.Or(t.Inverse, t.Name)
			all = append(all, t)
		}
	}
	return all, nil
}

// findRelationType finds a type by either of its names; turned is true if name is the one for the
// other side.
func findRelationType(all []relationType, name string) (t relationType, turned bool, err error) {
	name = normalizeType(name)
	for _, t := range all {
		switch name {
		case t.Name:
			return t, false, nil
		case t.Inverse:
			return t, !t.Symmetric, nil
		}
	}
	e := fault.BrokenRule("type",
		"is not a type of relationship in this campaign; relationship_types lists the types, and relationship_type_create adds one")
	if near := nearestTypes(all, name); len(near) > 0 {
		e = e.With("did_you_mean", near)
	}
	return relationType{}, false, e
}

// nearestTypes returns up to three type names with the most similar spelling.
func nearestTypes(all []relationType, name string) []string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	for _, t := range all {
		for _, n := range []string{t.Name, t.Inverse} {
			d := markup.Distance([]rune(name), []rune(n))
			if d <= max(2, utf8.RuneCountInString(n)/3) && !slices.ContainsFunc(found,
				func(x near) bool { return x.name == n }) {
				found = append(found, near{n, d})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	return slicesx.Map(found[:min(len(found), 3)], func(f near) string { return f.name })
}

// entityRelation is a relationship from the point of view of one end.
type entityRelation struct {
	ID       canon.LinkID `json:"id"`
	Type     string       `json:"type"`
	Entity   mention      `json:"entity"`
	Tone     string       `json:"tone"`
	Strength int          `json:"strength"`
	KnownTo  knownTo      `json:"known_to,omitzero" jsonschema:"For the GM: the players who see the relationship, if they see both ends."`
}

// relationsOf returns up to shownRelations visible relationships of an entity, by type and name,
// and the number of further ones.
func relationsOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (list []entityRelation, more int, err error) {
	p := canon.Page{Limit: shownRelations}
	from, n, err := l.Links(ctx, canon.LinkQuery{From: c.ID, Kinds: []string{kindRelation}, Page: p})
	if err != nil {
		return nil, 0, err
	}
	to, m, err := l.Links(ctx, canon.LinkQuery{To: c.ID, Kinds: []string{kindRelation}, Page: p})
	if err != nil {
		return nil, 0, err
	}
	list, err = seenFrom(ctx, l, c.ID, append(from, to...))
	if len(list) > shownRelations {
		list = list[:shownRelations]
	}
	return list, n.Count + m.Count - len(list), err
}

// seenFrom describes links from the point of view of one end, by type, then by name.
func seenFrom(ctx context.Context, l *canon.Snapshot, end canon.CardID, links []canon.Link) ([]entityRelation, error) {
	others := make([]canon.CardID, len(links))
	for i, k := range links {
		if others[i] = k.To; k.To == end {
			others[i] = k.From
		}
	}
	names, err := mentionsByID(ctx, l, others)
	if err != nil {
		return nil, err
	}
	list := make([]entityRelation, 0, len(links))
	for i, k := range links {
		b := attrsOf(k)
		if k.To == end {
			b.Type = b.Inverse
		}
		list = append(list, entityRelation{k.ID, b.Type, names[others[i]], b.Tone, b.Strength, shownTo(l, k.Label)})
	}
	slices.SortFunc(list, func(a, b entityRelation) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Entity.Name, b.Entity.Name),
			slices.Compare(a.ID[:], b.ID[:]))
	})
	return list, nil
}

// mentionsByID returns the visible cards with the given ids.
func mentionsByID(ctx context.Context, l *canon.Snapshot, ids []canon.CardID) (map[canon.CardID]mention, error) {
	cards, err := l.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[canon.CardID]mention, len(cards))
	for _, c := range cards {
		out[c.ID] = mentionOf(c)
	}
	return out, nil
}

// planRelationship plans a relationship.
func planRelationship(ctx context.Context, p *canon.Plan, in relateIn) error {
	between, err := relationKeyOf(ctx, p.Snapshot, in)
	if err != nil {
		return err
	}
	return planLink(ctx, p, between, in.toTerms())
}

// relationKey identifies a relationship by its ends, in order, and its type.
type relationKey struct {
	from, to canon.CardID
	relationType
}

func relationKeyOf(ctx context.Context, l *canon.Snapshot, in relateIn) (relationKey, error) {
	a, err := entityOf(ctx, l, in.SourceID)
	if err != nil {
		return relationKey{}, err
	}
	b, err := entityOf(ctx, l, in.TargetID)
	if err != nil {
		return relationKey{}, err
	}
	if a.ID == b.ID {
		return relationKey{}, fault.BrokenRule("target_id", "is the source itself; a relationship needs two different entities")
	}
	all, err := relationTypesOf(ctx, l)
	if err != nil {
		return relationKey{}, err
	}
	t, turned, err := findRelationType(all, in.Type)
	return orderedKey(a.ID, b.ID, t, turned), err
}

// orderedKey puts two ends in the order of the type. In a symmetric relationship the smaller id
// comes first.
func orderedKey(a, b canon.CardID, t relationType, turned bool) relationKey {
	if turned || t.Symmetric && b.String() < a.String() {
		a, b = b, a
	}
	return relationKey{a, b, t}
}

// findLink returns the relationship with this key if it is visible.
func (at relationKey) findLink(ctx context.Context, l *canon.Snapshot) (canon.Link, bool, error) {
	q := canon.LinkQuery{From: at.from, To: at.to, Kinds: []string{kindRelation}}
	for k, err := range l.AllLinks(ctx, q) {
		if err != nil || attrsOf(k).Type == at.Name {
			return k, err == nil, err
		}
	}
	return canon.Link{}, false, nil
}

// relationTerms are the properties of a relationship other than its type.
type relationTerms struct {
	tone     string
	strength int
	label    access.Label
}

// planLink plans a relationship between two visible cards. Its id is derived from its key, so when
// two callers create the same relationship, the second one gets a conflict.
func planLink(ctx context.Context, p *canon.Plan, at relationKey, terms relationTerms) error {
	old, ok, err := at.findLink(ctx, p.Snapshot)
	if err != nil {
		return err
	}
	if ok {
		return fault.New(fault.Conflict,
			"they already have a relationship of this type; delete it first, or use another type").With("relationship_id", old.ID)
	}
	id := canon.LinkIDOf(kindRelation, at.from.String(), at.to.String(), at.Name)
	p.DependOnLink(canon.Link{ID: id})
	attrs, err := json.Marshal(relationAttrs{at.Name, at.Inverse, at.Symmetric, terms.tone, terms.strength})
	if err != nil {
		return err
	}
	_, err = p.Link(canon.Link{ID: id, Kind: kindRelation, From: at.from, To: at.to, Attrs: attrs, Label: terms.label})
	return err
}
