package campaign

import (
	"slices"
	"testing"
)

func TestDatesAsPeopleWriteThem(t *testing.T) {
	vale := calendar{months: []string{"Thaw", "Sowing", "Nightveil"}, eras: map[string]int{"pr": -1, "ar": 1000}}
	for _, row := range []struct {
		cal   calendar
		text  string
		from  moment
		grain grain
	}{
		{gregorian, "1926", 1926_00_00_0000, toYear},
		{gregorian, "1926-03", 1926_03_00_0000, toMonth},
		{gregorian, "1926-03-14", 1926_03_14_0000, toDay},
		{gregorian, "1926-03-14 21:30", 1926_03_14_2130, toMinute},
		{gregorian, "1926-03-14T21:30Z", 1926_03_14_2130, toMinute},
		{gregorian, "14 March 1926", 1926_03_14_0000, toDay},
		{gregorian, "March 14th, 1926", 1926_03_14_0000, toDay},
		{gregorian, "mar 1926", 1926_03_00_0000, toMonth},
		{gregorian, "circa 1740", 1740_00_00_0000, toYear},
		{gregorian, "~1740-05", 1740_05_00_0000, toMonth},
		{gregorian, "-44-03-15", -44*perYear + 3*perMonth + 15*perDay, toDay},
		{gregorian, "44 BC", -44 * perYear, toYear},
		{gregorian, "15 March 44 BCE", -44*perYear + 3*perMonth + 15*perDay, toDay},
		{gregorian, "800 AD", 800 * perYear, toYear},
		{vale, "08 Nightveil 128 PR", -128*perYear + 3*perMonth + 8*perDay, toDay},
		{vale, "Sowing 2 AR", 1001*perYear + 2*perMonth, toMonth},
		{vale, "12-03-99", 12*perYear + 3*perMonth + 99*perDay, toDay},
	} {
		got, err := row.cal.parseDate(row.text)
		if err != nil || got.from != row.from || got.grain != row.grain {
			t.Errorf("%q is %d at %d (%v), want %d at %d", row.text, got.from, got.grain, err, row.from, row.grain)
		}
	}
	for _, text := range []string{"", "~", "long ago", "1926-13", "1926-02-29", "1926-00", "31 April 1926",
		"14 Nightveil 1926", "1926-03-14-15", "2000001", "March", "14 1926", "1926-03 21:30", "٣", "99999999999999999999"} {
		if got, err := gregorian.parseDate(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
	if s, err := gregorian.parseDate("1928-02-29"); err != nil || s.to != 1928_02_29_9999 {
		t.Errorf("a leap day: %v, %v", s, err)
	}
}

// The order of moments is the order of time, also across the year 0.
func TestMomentsSortAsTimeDoes(t *testing.T) {
	var last moment = -1 << 62
	for _, text := range []string{"-45", "-44-02-28", "-44-03", "-44-03-01", "-44-03-15", "-44-12-31", "-43", "0-06-01",
		"1", "1-01-01 00:01", "1-01-01 23:59", "1-01-02", "999-12", "1000"} {
		s, err := gregorian.parseDate(text)
		if err != nil || s.from <= last {
			t.Errorf("%q is %d after %d, %v", text, s.from, last, err)
		}
		last = s.from
	}
	if got, want := coarserStarts(1926_03_14_2130), []moment{1926_00_00_0000, 1926_03_00_0000,
		1926_03_14_0000}; !slices.Equal(got, want) {
		t.Errorf("floors are %v, want %v", got, want)
	}
	if got := coarserStarts(-44*perYear + 3*perMonth); !slices.Equal(got, []moment{-44 * perYear}) {
		t.Errorf("floors are %v", got)
	}
}

func FuzzDates(f *testing.F) {
	for _, text := range []string{"1926-03-14 21:30", "March 14th, 1926", "circa -44 BC", "~~", "1-1-1T1:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := gregorian.parseDate(text)
		if err != nil {
			return
		}
		if s.from > s.to || s.from <= -undated || s.to >= undated {
			t.Errorf("%q is %v", text, s)
		}
	})
}
