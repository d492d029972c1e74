package surface

import (
	"context"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// HiddenPart tells a caller of a hidden part of a card's text.
type HiddenPart struct {
	ID    string           `json:"id,omitzero" jsonschema:"Names the part for reveal_part and hide_part. Absent if only a dry run has made the part."`
	Text  string           `json:"text" jsonschema:"The beginning of its text."`
	Field string           `json:"field,omitzero" jsonschema:"Name of a field that is hidden as a whole."`
	At    int              `json:"at" jsonschema:"Characters of content before it."`
	From  string           `json:"from" jsonschema:"From whom it is hidden: players, or players and game masters."`
	Told  []access.Subject `json:"told,omitzero" jsonschema:"Subjects who read it because they are named."`
	Lost  bool             `json:"lost,omitzero" jsonschema:"The text that it followed is gone; it stands at the end of its section."`
}

// MaxHidden is the number of hidden parts that an answer lists at most.
const MaxHidden = 100

// maxExcerpt is the number of characters of a hidden part that an answer shows.
const maxExcerpt = 80

// HiddenParts lists the hidden parts of a card's text that the caller sees.
func HiddenParts(ctx context.Context, l *canon.Snapshot, c canon.Card) ([]HiddenPart, error) {
	if l.View().Level < access.LevelGM {
		return nil, nil
	}
	parts, whole, err := l.Parts(ctx, c)
	if err != nil {
		return nil, err
	}
	fields, err := l.HiddenFields(ctx, c)
	if err != nil || len(parts)+len(fields) == 0 {
		return nil, err
	}
	at, chars := 0, 0
	list := slicesx.Map(parts[:min(len(parts), MaxHidden)], func(p canon.Part) HiddenPart {
		chars += utf8.RuneCountInString(whole[at:p.At])
		at = p.At
		h := HiddenPart{ID: p.ID, Text: excerpt(p.Text), At: chars, From: hiddenFrom(p.Label), Told: p.Label.Subjects,
			Lost: p.Lost}
		if p.Planned {
			h.ID = ""
		}
		return h
	})
	for _, f := range fields[:min(len(fields), MaxHidden-len(list))] {
		list = append(list, HiddenPart{ID: f.ID, Field: f.Name, Text: excerpt(f.Text),
			From: hiddenFrom(f.Label), Told: f.Label.Subjects})
	}
	return list, nil
}

func excerpt(text string) string {
	return markup.Shorten(markup.OneLine(markup.Clip(text, 10*maxExcerpt)), maxExcerpt)
}

// hiddenFrom names those who do not see data with a label.
func hiddenFrom(l access.Label) string {
	switch {
	case l.Level <= access.LevelUser:
		return "nobody"
	case l.Level == access.LevelGM:
		return "players"
	}
	return "players and game masters"
}

// OpenedData tells a caller what a change shows to more readers.
type OpenedData struct {
	Name string           `json:"name" jsonschema:"The card."`
	ID   canon.CardID     `json:"id"`
	Part string           `json:"part,omitzero" jsonschema:"Id of the hidden part that opens; without it the card opens, with its open text and fields."`
	Text string           `json:"text,omitzero" jsonschema:"The beginning of the text that opens."`
	To   string           `json:"to" jsonschema:"Lowest level that reads it now."`
	Told []access.Subject `json:"told,omitzero" jsonschema:"Subjects who read it because they are named."`
	// Parts stay hidden when a card opens.
	Parts []HiddenPart `json:"stays_hidden,omitzero" jsonschema:"Hidden parts of the card's text, which stay hidden."`
}

// MaxOpened is the number of opened cards and parts that an answer lists at most.
const MaxOpened = 1000

// OpenedBy lists what a change shows to more readers, of that which the caller sees.
func OpenedBy(ctx context.Context, l *canon.Snapshot, r canon.Receipt) (all []OpenedData, err error) {
	for _, o := range r.Opened[:min(len(r.Opened), MaxOpened)] {
		if !l.View().Sees(o.To) {
			continue
		}
		d := OpenedData{Name: o.Name, ID: o.Card, Part: o.Part, Text: excerpt(o.Text), To: o.To.Level.String(),
			Told: o.To.Subjects}
		if o.Part == "" {
			if err := describeOpened(ctx, l, r, &d); err != nil {
				return nil, err
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// describeOpened adds the beginning of an opened card's open text, and its hidden parts, as they are after a change
// that may only have been tried.
func describeOpened(ctx context.Context, l *canon.Snapshot, r canon.Receipt, d *OpenedData) error {
	c, ok, err := l.ByID(ctx, d.ID)
	if err != nil {
		return err
	}
	for _, changed := range r.Cards {
		if changed.ID == d.ID {
			c, ok = changed, true
		}
	}
	if !ok {
		return nil
	}
	if d.Parts, err = HiddenParts(ctx, l, c); err != nil {
		return err
	}
	if canon.TextOf(c.Type) != canon.TextFile {
		text, err := l.Body(ctx, c.Content)
		if err != nil {
			return err
		}
		d.Text = excerpt(canon.PlainText(c.TextKind(), text))
	}
	return nil
}
