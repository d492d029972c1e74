package archive

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func statsReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "get_card_stats",
			Asked: []string{
				"how long is an article", "number of words of a page", "count letters, sections and pictures",
				"how long is a page", "how many words has a page", "word count", "how big is the text",
				"how many pictures or links does it have", "how long would it take to read",
				"number of words of an article", "size of a page", "how long is the text",
				"how many links go in and out",
			},
			Title:    "Statistics of a card",
			Doc:      "Get the size of a card before you read it: words, characters, sections, paragraphs, links and pictures.",
			Route:    "GET /api/mcp/cards/{name}/stats",
			Target:   "name",
			Examples: []op.Example{{Title: "How long is it?", Input: `{"name": "Rent Quay"}`}},
		}, getCardStats),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "get_template",
			Asked: []string{
				"a new page of this kind look like", "starting text", "form to fill in",
				"skeleton or pattern for a new entry", "a blank page of this kind hold",
				"pattern for a fresh page", "an empty page of this kind look like", "boilerplate",
				"empty form for a new entry", "skeleton of a page of this kind",
				"starting text for a new article", "pattern to follow for such a page",
			},
			Title:    "Initial text of a new card",
			Doc:      "Get the initial text of new cards of a type: the content of the card TYPE+*type+*default.",
			Route:    "GET /api/mcp/types/{type_name}/template",
			Examples: []op.Example{{Title: "Of characters", Input: `{"type_name": "Character"}`}},
		}, getTemplate),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "get_site_context",
			Asked: []string{
				"overview of the whole wiki", "this world about", "the biggest pages and kinds",
				"how do names and secrecy work here", "introduce me to this wiki", "where should I begin",
				"this place all about", "introduction to this wiki", "overview for newcomers",
				"where do I begin here", "house rules of the wiki", "how is this place organised",
			},
			Title:    "Overview of this wiki",
			Doc:      "Get an overview before you write: the top cards, the types and tags in use, and how names and levels work here.",
			Route:    "GET /api/mcp/site-context",
			Examples: []op.Example{{Title: "The wiki", Input: `{}`}},
		}, getSiteContext),
	}
}

type statsOut struct {
	Name       string        `json:"name"`
	Type       string        `json:"type"`
	UpdatedAt  surface.Stamp `json:"updated_at"`
	Words      int           `json:"words"`
	Characters int           `json:"characters" jsonschema:"Of the content as it is stored."`
	Sections   int           `json:"sections" jsonschema:"Headings."`
	Paragraphs int           `json:"paragraphs"`
	Links      int           `json:"links" jsonschema:"To cards."`
	External   int           `json:"external_links"`
	Nests      int           `json:"nests" jsonschema:"Cards shown in place."`
	Images     int           `json:"images"`
	Children   int           `json:"children" jsonschema:"Cards directly below that you may see."`
}

func getCardStats(ctx context.Context, l *canon.Snapshot, _ *op.Call, in namedCard) (statsOut, error) {
	c, content, err := findContent(ctx, l, in.Name)
	if err != nil {
		return statsOut{}, err
	}
	_, below, err := l.Descendants(ctx, c.ID, 1, canon.Page{})
	if err != nil {
		return statsOut{}, err
	}
	lower := strings.ToLower(content)
	out := statsOut{Name: c.Name, Type: c.Type, UpdatedAt: surface.Stamp(c.UpdatedAt),
		Characters: utf8.RuneCountInString(content),
		Words:      len(strings.Fields(canon.PlainText(c.TextKind(), content))), Sections: len(headingsOf(c.TextKind(),
			content)),
		External: strings.Count(lower, "<a ") + strings.Count(content, "]("),
		Images:   strings.Count(lower, "<img") + strings.Count(content, "!["), Children: below.Count}
	out.External -= strings.Count(content, "![") // a picture in Markdown is no link
	for p := range strings.SplitSeq(content, "\n\n") {
		if strings.TrimSpace(p) != "" {
			out.Paragraphs++
		}
	}
	out.Paragraphs = max(out.Paragraphs, strings.Count(lower, "<p>")+strings.Count(lower, "<p "))
	for _, r := range canon.RefsIn(c.TextKind(), content) {
		switch {
		case r.External:
			out.External++
		case r.Kind == markup.LinkRef:
			out.Links++
		default:
			out.Nests++
		}
	}
	out.External = max(out.External, 0)
	return out, nil
}

type templateIn struct {
	Type string `json:"type_name" alias:"type,name" minlen:"1" maxlen:"255" jsonschema:"Name of the type."`
}

