package claim

import (
	"fmt"
	"slices"
	"strings"
)

var (
	wayNouns = wordSet("way ways door doors doorway passage passages passageway tunnel tunnels stair stairs " +
		"staircase stairway step steps path pathway paths trail track road lane street gate gates gateway " +
		"archway arch hatch trapdoor portal " +
		"bridge corridor ladder exit exits shaft hallway alley walk entrance opening route hole hall")
	wayVerbs = wordSet("lead go run open take bring come lie reach end find climb descend ascend wind continue " +
		"get connect walk head follow emerge give see begin start be stand pass drop slope appear fall sink rise " +
		"slant curve bend meander twist stretch dip leave")
	indefinite = wordSet("a an another new hidden secret unseen forgotten second also")
)

// directionWords are words that mean a direction wherever they stand.
var directionWords = map[string]string{"upstairs": "up", "upwards": "up", "upward": "up", "downstairs": "down",
	"downwards": "down", "downward": "down",
	"inside": "in", "indoors": "in", "outside": "out", "outdoors": "out", "northward": "north", "northwards": "north",
	"southward": "south", "southwards": "south",
	"eastward": "east", "eastwards": "east", "westward": "west", "westwards": "west", "northern": "north",
	"southern": "south", "eastern": "east", "western": "west",
	"north-east": "northeast", "north-west": "northwest", "south-east": "southeast", "south-west": "southwest"}

// particles mean a direction only after a verb of going or a way.
var particles = map[string]string{"up": "up", "down": "down", "in": "in", "out": "out", "into": "in"}

