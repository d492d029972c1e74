package canon

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// LinkRefers is the kind of the links that tell which cards the references in a text mean where their names alone do
// not: the reference that the text of From writes as the attribute WrittenAttr means the card To, or no card if
// NothingAttr is true. A reader who sees no such link follows the name.
const (
	LinkRefers  = "refers_to"
	WrittenAttr = "written"
	NothingAttr = "nothing"
)

// Referred returns the cards that references in the text of a card mean by its links of the kind LinkRefers, by
// markup.Ref.Path; the zero Card is none.
func (s *Snapshot) Referred(ctx context.Context, c Card) (map[string]Card, error) {
	from := c.ID
	if c.Places != nil && !c.Parent.IsZero() {
		from = c.Parent // whose hidden parts the card holds
	}
	links, err := Collect(s.AllLinks(ctx, LinkQuery{From: from, Kinds: []string{LinkRefers}}))
	if err != nil || len(links) == 0 {
		return nil, err
	}
	ids := make([]CardID, len(links))
	for i, l := range links {
		ids[i] = l.To
	}
	cards, err := s.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := map[CardID]Card{}
	for _, c := range cards {
		byID[c.ID] = c
	}
	means := map[string]Card{}
	for _, l := range links {
		attrs := attrsOf(l)
		to, ok := byID[l.To]
		switch {
		case !ok:
		case attrs.Nothing:
			means[attrs.Written] = Card{}
		default:
			means[attrs.Written] = to
		}
	}
	return means, nil
}

// HandleOf returns the name by which a reference reaches a visible card: its own, or its id if the name means
// another card.
func (s *Snapshot) HandleOf(ctx context.Context, c Card) (string, error) {
	named, ok, err := s.ByKey(ctx, c.Key)
	if err != nil || ok && named.ID == c.ID {
		return c.Name, err
	}
	return "~" + c.ID.String(), nil
}

// ShowReferred writes the names of the cards that the references in Markdown mean into a text for readers. Their
// labels stay.
func (s *Snapshot) ShowReferred(ctx context.Context, c Card, text string) (string, error) {
	if c.TextKind() != TextMarkdown {
		return text, nil
	}
	means, err := s.Referred(ctx, c)
	if err != nil || len(means) == 0 {
		return text, err
	}
	handles := map[string]string{}
	for path, to := range means {
		if handles[path] = ""; to.ID.IsZero() {
			continue
		}
		if handles[path], err = s.HandleOf(ctx, to); err != nil {
			return "", err
		}
	}
	return markup.RedirectMarkdown(text, func(r markup.Ref) (string, bool) {
		to, ok := handles[r.Path]
		return to, ok
	}), nil
}

// labelRefers gives the links of the kind LinkRefers that leave a card the labels of their references: those which
// do not stand in its open text are the game master's, as is the text in which they stand.
func (p *Plan) labelRefers(c Card, open string) error {
	if c.TextKind() != TextMarkdown {
		return nil
	}
	links, err := Collect(p.AllLinks(p.ctx, LinkQuery{From: c.ID, Kinds: []string{LinkRefers}}))
	if err != nil || len(links) == 0 {
		return err
	}
	here := map[string]bool{}
	for _, r := range markup.MarkdownRefs(open) {
		here[r.Path] = true
	}
	for _, l := range links {
		label := access.NewLabel(access.LevelGM)
		if here[attrsOf(l).Written] {
			label = access.NewLabel(access.LevelUser)
		}
		if l.Label.Equal(label) || !p.View().Sees(label) {
			continue
		}
		l.Label = label
		if _, err := p.Link(l); err != nil {
			return err
		}
	}
	return nil
}

// refersAttrs are the attributes of a link of the kind LinkRefers.
type refersAttrs struct {
	Written string `json:"written"`
	Nothing bool   `json:"nothing"`
}

func attrsOf(l Link) (attrs refersAttrs) {
	if json.Unmarshal(l.Attrs, &attrs) != nil {
		return refersAttrs{}
	}
	return attrs
}
