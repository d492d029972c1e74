package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func cardReads(d *deps) []*op.Operation {
	return []*op.Operation{surface.DefineRead(d.Kit, op.Spec{
		Name: "get_card",
		Asked: []string{
			"read the whole page", "show me an article's text, fields and kind", "written about it",
			"open the entry", "tell me all about a page", "its text word for word", "the entry say",
			"read it out in full", "give me the article", "contents of a page", "open an article and read it",
			"let me read the entry", "the whole page by its title", "words of a note",
		},
		Cacheable: true,
		Title:     "Read a card",
		Doc: "Read one card when you know its name: content, type, fields, links and version. " +
			"Over MCP, long content is returned in parts: next is the call for the next part; full returns all of it. Send etag as if_match when you write the whole content. rendered returns HTML with nested cards shown in place; " +
			"with_children adds the names of the cards below it. A card is also found by a name that it had before a rename.",
		Route:  "GET /api/mcp/cards/{name}",
		Target: "name",
		Examples: []op.Example{
			{Title: "Read a card", Input: `{"name": "Rent Quay"}`},
			{Title: "As a reader sees it, with the names of its children",
				Input: `{"name": "The Kept Light", "rendered": true, "with_children": true}`},
			{Title: "The next part of a long card", Input: `{"name": "Annals of the Lease", "content_offset": 8000}`},
		},
	}, d.getCard)}
}

type getCardIn struct {
	namedCard
	WithChildren     bool   `json:"with_children,omitzero" jsonschema:"Add the cards directly below: names, types and ids."`
	Rendered         bool   `json:"rendered,omitzero" jsonschema:"Give content as safe HTML, with nested cards shown in place. For game masters, hidden parts are elements with data-hidden: user, gm or admin, the lowest level that reads them."`
	Format           string `json:"format,omitzero" enum:"html,markdown" jsonschema:"Form of content; default the card's text_format, over REST html."`
	MaxContentLength int    `json:"max_content_length,omitzero" min:"1" max:"1048576" jsonschema:"Maximum number of characters of content to return; default 8000 over MCP, otherwise all."`
	ContentOffset    int    `json:"content_offset,omitzero" default:"0" min:"0" jsonschema:"Characters of content to skip."`
	Full             bool   `json:"full,omitzero" jsonschema:"Return all content from content_offset on; max_content_length is ignored."`
}

// fullCard is a card with all details.
type fullCard struct {
	Truncated bool              `json:"truncated,omitzero" jsonschema:"There is more content; next is the call that returns it."`
	Next      *surface.NextCall `json:"next,omitzero"`
	summary
	ETag       op.ReadTag      `json:"etag,omitzero" jsonschema:"Send it as if_match with a write. A tag that begins with partial belongs to content that was cut or rendered; a write of the whole content refuses it."`
	TextFormat string          `json:"text_format,omitzero" jsonschema:"Form in which the text is stored: html or markdown."`
	Format     string          `json:"format,omitzero" jsonschema:"Form of content, if it is not text_format."`
	Content    string          `json:"content"`
	Fields     json.RawMessage `json:"fields"`
	Codename   string          `json:"codename"`
	CreatedAt  surface.Stamp   `json:"created_at"`
	Links      []string        `json:"links" jsonschema:"Names that the content links to, at most 100."`
	MoreLinks  int             `json:"more_links,omitzero" jsonschema:"Links left out; get_relationships lists them all."`
	ChildCount int             `json:"child_count" jsonschema:"Cards directly below that you may see."`
	Children   []childName     `json:"children,omitzero"`
	Rendered   bool            `json:"rendered,omitzero" jsonschema:"content is the rendered form, not the stored one."`

	ContentOffset int       `json:"content_offset,omitzero"`
	RenamedFrom   string    `json:"renamed_from,omitzero" jsonschema:"The requested name, which the card had before a rename."`
	Homonyms      []summary `json:"homonyms,omitzero" jsonschema:"Other cards of this name at other levels; request them as ~ID."`

	Hidden []surface.HiddenPart `json:"hidden,omitzero" jsonschema:"For game masters: parts of content that players do not read."`

	goOn func(offset int) *surface.NextCall
	part func() op.ReadTag // returns the tag of a truncated answer
	url  string            // REST address of the card
}

// childName names a card below another.
type childName struct {
	Name string       `json:"name"`
	Type string       `json:"type"`
	ID   canon.CardID `json:"id"`
}

// Cut shortens the content.
func (o fullCard) Cut(budget int) (any, map[string]any, bool) {
	rest := o
	rest.Content = ""
	b, err := json.Marshal(rest)
	if err != nil {
		return o, nil, false
	}
	part, end, cut := surface.CutText(o.Content, o.ContentOffset, budget-len(b))
	if !cut {
		return o, nil, false
	}
	o.Content, o.Truncated, o.Next, o.ETag = part, true, o.goOn(end), o.part()
	return o, o.Next.Arguments, true
}