// directionsIn returns the directions in a list of tokens.
func directionsIn(tokens []token, w *World) (list []string) {
	for i, t := range tokens {
		d := directionWords[t.word]
		if d == "" && (len(t.word) > 4 || t.word == "east" || t.word == "west") && slices.Contains(w.Directions,
			t.word) {
			d = t.word
		}
		if p := particles[t.word]; d == "" && p != "" && t.word != "into" && (i > 0 && isDirectionAt(tokens, i) ||
			i == 0 && leadsBy(tokens)) {
			d = p
		}
		if climbs := climbing[verbOf(t.word)]; d == "" && climbs != "" {
			d = climbs
		}
		if d != "" && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	if isOut := func(d string) bool { return d == "out" }; slices.Contains(list, "out") && len(list) == 2 {
		list = slices.DeleteFunc(list, isOut) // "the road west goes out on the moor"
	}
	return list
}

// isDirectionAt reports whether a particle means a direction: after a way, or after a verb of going and before no
// other goal.
func isDirectionAt(tokens []token, i int) bool {
	before := tokens[i-1].word
	if i+1 < len(tokens) && tokens[i+1].word == "of" {
		return false // "out of the hall"
	}
	if wayNouns[before] {
		return tokens[i].word != "in" && tokens[i].word != "out" || i+1 == len(tokens) ||
			!articles[tokens[i+1].word] && !determiners[tokens[i+1].word]
	}
	if !goVerbs[verbOf(before)] || tokens[i].word == "in" && i+1 < len(tokens) && articles[tokens[i+1].word] {
		return false
	}
	lead := tokens[max(0, i-6) : i-1]
	for at := len(lead) - 1; at >= 0; at-- {
		if lead[at].mark {
			lead = lead[at+1:]
			break
		}
	}
	return len(lead) == 0 || hasWord(lead, wayNouns) || hasWord(lead, wordSet("you to can cannot"))
}

// leadsBy reports whether a sentence begins with a particle and a way: "down these stairs, and you are in the cellar".
func leadsBy(tokens []token) bool {
	at := skipDeterminers(tokens, 1)
	return at < len(tokens) && (tokens[at].word == "these" || tokens[at].word == "those" || wayNouns[tokens[at].word]) &&
		hasWord(tokens[at:min(at+2, len(tokens))], wayNouns)
}

var goVerbs = wordSet("go lead run climb walk come head get step pass")

var climbing = map[string]string{"ascend": "up", "descend": "down"}

// readLeads reads that a way leads from the place of the text in a direction, or to another place. A sentence with
// several directions is read in parts.
func readLeads(s *statement, w *World) (list []Claim) {
	if len(directionsIn(s.tokens, w)) < 2 {
		return readLead(s, w)
	}
	verb := token{}
	for _, part := range s.parts() {
		c := clause{tokens: part.tokens, named: part.named}
		switch verbs := c.verbs(); {
		case len(verbs) > 0:
			verb = part.tokens[verbs[0].at]
		case verb.word != "": // "a path leads north, and the mill road east"
			part.tokens = append(slices.Clone(part.tokens), verb)
		}
		list = append(list, readLead(&part, w)...)
	}
	return list
}

// parts splits a statement at marks and before "and".
func (s *statement) parts() (list []statement) {
	from := 0
	for i := 0; i <= len(s.tokens); i++ {
		if i < len(s.tokens) && !s.tokens[i].mark && s.tokens[i].word != "and" {
			continue
		}
		part := statement{text: s.text, tokens: s.tokens[from:i]}
		for _, m := range s.named {
			if m.from >= from && m.to <= i {
				m.from, m.to = m.from-from, m.to-from
				part.named = append(part.named, m)
			}
		}
		list = append(list, part)
		from = i + 1
	}
	return list
}

func readLead(s *statement, w *World) (list []Claim) {
	if w.Place == None {
		return nil
	}
	all := clause{tokens: s.tokens, named: s.named}
	directions := directionsIn(s.tokens, w)
	to, from := s.destination(w)
	if len(directions) == 0 && s.topic != "" && to != None && len(s.tokens) > 1 && beForms[s.tokens[1].word] {
		directions = []string{s.topic} // "east of here? That is the market"
	}
	for _, m := range s.named {
		if m.entity == w.Place && len(directions) == 0 && hasRun(s.tokens[max(0, m.from-3):m.from], "out of") {
			directions = []string{"out"}
		}
	}
	if to != None && len(directions) == 1 {
		from = s.passed(w, from, to, directions[0])
	}
	way, verb := s.hasWay(to), false
	denied := s.deniesWay()
	for _, v := range all.verbs() {
		if v.tense == past || v.passive {
			continue
		}
		verb, denied = verb || wayVerbs[v.lemma], denied || v.denied
	}
	if denied {
		if len(directions) == 1 && way && (to == None || to == from) && s.deniesWay() {
			return []Claim{{Predicate: Leads, Subject: from, Object: None, Word: directions[0], Denied: true}}
		}
		return nil
	}
	switch {
	case !verb || len(directions) > 1:
		return nil
	case to != None && to != from && len(directions) == 1 && (way || s.tellsWay(w)):
		return []Claim{{Predicate: Leads, Subject: from, Object: to, Word: directions[0]}}
	case to != None && to != from && way && s.leadsOn():
		return []Claim{{Predicate: Leads, Subject: from, Object: to}}
	case to == None && way && from == w.Place && s.opensWay(len(directions)):
		word := ""
		if len(directions) == 1 {
			word = directions[0]
		}
		return []Claim{{Predicate: Leads, Subject: from, Object: None, Word: word}}
	}
	return nil
}

// hasWay reports whether a sentence names a way that is not its destination, or ground that goes somewhere: "the street
// ends at the mill", "the ground falls to the bog".
func (s *statement) hasWay(to int) bool {
	for i, t := range s.tokens {
		named := slices.ContainsFunc(s.named, func(m mention) bool {
			return m.from <= i && i < m.to && (m.entity == to || m.from+1 < m.to)
		})
		if !named && (wayNouns[t.word] || grounds[t.word] && to != None) {
			return true
		}
	}
	return false
}

// grounds are nouns for ground that may lead to a place.
var grounds = wordSet("ground land hill slope field fields meadow meadows drive moor heath terrain garden wall")

// deniesWay reports whether a sentence says that there is no way: "no door leads north".
func (s *statement) deniesWay() bool {
	for i, t := range s.tokens {
		if wayNouns[t.word] && hasWord(s.tokens[max(0, i-3):i], wordSet("no neither never")) {
			return true
		}
	}
	return false
}

// unnamed returns the tokens outside of names.
func (s *statement) unnamed() (list []token) {
	for i, t := range s.tokens {
		if !slices.ContainsFunc(s.named, func(m mention) bool { return m.from <= i && i < m.to }) {
			list = append(list, t)
		}
	}
	return list
}

// tellsWay reports whether a sentence without a way tells how to go: "to the north you come to the mill".
func (s *statement) tellsWay(w *World) bool {
	for i, t := range s.tokens {
		if t.word == "you" || t.word == "one" || goVerbs[t.word] && (i == 0 || s.tokens[i-1].mark ||
			s.tokens[i-1].word == "to") {
			return true
		}
		if tells := wordSet("lies is stands begins opens starts gives"); tells[t.word] {
			return !slices.ContainsFunc(s.named, func(m mention) bool {
				return w.Entities[m.entity].Class == Person || w.Entities[m.entity].Class == Thing
			})
		}
	}
	return false
}

// leadsOn reports whether a verb tells where a way goes.
func (s *statement) leadsOn() bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool {
		switch verbOf(t.word) {
		case "lead", "run", "go", "give", "open", "wind", "descend", "ascend", "climb", "connect", "reach", "end":
			return true
		}
		return false
	})
}

