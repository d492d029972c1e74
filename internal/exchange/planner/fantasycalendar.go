package planner

import (
	"context"
	"html"
	"io/fs"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/secrecy"
)

// ruleHide is the rule that hides events of Fantasy-Calendar.
const ruleHide = "hide"

// ImportFantasyCalendar imports exports of Fantasy-Calendar: the calendar with its eras, and the events that
// have one date.
func ImportFantasyCalendar(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Walk{Format: "fantasy-calendar", Suffixes: []string{".json"},
		Empty: "no file is an export of Fantasy-Calendar",
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			m, err := exchange.DecodeObject(name, data)
			if err != nil {
				return err
			}
			static, _ := m["static_data"].(map[string]any)
			year, _ := static["year_data"].(map[string]any)
			if year == nil {
				s.AddProblem(name, 0, "has no static_data with year_data; left out")
				return nil
			}
			x := &fantasyCalendar{s: s, file: name, Calendar: record.Calendar{Eras: map[string]int{}}}
			x.readYear(year)
			for _, era := range decoded.ObjectsOf(static["eras"]) {
				x.addEra(era)
			}
			if err := x.addCalendar(ctx, m); err != nil {
				return err
			}
			return x.addEvents(ctx, decoded.ObjectsOf(first(m["events"], static["event_data"])))
		}}.Import(ctx, c, g, files, o)
}

// fantasyCalendar is the import of one export.
type fantasyCalendar struct {
	record.Calendar
	s       *record.Source
	file    string
	lengths []string // a sentence about each month
	leap    int
}

func (x *fantasyCalendar) readYear(year map[string]any) {
	for _, t := range decoded.ObjectsOf(year["timespans"]) {
		month := html.UnescapeString(decoded.TextOf(t["name"]))
		short, _, _ := strings.Cut(month, " (") // dates are written without the second name
		x.Months = append(x.Months, short)
		x.lengths = append(x.lengths, month+": "+decoded.TextOf(t["length"])+" days")
	}
	week, _ := year["global_week"].([]any)
	for _, day := range week {
		x.Weekdays = append(x.Weekdays, html.UnescapeString(decoded.TextOf(day)))
	}
	x.leap = len(decoded.ObjectsOf(year["leap_days"]))
}

// addEra adds an era that begins with a year above 0. The timeline has negative years for the others.
func (x *fantasyCalendar) addEra(era map[string]any) {
	at, _ := era["date"].(map[string]any)
	title, begins := html.UnescapeString(decoded.TextOf(era["name"])), decoded.IntOf(at["year"])
	if title == "" || begins < 1 {
		x.s.AddProblem(x.file, 0, "the era %q does not begin with a year above 0; write its dates with negative years", title)
		return
	}
	x.Eras[title] = begins
}

func (x *fantasyCalendar) addCalendar(ctx context.Context, m map[string]any) error {
	now, _ := m["dynamic_data"].(map[string]any)
	blocks := x.lengths
	if at := decoded.TextOf(now["year"]); at != "" {
		today := record.Date{Year: decoded.IntOf(now["year"]), Month: decoded.IntOf(now["timespan"]) + 1,
			Day: decoded.IntOf(now["day"])}
		blocks = append(blocks, "It is "+today.String()+".")
	}
	if x.leap > 0 {
		x.s.AddProblem(x.file, 0, "%d leap days are left out: the timeline only orders dates", x.leap)
	}
	c := record.Card{Key: []string{"calendar"}, File: x.file, Name: first(decoded.TextOf(m["name"]), "Calendar").(string),
		Suffixes: []string{"calendar"}, Type: "Lore", Fields: map[string]any{"factType": "calendar"},
		Text: record.Text(blocks...), Render: paragraph}
	x.Fill(x.s, &c)
	_, err := x.s.Add(ctx, c)
	return err
}

func paragraph(_ *exchange.Sheet, text string) string { return record.Paragraphs(text) }

// addEvents adds the events with one date. Others recur by rules that the timeline does not have.
func (x *fantasyCalendar) addEvents(ctx context.Context, events []map[string]any) error {
	recurring := 0
	for i, e := range events {
		data, _ := e["data"].(map[string]any)
		date, _ := data["date"].([]any)
		if len(date) < 3 {
			recurring++
			continue
		}
		settings, _ := e["settings"].(map[string]any)
		h := record.Happening{Key: []string{first(decoded.TextOf(e["id"]), strconv.Itoa(i)).(string)}, File: x.file,
			Name: html.UnescapeString(decoded.TextOf(e["name"])), Text: decoded.TextOf(e["description"]),
			At: record.Date{Year: decoded.IntOf(date[0]), Month: decoded.IntOf(date[1]) + 1, Day: decoded.IntOf(date[2])}}
		if isTrue(settings["hide"]) || isTrue(settings["hide_full"]) {
			h.Marks = []secrecy.Mark{{Rule: ruleHide, What: "events"}}
		}
		if err := x.s.AddHappening(ctx, h); err != nil {
			return err
		}
	}
	if recurring > 0 {
		x.s.AddProblem(x.file, 0, "%d events recur by rules or have no date; left out", recurring)
	}
	return nil
}
