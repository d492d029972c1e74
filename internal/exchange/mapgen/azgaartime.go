package mapgen

import (
	"context"
	"fmt"
	"strconv"

	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// war is a campaign between states. Each of them lists it.
type war struct {
	name       string
	start, end int
	states     []int
}

// noteCampaign notes a campaign of a state.
func (x *azgaarCards) noteCampaign(c map[string]any, state int) {
	w := &war{name: decoded.TextOf(c["name"]), start: decoded.IntOf(c["start"]), end: decoded.IntOf(c["end"])}
	if w.name == "" || decoded.TextOf(c["start"]) == "" {
		return
	}
	key := [3]string{w.name, strconv.Itoa(w.start), strconv.Itoa(w.end)}
	if x.warAt[key] == nil {
		x.warAt[key] = w
		x.wars = append(x.wars, w)
	}
	x.warAt[key].states = append(x.warAt[key].states, state)
}

// addTime adds the calendar, of which a map has the era and the year, and the campaigns of its states.
func (x *azgaarCards) addTime(ctx context.Context) error {
	era, short := decoded.TextOf(x.options["era"]), decoded.TextOf(x.options["eraShort"])
	if era != "" {
		year := decoded.TextOf(x.options["year"])
		c := record.Card{Key: []string{"calendar"}, File: x.file, Name: "Calendar", Suffixes: []string{x.name}, Type: "Lore",
			Fields: map[string]any{"factType": "calendar"},
			Text:   record.Text(sentence("The years are counted in the %s.", era) + sentence("It is the year %s.", year)),
			Render: func(_ *exchange.Sheet, text string) string { return record.Paragraphs(text) }}
		record.Calendar{Months: record.EarthMonths, Eras: map[string]int{era: 1, short: 1}}.Fill(x.s, &c)
		if _, err := x.s.Add(ctx, c); err != nil {
			return err
		}
	}
	for _, w := range x.wars {
		h := record.Happening{Key: []string{w.name, strconv.Itoa(w.start), strconv.Itoa(w.end)},
			File: fmt.Sprintf("%s campaign %s", x.file, w.name), Name: w.name, At: record.Date{Year: w.start}}
		if w.end > w.start {
			h.Text = fmt.Sprintf("%s, until %d.", w.name, w.end)
		}
		for _, i := range w.states {
			h.Involves = append(h.Involves, x.state[i])
		}
		if err := x.s.AddHappening(ctx, h); err != nil {
			return err
		}
	}
	return nil
}
