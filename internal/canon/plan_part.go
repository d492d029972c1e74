package canon

import (
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// LabelParts gives hidden parts of a card's text another label: that of the level of users opens them to everybody who
// sees the card, one with subjects shows them to these. The parts with a mark in them stay hidden there, as parts of
// their own. An id that the text does not have is an error.
func (p *Plan) LabelParts(c Card, ids []string, label access.Label) (Card, error) {
	form, _ := formOf(c.TextKind())
	was, err := p.textBefore(c)
	if err != nil {
		return Card{}, err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(was.Parts, func(x secrecy.Passage) bool { return x.ID == id }) {
			return Card{}, ruleFault("parts", "the text of %q has no hidden part %q; list its parts with get_card", c.Name, id)
		}
	}
	now := was.Relabel(form, label, func(x secrecy.Passage) bool { return slices.Contains(ids, x.ID) }, p.newPartID)
	for _, x := range was.Parts {
		if to := c.Label.Meet(label); slices.Contains(ids, x.ID) && !x.Label.Covers(to) {
			p.set.opened = append(p.set.opened, Opened{Card: c.ID, Name: c.Name, Part: x.ID,
				Text: x.Text, From: x.Label, To: to})
		}
	}
	p.dependOn(c)
	p.divided[c.ID] = &dividedText{holders: was.holders, now: now}
	before := c.Content
	if err := p.writeContent(&c, now.Open, nil); err != nil {
		return Card{}, err
	}
	p.text[c.ID] = now.Whole()
	if c.Content != before {
		p.planCard(ActUpdate, &c)
	}
	return c, p.writeParts(c)
}

// HideText hides passages of a card's text, each given word by word as the caller reads it. A passage that stands there
// several times is hidden everywhere.
func (p *Plan) HideText(c Card, passages []string, keepHistory bool) (Card, error) {
	whole, err := p.Text(c)
	if err != nil {
		return Card{}, err
	}
	e := Edit{Content: &whole, KeepHistory: keepHistory}
	for _, passage := range passages {
		found := false
		for at := 0; strings.TrimSpace(passage) != ""; found = true {
			i := strings.Index(whole[at:], passage)
			if i < 0 {
				break
			}
			e.Hide = append(e.Hide, markup.Span{From: at + i, To: at + i + len(passage)})
			at += i + len(passage)
		}
		if !found {
			return Card{}, fault.BadField("text", "the text of %q has no passage %q; give it word by word, with its signs",
				c.Name, markup.Shorten(passage, 60))
		}
	}
	return p.Update(c, e)
}
