package archive

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/surface"
)

func tagReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "get_tags",
			Asked: []string{
				"labels in use and how often", "keywords by popularity", "which labels does a page carry",
				"all categories", "most frequent marks", "under which headings is a page sorted",
				"how many pages carry a label", "top labels", "how popular is each label", "labels of an entry",
				"which topics are most used", "all keywords and how often they occur", "most popular labels",
				"topics of the wiki", "labels on one page",
			},
			Cacheable: true,
			Title:     "List tags",
			Doc:       "List the tags (labels) and the number of cards (pages) with each, most used first, or the tags of one card.",
			Route:     "GET /api/mcp/tags",
			Examples: []op.Example{
				{Title: "Tags of the wiki", Input: `{}`},
				{Title: "Tags of one card", Input: `{"name": "Oda Tarn"}`},
			},
		}, getTags),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "search_by_tags",
			Asked: []string{
				"pages that carry two labels at once", "articles with all of these keywords",
				"entries in both categories", "marked with either label",
				"entries that have every one of these labels", "anything with one label or another",
				"everything filed under a keyword", "members of a category", "who or which pages bear a label",
				"people labelled so",
			},
			Cacheable: true,
			Title:     "Find cards by several tags",
			Doc:       "Find the cards that have all of several tags, or any of them.",
			Examples:  []op.Example{{Title: "Cards with both tags", Input: `{"tags": ["history", "founder"], "match": "all"}`}},
		}, searchByTags),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "suggest_tags",
			Asked: []string{
				"which labels would fit this page", "recommend keywords for an article",
				"categories it should have", "propose labels for a page", "how should I label this",
				"keywords for an article", "how might one label it", "find a fitting category for a page",
				"missing labels of a page",
			},
			Title:    "Suggest tags for a card",
			Doc:      "Get existing tags that fit a card and that it does not have yet: those that its text mentions, and those of the cards it links to.",
			Target:   "name",
			Examples: []op.Example{{Title: "Tags that would fit", Input: `{"name": "Oda Tarn", "limit": 5}`}},
		}, suggestTags),
	}
}

// tag is a tag and the number of cards that have it.
type tag struct {
	Name  string `json:"name"`
	Count int    `json:"count" jsonschema:"Number of cards with it."`
}

type tagsIn struct {
	Name   string `json:"name,omitzero" maxlen:"1020" jsonschema:"Name of a card, to list only its own tags."`
	Prefix string `json:"prefix,omitzero" maxlen:"255" jsonschema:"Only tags that begin with this."`
	page
}

type tagsOut struct {
	Tags []tag `json:"tags"`
	paged
}

func getTags(ctx context.Context, l *canon.Snapshot, _ *op.Call, in tagsIn) (tagsOut, error) {
	if in.Name != "" {
		return tagsOfCard(ctx, l, in)
	}
	list, total, err := l.Tags(ctx, in.Prefix, in.page.toCanonPage())
	if err != nil {
		return tagsOut{}, err
	}
	out := tagsOut{Tags: make([]tag, len(list)), paged: pagedAt(in.page, total, len(list))}
	for i, t := range list {
		out.Tags[i] = tag{markup.Clean(t.Name), t.Count}
	}
	return out, nil
}

func tagsOfCard(ctx context.Context, l *canon.Snapshot, in tagsIn) (tagsOut, error) {
	c, err := findCard(ctx, l, in.Name)
	if err != nil {
		return tagsOut{}, err
	}
	own, err := ownTags(ctx, l, c)
	if err != nil {
		return tagsOut{}, err
	}
	own = slices.DeleteFunc(own, func(r canon.Ref) bool {
		return !strings.HasPrefix(markup.Fold(r.Name), markup.Fold(in.Prefix))
	})
	rows, pg := pageOf(own, in.page, false)
	out := tagsOut{Tags: make([]tag, len(rows)), paged: pg}
	for i, r := range rows {
		_, uses, err := l.Cards(ctx, canon.Filter{Tag: r.Name}, canon.Page{Limit: 1})
		if err != nil {
			return tagsOut{}, err
		}
		out.Tags[i] = tag{markup.Clean(r.Name), uses.Count}
	}
	return out, nil
}

// ownTags returns the tags of a card, each once, in order. They are the items of its visible child
// cards named tags, of which there may be one per level.
func ownTags(ctx context.Context, l *canon.Snapshot, c canon.Card) ([]canon.Ref, error) {
	lists, err := l.Homonyms(ctx, c.Key+"+tag")
	if err != nil {
		return nil, err
	}
	seen := map[markup.Key]bool{}
	var own []canon.Ref
	for _, list := range lists {
		if list.Parent != c.ID {
			continue
		}
		rows, _, err := canon.CollectUpTo(l.AllRefs(ctx, canon.RefQuery{From: list.ID, Kind: canon.RefTag}), maxRefs)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if !seen[r.Ref.Target] {
				seen[r.Ref.Target] = true
				own = append(own, r.Ref)
			}
		}
	}
	return own, nil
}

type byTagsIn struct {
	Tags  []string `json:"tags" minitems:"1" maxitems:"10" minlen:"1" maxlen:"255" jsonschema:"The tags (labels)."`
	Match string   `json:"match,omitzero" enum:"all,any" default:"all" jsonschema:"Whether a card must have all of them or any."`
	page
}

