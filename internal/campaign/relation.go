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
)

// kindRelation is the kind of link that a relationship is.
const kindRelation = "relationship"

// tie is a type of relationship. The words stand on every relationship itself, so that
// who sees one can read it though the type be hidden.
type tie struct {
	Name      string `json:"name"`
	Inverse   string `json:"inverse" jsonschema:"What it is called from the other side."`
	Symmetric bool   `json:"symmetric" jsonschema:"It is the same from both sides."`
}

// ties are those that every campaign knows.
var ties = []tie{
	{"ally of", "ally of", true}, {"enemy of", "enemy of", true}, {"rival of", "rival of", true}, {"friend of", "friend of", true},
	{"sibling of", "sibling of", true}, {"married to", "married to", true}, {"lover of", "lover of", true}, {"related to", "related to", true},
	{"acquainted with", "acquainted with", true}, {"parent of", "child of", false}, {"mentor of", "student of", false},
	{"employs", "employed by", false}, {"leads", "led by", false}, {"member of", "has member", false}, {"serves", "served by", false},
	{"owns", "owned by", false}, {"carries", "carried by", false}, {"located in", "contains", false}, {"lives in", "home of", false},
	{"created", "created by", false}, {"guards", "guarded by", false}, {"fears", "feared by", false}, {"hunts", "hunted by", false},
	{"worships", "worshipped by", false}, {"betrayed", "betrayed by", false}, {"killed", "killed by", false}, {"knows of", "known to", false},
	{"points to", "pointed to by", false}, {"caused", "caused by", false}, {"mentions", "mentioned in", false},
}

// bond is what a relationship's link says.
type bond struct {
	Type      string `json:"type"`
	Inverse   string `json:"inverse"`
	Symmetric bool   `json:"symmetric,omitempty"`
	Tone      string `json:"tone"`
	Strength  int    `json:"strength"`
}

func bondOf(l canon.Link) bond {
	var b bond
	_ = json.Unmarshal(l.Attrs, &b) // written by another hand, it may say less
	b.Type, b.Inverse, b.Tone = clean(b.Type), clean(b.Inverse), clean(b.Tone)
	if b.Inverse == "" {
		b.Inverse = b.Type
	}
	return b
}

// wording is a type's name in the one form that it is kept and compared in.
func wording(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(clean(name)), func(r rune) bool { return r == ' ' || r == '_' || r == '\t' || r == '\n' || r == '\u00a0' }), " ")
}

// tiesOf are the types that somebody sees: everybody's, then the campaign's by name.
func tiesOf(ctx context.Context, l *canon.Snapshot) ([]tie, error) {
	all := slices.Clone(ties)
	for p := (canon.Page{Limit: 1000}); ; p.Offset += p.Limit {
		cards, _, err := l.Cards(ctx, canon.Filter{Type: typeRelation}, p)
		if err != nil {
			return nil, err
		}
		for _, c := range cards {
			var t tie
			if json.Unmarshal(c.Fields, &t) == nil && wording(t.Name) != "" {
				t.Name, t.Inverse = wording(t.Name), wording(t.Inverse)
				t.Inverse = cmp.Or(t.Inverse, t.Name)
				all = append(all, t)
			}
		}
		if len(cards) < p.Limit {
			return all, nil
		}
	}
}

// meant finds a type by either of its names. turned tells that the other side's was used.
func meant(all []tie, name string) (t tie, turned bool, err error) {
	name = wording(name)
	for _, t := range all {
		switch name {
		case t.Name:
			return t, false, nil
		case t.Inverse:
			return t, !t.Symmetric, nil
		}
	}
	e := rule("type", "is no type of relationship here; relationship_types lists them, and relationship_type_create adds one")
	if near := nearest(all, name); len(near) > 0 {
		e = e.With("did_you_mean", near)
	}
	return tie{}, false, e
}

