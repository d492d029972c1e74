package world

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// realm is a region that contains a place.
type realm struct {
	ID            canon.CardID `json:"id"`
	Name          string       `json:"name"`
	RealmType     string       `json:"realmType,omitempty"`
	Scope         string       `json:"scope,omitempty"`
	NarrativeTags []string     `json:"narrativeTags"`

	steps int // links from the place to the realm
}

// realmFields are the fields of a Realm card.
type realmFields struct {
	RealmType     string   `json:"realmType"`
	Scope         string   `json:"scope"`
	NarrativeTags []string `json:"narrativeTags"`
}

// realms groups the regions of a place by category.
type realms struct {
	Geographic []realm `json:"geographic"`
	Political  []realm `json:"political"`
	Weather    []realm `json:"weather"`
	Functional []realm `json:"functional"`
}

// scopes lists the sizes of realms, smallest first.
var scopes = []string{"MICRO", "LOCAL", "REGIONAL", "MACRO", "CONTINENTAL", "GLOBAL"}

// realmKinds maps the types of realms to the four categories. A type that is not listed is
// geographic.
var realmKinds = map[string]string{
	"political": "political", "kingdom": "political", "empire": "political", "city": "political", "district": "political",
	"duchy": "political", "county": "political",
	"town": "political", "ward": "political", "republic": "political", "city_state": "political", "alliance": "political",
	"weather": "weather", "weather_zone": "weather", "climate": "weather", "climate_zone": "weather",
	"functional": "functional", "trade": "functional", "trade_network": "functional", "dungeon": "functional",
	"quest": "functional", "military": "functional",
	"religious": "functional", "linguistic": "functional", "guild": "functional",
}

// Bounds of the search for the realms of a place.
const (
	realmDepth = 8
	realmLimit = 48
)

// realmLinks are the kinds of links from a place to the realms that it is part of.
var realmLinks = []string{"within", "member_of", "on_route"}

