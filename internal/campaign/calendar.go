package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// A moment is a point on the campaign's timeline: a whole number whose order is that of time,
//
//	((year*100 + month)*100 + day)*10000 + hour*100 + minute
//
// with 0 for the parts that a date leaves open. The year may be negative; the rest is added to it,
// so March comes after February in every year. Moments are only compared, never used to measure
// time: months may differ in length, and a day need not have 24 hours.
type moment int64

const (
	perDay   moment = 1_00_00
	perMonth        = 100 * perDay
	perYear         = 100 * perMonth

	// undated sorts events without a date after all others. JSON numbers represent it exactly.
	undated moment = 1<<53 - 1
	maxYear        = 1_000_000
)

// grain is the precision of a date.
type grain int

const (
	toYear grain = iota
	toMonth
	toDay
	toMinute
)

// span is the range of moments that a date covers, from and to included.
type span struct {
	from, to moment
	grain    grain
}

// spanOf returns the span of a date that begins at m and has precision g.
func spanOf(m moment, g grain) span {
	width := map[grain]moment{toYear: perYear, toMonth: perMonth, toDay: perDay, toMinute: 1}[g]
	return span{m, m + width - 1, g}
}

// coarserStarts returns the starts of the year, month and day that contain m, without m itself.
func coarserStarts(m moment) []moment {
	var out []moment
	for _, width := range []moment{perYear, perMonth, perDay} {
		at := m - mod(m, width)
		if at != m && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

func mod(a, b moment) moment { return (a%b + b) % b }

// calendar parses the dates of a campaign. A world's own calendar is the card with the codename
// "calendar", whose fields are:
//
//	months  names, in order
//	eras    by name, the first year of the era; a negative one counts backwards from it
//
// Without that card, the months are the English ones and the eras are AD, CE, BC and BCE.
type calendar struct {
	months []string
	eras   map[string]int
}

var gregorian = calendar{
	months: []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
		"November", "December"},
	eras: map[string]int{"ad": 1, "ce": 1, "bc": -1, "bce": -1},
}

// calendarCard is the codename of the card that holds a world's calendar.
const calendarCard = "calendar"

// calendarOf returns the world's calendar if its card is visible, else gregorian. A card without a
// valid calendar is ignored; an error is a failure of the store.
func calendarOf(ctx context.Context, l *canon.Snapshot) (calendar, error) {
	c, ok, err := l.Exists(ctx, ":"+calendarCard)
	if err != nil || !ok {
		return gregorian, err
	}
	var own struct {
		Months []string       `json:"months"`
		Eras   map[string]int `json:"eras"`
	}
	if json.Unmarshal(c.Fields, &own) != nil || len(own.Months) == 0 || len(own.Months) > 99 {
		return gregorian, nil
	}
	cal := calendar{own.Months, map[string]int{}}
	for name, first := range own.Eras {
		cal.eras[markup.Fold(name)] = first
	}
	return cal, nil
}

// parseDate parses the usual forms of a date: 1926, 1926-03, 1926-03-14, 1926-03-14 21:30, -44, "14
// March 1926", "March 1926", "March 14, 1926", with an era after the year, and with "circa", "c.",
// "about" or "~" before it.
func (c calendar) parseDate(text string) (span, error) {
	words := strings.FieldsFunc(strings.ReplaceAll(markup.Fold(text), "~", " "),
		func(r rune) bool { return r == ' ' || r == ',' || r == '\u00a0' })
	for len(words) > 0 && slices.Contains([]string{"c.", "ca.", "circa", "about", "around"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return span{}, errNoDate
	}
	if s, ok, err := c.parseNumeric(words); ok || err != nil {
		return s, err
	}
	return c.parseWorded(words)
}

var errNoDate = fmt.Errorf("is not a date of this campaign's calendar; write YYYY-MM-DD, YYYY-MM, YYYY, or for example 14 March 1926")

// parseNumeric parses dates written in digits.
func (c calendar) parseNumeric(words []string) (span, bool, error) {
	date, clock := words[0], ""
	if before, after, ok := strings.Cut(date, "t"); ok && len(words) == 1 && strings.Contains(after, ":") {
		date, clock = before, after
	} else if len(words) == 2 && strings.Contains(words[1], ":") {
		clock = words[1]
	} else if len(words) > 1 {
		return span{}, false, nil
	}
	negative := strings.HasPrefix(date, "-")
	parts := strings.Split(strings.TrimPrefix(date, "-"), "-")
	if len(parts) > 3 {
		return span{}, false, nil
	}
	var n [3]int
	for i, p := range parts {
		v, ok := parseDigits(p)
		if !ok {
			return span{}, false, nil
		}
		n[i] = v
	}
	if negative {
		n[0] = -n[0]
	}
	s, err := c.dateSpan(n[0], n[1], n[2], grain(len(parts)-1))
	if err != nil || clock == "" {
		return s, err == nil, err
	}
	s, err = s.withClock(clock)
	return s, err == nil, err
}

// parseWorded parses dates with a month's name, an era, or both: 14 March 1926, March 14 1926,
// March 1926, 44 BC.
func (c calendar) parseWorded(words []string) (span, error) {
	first := 1
	if era, ok := c.eras[words[len(words)-1]]; ok {
		first, words = era, words[:len(words)-1]
	}
	var month, day int
	var year *int
	for _, w := range words {
		if m := c.monthNumber(w); m > 0 && month == 0 {
			month = m
			continue
		}
		n, ok := parseSigned(strings.TrimRight(strings.TrimSuffix(w, "."), "sthndr")) // 1st, 2nd, 3rd, 14th
		dayIsNext := len(words) == 3 && day == 0 && (month == 0 || c.monthNumber(words[0]) > 0)
		switch {
		case !ok:
			return span{}, errNoDate
		case dayIsNext:
			day = n
		case year == nil:
			year = &n
		default:
			return span{}, errNoDate
		}
	}
	if year == nil || len(words) > 1 && month == 0 {
		return span{}, errNoDate
	}
	g := toYear + grain(min(month, 1)) + grain(min(day, 1))
	return c.dateSpan(inEra(*year, first), month, day, g)
}

// inEra converts a year of an era to a year of the calendar; first is the era's first year.
func inEra(year, first int) int {
	if first < 0 {
		return first + 1 - year // years of a negative era count backwards
	}
	return year + first - 1
}

// monthNumber returns the number of a month, given its name or at least the first three letters; 0
// if there is no such month.
func (c calendar) monthNumber(word string) int {
	word = strings.TrimSuffix(word, ".")
	for i, name := range c.months {
		folded := markup.Fold(name)
		if word == folded || len(word) >= 3 && strings.HasPrefix(folded, word) {
			return i + 1
		}
	}
	return 0
}

func (c calendar) dateSpan(year, month, day int, g grain) (span, error) {
	switch {
	case year > maxYear || year < -maxYear:
		return span{}, fmt.Errorf("years go from -%d to %[1]d", maxYear)
	case g >= toMonth && (month < 1 || month > len(c.months)):
		return span{}, fmt.Errorf("has the month %d; this calendar has %d months", month, len(c.months))
	case g >= toDay && (day < 1 || day > 99):
		return span{}, fmt.Errorf("has the day %d", day)
	}
	if g >= toDay && slices.Equal(c.months, gregorian.months) && day > gregorianDays(year, month) {
		return span{}, fmt.Errorf("has the day %d; %s %d has %d", day, c.months[month-1], year, gregorianDays(year, month))
	}
	return spanOf(moment(year)*perYear+moment(month)*perMonth+moment(day)*perDay, g), nil
}

func gregorianDays(year, month int) int {
	switch {
	case month == 2 && (year%4 != 0 || year%100 == 0 && year%400 != 0):
		return 28
	case month == 2:
		return 29
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

// withClock narrows a day to a time on that day.
func (s span) withClock(text string) (span, error) {
	hour, minute, ok := strings.Cut(strings.TrimSuffix(text, "z"), ":")
	h, ok1 := parseDigits(hour)
	m, ok2 := parseDigits(minute[:min(len(minute), 2)])
	if !ok || !ok1 || !ok2 || h > 99 || m > 99 || s.grain != toDay {
		return span{}, errNoDate
	}
	return spanOf(s.from+moment(h*100+m), toMinute), nil
}

func parseDigits(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n <= math.MaxInt32
}

func parseSigned(s string) (int, bool) {
	n, ok := parseDigits(strings.TrimPrefix(s, "-"))
	if strings.HasPrefix(s, "-") {
		n = -n
	}
	return n, ok
}