// opensWay reports whether a sentence without a destination tells of a way: one that it introduces, or that goes in a
// direction.
func (s *statement) opensWay(directions int) bool {
	list := s.unnamed()
	noun := slices.IndexFunc(list, func(t token) bool {
		return wayNouns[t.word] && t.word != "hall" && t.word != "walk" && t.word != "street" && t.word != "way" ||
			t.word == "way" && directions > 0
	})
	if noun < 0 {
		return false
	}
	introduces := hasWord(list[max(0, noun-3):noun], indefinite) && !s.comparesTo(noun)
	return directions > 0 && (s.leadsOn() || introduces || hasRun(list, "there is") || hasWord(list, wordSet(""+
		"appears stretches yawns stands"))) ||
		introduces && (s.leadsOn() || hasWord(list, wordSet("appears yawns gapes appeared opened opens stands")))
}

// comparesTo reports whether a noun is said of a subject: "my heart is an open door".
func (s *statement) comparesTo(noun int) bool {
	for i, t := range s.unnamed()[:noun] {
		if beForms[t.word] && i > 0 && s.tokens[0].word != "there" && s.tokens[0].word != "here" {
			return true
		}
	}
	return false
}

// destination returns the place that a sentence tells the way to, and the place from which.
func (s *statement) destination(w *World) (to, from int) {
	to, from = None, w.Place
	c := clause{tokens: s.tokens, named: s.named}
	for _, m := range s.named {
		switch {
		case w.Entities[m.entity].Class != Place || m.pronoun:
		case c.wordBefore(m.from) == "from" || m.entity == w.Place && hasRun(s.tokens[max(0, m.from-2):m.from], "of"):
			from = m.entity
		case m.entity == w.Place:
		case to != None && to != m.entity && c.wordBefore(m.from) != "to" && c.wordBefore(m.from) != "lies":
		default:
			to = m.entity
		}
	}
	return to, from
}

// passed returns the place that a sentence passes on its way, if the direction leads on from there: "south, across the
// moor, you get to the bog". Else it returns from.
func (s *statement) passed(w *World, from, to int, direction string) int {
	c := clause{tokens: s.tokens, named: s.named}
	for _, m := range s.named {
		x, ok := w.exit(m.entity, direction)
		if ok && x.To == to && passing[c.wordBefore(m.from)] {
			return m.entity
		}
	}
	return from
}

var passing = wordSet("across over through on past beyond along")

// judgeLeads judges whether an exit leads to a place. An exit that the canon does not show would be new.
func judgeLeads(c Claim, w *World) (Truth, string) {
	if c.Word == "" {
		if c.Object == None {
			return New, ""
		}
		if _, ok := w.exitTo(c.Subject, c.Object); ok {
			return True, ""
		}
		return New, ""
	}
	x, ok := w.exit(c.Subject, c.Word)
	switch {
	case c.Denied && ok:
		return False, fmt.Sprintf("%s has an exit %s", w.name(c.Subject), c.Word)
	case c.Denied:
		return True, ""
	case !ok:
		return New, ""
	case c.Object == None || x.To == c.Object:
		return True, ""
	}
	return False, fmt.Sprintf("the exit %s of %s leads to %s", c.Word, w.name(c.Subject), w.name(x.To))
}

var (
	lockWords   = wordSet("locked bolted barred sealed fastened padlocked padlock latched chained blocked bricked")
	lockVerbs   = wordSet("lock bolt bar block seal")
	movingWords = wordSet("open budge move yield give")
	freeWords   = wordSet("clear free unbarred")
	openWords   = wordSet("open opened unlocked ajar unbarred unbolted unlatched unfastened")
	goWords     = wordSet("go pass walk leave enter get step exit")
)

// readOpen reads whether an exit of the place is open or locked.
func readOpen(s *statement, w *World) (list []Claim) {
	x, ok := s.exitMeant(w)
	if !ok && s.before != nil && s.tokens[0].word == "it" && (len(s.named) == 0 || s.named[0].from > 0) {
		x, ok = *s.before, true // "you push the gate. It is locked"
	}
	if !ok {
		return nil
	}
	for i, t := range s.tokens {
		if s.isPlanned(i) {
			continue
		}
		locked, told := false, false
		denied := hasWord(s.tokens[max(0, i-4):i], denials)
		switch {
		case lockWords[t.word], lockVerbs[verbOf(t.word)] && i > 0 && !articles[s.tokens[i-1].word] &&
			hasWord(s.tokens[i+1:], wayNouns), t.word == "shut" && hasWord(s.tokens, wordSet(""+
			"fast tight firmly")):
			locked, told = true, true
		case openWords[t.word] && i > 0 && !articles[s.tokens[i-1].word] && (t.word != "open" || stands(s.tokens[:i])):
			told = true
		case hasRun(s.tokens[i:], "no lock"), hasRun(s.tokens[i:], "lock is broken"):
			told, denied = true, false
		case t.word == "key" && hasWord(s.tokens[max(0, i-4):i], wordSet("need needs require requires")):
			locked, told = true, true
			denied = denied || hasWord(s.tokens[max(0, i-6):i], denials)
		case movingWords[t.word] && hasWord(s.tokens[max(0, i-2):i], wordSet("not never")) && !stands(s.tokens[:i]):
			locked, told, denied = true, true, false
		case (t.word == "opens" || t.word == "yields") && hasWord(s.tokens[i:], wordSet("easily touch push "+
			"readily freely")):
			told = true
		case freeWords[t.word] && stands(s.tokens[:i]) && hasWord(s.tokens[:i], wordSet("way path road passage")):
			told = true
		case goWords[t.word] && i > 0 && slices.ContainsFunc(s.tokens[max(0, i-3):i],
			func(t token) bool { return t.word == "can" || t.word == "may" || t.word == "cannot" }):
			told, denied = true, denied || hasWord(s.tokens[max(0, i-3):i], wordSet("cannot"))
		}
		if told {
			state := "open"
			if locked != denied {
				state = "locked"
			}
			return []Claim{{Predicate: Open, Subject: x.From, Object: None, Word: state + " " + x.Direction}}
		}
	}
	return nil
}