func searchByTags(ctx context.Context, l *canon.Snapshot, _ *op.Call, in byTagsIn) (cardList, error) {
	tags := map[markup.Key]string{}
	for _, t := range in.Tags {
		key := markup.KeyOf(t)
		if key == "" {
			return cardList{}, fault.BadField("tags", "a tag must contain a letter or digit")
		}
		tags[key] = t
	}
	if len(tags) == 1 {
		cards, total, err := l.Cards(ctx, canon.Filter{Tag: in.Tags[0]}, in.page.toCanonPage())
		return cardList{summariesFromCards(l, cards), pagedAt(in.page, total, len(cards))}, err
	}
	borne := map[canon.CardID]int{}
	var cards []canon.Card
	atLeast := false
	for _, t := range tags {
		bearers, more, err := canon.CollectUpTo(l.AllCards(ctx, canon.Filter{Tag: t}), maxRefs)
		if err != nil {
			return cardList{}, err
		}
		atLeast = atLeast || more
		for _, c := range bearers {
			if borne[c.ID]++; borne[c.ID] == 1 {
				cards = append(cards, c)
			}
		}
	}
	if in.Match == "all" {
		cards = slices.DeleteFunc(cards, func(c canon.Card) bool { return borne[c.ID] < len(tags) })
	}
	slices.SortFunc(cards, func(a, b canon.Card) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), slices.Compare(a.ID[:], b.ID[:]))
	})
	rows, pg := pageOf(cards, in.page, atLeast)
	return cardList{summariesFromCards(l, rows), pg}, nil
}

type suggestIn struct {
	namedCard
	Limit int `json:"limit,omitzero" default:"10" min:"1" max:"50" jsonschema:"Maximum number of tags to return."`
}

// suggestion is a tag that may fit.
type suggestion struct {
	tag
	Reason string `json:"reason"`
}

type suggestOut struct {
	Name string       `json:"name"`
	Tags []suggestion `json:"tags"`
}

// suggestFrom is the number of most used tags that are tried, and suggestLinks the number of linked
// cards whose tags are tried.
const (
	suggestFrom  = 500
	suggestLinks = 20
)

func suggestTags(ctx context.Context, l *canon.Snapshot, _ *op.Call, in suggestIn) (suggestOut, error) {
	c, content, err := findContent(ctx, l, in.Name)
	if err != nil {
		return suggestOut{}, err
	}
	own, err := ownTags(ctx, l, c)
	if err != nil {
		return suggestOut{}, err
	}
	lent, err := lentTags(ctx, l, c)
	if err != nil {
		return suggestOut{}, err
	}
	known, _, err := l.Tags(ctx, "", canon.Page{Limit: suggestFrom})
	if err != nil {
		return suggestOut{}, err
	}
	text := markup.Fold(c.Name + "\n" + canon.PlainText(c.TextKind(), content))
	list, err := rankSuggestions(ctx, known, own, text, lent, in.Limit)
	return suggestOut{c.Name, list}, err
}

// rankSuggestions picks the tags that a text mentions, most often mentioned first, then those of
// linked cards.
func rankSuggestions(ctx context.Context, known []canon.TagCount, own []canon.Ref, text string, lent map[markup.Key]int,
	limit int) ([]suggestion, error) {
	type scored struct {
		suggestion
		score int
	}
	var all []scored
	for _, t := range known {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(own, func(r canon.Ref) bool { return r.Target == t.Key }) {
			continue
		}
		s := scored{suggestion: suggestion{tag: tag{markup.Clean(t.Name), t.Count}}}
		if n := countMentions(text, t); n > 0 {
			s.score, s.Reason = 100+n, "the text mentions it"
		} else if n := lent[t.Key]; n > 0 {
			s.score, s.Reason = n, "cards that it links to have it"
		} else {
			continue
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b scored) int { return b.score - a.score })
	return slicesx.Map(all[:min(len(all), limit)], func(s scored) suggestion { return s.suggestion }), nil
}

// countMentions counts how often a folded text mentions a tag, in singular or as written.
func countMentions(text string, t canon.TagCount) int {
	find := func(q string) int {
		return len(markup.FindAll(text, q, markup.FindOptions{Mode: markup.WholeWord, Limit: 50}))
	}
	written := markup.Fold(t.Name)
	n := find(written)
	if single := strings.ReplaceAll(string(t.Key), "_", " "); single != written {
		n += find(single)
	}
	return n
}

// lentTags counts the tags of the cards that a card links to.
func lentTags(ctx context.Context, l *canon.Snapshot, c canon.Card) (map[markup.Key]int, error) {
	links, _, err := l.Refs(ctx, canon.RefQuery{From: c.ID, Kind: canon.RefLink, Page: canon.Page{Limit: suggestLinks}})
	if err != nil {
		return nil, err
	}
	lent := map[markup.Key]int{}
	for _, r := range links {
		target, ok, err := l.ByRef(ctx, r.Ref.Target)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		tags, err := ownTags(ctx, l, target)
		if err != nil {
			return nil, err
		}
		for _, t := range tags {
			lent[t.Target]++
		}
	}
	return lent, nil
}