func (d *deps) getCard(ctx context.Context, l *canon.Snapshot, c *op.Call, in getCardIn) (fullCard, error) {
	s, err := resolveName(ctx, l.Prefetching(), in.Name)
	if err != nil {
		return fullCard{}, err
	}
	content, err := contentOf(ctx, l, s.card)
	if err != nil {
		return fullCard{}, err
	}
	fields, err := l.Fields(ctx, s.card)
	if err != nil {
		return fullCard{}, err
	}
	out := fullCard{summary: summaryFromCard(l, s.card), Fields: fieldsOf(fields),
		Codename:  s.card.Codename,
		CreatedAt: surface.Stamp(s.card.CreatedAt), RenamedFrom: s.renamedFrom, Rendered: in.Rendered,
		url: c.BaseURL + cardPath(s.card.Name), TextFormat: formName(s.card.TextKind())}
	if len(s.others) > 0 {
		out.Homonyms = summariesFromCards(l, s.others)
	}
	if out.Hidden, err = surface.HiddenParts(ctx, l, s.card); err != nil {
		return fullCard{}, err
	}
	if len(out.Hidden) > 0 {
		out.ContentLength = utf8.RuneCountInString(content)
	}
	out.Links, out.MoreLinks = linkNames(s.card, content)
	if err := addChildren(ctx, l, s.card, in.WithChildren, &out); err != nil {
		return fullCard{}, err
	}
	if in.Rendered {
		content, err = renderApart(ctx, l, s.card)
	} else {
		content, err = d.otherForm(ctx, c, s.card, content, in.Format, &out)
	}
	if err != nil {
		return fullCard{}, err
	}
	out.goOn = func(offset int) *surface.NextCall { return surface.CallOn(l, "get_card", in.nextArgs(offset)) }
	held, isTold, err := heldText(ctx, l, s.card)
	if err != nil {
		return fullCard{}, err
	}
	out.part = func() op.ReadTag { return d.tags.Part(held) }
	out.setContentPart(content, contentLimit(c, in.MaxContentLength, in.Full, content), in.ContentOffset)
	if out.Truncated || in.ContentOffset > 0 || in.Rendered {
		out.ETag = out.part()
	} else {
		out.ETag = d.tags.Whole(held)
	}
	c.Reply.ETag = out.httpTag(in, isTold)
	return out, nil
}

// otherForm returns content in the form that a call asks for.
func (d *deps) otherForm(ctx context.Context, c *op.Call, card canon.Card, content, asked string,
	out *fullCard) (string, error) {
	own, running := formOf(card.TextKind())
	want, given := canon.ParseFormat(asked)
	if !given {
		want = usualForm(c, card.Type, own)
	}
	if !running || want == own {
		return content, nil
	}
	out.Format = want.String()
	return d.forms.render(ctx, own, content)
}

// setContentPart sets the requested part of the content.
func (o *fullCard) setContentPart(content string, limit, offset int) {
	part, end, more := surface.TextPart(content, offset, limit)
	o.Content, o.ContentOffset, o.Truncated = part, offset, more
	if more {
		o.Next = o.goOn(end)
	}
}

// httpTag returns the HTTP entity tag: the version, the partial tag of a part, or a digest if the
// answer also shows other cards, which can change while the version stays the same.
func (o *fullCard) httpTag(in getCardIn, isTold bool) string {
	switch {
	case in.Rendered || in.WithChildren || isTold:
	case o.ETag.Partial():
		return string(o.ETag)
	default:
		return strconv.FormatUint(uint64(o.Version), 10)
	}
	h := sha256.New()
	h.Write([]byte(strconv.FormatUint(uint64(o.Version), 10) + "\n" + o.Content))
	for _, ch := range o.Children {
		h.Write([]byte("\n" + ch.Name + "\n" + ch.Type))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// nextArgs returns the input of the call that continues at offset.
func (in getCardIn) nextArgs(offset int) map[string]any {
	args := map[string]any{"name": in.Name, "content_offset": offset}
	if in.Rendered {
		args["rendered"] = true
	}
	if in.Format != "" {
		args["format"] = in.Format
	}
	if in.Full {
		args["full"] = true
	}
	if in.MaxContentLength != 0 {
		args["max_content_length"] = in.MaxContentLength
	}
	return args
}

// defaultContent is the number of characters of content returned over MCP unless the caller asks
// for another number.
const defaultContent = 8000

// shownChildren is the number of children that get_card names; list_children has them all.
const shownChildren = 50

func addChildren(ctx context.Context, l *canon.Snapshot, c canon.Card, named bool, out *fullCard) error {
	limit := 0 // only the count
	if named {
		limit = shownChildren
	}
	cards, total, err := l.Descendants(ctx, c.ID, 1, canon.Page{Limit: limit})
	if err != nil {
		return err
	}
	out.ChildCount = total.Count
	if named {
		out.Children = make([]childName, len(cards))
		for i, ch := range cards {
			out.Children[i] = childName{ch.Name, ch.Type, ch.ID}
		}
	}
	return nil
}

// shownLinks is the number of links that get_card names.
const shownLinks = 100

// linkNames returns the names that a card's content links to, each once, in text order, and the
// number of names left out. It reads the content alone, so the names do not reveal which cards
// exist.
func linkNames(c canon.Card, content string) (names []string, more int) {
	names = []string{}
	kind := c.TextKind()
	if kind == canon.TextData || kind != canon.TextItems && !strings.ContainsAny(content, "[") {
		return names, 0
	}
	seen := map[markup.Key]bool{}
	add := func(target string) {
		name := markup.Resolve(target, c.Name)
		key := markup.KeyOf(name)
		if key == "" || seen[key] {
			return
		}
		seen[key] = true
		if len(names) < shownLinks {
			names = append(names, name)
		} else {
			more++
		}
	}
	if kind == canon.TextItems {
		for _, item := range markup.Items(content) {
			add(item)
		}
		return names, more
	}
	for _, r := range canon.RefsIn(kind, content) {
		if r.Kind == markup.LinkRef && !r.External {
			add(r.Target)
		}
	}
	return names, more
}
