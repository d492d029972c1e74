package command

import (
	"slices"
	"strings"
)

// parseMove parses a destination: directions, "back", or the name of a place.
func (p *parser) parseMove(said, rest []word, i Intent, at Span) {
	head := ""
	if len(said) > 0 {
		head = said[0].fold
		if e, _ := readVerbForm(head, said[0].known); e != nil {
			head = e.text
		}
	}
	r := readRoute(rest)
	if r.back || head == "return" || len(said) > 1 && said[len(said)-1].fold == "back" {
		i.Modifiers = append(i.Modifiers, "back")
	}
	name := p.resolveNoun(r.name)
	i.Targets = p.resolveNouns(r.more)
	i.DirectObject = name
	if i.DirectObject == "" && len(i.Targets) > 0 {
		i.DirectObject, i.Targets = i.Targets[0], i.Targets[1:]
	}
	last := said
	if len(rest) > 0 {
		last = rest
	}
	if i.DirectObject == "" && len(r.toward) == 0 && len(last) > 0 &&
		last[len(last)-1].oneOf("through", "across", "over") {
		i.DirectObject = p.lastNamed
	}
	if len(r.toward) == 0 {
		if d := impliedDirection(head, said, r); d != "" {
			r.toward = []Direction{d}
		}
	}
	if len(r.toward) == 0 && i.DirectObject == "" && !slices.Contains(i.Modifiers, "back") && !r.way {
		if !hasPronoun(rest) && (len(said) == 0 || len(rest) > 0 || verbHas(said, goalClass)) {
			p.addAmbiguity("direction", at, r.options, true)
			i.Confidence = min(i.Confidence, 0.4)
		}
	}
	if len(r.toward) < 2 {
		if len(r.toward) == 1 {
			i.Direction = r.toward[0]
		}
		if r.mended {
			i.Confidence = min(i.Confidence, mendedConfidence)
		}
		for range max(1, r.times) {
			p.add(i, at)
		}
		return
	}
	for _, d := range r.toward {
		one := i
		one.Direction, one.Modifiers = d, slices.Clone(i.Modifiers)
		p.add(one, at)
		if p.overflow {
			return
		}
	}
}

func hasPronoun(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.is(pronounClass) })
}

// impliedDirection returns the direction that a verb implies: leave, climb.
func impliedDirection(head string, said []word, r route) Direction {
	second := ""
	if len(said) > 1 {
		second = said[1].fold
	}
	switch {
	case second == "in" || second == "into" || head == "enter" && len(r.name) == 0:
		return "in"
	case second == "out" || head == "leave" || head == "exit":
		return "out"
	case (second == "up" || second == "down") && head != "back":
		return Direction(second)
	case head == "climb" && len(r.name) == 0 || head == "ascend":
		return "up"
	case head == "descend":
		return "down"
	}
	return ""
}

// route is the argument of a move.
type route struct {
	toward  []Direction
	name    []word  // the place or thing moved to or through
	more    []chunk // other names
	back    bool
	way     bool // only a door or path is named
	mended  bool // the direction was misspelt
	times   int
	options []string // the directions that a misspelt word may be
}

// readRoute reads directions and names. A door or path beside a direction is no name.
func readRoute(words []word) route {
	var r route
	words = r.cutTimes(words)
	words = cutEnd(cutSelf(words))
	kept := make([]word, 0, len(words))
	for i := 0; i < len(words); i++ {
		w := words[i]
		rest := words[i+1:]
		switch {
		case w.kind != plainWord:
			if w.kind == comma && len(kept) > 0 {
				kept = append(kept, w)
			}
		case w.fold == "in" && len(rest) > 3 && rest[1].fold == "direction" && rest[2].fold == "of":
			i += 3
		case w.fold == "as" && len(kept) == 0 && len(r.toward) > 0:
			words = words[:i] // as fast as you can
		case w.oneOf("back", "backwards"):
			r.back = true
		case w.known.toward != "" && isCompass(w.known.toward):
			n := compassName(words[i:], kept)
			if n > 0 { // the North Tower
				kept = append(kept, words[i:i+n]...)
				i += n - 1
				continue
			}
			d, used := readDirection(words[i:])
			r.addDirection(d)
			i += max(used, 1) - 1
		case w.toward() != "" && i > 0 && words[i-1].is(articleClass) && len(rest) > 0 && rest[0].kind == plainWord &&
			!rest[0].is(prepositionClass|jointClass):
			w.known = unknown // the outside castle
			kept = append(kept, w, rest[0])
			i++
		case w.fold == "in" && isWet(rest):
			kept = append(kept, w) // splash in the water
		case w.toward() != "":
			if w.fold == "up" && len(rest) > 0 && rest[0].oneOf("to", "towards") &&
				!(len(rest) > 1 && rest[1].known.toward != "") {
				continue // walk up to the butler
			}
			if w.oneOf("in", "up", "down") && slices.ContainsFunc(rest, func(o word) bool {
				return o.kind == plainWord && isCompass(o.known.toward)
			}) {
				continue
			}
			r.addDirection(w.toward())
			kept = append(kept, word{kind: plainWord, fold: "to", raw: "to", known: lexicon()["to"]})
		case w.fold == "into":
			if len(r.toward) == 0 && !isWet(rest) {
				r.addDirection("in")
			}
			kept = append(kept, w)
		case w.is(articleClass|routeClass|courtesyClass) && (len(kept) == 0 || !w.is(articleClass)) && w.fold != "of":
		case w.fold == "of" && (len(kept) == 0 || kept[len(kept)-1].fold == "to"):
		default:
			kept = append(kept, w)
		}
	}
	r.readNames(kept, words)
	return r
}