type templateOut struct {
	Type     string `json:"type_name"`
	Card     string `json:"template_card" jsonschema:"The card with the text; change its content to change the initial text of new cards."`
	Exists   bool   `json:"exists"`
	Content  string `json:"content"`
	CardType string `json:"card_type,omitzero"`
}

// templateName returns the name of the card that holds the initial content of new cards of a type.
func templateName(typ string) string { return markup.Join(typ, "*type", "*default") }

func getTemplate(ctx context.Context, l *canon.Snapshot, _ *op.Call, in templateIn) (templateOut, error) {
	name := templateName(in.Type)
	if err := checkNameRules(l, name); err != nil {
		return templateOut{}, err
	}
	out := templateOut{Type: markup.Clean(in.Type), Card: markup.Clean(name)}
	c, ok, err := l.Exists(ctx, name)
	if err != nil || !ok {
		return out, err
	}
	out.Card, out.Exists, out.CardType = c.Name, true, c.Type
	out.Content, err = contentOf(ctx, l, c)
	return out, err
}

// shownRoots and shownTags bound the root cards and tags in get_site_context.
const (
	shownRoots = 40
	shownTags  = 20
)

type siteRoot struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Children int    `json:"children"`
}

type siteOut struct {
	World      string     `json:"world"`
	Role       string     `json:"role" jsonschema:"Yours."`
	CardCount  int        `json:"cards" jsonschema:"That you may see."`
	Roots      []siteRoot `json:"top_cards" jsonschema:"Cards without a parent, at most 40: those changed last."`
	RootCount  int        `json:"top_card_count"`
	Types      []tag      `json:"types" jsonschema:"Types in use, and their number of cards."`
	Tags       []tag      `json:"tags" jsonschema:"The most used, at most 20."`
	Guidelines []string   `json:"guidelines"`
}

var siteGuidelines = []string{
	"A + in a name puts a card below another: Games+Hero is below Games. Case, spaces and plural endings make no difference.",
	"Links are [[Name]] or [[Name|text]]; {{Name}} shows a card in place. Write them as they are, in HTML and in Markdown.",
	"A card's tags are the items of its child +tags.",
	"A name with a part GM or AI is for game masters: X+GM is for text that players must not read, X+GM+AI for notes to an AI.",
	"Look for a card with search_cards before you create one; change a part of a long card with a patch.",
	"wanted_cards lists the names that texts link to and that have no card yet.",
}

func getSiteContext(ctx context.Context, l *canon.Snapshot, _ *op.Call, _ struct{}) (siteOut, error) {
	out := siteOut{World: markup.Clean(l.World().Title), Role: l.Grant().Role().String(), Guidelines: siteGuidelines}
	_, all, err := l.Cards(ctx, canon.Filter{}, canon.Page{})
	if err != nil {
		return out, err
	}
	out.CardCount = all.Count
	roots, total, err := l.Cards(ctx, canon.Filter{Roots: true, Sort: canon.SortUpdated}, canon.Page{Limit: shownRoots})
	if err != nil {
		return out, err
	}
	out.Roots, out.RootCount = make([]siteRoot, len(roots)), total.Count
	for i, c := range roots {
		_, below, err := l.Descendants(ctx, c.ID, 1, canon.Page{})
		if err != nil {
			return out, err
		}
		out.Roots[i] = siteRoot{c.Name, c.Type, below.Count}
	}
	tags, _, err := l.Tags(ctx, "", canon.Page{Limit: shownTags})
	if err != nil {
		return out, err
	}
	out.Tags = make([]tag, len(tags))
	for i, t := range tags {
		out.Tags[i] = tag{markup.Clean(t.Name), t.Count}
	}
	out.Types, err = typesInUse(ctx, l)
	return out, err
}

// typesInUse returns the types of visible cards with the number of their cards, most used first.
func typesInUse(ctx context.Context, l *canon.Snapshot) ([]tag, error) {
	types, err := l.Types(ctx)
	if err != nil {
		return nil, err
	}
	use, err := l.TypeUse(ctx)
	if err != nil {
		return nil, err
	}
	list := []tag{}
	for _, t := range types {
		if n := use[string(markup.KeyOf(t.Name))]; n > 0 {
			list = append(list, tag{t.Name, n})
		}
	}
	slices.SortStableFunc(list, func(a, b tag) int { return cmp.Compare(b.Count, a.Count) })
	return list, nil
}
