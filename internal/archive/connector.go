package archive

import (
	"context"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

// connectorReads returns search and fetch, with the names and shapes that ChatGPT's connectors and
// deep research expect.
func connectorReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name:  "search",
			Asked: []string{"find anything by words", "look something up", "who is", "which page tells about"},
			Title: "Search the wiki",
			Doc: "Search the whole wiki by any words, a question or a name, also misspelt or half remembered, and " +
				"get ids to read " +
				"with fetch, best first: which page tells about something; who somebody is, or who makes, owns, " +
				"guards or founded it; " +
				"people, places, things, animals, events, stories; how many, how much, what sort. " +
				"Words in double quotes must occur together; type:Character, tag:founder, level:gm and in:\"Rent " +
				"Quay\" narrow the search. " +
				"search_cards does the same with filters, pages and snippets.",
			Examples: []op.Example{{Title: "Search", Input: `{"query": "the founder's lamp"}`}},
		}, connectorSearch),
		surface.DefineRead(d.Kit, op.Spec{
			Name:  "fetch",
			Asked: []string{"full text of one page", "read the entry"},
			Title: "Fetch a page of the wiki",
			Doc: "Fetch the full text of one page that search found, by its id: everything that is written about " +
				"it, word for word. " +
				"get_card does the same by name.",
			Target:   "id",
			Examples: []op.Example{{Title: "Fetch", Input: `{"id": "01900000-0000-7000-8000-000000000000"}`}},
		}, connectorFetch),
	}
}

type connectorQuery struct {
	Query string `json:"query" minlen:"1" maxlen:"500" jsonschema:"Words to look for."`
}

type connectorHit struct {
	ID    canon.CardID `json:"id"`
	Title string       `json:"title"`
	URL   string       `json:"url"`
	Text  string       `json:"text,omitzero" jsonschema:"Part of the page, of the best hits."`
}

type connectorResults struct {
	Results []connectorHit `json:"results"`
	Note    string         `json:"note,omitzero"`
}

// connectorLimit is the highest number of hits that search returns. The best connectorTexts of them
// have a part of their text, so that a fact needs no second call.
const (
	connectorLimit = 20
	connectorTexts = 8
	connectorChars = 240 // of such a part
)

func connectorSearch(ctx context.Context, l *canon.Snapshot, c *op.Call, in connectorQuery) (connectorResults, error) {
	a, err := parseAsked(ctx, l, in.Query)
	if err != nil {
		return connectorResults{}, err
	}
	result, notes, err := searchAsked(ctx, l, a, canon.Page{Limit: connectorLimit})
	if err != nil {
		return connectorResults{}, err
	}
	out := connectorResults{Results: make([]connectorHit, len(result.Hits)), Note: strings.Join(notes, " ")}
	for i, h := range result.Hits {
		out.Results[i] = connectorHit{ID: h.Card.ID, Title: h.Card.Name, URL: addressOf(c, h.Card.Name)}
		if i >= connectorTexts {
			continue
		}
		if out.Results[i].Text, err = excerptOf(ctx, l, h.Card, result.Terms, markup.SnippetOptions{Max: connectorChars,
			Find: markup.FindOptions{Mode: markup.Substring, FoldAccents: true}}); err != nil {
			return connectorResults{}, err
		}
	}
	return out, nil
}

// addressOf returns an address to cite a card by: its HTTP address, or its resource URI if the
// server's address is not known.
func addressOf(c *op.Call, name string) string {
	if c.BaseURL == "" {
		return cardURI(name)
	}
	return c.BaseURL + cardPath(name)
}

func cardURI(name string) string { return "archive://card/" + url.PathEscape(name) }

type connectorPage struct {
	ID     string `json:"id" minlen:"1" maxlen:"1020" jsonschema:"An id from search, or a card's name."`
	Offset int    `json:"offset,omitzero" default:"0" min:"0" jsonschema:"Characters of the text to skip."`
}

type connectorMeta struct {
	Type      string        `json:"type"`
	Version   uint32        `json:"version"`
	UpdatedAt surface.Stamp `json:"updated_at"`
	Level     string        `json:"level,omitzero"`
}

type connectorText struct {
	ID       canon.CardID  `json:"id"`
	Title    string        `json:"title"`
	Text     string        `json:"text"`
	URL      string        `json:"url"`
	Metadata connectorMeta `json:"metadata"`

	from int
}

// Cut shortens the text.
func (o connectorText) Cut(budget int) (any, map[string]any, bool) {
	part, end, cut := surface.CutText(o.Text, o.from, budget)
	o.Text = part
	return o, map[string]any{"offset": end}, cut
}

func connectorFetch(ctx context.Context, l *canon.Snapshot, c *op.Call, in connectorPage) (connectorText, error) {
	name := in.ID
	if uuid.Validate(strings.TrimSpace(name)) == nil {
		name = "~" + strings.TrimSpace(name)
	}
	found, err := resolveName(ctx, l, name)
	if err != nil {
		return connectorText{}, err
	}
	card := found.card
	text, err := renderMarkdown(ctx, l, card)
	if err != nil {
		return connectorText{}, err
	}
	part, _, _ := surface.TextPart(text, in.Offset, len(text))
	s := summaryFromCard(l, card)
	return connectorText{ID: card.ID, Title: card.Name, Text: markup.Clean(part), URL: addressOf(c, card.Name),
		from:     in.Offset,
		Metadata: connectorMeta{s.Type, s.Version, s.UpdatedAt, s.Level}}, nil
}
