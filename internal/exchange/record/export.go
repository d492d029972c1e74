package record

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/markup"
)

// Written is a card with a text, in the parts that formats of records have.
type Written struct {
	Card canon.Card
	Texts
	Secret string // the text and the fields of its child +GM, in Markdown
	Tags   []string
	Fields map[string]any
	Links  []Relation
}

// Relation is a link within or a relationship to another card.
type Relation struct {
	Kind  string       // the type of the relationship; "" for a link within
	To    string       // name of the card
	Label access.Label // set for a link that fewer people see than the cards at its ends
	Seen  access.Label // of those who see the link; only for game masters
}

// Export writes the cards with a text that a grant sees to a new file, by a function for their form.
func Export(ctx context.Context, c *canon.Canon, g access.Grant, name string,
	write func(to io.Writer, cards []*Written) ([]exchange.Problem, error)) (sum exchange.Summary, err error) {
	sum = exchange.Summary{Export: true, Files: 1}
	var cards []*Written
	if err := c.Read(ctx, g, func(l *canon.Snapshot) (err error) {
		cards, err = readWritten(ctx, l, &sum)
		return err
	}); err != nil {
		return sum, err
	}
	sum.Cards = len(cards)
	err = exchange.WriteNewFile(name, func(f io.Writer) error {
		b := bufio.NewWriter(f)
		problems, err := write(b, cards)
		if err != nil {
			return err
		}
		sum.Problems = append(sum.Problems, problems...)
		return b.Flush()
	})
	return sum, err
}

// readWritten returns the cards with a text that a snapshot sees, by name, and says how many others it
// leaves out. Lists of tags and children named GM are parts of the card above them.
func readWritten(ctx context.Context, l *canon.Snapshot, sum *exchange.Summary) ([]*Written, error) {
	var list []*Written
	byID, parts, others := map[canon.CardID]*Written{}, []canon.Card{}, 0
	for c, err := range l.AllCards(ctx, canon.Filter{TagLists: true}) {
		if err != nil {
			return nil, err
		}
		switch {
		case c.IsTagList() || !c.Parent.IsZero() && markup.PartKey(c.Part) == markup.PartKey(exchange.GMPart):
			parts = append(parts, c)
		case isText(c):
			w := &Written{Card: c}
			byID[c.ID], list = w, append(list, w)
		default:
			others++
		}
	}
	for _, w := range list {
		if err := w.read(ctx, l); err != nil {
			return nil, err
		}
		w.ReportLeft(sum, w.Card)
	}
	for _, c := range parts {
		w := byID[c.Parent]
		if w == nil {
			others++
			continue
		}
		if c.IsTagList() && !c.Label.Equal(w.Card.Label) || c.Label.Level > max(w.Card.Label.Level, access.LevelGM) {
			sum.Problems = append(sum.Problems, exchange.Problem{File: c.Name,
				Why: "fewer people see it than the file would tell; left out"})
			continue
		}
		if !c.IsTagList() {
			texts, err := ReadTexts(ctx, l, c)
			if err != nil {
				return nil, err
			}
			if err := texts.addFields(c); err != nil {
				return nil, err
			}
			texts.ReportLeft(sum, c)
			w.Secret = Joined(texts.Whole, Joined(w.Texts.Fields, texts.Fields))
			w.Texts.Fields = ""
			continue
		}
		content, err := l.Content(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, tag := range markup.Items(content) {
			if !slices.Contains(w.Tags, tag) {
				w.Tags = append(w.Tags, tag)
			}
		}
	}
	if others > 0 {
		sum.Problems = append(sum.Problems, exchange.Problem{File: "cards", Why: fmt.Sprintf(
			"%d types, files, lists and other cards without a text of their own are left out", others)})
	}
	return list, readLinks(ctx, l, byID, sum)
}

// isText reports whether a card's content is a text.
func isText(c canon.Card) bool {
	switch canon.TextOf(c.Type) {
	case canon.TextHTML, canon.TextMarkdown, canon.TextPlain:
		return markup.KeyOf(c.Type) != markup.KeyOf(canon.TypeCardtype)
	}
	return false
}

func (w *Written) read(ctx context.Context, l *canon.Snapshot) (err error) {
	if len(w.Card.Fields) > 0 {
		if err := json.Unmarshal(w.Card.Fields, &w.Fields); err != nil {
			return err
		}
	}
	if w.Card.Places != nil { // its text has them
		maps.DeleteFunc(w.Fields, func(name string, _ any) bool { return slices.Contains(w.Card.Places.Fields, name) })
	}
	w.Texts, err = ReadTexts(ctx, l, w.Card)
	return err
}

// readLinks adds the relationships and the links within.
func readLinks(ctx context.Context, l *canon.Snapshot, byID map[canon.CardID]*Written, sum *exchange.Summary) error {
	lost := 0
	for link, err := range l.AllLinks(ctx, canon.LinkQuery{}) {
		if err != nil {
			return err
		}
		if link.Kind == canon.LinkRefers { // the references stand in the texts
			continue
		}
		from, to := byID[link.From], byID[link.To]
		var attrs struct{ Type string }
		if len(link.Attrs) > 0 {
			if err := json.Unmarshal(link.Attrs, &attrs); err != nil {
				return err
			}
		}
		isWithin := link.Kind == "within"
		if from == nil || to == nil || !isWithin && (link.Kind != "relationship" || attrs.Type == "") {
			lost++
			continue
		}
		r := Relation{To: to.Card.Name}
		if !isWithin {
			r.Kind = attrs.Type
		}
		if link.Label.Level > access.LevelUser && l.View().Level >= access.LevelGM {
			if r.Seen = link.Label; !link.Label.Equal(from.Card.Label.Meet(to.Card.Label)) {
				r.Label = link.Label
			}
		}
		from.Links = append(from.Links, r)
	}
	if lost > 0 {
		sum.Problems = append(sum.Problems, exchange.Problem{File: "links", Why: fmt.Sprintf(
			"%d links that are neither relationships nor within are left out", lost)})
	}
	return nil
}
