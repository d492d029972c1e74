package storetest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// askRandom runs one random query through a random view.
func (m *model) askRandom() {
	s := m.pickVisibility()
	if m.rng.IntN(4) == 0 {
		m.askSearch(s)
		return
	}
	what, ask := pickOne(m, m.randomCardQuery, m.randomRowQuery, m.randomOtherQuery)(s)
	m.compareAnswers(fmt.Sprintf("%s through %+v", what, s.View), ask)
}

// queryFunc runs a query and returns its result.
type queryFunc = func(canon.Reader) (any, error)

// withTotal is a result that has a total.
type withTotal struct {
	Rows  any
	Total canon.Total
}

func (m *model) pickPage() canon.Page {
	if m.chance(40) {
		return everything
	}
	return canon.Page{Limit: 1 + m.rng.IntN(10), Offset: m.rng.IntN(20)}
}

// pickCardID returns the id of a card that may exist.
func (m *model) pickCardID() canon.CardID { return CardID(1 + m.rng.IntN(m.ids+2)) }

// pickName returns a card name that may exist.
func (m *model) pickName() string {
	name := pickOne(m, modelParts...)
	for m.chance(40) {
		name += "+" + pickOne(m, modelParts...)
	}
	return name
}

func (m *model) randomFilter() canon.Filter {
	f := canon.Filter{Sort: pickOne(m, "", canon.SortName, canon.SortUpdated, canon.SortCreated, canon.SortField)}
	set := func(percent int, do func()) {
		if m.chance(percent) {
			do()
		}
	}
	set(15, func() { f.NameContains = pickOne(m, "hall", "E", "ete", "+", "b", "50%", "_", "żółw", "straße") })
	set(10, func() { f.NameStarts = pickOne(m, "hall", "E", "ete", "x+", "b", "50%", "_", "żół") })
	set(10, func() { f.CreatedSince = Time(m.rng.IntN(int(m.seq)/4 + 1)) })
	set(10, func() { f.CreatedBefore = Time(m.rng.IntN(int(m.seq)/4 + 1)) })
	set(10, func() { f.Filled = true })
	set(15, func() { f.Prefix = markup.KeyOf(m.pickName()) })
	set(10, func() { f.Below = markup.KeyOf(m.pickName()) })
	set(15, func() { f.NotName = pickOne(m, "*+GM*", "Hall*", "*moot", "?x", "x1", "*") })
	set(15, func() { f.Type = pickOne(m, "Rich Text", "lore", "places", "none") })
	set(10, func() { f.Tag = pickOne(m, modelParts...) })
	set(10, func() { f.UpdatedSince = Time(m.rng.IntN(int(m.seq)/4 + 1)) })
	set(10, func() { f.UpdatedBefore = Time(m.rng.IntN(int(m.seq)/4 + 1)) })
	set(10, func() { f.Types = pickOne(m, []string{"Lore"}, []string{"places", "rich text", "Place"}) })
	set(10, func() { f.Coded = true })
	set(10, func() { f.Level = pickOne(m, access.LevelUser, access.LevelGM, access.LevelAdmin) })
	set(10, func() { n := int64(m.rng.IntN(5) - 3); f.SortFrom = &n })
	set(10, func() { n := int64(m.rng.IntN(9) - 3); f.SortTo = &n })
	set(10, func() { f.Parent = m.pickCardID() })
	set(10, func() { f.Roots = true })
	set(20, func() { f.TagLists = f.NameContains == "" && f.NameStarts == "" && f.Tag == "" })
	return f
}

// openCards returns the cards of a query, and for each card its body and its number of children:
// through the same view, and as all players see them.
func openCards(ctx context.Context, r canon.Reader, s canon.Visibility, q canon.CardQuery) (any, error) {
	all, err := r.FindCards(ctx, s, q)
	if err != nil {
		return nil, err
	}
	found := []any{nonNil(all)}
	for _, c := range all {
		body, _, err := r.Body(ctx, s.World, c.Content)
		if err != nil {
			return nil, err
		}
		found = append(found, string(body))
		for _, visible := range []canon.Visibility{s, {World: s.World, View: access.View{Level: access.LevelUser}}} {
			_, total, err := r.Descendants(ctx, visible, c.ID, 1, canon.Page{})
			if err != nil {
				return nil, err
			}
			found = append(found, total)
		}
	}
	return found, nil
}

