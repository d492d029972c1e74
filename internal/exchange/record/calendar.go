package record

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Calendar is a calendar of a source. The timeline of a world reads the names of months and eras of the
// card with the codename calendar; see package campaign.
type Calendar struct {
	Months   []string       // names, in order, with intercalary days as months of their own
	Weekdays []string       // names, in order
	Eras     map[string]int // first year of each era, by its name
}

// EarthMonths are the months for a source that counts years and names no months.
var EarthMonths = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September",
	"October", "November", "December"}

// maxMonths is the number of months that the timeline can tell apart.
const maxMonths = 99

// Fill makes a card that of a calendar. The first calendar of a world dates its timeline; the text of the
// card is up to the caller.
func (c Calendar) Fill(s *Source, r *Card) {
	if s.dated {
		s.AddProblem(r.File, 0, "%q does not date the timeline, which has one calendar", r.Name)
	} else {
		r.Codename, s.dated = "calendar", true
	}
	if r.Fields == nil {
		r.Fields = map[string]any{}
	}
	if len(c.Months) > maxMonths {
		s.AddProblem(r.File, 0, "has %d months; the timeline uses the first %d", len(c.Months), maxMonths)
		c.Months = c.Months[:maxMonths]
	}
	if len(c.Months) > 0 {
		r.Fields["months"] = c.Months
	}
	if len(c.Weekdays) > 0 {
		r.Fields["weekdays"] = c.Weekdays
	}
	if len(c.Eras) > 0 {
		r.Fields["eras"] = c.Eras
	}
}

// Date is a date of the world's calendar. Month and Day are 0 where the date leaves them open.
type Date struct{ Year, Month, Day int }

// maxYear is the greatest year of the timeline, in both directions.
const maxYear = 1_000_000

// IsValid reports whether the timeline can hold the date.
func (d Date) IsValid() bool {
	return max(d.Year, -d.Year) <= maxYear && d.Month >= 0 && d.Month <= maxMonths && d.Day >= 0 && d.Day <= maxMonths &&
		(d.Month > 0 || d.Day == 0)
}

// String returns the date in the form of the timeline, such as 1492-07-13.
func (d Date) String() string {
	text := fmt.Sprint(d.Year)
	if d.Month > 0 {
		text += fmt.Sprintf("-%02d", d.Month)
	}
	if d.Day > 0 {
		text += fmt.Sprintf("-%02d", d.Day)
	}
	return text
}

// fields returns the fields of a card of the timeline.
func (d Date) fields() map[string]any {
	precision := "exact"
	switch {
	case d.Month == 0:
		precision = "year"
	case d.Day == 0:
		precision = "month"
	}
	return map[string]any{"date": d.String(), "precision": precision,
		"sort": ((d.Year*100+d.Month)*100 + d.Day) * 10000}
}

// ParseDate reads a date of three numbers, such as -12-3-4. ok is false for any other text.
func ParseDate(text string) (d Date, ok bool) {
	text = strings.TrimSpace(text)
	digits := strings.TrimPrefix(text, "-")
	parts := strings.Split(digits, "-")
	if len(parts) > 3 || digits == "" || strings.Trim(digits, "0123456789-") != "" {
		return d, false
	}
	for i, to := range []*int{&d.Year, &d.Month, &d.Day}[:len(parts)] {
		if *to = decoded.IntOf(parts[i]); parts[i] == "" {
			return d, false
		}
	}
	if digits != text {
		d.Year = -d.Year
	}
	return d, d.IsValid()
}

// Happening is an event of a source with a date.
type Happening struct {
	Key      []string // its identity in the source
	File     string
	Name     string
	At       Date
	Text     string // plain or HTML, of which the words are kept; "" repeats the name
	Level    access.Level
	Marks    []secrecy.Mark
	Involves []*exchange.Sheet // the cards that it is about
}

// plainMarkdown escapes the signs that begin links, nests and HTML in Markdown.
var plainMarkdown = strings.NewReplacer("[", `\[`, "{{", `\{\{`, "<", "&lt;")

// AddHappening adds an event to the timeline. It reports a date that the timeline cannot hold.
func (s *Source) AddHappening(ctx context.Context, h Happening) error {
	if !h.At.IsValid() {
		s.AddProblem(h.File, 0, "the date of %q is outside of the timeline; left out", h.Name)
		return nil
	}
	sh, err := s.Add(ctx, Card{Key: append([]string{"happening"}, h.Key...), File: h.File,
		Name:     h.At.String() + " " + h.Name,
		Suffixes: []string{"event"}, Type: "Timeline Event", Fields: h.At.fields(), Level: h.Level, Marks: h.Marks,
		Text: Text(cmp.Or(h.Text, h.Name)), Render: func(_ *exchange.Sheet, text string) string {
			return plainMarkdown.Replace(markup.Text(text))
		}})
	if err != nil {
		return err
	}
	for _, of := range h.Involves {
		if of != nil {
			s.AddEdge(h.File, "involves", sh, of, nil)
		}
	}
	return nil
}