// realmsOf returns the realms that a place is part of, directly or through other cards. They are
// ordered by scope, small before large, then near before far, then by name.
func (m *AsOf) realmsOf(ctx context.Context, t Card) ([]realm, error) {
	reached, err := m.Reach(ctx, canon.ReachQuery{From: t.ID, Kinds: realmLinks, Depth: realmDepth, Limit: realmLimit,
		AsOf: m.Seq, CardsOnly: true})
	if err != nil {
		return nil, err
	}
	steps := map[canon.CardID]int{}
	for i, c := range reached.Cards {
		steps[c.ID] = reached.Depth[i]
	}
	all, err := m.cardsAsOf(ctx, reached.Cards)
	if err != nil {
		return nil, err
	}
	out := []realm{}
	for _, r := range all {
		if r.ID == t.ID || !r.IsType(TypeRealm) {
			continue
		}
		one := realmFromCard(r)
		one.steps = steps[r.ID]
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b realm) int {
		return cmp.Or(cmp.Compare(scopeOrder(a.Scope), scopeOrder(b.Scope)), cmp.Compare(a.steps, b.steps),
			cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

func realmFromCard(c Card) realm {
	var f realmFields
	DecodeFields(c.Fields, &f)
	return realm{ID: c.ID, Name: markup.Clean(c.Name), RealmType: f.RealmType, Scope: strings.ToUpper(f.Scope),
		NarrativeTags: append([]string{}, f.NarrativeTags...)}
}

// Bounds of the search for the realms of many places.
const (
	maxMapRealms  = 32
	maxRealmLinks = 2000 // links that are followed at each step
)

// realmsOfAll returns the realms that places are part of, directly or through other cards, small scope before large,
// then by name, and the positions in this list of the realms of each place. cut reports that some were left out.
func (m *AsOf) realmsOfAll(ctx context.Context, places []canon.CardID) (all []realm, byPlace map[canon.CardID][]int,
	cut bool, err error) {
	above, front, cut, err := m.readRealmLinks(ctx, places)
	if err != nil {
		return nil, nil, cut, err
	}
	cards, err := m.CardsByID(ctx, front)
	for _, c := range cards {
		if c.IsType(TypeRealm) {
			all = append(all, realmFromCard(c))
		}
	}
	slices.SortFunc(all, func(a, b realm) int {
		return cmp.Or(cmp.Compare(scopeOrder(a.Scope), scopeOrder(b.Scope)), cmp.Compare(a.Name, b.Name),
			bytes.Compare(a.ID[:], b.ID[:]))
	})
	if len(all) > maxMapRealms {
		all, cut = all[:maxMapRealms], true
	}
	at := map[canon.CardID]int{}
	for i, r := range all {
		at[r.ID] = i
	}
	byPlace = map[canon.CardID][]int{}
	for _, p := range places {
		for id := range reachAbove(above, p) {
			if i, listed := at[id]; listed && id != p {
				byPlace[p] = append(byPlace[p], i)
			}
		}
		slices.Sort(byPlace[p])
	}
	return all, byPlace, cut, err
}

// readRealmLinks returns for each card the cards that it is part of by a link, from some cards upwards, and all cards
// that were reached.
func (m *AsOf) readRealmLinks(ctx context.Context, from []canon.CardID) (above map[canon.CardID][]canon.CardID,
	reached []canon.CardID, cut bool, err error) {
	above = map[canon.CardID][]canon.CardID{}
	seen := map[canon.CardID]bool{}
	for n := 0; n < realmDepth && len(from) > 0; n++ {
		links, err := m.ReadLinks(ctx, canon.LinkQuery{Froms: from, Kinds: realmLinks}, maxRealmLinks+1)
		if err != nil {
			return nil, nil, false, err
		}
		if len(links) > maxRealmLinks {
			links, cut = links[:maxRealmLinks], true
		}
		from = nil
		for _, l := range links {
			above[l.From] = append(above[l.From], l.To)
			if !seen[l.To] && len(reached) < maxRealmLinks {
				seen[l.To] = true
				from, reached = append(from, l.To), append(reached, l.To)
			}
		}
	}
	return above, reached, cut, nil
}

// reachAbove returns the cards that a card is part of, directly or through others.
func reachAbove(above map[canon.CardID][]canon.CardID, from canon.CardID) map[canon.CardID]bool {
	seen := map[canon.CardID]bool{}
	for open := slices.Clone(above[from]); len(open) > 0; {
		id := open[len(open)-1]
		if open = open[:len(open)-1]; !seen[id] {
			seen[id] = true
			open = append(open, above[id]...)
		}
	}
	return seen
}

// scopeOrder returns the rank of a scope by size. An unknown scope counts as the largest.
func scopeOrder(s string) int {
	if i := slices.Index(scopes, s); i >= 0 {
		return i
	}
	return len(scopes)
}

func realmCategory(realmType string) string {
	return cmp.Or(realmKinds[strings.ToLower(strings.ReplaceAll(realmType, " ", "_"))], "geographic")
}

// groupRealms groups realms by category.
func groupRealms(all []realm) realms {
	r := realms{[]realm{}, []realm{}, []realm{}, []realm{}}
	for _, one := range all {
		list := &r.Geographic
		switch realmCategory(one.RealmType) {
		case "political":
			list = &r.Political
		case "weather":
			list = &r.Weather
		case "functional":
			list = &r.Functional
		}
		*list = append(*list, one)
	}
	return r
}

// narrativeTags returns the tags of all realms, each once, in the order of the realms.
func narrativeTags(all []realm) []string {
	tags := []string{}
	for _, r := range all {
		for _, t := range r.NarrativeTags {
			if t = markup.Clean(t); t != "" && !slices.Contains(tags, t) {
				tags = append(tags, t)
			}
		}
	}
	return tags
}
