package planner

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/secrecy"
)

// kankaHappening is a dated event of an entity.
type kankaHappening struct {
	page      *page
	at        record.Date
	name, key string
	calendar  string // id of its calendar as a child model; "" for the first
	hidden    bool
}

// listOf decodes a list that Kanka exports as a text of JSON, or as JSON.
func listOf(v any) []any {
	if text, ok := v.(string); ok {
		var list []any
		if json.Unmarshal([]byte(text), &list) != nil {
			return nil
		}
		return list
	}
	list, _ := v.([]any)
	return list
}

// kankaCalendar returns the calendar of an entity of the module calendars.
func kankaCalendar(m map[string]any) *record.Calendar {
	c := &record.Calendar{Eras: map[string]int{}}
	for _, month := range decoded.ObjectsOf(listOf(m["months"])) {
		c.Months = append(c.Months, decoded.TextOf(month["name"]))
	}
	for _, day := range listOf(m["weekdays"]) {
		c.Weekdays = append(c.Weekdays, decoded.TextOf(day))
	}
	if suffix := decoded.TextOf(m["suffix"]); suffix != "" {
		c.Eras[suffix] = 1
	}
	return c
}

// noteReminders notes the reminders of an entity: its dates in calendars.
func (x *kanka) noteReminders(p *page, e map[string]any) {
	for _, r := range decoded.ObjectsOf(first(e["reminders"], e["entityEvents"], e["events"], e["calendarEvents"])) {
		if decoded.TextOf(r["year"]) == "" {
			continue
		}
		name := p.name
		if comment := decoded.TextOf(r["comment"]); comment != "" {
			name += ": " + comment
		}
		x.happenings = append(x.happenings, kankaHappening{page: p, name: name, key: "reminder " + decoded.TextOf(r["id"]),
			at: record.Date{Year: decoded.IntOf(r["year"]), Month: decoded.IntOf(r["month"]),
				Day: decoded.IntOf(r["day"])},
			calendar: decoded.TextOf(r["calendar_id"]),
			hidden:   r["visibility_id"] != nil && !slices.Contains(kankaPublic, decoded.IntOf(r["visibility_id"]))})
	}
}

// addHappenings adds the dated events to the timeline. They are seen by those who see their entity. Dates of
// other calendars than the first are named.
func (x *kanka) addHappenings(ctx context.Context) error {
	other := 0
	for _, h := range x.happenings {
		if h.calendar != "" && h.calendar != x.first {
			other++
			continue
		}
		level := h.page.sheet.EffectiveLevel()
		if h.hidden {
			level = max(level, access.LevelGM)
			x.s.Choices.Decide(secrecy.Mark{Rule: ruleVisibility, What: "reminders"}, h.page.file+" "+h.key, true)
		}
		if err := x.s.AddHappening(ctx, record.Happening{Key: []string{h.key, h.page.id}, File: h.page.file,
			Name: strings.Join(strings.Fields(h.name), " "), At: h.at, Level: level,
			Involves: []*exchange.Sheet{h.page.sheet}}); err != nil {
			return err
		}
	}
	if other > 0 {
		x.s.AddProblem("calendars", 0, "%d reminders are dates of other calendars than the first; left out", other)
	}
	return nil
}
