package planner

import (
	"maps"
	"strings"
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
)

func TestKankaTime(t *testing.T) {
	files := exchangetest.Files(map[string]string{"campaign.json": `{"id": 7}`,
		"calendars/reckoning_20.json": `{"id": 1, "name": "Reckoning", "months": "[{\"name\": \"Rain\", \"length\": 30}, {\"name\": \"Reed\", \"length\": 31}]", "weekdays": "[\"One\", \"Two\"]", "suffix": "AR", "date": "-3-2-1",
			"entity": {"id": 20}}`,
		"calendars/z_21.json":  `{"id": 2, "name": "Other", "months": "[{\"name\": \"X\"}]", "entity": {"id": 21}}`,
		"events/flood_22.json": `{"id": 3, "name": "Flood", "date": "-12-2-4", "entity": {"id": 22}}`,
		"characters/mira_11.json": `{"id": 1, "name": "Mira", "entity": {"id": 11, "reminders": [
			{"id": 1, "calendar_id": 1, "year": 40, "month": 1, "day": 3, "comment": "born", "visibility_id": 1},
			{"id": 2, "calendar_id": 1, "year": 70, "month": 2, "visibility_id": 2},
			{"id": 3, "calendar_id": 1, "year": 71, "month": 200, "day": 1},
			{"id": 4, "calendar_id": 2, "year": 71, "month": 1, "day": 1}]}}`})
	s := scene(t)
	sum := s.Import(ImportKanka, files, exchange.Options{Open: []string{publicEntities}})
	s.WantSees(map[string]string{"user -12-02-04 Flood": "Timeline Event user Flood",
		"user 40-01-03 Mira: born": "Timeline Event user Mira: born",
		"user 70-02 Mira":          "-", "gm 70-02 Mira": "Timeline Event gm Mira"})
	c, _, ok := s.Content("user", ":calendar")
	if want := `{"eras":{"AR":1},"factType":"calendar","months":["Rain","Reed"],"weekdays":["One","Two"]}`; !ok ||
		c.Name != "Reckoning" || string(c.Fields) != want {
		t.Errorf("the calendar %s has %s", c.Name, c.Fields)
	}
	e, _, _ := s.Content("user", "-12-02-04 Flood")
	if want := `{"date":"-12-02-04","precision":"exact","sort":-1197960000}`; string(e.Fields) != want {
		t.Errorf("the event has %s, not %s", e.Fields, want)
	}
	if got := s.Linked("user", "40-01-03 Mira: born", "involves", ""); !maps.Equal(got, map[string]string{"Mira": ""}) {
		t.Errorf("it involves %v", got)
	}
	for _, says := range []string{`"Other" does not date the timeline`, "1 reminders are dates of other calendars",
		"outside of the timeline"} {
		if !strings.Contains(sum.String(), says) {
			t.Errorf("%q is missing from\n%s", says, sum)
		}
	}
}

func TestFantasyCalendar(t *testing.T) {
	s := scene(t)
	sum := s.Import(ImportFantasyCalendar, exchangetest.Files(map[string]string{"c.json": `{"name": "Tides",
		"static_data": {"year_data": {"global_week": ["One", "Two&#39;s"], "leap_days": [{"name": "x"}], "timespans": [
			{"name": "Rain (The Wet)", "type": "month", "length": 30}, {"name": "Midyear", "type": "intercalary", "length": 1}]},
			"eras": [{"name": "New Age", "date": {"year": 100, "timespan": 0, "day": 1}}]},
		"dynamic_data": {"year": 120, "timespan": 1, "day": 1},
		"events": [{"name": "Fall", "description": "<p>It [[fell]].</p>", "data": {"date": [90, 1, 1]}, "settings": {}},
			{"name": "Plot", "data": {"date": [91, 0, 4]}, "settings": {"hide": true}},
			{"name": "Feast", "data": {"date": []}}]}`}), exchange.Options{})
	s.WantSees(map[string]string{"user 90-02-01 Fall": "Timeline Event user It fell.", "user 91-01-04 Plot": "-",
		"gm 91-01-04 Plot": "Timeline Event gm Plot"})
	c, text, _ := s.Content("user", ":calendar")
	if want := `{"eras":{"New Age":100},"factType":"calendar","months":["Rain","Midyear"],"weekdays":["One","Two's"]}`; string(
		c.Fields) != want || !strings.Contains(text, "It is 120-02-01.") {
		t.Errorf("the calendar %s has %s and says %s", c.Name, c.Fields, text)
	}
	for _, says := range []string{"1 leap days are left out", "1 events recur by rules"} {
		if !strings.Contains(sum.String(), says) {
			t.Errorf("%q is missing from\n%s", says, sum)
		}
	}
}