func (m *model) randomCardQuery(s canon.Visibility) (string, queryFunc) {
	ctx, p, id, key := m.t.Context(), m.pickPage(), m.pickCardID(), markup.KeyOf(m.pickName())
	cards := func(all []canon.Card, n canon.Total, err error) (any, error) { return withTotal{nonNil(all), n}, err }
	switch m.rng.IntN(12) {
	case 9:
		asked := []canon.CardID{id, m.pickCardID(), CardID(1), id}
		return fmt.Sprintf("FindCards by IDs %v", asked), func(r canon.Reader) (any, error) {
			all, err := r.FindCards(ctx, s, canon.CardQuery{IDs: asked})
			return nonNil(all), err
		}
	case 10:
		alias := pickOne(m, "Old Hall", "old halls", "ete bis", "Ferryman", "nobody")
		return "FindCards by Alias " + alias, func(r canon.Reader) (any, error) {
			all, err := r.FindCards(ctx, s, canon.CardQuery{Alias: markup.KeyOf(alias)})
			return nonNil(all), err
		}
	case 11:
		text, f, n := pickOne(m, "hall", "Old Hal", "ferymen", "ete bs", "Marsh Mot", "bell", "日本", "x", m.pickName()),
			m.randomFilter(), 1+m.rng.IntN(8)
		return fmt.Sprintf("NearCards %q, %+v, %d", text, f, n), func(r canon.Reader) (any, error) {
			all, err := r.NearCards(ctx, s, text, f, n)
			return nonNil(all), err
		}
	case 0:
		q := canon.CardQuery{ID: id, Prefetch: m.rng.IntN(2) == 0}
		return fmt.Sprintf("FindCards by ID %v, prefetch %v", id, q.Prefetch), func(r canon.Reader) (any, error) {
			return openCards(ctx, r, s, q)
		}
	case 1:
		q := canon.CardQuery{Key: key, Prefetch: m.rng.IntN(2) == 0}
		return fmt.Sprintf("FindCards by Key %q, prefetch %v", key, q.Prefetch), func(r canon.Reader) (any, error) {
			return openCards(ctx, r, s, q)
		}
	case 2:
		code := pickOne(m, "one", "two", "three", "four")
		return "FindCards by Codename " + code, func(r canon.Reader) (any, error) {
			c, ok, err := canon.First(r.FindCards(ctx, s, canon.CardQuery{Codename: code}))
			return []any{c, ok}, err
		}
	case 3:
		return fmt.Sprintf("FindCards by OldKey %q", key), func(r canon.Reader) (any, error) {
			all, err := r.FindCards(ctx, s, canon.CardQuery{OldKey: key})
			return nonNil(all), err
		}
	case 4:
		depth := 1 + m.rng.IntN(4)
		return fmt.Sprintf("Descendants of %v to %d, %+v", id, depth, p), func(r canon.Reader) (any, error) {
			return cards(r.Descendants(ctx, s, id, depth, p))
		}
	case 5:
		return fmt.Sprintf("Trash %+v", p), func(r canon.Reader) (any, error) { return cards(r.Trash(ctx, s, p)) }
	case 6:
		return fmt.Sprintf("FindCards by TrashRoot %v", id), func(r canon.Reader) (any, error) {
			all, err := r.FindCards(ctx, s, canon.CardQuery{TrashRoot: id})
			return nonNil(all), err
		}
	default:
		f := m.randomFilter()
		return fmt.Sprintf("Cards %+v, %+v", f, p), func(r canon.Reader) (any, error) { return cards(r.Cards(ctx, s, f, p)) }
	}
}

