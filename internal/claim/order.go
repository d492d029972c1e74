package claim

import (
	"slices"
	"strings"
)

// An order is the time of an event by another one: before, at or after it.
type order struct {
	when  int      // -1, 0 or 1
	other []string // the words of the other event, in base form
	part  []token  // the part of the sentence that tells of the other event
	from  int      // the token of the word of order
}

// orderWords are the words between an event and another one that it is told by.
var orderWords = map[string]int{"before": -1, "after": 1, "since": 1, "following": 1, "in": 0, "at": 0, "during": 0}

// ordersIn returns the orders that a text tells by "before" and "after", and also by "in", "at" and "during" if
// all is set.
func ordersIn(list []token, all bool) (found []order) {
	for i, t := range list {
		when, ok := orderWords[t.word]
		if !ok || when == 0 && !all || i+1 == len(list) || list[i+1].mark {
			continue
		}
		part := list[i+1:]
		end := slices.IndexFunc(part, func(t token) bool { return t.mark || t.word == "and" })
		if end >= 0 {
			part = part[:end]
		}
		if other := contentOf(part); len(other) > 0 {
			found = append(found, order{when, other, part, i})
		}
	}
	return found
}

// otherOrder reports whether two texts tell of an event before and after the same other one.
func otherOrder(said, told []token) bool {
	return ordersDiffer(ordersIn(said, false), ordersIn(told, false))
}

func ordersDiffer(a, b []order) bool {
	differ := false
	for _, x := range a {
		for _, y := range b {
			if len(shared(x.other, y.other)) == 0 {
				continue
			}
			if x.when == y.when {
				return false
			}
			differ = true
		}
	}
	return differ
}

// surviving are verbs of somebody who lived longer than their object.
var surviving = wordSet("survive outlive outlast")

// otherDeathOrder reports whether a sentence tells that somebody died before or after an event, or lived then, and the
// canon tells otherwise.
func otherDeathOrder(c Claim, said []token, e Entity) bool {
	died, _ := e.Fields["died"].(string)
	known := ordersIn(tokensOf(died), true)
	if len(known) == 0 {
		return false
	}
	var lived []order
	switch {
	case surviving[c.Word]:
		at := slices.IndexFunc(said, func(t token) bool { return verbOf(t.word) == c.Word })
		if other := contentOf(said[at+1:]); at >= 0 && len(other) > 0 {
			lived = []order{{when: 1, other: other}}
		}
	case events[c.Word] == "death":
		lived = ordersIn(said, false)
	case hasWord(said, liveWords):
		for i, t := range said {
			if t.word == "when" || t.word == "after" || t.word == "during" {
				lived = append(lived, order{when: 1, other: contentOf(said[i+1:])})
			}
		}
	}
	return ordersDiffer(lived, known)
}

// judgeOrder judges the order of two events of which the canon tells the years: "the fire came before the flood". ok is
// false if a sentence tells no such order.
func judgeOrder(said []token, w *World) (truth Truth, source string, ok bool) {
	orders := ordersIn(said, false)
	comma := slices.IndexFunc(said, func(t token) bool { return t.word == "," })
	if comma > 0 && hasWord(said[:comma], wordSet("first")) && hasWord(said[comma:], wordSet("later then afterwards")) {
		orders = append(orders, order{-1, nil, said[comma+1:], comma})
	}
	for _, o := range orders {
		first := said[:o.from]
		if rest := said[o.from+1+len(o.part):]; len(contentOf(first)) < 2 && len(rest) > 1 {
			first = rest[1:] // "ten years after the flood, the chapel burned"
		}
		a, b := w.eventIn(first), w.eventIn(o.part)
		if a == None || b == None || a == b {
			continue
		}
		x, _ := w.Entities[a].Fields["year"].(float64)
		y, _ := w.Entities[b].Fields["year"].(float64)
		if x == y {
			continue
		}
		if (x < y) == (o.when < 0) {
			return True, "", true
		}
		before, after := a, b
		if x > y {
			before, after = b, a
		}
		return False, w.name(before) + " came before " + w.name(after), true
	}
	return True, "", false
}

// eventIn returns the event with a year of which a part of a sentence has most words, or None.
func (w *World) eventIn(part []token) int {
	best, most, tied := None, 0, false
	words := contentOf(part)
	for i, e := range w.Entities {
		if _, dated := e.Fields["year"].(float64); !dated || e.Class != Other {
			continue
		}
		told := contentOf(tokensOf(e.Name + ". " + strings.Join(sentencesOf(e.Text), " ")))
		switch n := len(shared(words, told)); {
		case n > most:
			best, most, tied = i, n, false
		case n == most:
			tied = true
		}
	}
	if tied || most == 0 {
		return None
	}
	return best
}
