package kind

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"loregate/internal/canon"
	"loregate/internal/safety"
)

// A text may embellish the canon but must not add to it by a claim. Each sentence is searched for
// four kinds of claim: a new exit, a thing to take, an arrival, a death. A sentence that denies,
// doubts, hopes, asks or reports hearsay makes no claim, nor does one that agrees with the canon.

// hedges are words that mark a sentence as making no claim.
var hedges = wordSet("if might may could would perhaps maybe almost rumour rumours rumor rumors heard supposedly seems seem seemed imagine imagined dream dreams dreamt dreamed " +
	"wish hope hoped no not never nobody nothing none neither nor without unless until till whether would should when whenever legend legends story stories tale tales song songs")

// hearsay are phrases that mark a sentence as making no claim.
var hearsay = [][]string{
	{"they", "say"}, {"it", "is", "said"}, {"some", "say"}, {"people", "say"}, {"as", "though"}, {"as", "if"},
	{"used", "to"}, {"believe"}, {"so", "they", "tell"}, {"word", "is"}, {"is", "said", "to"},
	{"long", "ago"}, {"once", "upon"}, {"in", "the", "old", "days"},
}

var (
	wayNouns = wordSet("door doors doorway passage passages passageway tunnel tunnels stair stairs staircase stairway steps path pathway trail gate gateway archway hatch trapdoor portal bridge corridor ladder exit shaft")
	wayVerbs = wordSet("opens open opened leads lead leading led runs run goes appears appeared descends descend ascends ascend climbs climb winds stretches yawns gapes stands")
	indef    = wordSet("a an another new hidden secret unseen forgotten")
	upWords  = wordSet("climb climbs ascends ascend upward upwards up")
	dnWords  = wordSet("descends descend downward downwards down below beneath")

	takeVerbs = wordSet("find finds found pick picks pocket pockets receive receives discover grab gain acquire get obtain")
	comings   = wordSet("arrives arrive arrived enters enter entered lands land landed emerges emerged")
	// moods are subjects such as weather and light, whose coming and going is no arrival of a
	// character.
	moods = wordSet("mist fog rain wind tide night dawn dusk day evening morning winter spring summer autumn light dark darkness shadow shadows smell scent smoke snow frost cold warmth silence quiet sound sounds " +
		"noise echo storm cloud clouds sun moon stars thunder lightning air breeze draught chill heat hush bell bells boat boats ferry ferries news letter letters season water sea gull gulls birds bird")
	pronouns = wordSet("it that which who he she they you we i this those these there")
	beVerbs  = wordSet("is are was were lies lie lay")
	killed   = wordSet("murdered killed slain slaughtered")
)

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// checkClaims adds an issue for the first claim of a text that the canon does not confirm. place is
// the place where the text is said or seen, or the zero id if unknown.
func (i *inspection) checkClaims(field, text string, c Config, place canon.CardID) {
	var exits []string
	if !place.IsZero() {
		exits = i.exitDirections(place)
	}
	for _, s := range splitSentences(text) {
		words := safety.Fold(s)
		if isHedged(words) || strings.HasSuffix(strings.TrimSpace(s), "?") {
			continue
		}
		switch {
		case claimsWay(words, c.Directions, exits):
			i.add(field, "claims an exit that the canon does not have; leave it out, or tell it as rumour")
		case claimsThing(words):
			i.add(field, "claims that there is a thing to take; leave it out")
		case claimsDeath(words) && !i.knownDead(s):
			i.add(field, "claims a death that the canon does not have; leave it out, or tell it as rumour")
		case claimsArrival(words) && !i.isHere(s, place):
			i.add(field, "claims that somebody arrives who is not here in the canon; leave it out")
		default:
			continue
		}
		return
	}
}

// splitSentences splits a text after each character that ends a statement.
func splitSentences(text string) []string {
	var list []string
	from := 0
	for at, r := range text {
		if strings.ContainsRune(".!?;:\n", r) {
			list = append(list, text[from:at+1])
			from = at + len(string(r))
		}
	}
	return append(list, text[from:])
}

func isHedged(words []string) bool {
	if slices.ContainsFunc(words, func(w string) bool { return hedges[w] }) {
		return true
	}
	return slices.ContainsFunc(hearsay, func(run []string) bool { return runAt(words, run) >= 0 })
}

// runAt returns the index of consecutive words, or -1.
func runAt(words, run []string) int {
	for i := 0; i+len(run) <= len(words); i++ {
		if slices.Equal(words[i:i+len(run)], run) {
			return i
		}
	}
	return -1
}