func (m *model) randomRowQuery(s canon.Visibility) (string, queryFunc) {
	ctx, p, id := m.t.Context(), m.pickPage(), m.pickCardID()
	switch m.rng.IntN(12) {
	case 10:
		q := canon.ReachQuery{From: id, Kinds: pickOne(m, nil, nil, []string{"at", "exit"}), Both: m.chance(50),
			Depth: m.rng.IntN(5), Limit: 1 + m.rng.IntN(20),
			AsOf: pickOne(m, 0, canon.Seq(1+m.rng.IntN(int(m.seq)+1)))}
		return fmt.Sprintf("Reach %+v", q), func(r canon.Reader) (any, error) {
			got, err := r.Reach(ctx, s, q)
			return []any{nonNil(got.Cards), nonNil(got.Depth), nonNil(got.Links), got.Cut}, err
		}
	case 11:
		kind, attr := pickOne(m, "at", "at", "exit"), pickOne(m, "clock", "clock", "n", "a")
		return fmt.Sprintf("LinkMax %s %s", kind, attr), func(r canon.Reader) (any, error) {
			n, ok, err := r.LinkMax(ctx, s, kind, attr)
			return []any{n, ok}, err
		}
	case 8:
		q := canon.EventQuery{Types: pickOne(m, nil, nil, []string{"moved"}, []string{"said", "moved"}),
			Scopes: pickOne(m, nil, []string{""}, []string{"place:1", "place:2"}),
			Key:    pickOne(m, "", "", "a"), After: canon.Seq(m.rng.IntN(40)),
			AsOf:   pickOne(m, 0, canon.Seq(m.rng.IntN(60))),
			Oldest: m.chance(50), Page: p}
		return fmt.Sprintf("Events %+v", q), func(r canon.Reader) (any, error) {
			all, total, err := r.Events(ctx, s, q)
			return withTotal{nonNil(all), total}, err
		}
	case 9:
		at, moment := canon.Seq(1+m.rng.IntN(int(m.seq)+1)), Time(m.rng.IntN(40))
		return fmt.Sprintf("CardsAt %d of %v", at, id), func(r canon.Reader) (any, error) {
			all, err := r.CardsAt(ctx, s, []canon.CardID{id, CardID(1), id}, at)
			if err != nil {
				return nil, err
			}
			seq, err := r.SeqAt(ctx, s.World, moment)
			return []any{nonNil(all), seq}, err
		}
	case 0:
		return fmt.Sprintf("Versions of %v, %+v", id, p), func(r canon.Reader) (any, error) {
			all, total, err := r.Versions(ctx, s, id, p)
			return withTotal{nonNil(all), total}, err
		}
	case 1:
		n := uint32(m.rng.IntN(6))
		return fmt.Sprintf("VersionByCount %d of %v", n, id), func(r canon.Reader) (any, error) {
			v, ok, err := r.VersionByCount(ctx, s, id, n)
			return []any{v, ok}, err
		}
	case 2:
		q := canon.FeedQuery{Page: p, Type: pickOne(m, "", "", "lore"), Author: pickOne(m, access.Subject(""), "", "bob")}
		switch int(m.seq) % 4 {
		case 0:
			q.Card = id
		case 1:
			q.Trash = true
		}
		if m.chance(30) {
			q.Since = Time(m.rng.IntN(int(m.seq)/4 + 1))
		}
		if m.chance(30) {
			q.Before = Time(m.rng.IntN(int(m.seq)/4 + 1))
		}
		return fmt.Sprintf("Feed %+v", q), func(r canon.Reader) (any, error) {
			all, total, err := r.Feed(ctx, s, q)
			return withTotal{nonNil(all), total}, err
		}
	case 3:
		q := canon.RefQuery{Target: markup.KeyOf(pickOne(m, modelParts...)), Kind: pickOne(m, 0, link, nest, tag), Page: p}
		if m.chance(50) {
			q.From, q.Target = id, ""
		}
		return fmt.Sprintf("Refs %+v", q), func(r canon.Reader) (any, error) {
			all, total, err := r.Refs(ctx, s, q)
			return withTotal{nonNil(all), total}, err
		}
	case 4:
		q := canon.LinkQuery{Kinds: pickOne(m, nil, nil, []string{"at"}, []string{"exit", "within"}),
			AsOf: pickOne(m, 0, canon.Seq(1+m.rng.IntN(int(m.seq)+1))), Page: p}
		if m.chance(30) {
			q.From = id
		}
		if m.chance(30) {
			q.To = m.pickCardID()
		}
		if m.chance(20) {
			q.Froms = []canon.CardID{m.pickCardID(), m.pickCardID(), m.pickCardID(), id}
		}
		return fmt.Sprintf("Links %+v", q), func(r canon.Reader) (any, error) {
			all, total, err := r.Links(ctx, s, q)
			return withTotal{nonNil(all), total}, err
		}
	case 5:
		q := canon.LayerQuery{Card: id, Active: m.chance(50), Tick: int64(m.rng.IntN(30)),
			AsOf: pickOne(m, 0, canon.Seq(1+m.rng.IntN(int(m.seq)+1)))}
		if q.Tick%3 == 0 {
			q.Card, q.Cards = canon.CardID{}, []canon.CardID{CardID(1 + int(q.Tick)), id}
		}
		return fmt.Sprintf("Layers %+v", q), func(r canon.Reader) (any, error) {
			all, err := r.Layers(ctx, s, q)
			return nonNil(all), err
		}
	case 6:
		n, at := 1+m.rng.IntN(m.ids+2), pickOne(m, 0, canon.Seq(1+m.rng.IntN(int(m.seq)+1)))
		links, layers := []canon.LinkID{LinkID(n)}, []canon.LayerID{LayerID(n)}
		if m.chance(30) {
			links, layers = append(links, LinkID(n+1)), append(layers, LayerID(n+1))
		}
		return fmt.Sprintf("a link and a layer of id %d, at %d", n, at), func(r canon.Reader) (any, error) {
			l, total, err := r.Links(ctx, s, canon.LinkQuery{IDs: links, AsOf: at, Page: p})
			if err != nil {
				return nil, err
			}
			y, err := r.Layers(ctx, s, canon.LayerQuery{IDs: layers, AsOf: at})
			return []any{nonNil(l), total, nonNil(y)}, err
		}
	default:
		return fmt.Sprintf("Wanted %+v", p), func(r canon.Reader) (any, error) {
			all, total, err := r.Wanted(ctx, s, p)
			return withTotal{nonNil(all), total}, err
		}
	}
}

