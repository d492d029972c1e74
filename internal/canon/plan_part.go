package canon

import (
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// LabelParts gives hidden parts and fields of a card another label: that of the level of users opens them to
// everybody who sees the card, one with subjects shows them to these. The parts with a mark in them stay hidden
// there, as parts of their own. An id that the card does not have is an error.
func (p *Plan) LabelParts(c Card, ids []string, label access.Label) (Card, error) {
	return p.labelParts(c, ids, partsLabel{to: label})
}

// HideParts hides parts, with the pieces into which telling cut them, and fields from the readers who were named to
// them, and open fields from all below the game master.
func (p *Plan) HideParts(c Card, ids []string, keepHistory bool) (Card, error) {
	return p.labelParts(c, ids, partsLabel{access.NewLabel(access.LevelGM), true, keepHistory})
}

// partsLabel is a label that parts and fields get.
type partsLabel struct {
	to          access.Label
	hides       bool // open fields may get it
	keepHistory bool // text that becomes hidden stays readable in earlier versions
}

func (p *Plan) labelParts(c Card, ids []string, l partsLabel) (Card, error) {
	form, _ := FormOf(c.TextKind())
	was, err := p.textBefore(c)
	if err != nil {
		return Card{}, err
	}
	d := &dividedText{holders: was.holders, keeps: l.keepHistory}
	isPart := func(x secrecy.Passage, id string) bool { return x.ID == id || l.hides && x.IsPieceOf(id) }
	isMeant := func(x secrecy.Passage) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return isPart(x, id) })
	}
	before := c
	for _, id := range ids {
		if strings.HasPrefix(id, fieldPrefix) {
			if err := p.labelField(&c, d, id, l); err != nil {
				return Card{}, err
			}
			continue
		}
		if !slices.ContainsFunc(was.Parts, func(x secrecy.Passage) bool { return isPart(x, id) }) {
			return Card{}, ruleFault("parts", "the text of %q has no hidden part %q; list its parts with get_card", c.Name, id)
		}
	}
	d.now = was.Relabel(form, l.to, isMeant, p.newPartID)
	for _, x := range was.Parts {
		to := c.Label.Meet(l.to)
		if isMeant(x) && !to.Covers(x.Label) {
			d.taken = append(d.taken, x.ID)
		}
		if isMeant(x) && !x.Label.Covers(to) {
			p.set.opened = append(p.set.opened, Opened{Card: c.ID, Name: c.Name, Part: x.ID,
				Text: x.Text, From: x.Label, To: to})
		}
	}
	p.dependOn(c)
	p.divided[c.ID] = d
	if len(d.now.Parts) > 0 || len(was.Parts) > 0 {
		if err := p.writeContent(&c, d.now.Open, nil); err != nil {
			return Card{}, err
		}
		p.text[c.ID] = d.now.Whole()
		if err := p.labelRefers(c, d.now.Open); err != nil {
			return Card{}, err
		}
	}
	if c.Content != before.Content || string(c.Fields) != string(before.Fields) {
		p.planCard(ActUpdate, &c)
	}
	if err := p.writeParts(c); err != nil {
		return Card{}, err
	}
	return p.retitle(before, c)
}

// retitle renames a card whose name tells of text that the plan has hidden.
func (p *Plan) retitle(before, c Card) (Card, error) {
	d := p.divided[c.ID]
	if d == nil || !d.hides && !d.hid && !d.keeps || before.Rev == 0 || p.canon.retitle == nil {
		return c, nil
	}
	return p.canon.retitle(p.ctx, p, before, c)
}

// AddParts adds hidden parts with a label to a card's text, each at its offset in the open text, and hidden fields. It
// changes nothing that others read.
func (p *Plan) AddParts(c Card, label access.Label, parts []secrecy.Passage, fields map[string]any) error {
	typ, err := p.Type(p.ctx, c.Type)
	if err != nil {
		return err
	}
	if !p.mayHaveHolders(c, typ) {
		return ruleFault("name", "%q can have no hidden parts", c.Name)
	}
	was, err := p.textBefore(c)
	if err != nil {
		return err
	}
	d := &dividedText{holders: was.holders, now: secrecy.Text{Open: was.Open, Parts: slices.Clone(was.Parts)}}
	for _, part := range parts {
		part.ID, part.Label = p.newPartID(), label
		d.now.Parts = append(d.now.Parts, part)
	}
	d.now.Sort()
	for name, v := range fields {
		d.fields.set(label, name, v)
	}
	p.dependOn(c)
	p.divided[c.ID], p.text[c.ID] = d, d.now.Whole()
	return p.writeParts(c)
}

// IsOpenField reports whether an id is the one of an open field of a card.
func (p *Plan) IsOpenField(c Card, id string) bool {
	name, isField := strings.CutPrefix(id, fieldPrefix)
	open, err := pickFields(c.Fields, []string{name})
	return isField && err == nil && open[name] != nil
}

// HidOpenText reports whether the plan hides text of a card that was open.
func (p *Plan) HidOpenText(c Card) bool {
	d := p.divided[c.ID]
	return d != nil && d.hid
}

// HiddenParts returns the hidden parts of a card's text, in the state after the plan so far.
func (p *Plan) HiddenParts(c Card) ([]secrecy.Passage, error) {
	t, err := p.textBefore(c)
	return t.Parts, err
}

// TellingParts returns the ids of the parts that are told to somebody and hold text of the passages, and the passages
// that stand elsewhere too.
func (p *Plan) TellingParts(c Card, passages []string) (ids, rest []string, err error) {
	t, err := p.textBefore(c)
	if err != nil {
		return nil, nil, err
	}
	whole, places := t.Whole(), t.Places()
	for _, passage := range passages {
		found := rangesOf(whole, passage)
		isTold := len(found) > 0
		for _, r := range found {
			inOne := false
			for n, s := range places {
				if len(t.Parts[n].Label.Subjects) > 0 && s.From < r.To && r.From < s.To {
					ids = append(ids, t.Parts[n].ID)
					inOne = inOne || s.From <= r.From && r.To <= s.To
				}
			}
			isTold = isTold && inOne
		}
		if !isTold {
			rest = append(rest, passage)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), rest, nil
}

// rangesOf returns the ranges of a text that are a passage; none if the passage is blank.
func rangesOf(text, passage string) (found []markup.Span) {
	for at := 0; strings.TrimSpace(passage) != ""; at += len(passage) {
		i := strings.Index(text[at:], passage)
		if i < 0 {
			break
		}
		at += i
		found = append(found, markup.Span{From: at, To: at + len(passage)})
	}
	return found
}

// HideText hides passages of a card's text, each given word by word as the caller reads it. A passage that stands
// there several times is hidden everywhere.
func (p *Plan) HideText(c Card, passages []string, keepHistory bool) (Card, error) {
	whole, err := p.Text(c)
	if err != nil {
		return Card{}, err
	}
	typ, err := p.Type(p.ctx, c.Type)
	if err != nil {
		return Card{}, err
	}
	if !p.readsMarks(c, typ) {
		return Card{}, ruleFault("name", "a card of type %s has no hidden parts; hide the whole card with set_card_level",
			c.Type)
	}
	e := Edit{Content: &whole, KeepHistory: keepHistory}
	for _, passage := range passages {
		found := rangesOf(whole, passage)
		e.Hide = append(e.Hide, secrecy.Ranges(found)...)
		if len(found) == 0 {
			return Card{}, fault.BadField("text", "the text of %q has no passage %q; give it word by word, with its signs",
				c.Name, markup.Shorten(passage, 60))
		}
	}
	return p.Update(c, e)
}