// cutEnd cuts off the place of a person who is the goal: to the harbourmaster at the southern end.
func cutEnd(words []word) []word {
	for i, w := range words {
		if n := len(words); i > 0 && w.fold == "at" && i+2 < n && words[i+1].is(articleClass) &&
			words[n-1].oneOf("end", "corner", "edge") {
			return words[:i]
		}
	}
	return words
}

// isWet reports whether words begin with a name that has no inside to go to: the water, the fire.
func isWet(words []word) bool {
	n := 0
	for n < len(words) && words[n].kind == plainWord && !words[n].is(prepositionClass|jointClass) {
		n++
	}
	return n > 0 && !words[n-1].is(wayClass) && isKind(words[n-1].fold, "liquid", "body of water", "combustion") &&
		!isKind(words[n-1].fold, "structure")
}

// readNames reads the names among the words that are no directions.
func (r *route) readNames(kept, words []word) {
	if len(r.toward) == 0 {
		content := slices.DeleteFunc(slices.Clone(kept), func(w word) bool { return w.is(articleClass | prepositionClass) })
		if len(content) == 1 {
			d, options := typoDirection(content[0].fold)
			if d != "" {
				r.toward, r.mended = []Direction{d}, true
				return
			}
			if len(options) > 0 && content[0].known == unknown {
				r.options = options
				return
			}
		}
	}
	for _, c := range groupByPreposition(kept) {
		name := trimArticles(c.words)
		if len(name) == 0 {
			continue
		}
		head := headOf(name)
		if len(r.toward) > 0 && (head.is(wayClass|numberClass) && !head.oneOf("stairs", "bridge", "ladder") ||
			head.is(nowhereClass)) {
			r.way = true
			continue
		}
		if head.is(nowhereClass) {
			continue
		}
		for _, entry := range splitList(name) {
			if r.name == nil {
				r.name = entry
				continue
			}
			r.more = append(r.more, chunk{c.by, entry})
		}
	}
}

// headOf returns the last word of a name before "of".
func headOf(name []word) word {
	last := name[0]
	for _, w := range name {
		if w.fold == "of" {
			break
		}
		last = w
	}
	return last
}

// addDirection adds a direction. A point of the compass replaces in, out, up and down.
func (r *route) addDirection(d Direction) {
	if d == "" {
		return
	}
	if n := len(r.toward); n > 0 && isCompass(d) && !isCompass(r.toward[n-1]) && n == 1 {
		r.toward[0] = d
		return
	}
	r.toward = append(r.toward, d)
}

// isCompass reports whether a direction is a point of the compass.
func isCompass(d Direction) bool { return d != "" && d.Index() < 8 }

// compassName returns the number of words of a name that begins with a direction: the North Tower.
func compassName(words, kept []word) int {
	w := words[0]
	if len(words) < 2 || len(w.fold) < 3 {
		return 0
	}
	next := words[1]
	if next.kind != plainWord || next.known.class&(grammarClasses|wayClass|nowhereClass) != 0 ||
		next.known.toward != "" {
		return 0
	}
	if _, _, ok := strings.Cut(w.fold, "ward"); ok {
		return 0
	}
	n := 1
	for n < len(words) && words[n].kind == plainWord && !words[n].is(prepositionClass|jointClass) {
		n++
	}
	return n
}

// readDirection reads the direction at the beginning of words, and returns the number of its words:
// north, north east, the north.
func readDirection(words []word) (d Direction, used int) {
	for used < len(words) && words[used].oneOf("to", "the", "towards") {
		used++
	}
	if used == len(words) || words[used].kind != plainWord || words[used].known.toward == "" {
		return "", 0
	}
	d = words[used].known.toward
	used++
	if used < len(words) && (d == "north" || d == "south") && len(words[used-1].fold) > 2 && len(words[used].fold) > 2 {
		e := words[used].known.toward
		if (e == "east" || e == "west") && (used+1 == len(words) || words[used+1].known.toward == "") {
			return d + e, used + 1
		}
	}
	return d, used
}

// cutTimes reads how often to move: three times, twice.
func (r *route) cutTimes(words []word) []word {
	n := len(words)
	switch {
	case n > 0 && words[n-1].fold == "twice":
		r.times = 2
		return words[:n-1]
	case n > 0 && words[n-1].fold == "thrice":
		r.times = 3
		return words[:n-1]
	case n > 1 && words[n-1].fold == "times":
		if c, _ := SplitCount(words[n-2].raw + " times"); c > 1 {
			r.times = int(min(c, MaxIntents+1))
			return words[:n-2]
		}
	}
	return words
}

// cutSelf drops "I go", "we go" from the end of a move.
func cutSelf(words []word) []word {
	if n := len(words); n > 2 && words[n-2].is(subjectClass) && !words[n-2].is(pronounClass) {
		return words[:n-2]
	}
	return words
}