func (m *model) randomOtherQuery(s canon.Visibility) (string, queryFunc) {
	ctx, p := m.t.Context(), m.pickPage()
	switch m.rng.IntN(6) {
	case 0:
		prefix := pickOne(m, "", "h", "ete", "O")
		return fmt.Sprintf("Tags %q, %+v", prefix, p), func(r canon.Reader) (any, error) {
			all, total, err := r.Tags(ctx, s, prefix, p)
			return withTotal{nonNil(all), total}, err
		}
	case 1:
		return "TypeUse", func(r canon.Reader) (any, error) { return r.TypeUse(ctx, s) }
	case 2:
		prefix, n := pickOne(m, "", "h", "ete", "hall+", "50%", "żó", "日"), 1+m.rng.IntN(20)
		return fmt.Sprintf("CompleteNames %q, %d", prefix, n), func(r canon.Reader) (any, error) {
			all, err := r.CompleteNames(ctx, s, prefix, n)
			return nonNil(all), err
		}
	case 3:
		hash := HashOf(pickOne(m, modelWords...))
		return "Body", func(r canon.Reader) (any, error) {
			b, ok, err := r.Body(ctx, s.World, hash)
			return []any{string(b), ok}, err
		}
	case 4:
		return "worlds and members", func(r canon.Reader) (any, error) {
			worlds, err := r.Worlds(ctx, canon.WorldQuery{All: true})
			if err != nil {
				return nil, err
			}
			members, err := r.Members(ctx, canon.MemberQuery{World: s.World})
			if err != nil {
				return nil, err
			}
			memberships, err := r.Members(ctx, canon.MemberQuery{Subject: "bob"})
			return []any{nonNil(worlds), nonNil(members), nonNil(memberships)}, err
		}
	default:
		id, name := pickOne(m, canon.StreamID("a"), "b", "c"), m.pickName()
		return "Head and Repeat; NearNames in sight", func(r canon.Reader) (any, error) {
			head, err := r.Head(ctx, id)
			if err != nil {
				return nil, err
			}
			repeat, ok, err := r.Repeat(ctx, "k", string(id))
			if err != nil {
				return nil, err
			}
			strays, err := m.wrongNearNames(r, s, name)
			return []any{head, repeat, ok, strays}, err
		}
	}
}

// wrongNearNames returns those results of NearNames that break a rule. There should be none.
func (m *model) wrongNearNames(r canon.Reader, s canon.Visibility, name string) (out []string, err error) {
	near, err := r.NearNames(m.t.Context(), s, name, 5)
	if err != nil {
		return nil, err
	}
	cards, _, err := r.Cards(m.t.Context(), s, canon.Filter{}, everything)
	for i, n := range near {
		if i >= 5 || slices.Contains(near[:i], n) || !slices.Contains(cardNames(cards), n) {
			out = append(out, n)
		}
	}
	return out, err
}