// nearest are the types whose names are spelt most like one.
func nearest(all []tie, name string) []string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	for _, t := range all {
		for _, n := range []string{t.Name, t.Inverse} {
			d := markup.Distance([]rune(name), []rune(n))
			if d <= max(2, utf8.RuneCountInString(n)/3) && !slices.ContainsFunc(found, func(x near) bool { return x.name == n }) {
				found = append(found, near{n, d})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, 0, 3)
	for _, f := range found[:min(len(found), 3)] {
		names = append(names, f.name)
	}
	return names
}

// relatedness is a relationship as one of its ends sees it.
type relatedness struct {
	ID       canon.LinkID `json:"id"`
	Type     string       `json:"type"`
	Entity   mention      `json:"entity"`
	Tone     string       `json:"tone"`
	Strength int          `json:"strength"`
	KnownTo  knownTo      `json:"known_to,omitzero" jsonschema:"For the GM: who sees the relationship, where they see both ends."`
}

// relationsOf are an entity's relationships in sight, by type and name, at most
// shownRelations, and how many there are beside.
func relationsOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (list []relatedness, more int, err error) {
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

// seenFrom puts links in the words of one of their ends, by type, then name.
func seenFrom(ctx context.Context, l *canon.Snapshot, end canon.CardID, links []canon.Link) ([]relatedness, error) {
	others := make([]canon.CardID, len(links))
	for i, k := range links {
		if others[i] = k.To; k.To == end {
			others[i] = k.From
		}
	}
	names, err := mentions(ctx, l, others)
	if err != nil {
		return nil, err
	}
	list := make([]relatedness, 0, len(links))
	for i, k := range links {
		b := bondOf(k)
		if k.To == end {
			b.Type = b.Inverse
		}
		list = append(list, relatedness{k.ID, b.Type, names[others[i]], b.Tone, b.Strength, openTo(l, k.Label)})
	}
	slices.SortFunc(list, func(a, b relatedness) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Entity.Name, b.Entity.Name), slices.Compare(a.ID[:], b.ID[:]))
	})
	return list, nil
}

// mentions are cards in sight by their ids.
func mentions(ctx context.Context, l *canon.Snapshot, ids []canon.CardID) (map[canon.CardID]mention, error) {
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

// relate plans a relationship.
func relate(ctx context.Context, p *canon.Plan, in relateIn) error {
	between, err := placeOf(ctx, p.Snapshot, in)
	if err != nil {
		return err
	}
	return bind(ctx, p, between, in.terms())
}

// place is where a relationship lies: its ends, in order, and its type.
type place struct {
	from, to canon.CardID
	tie
}

func placeOf(ctx context.Context, l *canon.Snapshot, in relateIn) (place, error) {
	a, err := entityOf(ctx, l, in.SourceID)
	if err != nil {
		return place{}, err
	}
	b, err := entityOf(ctx, l, in.TargetID)
	if err != nil {
		return place{}, err
	}
	if a.ID == b.ID {
		return place{}, rule("target_id", "is the source itself; a relationship is between two")
	}
	all, err := tiesOf(ctx, l)
	if err != nil {
		return place{}, err
	}
	t, turned, err := meant(all, in.Type)
	return between(a.ID, b.ID, t, turned), err
}

// between puts two ends in the order in which a relationship of a type has them. Of a
// symmetric one the lesser id comes first.
func between(a, b canon.CardID, t tie, turned bool) place {
	if turned || t.Symmetric && b.String() < a.String() {
		a, b = b, a
	}
	return place{a, b, t}
}

// find gives the relationship at a place, where one is in sight.
func (at place) find(ctx context.Context, l *canon.Snapshot) (canon.Link, bool, error) {
	list, _, err := l.Links(ctx, canon.LinkQuery{From: at.from, To: at.to, Kinds: []string{kindRelation}, Page: canon.Page{Limit: 1000}})
	for _, k := range list {
		if bondOf(k).Type == at.Name {
			return k, true, err
		}
	}
	return canon.Link{}, false, err
}

// terms are what a relationship says beside its type.
type terms struct {
	tone     string
	strength int
	label    access.Label
}

// bind plans a relationship between two cards in sight. Its id follows from its place, so
// that of two who make the same one the second is told.
func bind(ctx context.Context, p *canon.Plan, at place, terms terms) error {
	old, ok, err := at.find(ctx, p.Snapshot)
	if err != nil {
		return err
	}
	if ok {
		return fault.New(fault.Conflict, "they are related so already; delete that relationship first, or use another type").With("relationship_id", old.ID)
	}
	id := canon.LinkIDOf(kindRelation, at.from.String(), at.to.String(), at.Name)
	p.Rest(canon.Link{ID: id})
	attrs, err := json.Marshal(bond{at.Name, at.Inverse, at.Symmetric, terms.tone, terms.strength})
	if err != nil {
		return err
	}
	_, err = p.Link(canon.Link{ID: id, Kind: kindRelation, From: at.from, To: at.to, Attrs: attrs, Label: terms.label})
	return err
}