// isPlanned reports whether a participle tells of what somebody will have done: "I will have the door opened".
func (s *statement) isPlanned(i int) bool {
	before := s.tokens[max(0, i-maxPlanned):i]
	return hasWord(before, wordSet("will shall")) && hasWord(before, wordSet("have get")) && openWords[s.tokens[i].word]
}

const (
	maxPlanned  = 14 // words between "will" and a participle
	maxStanding = 8  // words between a verb of being and "open"
)

// stands reports whether the last verb before "open" is one of being: "stands wide open", "is open".
func stands(before []token) bool {
	for i := len(before) - 1; i >= max(0, len(before)-maxStanding) && !before[i].mark; i-- {
		switch verbOf(before[i].word) {
		case "be", "stand", "lie", "swing", "leave", "hang", "remain", "stay", "find":
			return true
		}
		if beForms[before[i].word] {
			return true
		}
		if isFiniteVerb(before[i]) {
			break
		}
	}
	return false
}

// exitMeant returns the exit that a sentence is about: that between two places, in a direction, to a place, or the only
// one of the place with a lock.
func (s *statement) exitMeant(w *World) (Exit, bool) {
	if x, ok := s.exitBetween(w); ok {
		return x, true
	}
	if d := directionsIn(s.tokens, w); len(d) == 1 {
		return w.exit(w.Place, d[0])
	}
	for _, m := range s.named {
		if x, ok := w.exitTo(w.Place, m.entity); ok {
			return x, true
		}
		if x, ok := w.onlyLockOf(m.entity); ok && m.entity != w.Place && (m.to == len(s.tokens) ||
			beForms[s.tokens[m.to].word]) {
			return x, true // "the castle is locked"
		}
	}
	if x, ok := w.exit(w.Place, s.topic); ok {
		return x, true
	}
	for i, t := range s.tokens {
		if (t.word == "door" || t.word == "gate" || t.word == "hatch") && i > 0 && (ownDoors[s.tokens[i-1].word] ||
			slices.ContainsFunc(s.named, func(m mention) bool { return m.to == i })) { // "the inn door"
			return w.onlyLockOf(w.Place)
		}
	}
	return Exit{}, false
}

var ownDoors = wordSet("the this that my our")

// exitBetween returns the exit between two places that a sentence names: "the gate between the mill and the yard".
func (s *statement) exitBetween(w *World) (Exit, bool) {
	c := clause{tokens: s.tokens, named: s.named}
	for _, a := range s.named {
		if before := c.wordBefore(a.from); before != "from" && before != "between" {
			continue
		}
		for _, b := range s.named {
			if x, ok := w.exitTo(a.entity, b.entity); ok && x.Lock != "" {
				return x, true
			}
		}
	}
	return Exit{}, false
}

// onlyLockOf returns the exit of a place with a lock, if there is one and no other.
func (w *World) onlyLockOf(place int) (found Exit, ok bool) {
	locks := 0
	for _, x := range w.Exits {
		if x.From == place && x.Lock != "" {
			found = x
			locks++
		}
	}
	return found, locks == 1
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// judgeOpen judges whether an exit is open or locked.
func judgeOpen(c Claim, w *World) (Truth, string) {
	state, direction, _ := strings.Cut(c.Word, " ")
	x, ok := w.exit(c.Subject, direction)
	switch {
	case !ok:
		return New, ""
	case x.Lock == "" && state == "open", x.Lock == "locked" && state == "locked", x.Lock == "unlocked" &&
		state == "open":
		return True, ""
	case x.Lock == "":
		return Unsure, ""
	}
	return False, fmt.Sprintf("the exit %s of %s is %s", direction, w.name(c.Subject), x.Lock)
}