// claimsWay reports whether a sentence claims a way in a direction without an exit, or a new way.
func claimsWay(words, directions, exits []string) bool {
	noun := slices.IndexFunc(words, func(w string) bool { return wayNouns[w] })
	if noun < 0 || !slices.ContainsFunc(words, func(w string) bool { return wayVerbs[w] }) &&
		runAt(words, []string{"there", "is"}) < 0 && runAt(words, []string{"has", "appeared"}) < 0 {
		return false
	}
	toward := directionsIn(words, directions)
	if len(toward) > 0 {
		return slices.ContainsFunc(toward, func(d string) bool { return !slices.Contains(exits, d) })
	}
	before := words[max(0, noun-3):noun]
	return slices.ContainsFunc(before, func(w string) bool { return indef[w] })
}

// directionsIn returns the directions in a sentence.
func directionsIn(words, directions []string) []string {
	var list []string
	for _, w := range words {
		switch {
		case w == "in" || w == "out": // too common to mean an exit
		case slices.Contains(directions, w):
			list = append(list, w)
		case upWords[w]:
			list = append(list, "up")
		case dnWords[w] && w != "below" && w != "beneath":
			list = append(list, "down")
		}
	}
	return list
}

// claimsThing reports whether a sentence gives the player a thing or offers one to take.
func claimsThing(words []string) bool {
	for _, run := range [][]string{{"for", "the", "taking"}, {"is", "yours", "now"}, {"is", "now", "yours"},
		{"take", "this"}, {"i", "give", "you", "this"}, {"have", "this"}} {
		if runAt(words, run) >= 0 {
			return true
		}
	}
	for i, w := range words {
		if w == "you" && i+1 < len(words) && takeVerbs[words[i+1]] && i+2 < len(words) &&
			(slices.Contains([]string{"a", "an", "the", "it", "up", "some", "this", "that", "one"}, words[i+2])) {
			return true
		}
	}
	return false
}

// claimsDeath reports whether a sentence says that somebody is dead.
func claimsDeath(words []string) bool {
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case beVerbs[w] && (next == "dead" || killed[next]):
			return i > 0 && !moods[words[i-1]]
		case w == "been" && killed[next], w == "has" && next == "died", w == "have" && next == "died":
			return true
		case (w == "corpse" || w == "body") && next == "of":
			return true
		}
	}
	return false
}

// claimsArrival reports whether a sentence says that somebody arrives.
func claimsArrival(words []string) bool {
	verb := slices.IndexFunc(words, func(w string) bool { return comings[w] })
	for _, run := range [][]string{{"has", "arrived"}, {"have", "arrived"}, {"has", "come"}, {"walks", "in"},
		{"strides", "in"}, {"steps", "in"}, {"bursts", "in"}, {"rides", "in"}} {
		if at := runAt(words, run); at >= 0 && (verb < 0 || at < verb) {
			verb = at
		}
	}
	if verb <= 0 {
		return false
	}
	subject := words[:verb]
	if len(subject) == 1 && pronouns[subject[0]] {
		return false
	}
	return !slices.ContainsFunc(subject, func(w string) bool { return moods[w] })
}

// properNames returns the runs of capitalised words in a sentence, and at each word the longest run
// first.
func properNames(sentence string) []string {
	var list []string
	var run []string
	flush := func() {
		for len(run) > 0 {
			for n := len(run); n > 0; n-- {
				list = append(list, strings.Join(run[:n], " "))
			}
			run = run[1:]
		}
	}
	for w := range strings.FieldsSeq(sentence) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
		if r := []rune(w); len(r) > 0 && unicode.IsUpper(r[0]) {
			run = append(run, w)
			continue
		}
		flush()
	}
	flush()
	return list[:min(len(list), maxNames)]
}

// maxNames bounds the look-ups for one sentence.
const maxNames = 12

// knownDead reports whether a sentence names somebody who is dead in the canon.
func (i *inspection) knownDead(sentence string) bool {
	for _, name := range properNames(sentence) {
		found, ok := i.findByName(name)
		if !ok {
			continue
		}
		var fields map[string]any
		if json.Unmarshal(found, &fields) != nil {
			continue
		}
		for _, f := range []string{"died", "dead", "deceased", "death"} {
			if v, ok := fields[f]; ok && v != false && v != "" {
				return true
			}
		}
		if s, ok := fields["status"].(string); ok && strings.EqualFold(s, "dead") {
			return true
		}
	}
	return false
}

// findByName returns the fields of the card with a name.
func (i *inspection) findByName(name string) (json.RawMessage, bool) {
	if i.err != nil {
		return nil, false
	}
	c, ok, err := i.world.Exists(i.ctx, name)
	if err != nil || !ok {
		i.err = err
		return nil, false
	}
	found, ok, err := i.world.Card(i.ctx, c.ID)
	i.err = err
	return found.Fields, ok
}

// isHere reports whether a sentence names somebody who is at a place in the canon.
func (i *inspection) isHere(sentence string, place canon.CardID) bool {
	for _, name := range properNames(sentence) {
		if i.err != nil {
			return false
		}
		c, ok, err := i.world.Exists(i.ctx, name)
		if i.err = err; !ok {
			continue
		}
		if at, ok := i.placeOf(c.ID); ok && at == place {
			return true
		}
	}
	return false
}
