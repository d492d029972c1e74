package world

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// realm is a region that a place lies in.
type realm struct {
	ID            canon.CardID `json:"id"`
	Name          string       `json:"name"`
	RealmType     string       `json:"realmType,omitempty"`
	Scope         string       `json:"scope,omitempty"`
	NarrativeTags []string     `json:"narrativeTags"`

	steps int // from the place
}

// realmFields are the fields of a Realm card.
type realmFields struct {
	RealmType     string   `json:"realmType"`
	Scope         string   `json:"scope"`
	NarrativeTags []string `json:"narrativeTags"`
}

// realms are the regions of a place by what they are.
type realms struct {
	Geographic []realm `json:"geographic"`
	Political  []realm `json:"political"`
	Weather    []realm `json:"weather"`
	Functional []realm `json:"functional"`
}

// scopes are the sizes of realms, smallest first.
var scopes = []string{"MICRO", "LOCAL", "REGIONAL", "MACRO", "CONTINENTAL", "GLOBAL"}

// realmKinds says which of the four a kind of realm is; what is not here is geographic.
var realmKinds = map[string]string{
	"political": "political", "kingdom": "political", "empire": "political", "city": "political", "district": "political", "duchy": "political", "county": "political",
	"town": "political", "ward": "political", "republic": "political", "city_state": "political", "alliance": "political",
	"weather": "weather", "weather_zone": "weather", "climate": "weather", "climate_zone": "weather",
	"functional": "functional", "trade": "functional", "trade_network": "functional", "dungeon": "functional", "quest": "functional", "military": "functional",
	"religious": "functional", "linguistic": "functional", "guild": "functional",
}

// bounds of a climb through realms.
const (
	realmDepth = 8
	realmLimit = 48
)

// realmLinks lead from a place to the realms that it is part of.
var realmLinks = []string{"within", "member_of", "on_route"}

// realmsOf are the realms that a place is part of, itself or through what it lies in:
// small scope before large, then near before far, then by name.
func (m *asOf) realmsOf(ctx context.Context, t cardAt) ([]realm, error) {
	reached, err := m.Reach(ctx, canon.ReachQuery{From: t.ID, Kinds: realmLinks, Depth: realmDepth, Limit: realmLimit, AsOf: m.seq, CardsOnly: true})
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
		if r.ID == t.ID || !r.isType(typeRealm) {
			continue
		}
		var f realmFields
		fieldsOf(r.Fields, &f)
		out = append(out, realm{ID: r.ID, Name: markup.Clean(r.Name), RealmType: f.RealmType, Scope: strings.ToUpper(f.Scope),
			NarrativeTags: append([]string{}, f.NarrativeTags...), steps: steps[r.ID]})
	}
	slices.SortStableFunc(out, func(a, b realm) int {
		return cmp.Or(cmp.Compare(scopeOrder(a.Scope), scopeOrder(b.Scope)), cmp.Compare(a.steps, b.steps), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// scopeOrder is the size of a scope; an unknown one counts as the largest.
func scopeOrder(s string) int {
	if i := slices.Index(scopes, s); i >= 0 {
		return i
	}
	return len(scopes)
}

// groupRealms puts realms under what they are.
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

// narrativeTags are those of all realms, each once, the nearest realm's first.
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
