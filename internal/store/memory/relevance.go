package memory

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// nearEnough is the least likeness of a name to a whole query by relevance.
const nearEnough = 0.35

// searchRelevant answers a query by relevance. A card's score is the number of words that it has,
// and the likeness of its name. Words of three letters and fewer count only without longer ones.
func (r reader) searchRelevant(s canon.Visibility, q canon.SearchQuery, p canon.Page) canon.SearchResult {
	out := canon.SearchResult{Ranked: true}
	asked := relevantWords(q.Q)
	if len(asked) == 0 {
		return out
	}
	tags := r.tagNames(s.World)
	conditions := make([]func(string) bool, len(asked))
	tokens := r.visibleTokens(s, tags)
	for i, word := range asked {
		conditions[i] = hasStemOf(q.Language, word)
		if !slices.ContainsFunc(tokens, conditions[i]) {
			by := alikeWords(word, tokens)
			out.Mended = append(out.Mended, canon.Mending{Word: word, By: by})
			conditions[i] = func(t string) bool { return slices.Contains(by, t) }
			if slices.Equal(by, []string{word + "*"}) {
				conditions[i] = beginsWith(word)
			}
		} else {
			out.Terms = append(out.Terms, strings.TrimSuffix(word, "s"))
		}
	}
	like := canon.LikenessTo(q.Q)
	var hits []match
	for _, c := range r.filterCards(s, q.Filter) {
		d, ok := r.s.docs.get(cardKey{s.World, c.ID})
		if !ok || !s.View.Sees(d.label) || q.Level != 0 && c.Label.Level != q.Level {
			continue
		}
		text := searchedTokens(d, c, tags[c.ID])
		m := match{Hit: canon.Hit{Card: c, Names: c.Names()}, named: s.View.Level < d.label.Level}
		for _, has := range conditions {
			if slices.ContainsFunc(text, has) {
				m.Score++
			}
		}
		if likeness := like.OfCard(c); likeness >= nearEnough && !m.named {
			m.Score += likeness
		}
		if m.Score > 0 {
			hits = append(hits, m)
		}
	}
	for i, m := range hits {
		own := splitTokens(markup.Tag(m.Card.Name))
		isSide := !slices.ContainsFunc(conditions,
			func(has func(string) bool) bool { return slices.ContainsFunc(own, has) })
		if isSide && slices.ContainsFunc(hits, func(o match) bool { return o.Card.ID == m.Card.Parent }) {
			hits[i].Score *= 0.3
		}
	}
	orderHits(hits, canon.SortRank)
	cut, total := cutPage(hits, p)
	out.Total = total
	for _, h := range cut {
		out.Hits = append(out.Hits, h.Hit)
	}
	return out
}

// searchedTokens returns the tokens of a card that a search by relevance finds. The word of an
// attribute with a number is one too.
func searchedTokens(d doc, c canon.Card, tags []string) []string {
	tokens := splitTokens(strings.Join(append(tags, d.Name, d.Text, canon.FieldText(c.Fields),
		canon.AttributeText(c.Type, c.Fields)), "\n"))
	for _, t := range tokens {
		if word, _, ok := strings.Cut(t, canon.AttributePair("", "")); ok {
			tokens = append(tokens, word)
		}
	}
	return tokens
}

func relevantWords(text string) []string {
	var long, short []string
	for _, t := range splitTokens(text) {
		if len(t) > 3 {
			long = append(long, t)
		} else {
			short = append(short, t)
		}
	}
	if len(long) == 0 {
		return short
	}
	return long
}

// visibleTokens returns all tokens of the cards that everyone at the caller's level sees.
func (r reader) visibleTokens(s canon.Visibility, tags map[canon.CardID][]string) (tokens []string) {
	for _, c := range r.listedCards(s) {
		if d, ok := r.s.docs.get(cardKey{s.World, c.ID}); ok && s.View.Level >= d.label.Level {
			tokens = append(tokens, searchedTokens(d, c, tags[c.ID])...)
		}
	}
	return tokens
}

// alikeWords returns the tokens that are searched instead of an unknown word: as a prefix with a
// '*', else those with the fewest wrong letters, in their order.
func alikeWords(word string, tokens []string) (by []string) {
	if slices.ContainsFunc(tokens, func(t string) bool { return strings.HasPrefix(t, word) }) {
		return []string{word + "*"}
	}
	least := 1 + len([]rune(word))/8
	for _, t := range tokens {
		slips := markup.Slips([]rune(word), []rune(t), least)
		if slips < least {
			least, by = slips, nil
		}
		if slips == least && len([]rune(word)) >= 4 && !slices.Contains(by, t) {
			by = append(by, t)
		}
	}
	slices.SortFunc(by, cmp.Compare)
	return by[:min(len(by), 3)]
}
