package world

import (
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
		var f realmFields
		DecodeFields(r.Fields, &f)
		out = append(out, realm{ID: r.ID, Name: markup.Clean(r.Name), RealmType: f.RealmType, Scope: strings.ToUpper(f.Scope),
			NarrativeTags: append([]string{}, f.NarrativeTags...), steps: steps[r.ID]})
	}
	slices.SortStableFunc(out, func(a, b realm) int {
		return cmp.Or(cmp.Compare(scopeOrder(a.Scope), scopeOrder(b.Scope)), cmp.Compare(a.steps, b.steps),
			cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// scopeOrder returns the rank of a scope by size. An unknown scope counts as the largest.
func scopeOrder(s string) int {
	if i := slices.Index(scopes, s); i >= 0 {
		return i
	}
	return len(scopes)
}

// groupRealms groups realms by category.
func groupRealms(all []realm) realms {
	r := realms{[]realm{}, []realm{}, []realm{}, []realm{}}
	for _, one := range all {
		list := &r.Geographic
		switch realmKinds[strings.ToLower(strings.ReplaceAll(one.RealmType, " ", "_"))] {
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