// askSearch compares the hits of a search in both stores, and checks the order of each store's
// result.
func (m *model) askSearch(s canon.Visibility) {
	q := canon.SearchQuery{Mode: pickOne(m, word, part, phrase, stem), InName: m.chance(60), InContent: m.chance(70),
		InFields: m.chance(30), CaseSensitive: m.chance(15), Language: pickOne(m, "en", "de", "")}
	for i := range 1 + m.rng.IntN(3) {
		if i > 0 {
			q.Q += " "
		}
		q.Q += m.pickSearchWord(q.Mode)
	}
	if m.chance(30) {
		q.Filter = m.randomFilter()
	}
	what := fmt.Sprintf("Search %+v through %+v", q, s.View)
	ask := func(r canon.Reader) (any, error) {
		res, err := r.Search(m.t.Context(), s, q, everything)
		if err != nil {
			return nil, err
		}
		if why := findDisorder(s, q, res); why != "" {
			return nil, fmt.Errorf("%s: %q", why, hitNames(res))
		}
		p := canon.Page{Limit: 3, Offset: int(m.seq) % 5}
		cut, err := r.Search(m.t.Context(), s, q, p)
		want := res.Hits[min(p.Offset, len(res.Hits)):min(p.Offset+p.Limit, len(res.Hits))]
		if err == nil && (!slices.Equal(hitNames(cut), hitNames(canon.SearchResult{Hits: want})) || cut.Total != res.Total) {
			err = fmt.Errorf("page %+v is %q of %+v, of all %q", p, hitNames(cut), cut.Total, hitNames(res))
		}
		if err != nil {
			return nil, err
		}
		short := q
		short.Listed = true
		list, err := r.Search(m.t.Context(), s, short, p)
		if got, want := listOf(list.Hits), listOf(want); err == nil && !reflect.DeepEqual(got, want) {
			err = fmt.Errorf("as listed %+v, as read %+v", got, want)
		}
		cards := []canon.Card{}
		for _, h := range res.Hits {
			cards = append(cards, h.Card)
			if !slices.Equal(h.Names, h.Card.Names()) {
				return nil, fmt.Errorf("the names are %q, those of the card %q", h.Names, h.Card.Names())
			}
		}
		if isRankSort(q) { // each store computes relevance in its own way
			slices.SortFunc(cards, func(a, b canon.Card) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
		}
		return withTotal{cards, res.Total}, err
	}
	m.compareAnswers(what, ask)
}

// listOf reduces hits to the data that a list shows.
func listOf(hits []canon.Hit) (list []canon.Hit) {
	for _, h := range hits {
		c := h.Card
		list = append(list, canon.Hit{Names: h.Names, Card: canon.Card{
			World: c.World, ID: c.ID, Parent: c.Parent, Key: c.Key, Name: c.Name, Type: c.Type, Format: c.Format, Content: c.Content, Size: c.Size,
			Length: c.Length, UpdatedAt: c.UpdatedAt, CreatedAt: c.CreatedAt, Counts: c.Counts,
			Label: access.NewLabel(c.Label.Level),
		}})
	}
	return list
}

// pickSearchWord returns a word to search for: a whole word, or a piece of a word for that mode.
func (m *model) pickSearchWord(mode canon.MatchMode) string {
	w := pickOne(m, modelWords...)
	if m.chance(30) {
		w = strings.ToUpper(w)
	}
	letters := []rune(w)
	switch {
	case mode == part && len(letters) > 3:
		from := m.rng.IntN(len(letters) - 1)
		return string(letters[from : from+1+m.rng.IntN(len(letters)-from)])
	case mode == word && m.chance(20):
		return string(letters[:1+m.rng.IntN(len(letters))]) + "*"
	}
	return w
}

func isRankSort(q canon.SearchQuery) bool {
	return q.Filter.Sort == "" || q.Filter.Sort == canon.SortRank
}

// findDisorder describes how a result breaks the rules of its order. It returns "" if it does not.
func findDisorder(s canon.Visibility, q canon.SearchQuery, res canon.SearchResult) string {
	named := func(h canon.Hit) bool { return s.View.Level < h.Card.Label.Level }
	for i, h := range res.Hits {
		scored := isRankSort(q) && res.Ranked && !named(h)
		switch {
		case res.Ranked && !isRankSort(q):
			return "ranked, though sorted otherwise"
		case scored != (h.Score > 0):
			return fmt.Sprintf("score %v", h.Score)
		case i == 0 || !isRankSort(q):
		case named(res.Hits[i-1]) && !named(h):
			return "seen only by being named before others"
		case named(res.Hits[i-1]) && (res.Hits[i-1].Card.Key > h.Card.Key):
			return "seen only by being named, not by key"
		case scored && h.Score > res.Hits[i-1].Score:
			return "scores rise"
		}
	}
	return ""
}
