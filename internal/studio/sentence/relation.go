package sentence

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// connect reads a relation.
func (r *reader) connect(list []sense, n int) bool {
	s, n, ok := r.findRelation(list, n)
	if !ok {
		return false
	}
	if behind := r.wordAt(r.at + n); s.class == isWithin && n > 1 && !isMark(behind) && behind != "and" &&
		r.nounFollows(r.at+n) && !r.isFunction(r.at+n) && !r.isVerbAhead(r.at+n) {
		one, _ := r.findSenses(r.wordAt(r.at)) // "at the front stage"
		if s, ok = senseOf(one, isRelation); !ok {
			return false
		}
		n = 1
	}
	r.spend(n)
	before := r.wordAt(r.at - 1)
	if isWordAs(before, meaning.Adverb) {
		before = r.wordAt(r.at - 2)
	}
	if r.wordAt(r.at) == "by" && n == 1 && isParticiple(before) && !strings.HasSuffix(before, "ing") && r.verb {
		if s = (sense{class: isInverse, name: "by"}); !slices.Contains(building, before) {
			s.name = byAgent
		}
	}
	next := r.at + n
	if s.class == isRelation && r.readTime(next) {
		return true
	}
	listed := r.link != nil && r.link.inverse && r.listed
	r.endLink()
	r.none, r.copula = false, false
	if s.class == isInverse {
		r.readInverse(s)
		r.at = next
		return true
	}
	if r.wordAt(r.at) == "into" && r.after && r.last != nil && slices.Contains(openings, r.last.name) {
		s.name = "leading to" // "the door into the cottage"
	}
	l := &link{relation: s.name, region: s.region}
	l.spread = slices.Contains(spreading, meaning.Lemma(r.wordAt(r.at), meaning.Verb))
	first := r.wordAt(r.at)
	if isFinite(first) {
		r.resumeMain()
	}
	if s.class == isWithin || s.region != "" || isRegional(s.name) || s.name == "beside" {
		r.region = s
	}
	isVerb := (r.after || r.comma && len(r.group) > 0) && isFinite(first)
	if r.verb = r.verb || isVerb; isVerb {
		r.closeList(listed)
	}
	if s.name == "leading to" && r.leads && r.wordAt(r.at) != first {
		r.leads = false
	}
	within := s.class == isWithin || !r.landmarkFollows(next)
	l.lost = (r.after || isVerb) && r.strange && (!r.inside || r.after && !isVerb)
	if isVerb && len(r.group) > 0 && !r.turned && !l.lost {
		r.last = r.group[len(r.group)-1] // not the landmark before the verb
		for _, m := range r.group {
			m.loose = m.loose || !within && m.relation != "" // "a window in the wall overlooks the sea"
		}
	}
	r.after = r.after && !isVerb
	if within && !slices.Contains(adverbs, first) && s.class != isWithin {
		r.after, r.joined, r.at = false, false, next
		return true
	}
	if !l.lost {
		l.subjects = r.subjects(next, within)
	}
	r.multiply(l, r.span(r.at, n))
	r.after, r.joined = false, false
	if within {
		r.after = r.wordAt(next) == "with" && r.last != nil
		if len(l.subjects) == 0 && !l.lost {
			r.front = l
		}
		for _, m := range l.subjects {
			if m.class != isSetting || isRegional(s.name) && r.verb && r.group[0] == m && !isVagueRoom(m) {
				owner := m.to
				m.relate(s.name, nil, s.region)
				if owner != nil && m.to == nil && isRegional(s.name) && owner.class == isThing &&
					!r.isBuilding(owner) {
					m.to, m.toNoun = owner, owner.noun // "a bed with a chest at its foot"
					m.relation = fitRelation(m.relation, m, owner)
				}
				m.loose = m.loose || slices.Contains(adverbs, first) && m.to == nil
			}
		}
	} else {
		r.link = l
	}
	r.at = next
	return true
}

// findRelation returns the relation at the present position, and the number of its words.
func (r *reader) findRelation(list []sense, n int) (sense, int, bool) {
	s, ok := senseOf(list, isRelation, isInverse, isWithin)
	if region, k := r.matchRegion(r.at); k > n {
		return region, k, true
	}
	if !r.after && !r.copula && !r.comma && r.last != nil {
		return s, n, ok
	}
	if with, k := r.matchWith(r.at); k > n {
		return with, k, true
	}
	if k := r.matchHang(r.at); k > n {
		return sense{class: isRelation, name: "hanging from"}, k, true
	}
	if word := r.wordAt(r.at); r.leads && r.subject != nil && (word == "to" || word == "into" || word == "toward" ||
		word == "towards") && r.isFunction(r.at+1) {
		return sense{class: isRelation, name: "leading to"}, 1, true
	}
	if k := r.matchLead(r.at); k > n {
		return sense{class: isRelation, name: "leading to"}, k, true
	}
	if verb, found := r.matchVerb(r.at); found && !ok && r.after {
		return verb, 1, true
	}
	return s, n, ok
}

// spreading are verbs of things here and there: on a place they are in it.
var spreading = []string{"dot", "spot", "pepper", "scatter", "strew", "litter", "stud", "populate", "pock", "riddle"}

// openings are things that lead somewhere.
var openings = []string{"door", "hidden_door", "arch", "gate", "trapdoor", "portal", "stair", "spiral_stair", "ladder",
	"bridge", "window", "hole", "cave_mouth"}

// multiply counts the things at each side or end of a landmark.
func (r *reader) multiply(l *link, words string) {
	if l.relation != "on both sides of" && l.relation != "at each end of" {
		return
	}
	l.each, l.either = strings.Contains(words, "each"), strings.Contains(words, "either")
	if r.wordAt(r.at-1) == "one" {
		return // "two beds, one on each side"
	}
	for _, m := range l.subjects {
		m.double(l.each || m.count == 1 && len(l.subjects) == 1)
	}
}

func (m *mention) double(twice bool) {
	if twice && m.exact && 2*m.count <= maxCount {
		m.count *= 2
	}
}

// adverbs are relations that need no landmark: "a fire burns outside".
var adverbs = []string{"outside", "inside", "above", "below", "beneath", "underneath", "behind", "beyond", "around",
	"nearby", "opposite", "surrounding", "throughout", "alongside", "all", "overhead"}

// isFinite reports whether a word is a verb other than a participle.
func isFinite(word string) bool {
	return isWordAs(word, meaning.Verb) && !isParticiple(word) && !slices.Contains(prepositions, word)
}

// prepositions may be verbs for WordNet.
var prepositions = []string{"near", "down", "by", "under", "over", "inside", "outside", "around", "along", "in", "on",
	"up", "close"}

// landmarkFollows reports whether a noun phrase or a pronoun stands at a position.
func (r *reader) landmarkFollows(at int) bool {
	if slices.Contains(pronouns, r.wordAt(at)) || r.wordAt(at) == "what" {
		return true
	}
	if r.isVerbAhead(at) {
		return false
	}
	_, _, ok := r.parsePhrase(at)
	return ok
}

// isVerbAhead reports whether a verb stands at a position where a phrase may stand.
func (r *reader) isVerbAhead(at int) bool {
	list, n, _ := r.match(at)
	return n == 1 && hasSense(list, isPlain) && isWordAs(r.wordAt(at), meaning.Verb) &&
		!slices.Contains(quantifiers, r.wordAt(at)) && !slices.Contains(prepositions, r.wordAt(at))
}

// readTime skips "at dusk" and the like.
func (r *reader) readTime(next int) bool {
	for slices.Contains([]string{"the", "a", "an", "early", "late", "full", "broad"}, r.wordAt(next)) {
		next++
	}
	found, n, _ := r.match(next)
	if s, ok := senseOf(found, isLight); ok && !hasNoun(found) && !r.nounFollows(next+n) {
		r.light = cmp.Or(r.light, s.name)
		r.mentions = append(r.mentions, &mention{class: isLight, name: s.name, words: r.span(next, n),
			noun: r.span(next, n), count: 1, from: r.text})
		r.at = next + n
		return true
	}
	return false
}

// subjects returns the things that a relation is about.
func (r *reader) subjects(next int, within bool) []*mention {
	start := len(r.group) == 0 && r.last == nil
	if m := cmp.Or(r.subject, r.firstOf(r.group)); r.comma && !r.after && m != nil && len(r.group) == 1 && r.link == nil &&
		strings.HasSuffix(r.wordAt(r.at), "ing") && m.class != isSetting {
		return []*mention{m} // "a statue in the square, facing the hall"
	}
	if placed := r.placedOn(r.last); r.wordAt(r.at-1) == "and" && placed != nil && !r.comma && r.subject != nil &&
		!r.opensClause(next, within) {
		return []*mention{placed} // "it flows beside the road and under the bridge"
	}
	within = within && (r.isVerbAhead(next) || r.wordAt(next) == "there") || within && !r.landmarkFollows(next)
	if start || r.joined && r.opensClause(next, within) || r.turned && r.verb && len(r.group) == 0 {
		r.group, r.segment, r.verb, r.turned = nil, 0, false, false
		return nil
	}
	free := func(list []*mention) (out []*mention) {
		for _, m := range list {
			if m.isFree() {
				out = append(out, m)
			}
		}
		return out
	}
	group := free(r.group)
	if r.after && r.last != nil && slices.Contains(pronouns, r.wordAt(next)) && !slices.Contains(r.group, r.last) &&
		len(r.group) <= 1 && r.last.class != isSurface {
		return r.joinedWith(r.last) // "a field surrounding it"
	}
	if r.after && r.last != nil && r.last.own && !within && !r.isFrame(next) {
		return r.joinedWith(r.last)
	}
	if r.reduced != nil && r.reduced.isFree() && !r.after {
		return r.joinedWith(r.reduced)
	}
	closest := r.last != nil && r.last.isFree() && !(r.last.class != isThing && r.last.landmark && len(group) > 0)
	switch {
	case r.after && r.last != nil && r.last.held && r.last.to.isFree():
		return r.joinedWith(r.last.to)
	case r.after && r.last != nil && r.last.class != isThing && r.placedAt(r.last) != nil:
		return r.joinedWith(r.placedAt(r.last))
	case r.after && !within && closest && r.last.loose && slices.Contains(r.group, r.last.to) &&
		r.last.to.class == isThing && r.last.to.isFree() && r.last.to.stands != asHouse:
		return []*mention{r.last.to}
	case r.after && closest && within && r.last.exact:
		return []*mention{r.last}
	case r.after && closest:
		return r.joinedWith(r.last)
	case len(group) > 0 && r.comma && r.last != nil && r.last.class == isThing && r.last.isFree() &&
		!slices.ContainsFunc(group, func(m *mention) bool { return m.class != isSurface }):
		return []*mention{r.last} // "the floor is covered by a rug, in front of a fire"
	case len(group) > 0:
		return group
	case closest:
		return []*mention{r.last}
	case r.last != nil && r.last.class == isThing:
		return []*mention{r.last}
	}
	return r.group
}

// isFrame reports whether the noun phrase at a position names the room, its walls or its ceiling.
func (r *reader) isFrame(at int) bool {
	p, _, ok := r.parsePhrase(at)
	return ok && !p.owned && (p.class == isSurface && p.name != "floor" || p.class == isSetting)
}

// placedOn returns the last thing that stands in relation to a landmark.
func (r *reader) placedOn(landmark *mention) *mention {
	for _, m := range slices.Backward(r.mentions) {
		if landmark != nil && m.to == landmark && m.from == r.text {
			return m
		}
	}
	return nil
}

// placedAt returns the last thing that stands in relation to a place and may stand closer to another thing.
func (r *reader) placedAt(place *mention) *mention {
	for _, m := range slices.Backward(r.mentions) {
		if place != nil && m.to == place && m.from == r.text && m.isFree() {
			return m
		}
	}
	return nil
}

// joinedWith returns a thing with those that "and" joins to it: "knives and tools".
func (r *reader) joinedWith(m *mention) []*mention {
	at := slices.Index(r.run, m)
	out := []*mention{m}
	alone := isParticiple(r.wordAt(r.at)) && m.exact // "a table and a lantern hanging from a pole"
	for ; !alone && at > 0 && r.run[at-1].isFree() && !r.run[at-1].landmark && r.run[at-1].to == m.to; at-- {
		out = append(out, r.run[at-1])
	}
	if k := slices.Index(r.group, m); m.bare && k > 0 { // "swords, axes and bows in a chest"
		for _, one := range slices.Backward(r.group[:k]) {
			if !one.bare || !one.isFree() || one.landmark {
				break
			}
			if !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return out
}

// opensClause reports whether a relation at the start of a clause is that of the things behind its verb: "and behind
// the counter is a shelf".
func (r *reader) opensClause(at int, within bool) bool {
	for first := true; ; first = false {
		if !within || !first {
			_, next, ok := r.parsePhrase(at)
			if word := r.wordAt(at); !ok && word != "which" && slices.Contains(pronouns, word) {
				next, ok = at+1, true
			}
			if !ok {
				return false
			}
			at = next
		}
		word := r.wordAt(at)
		if word == "a" || word == "an" || r.isNumberAt(at) && !isMark(r.wordAt(at)) {
			return true // "and next to it a lamp"
		}
		if word == "there" || word == "there's" || r.isVerbAhead(at) && !strings.HasSuffix(word, "ing") {
			return true
		}
		list, n, _ := r.match(at)
		if word == "of" {
			n = 1
		} else if s, ok := senseOf(list, isRelation); !ok || s.name == "" {
			return false
		}
		at += n
		within = false
	}
}

// readInverse reads a relation whose landmark came before: "surrounded by".
func (r *reader) readInverse(s sense) {
	subjects := r.group
	finite := isFinite(r.wordAt(r.at)) && !r.verb && len(subjects) > 0
	close := r.after || r.each && !r.verb || r.comma && isParticiple(r.wordAt(r.at)) && r.last != nil &&
		r.last.class == isThing && !r.last.landmark
	if close && r.last != nil && !finite || len(subjects) == 0 {
		subjects = nil
		if r.last != nil {
			subjects = []*mention{r.last}
		}
		if placed := r.placedOn(r.last); placed != nil && placed.class == isThing && r.last.class == isSetting &&
			isVagueRoom(r.last) {
			subjects = []*mention{placed}
		}
	}
	r.verb = r.verb || !close
	r.after, r.joined, r.owner = false, false, nil
	if s.name == "by" {
		r.link = &link{relation: "with", inverse: true}
		return
	}
	if f := r.front; f != nil && isRegional(f.relation) && len(subjects) == 1 && f.to == subjects[0] && s.name == "in" {
		s.name = f.relation // "the centre of the room is filled with"
	}
	if region := r.regionOf(subjects); region != "" && (s.name == "with" || s.name == "in" || s.name == "on") {
		s.name = region
	}
	if s.name == "with" && len(subjects) > 0 && (subjects[0].class == isSetting || subjects[0].class == isThing &&
		r.Things[subjects[0].name].Stands == asHouse && isWordAs(r.wordAt(r.at), meaning.Verb)) {
		s.name = "in"
	}
	if len(subjects) > 0 && s.name == "on" && subjects[0].class == isSetting && (!r.isOpenPlace(subjects[0]) &&
		slices.Contains(spreading, meaning.Lemma(r.wordAt(r.at), meaning.Verb)) ||
		slices.Contains([]string{"holds", "holding", "carrying", "bearing"}, r.wordAt(r.at))) {
		s.name = "in"
	}
	if len(subjects) > 0 && r.isBuilding(subjects[0]) {
		r.owner = subjects[0]
	}
	if word := r.wordAt(r.at); (word == "along" || word == "together") && len(r.group) > 0 {
		if m := r.group[len(r.group)-1]; m.relation != "" {
			r.link = &link{relation: m.relation, to: m.to, toNoun: m.toNoun, inverse: true, subjects: subjects}
			return
		}
	}
	if s.name == "with" {
		if l := r.link; l != nil && l.inverse && l.relation != "with" {
			return // "belongings such as clothes"
		}
		r.link = &link{relation: s.name, inverse: true, subjects: subjects}
		if len(subjects) > 0 {
			r.link.to, r.link.toNoun = subjects[0], subjects[0].noun
		}
		return
	}
	l := &link{relation: s.name, inverse: true, verb: true}
	if s.name == byAgent {
		r.after = false
	}
	if len(subjects) == 0 && len(r.mentions) == r.began {
		r.fronted = true
	}
	if len(subjects) > 0 {
		l.to, l.toNoun = subjects[0], subjects[0].noun
		if region, of, ok := strings.Cut(l.toNoun, " of "); ok && regions[region][0] == s.name {
			l.toNoun = of
		}
		l.subjects = subjects
		switch {
		case s.name == "on" && slices.Contains(holding, subjects[0].name) &&
			!slices.Contains(finishes, strings.TrimSuffix(r.wordAt(r.at), "d")+"d") &&
			!slices.Contains(outward, r.wordAt(r.at)):
			l.relation = "in"
		case s.name == "in" && (slices.Contains(holders, subjects[0].name) || slices.Contains(bearing, subjects[0].name)):
			l.relation = "on"
		}
	}
	r.link = l
}

// regionOf returns the relation of things in the region of a landmark: "the front of the store has a table".
func (r *reader) regionOf(subjects []*mention) string {
	if len(subjects) == 0 {
		return ""
	}
	region, _, ok := strings.Cut(cmp.Or(r.regions[subjects[0]], subjects[0].noun), " of ")
	if !ok || subjects[0].class != isSetting && subjects[0].class != isThing {
		return ""
	}
	return regions[region][0]
}

// ownRelation returns the relation of what a thing has, such as a table with a lamp or a chest with clothes.
func (r *reader) ownRelation(m, owner *mention) string {
	small := slices.Contains([]string{onTable, asPlant, onWall, isFlat}, r.Things[m.name].Stands) ||
		slices.Contains(light, m.name)
	switch {
	case m.class == isSurface && m.name == "trim":
		return "on"
	case m.class != isThing:
		return ""
	case owner.class == isSetting:
		return "in"
	case owner.class != isThing:
		return ""
	case slices.Contains(holding, owner.name), slices.Contains(openings, owner.name) && slices.Contains(openings, m.name):
		return "in"
	case r.isBuilding(owner) && slices.Contains(openings, m.name):
		return "on"
	case r.isBuilding(owner) && small && r.Things[m.name].Stands != onWall:
		return "in"
	case r.isBuilding(m):
		return ""
	case small, slices.Contains(bases, owner.name) && !slices.Contains(furniture, m.name):
		return "on"
	}
	return "beside"
}

// light are things of a size that other things carry, although they may stand on the floor.
var light = []string{"lamp", "candelabra", "pot", "basket", "rock", "bars", "cannon", "sack", "block",
	"crystal", "globe",
	"machine", "moss", "patch"}

// bases are things that others stand on, and furniture is what stands beside them.
var (
	bases = []string{"table", "desk", "altar", "counter", "workbench", "pedestal", "cabinet", "shelf", "bookcase", "dais",
		"stall", "block", "cart", "rug", "hill", "roof"}
	furniture = []string{"chair", "stool", "bench", "sofa", "bed", "pew", "table", "desk", "rug", "fireplace", "shelf"}
)

// outward are participles of what is on the outside of a thing, also of one that holds others.
var outward = []string{"decorated", "adorned", "studded", "encrusted", "marked", "painted", "carved", "engraved",
	"inscribed", "labeled", "labelled", "stamped", "etched", "embroidered", "bound", "wrapped", "tied"}

// bearing are things whose contents are on them: "shelves of jars".
var bearing = []string{"shelf", "bookcase", "plate", "cart"}

// holding are things that others are in rather than on.
var holding = []string{
	"barrel",
	"bucket",
	"sack",
	"pot",
	"crate",
	"chest",
	"basket",
	"cabinet",
	"cupboard",
	"bowl",
	"bottle",
	"mug",
	"trough",
	"kettle",
	"pool",
	"sink",
	"refrigerator",
	"oven",
	"cage",
	"coffin",
}

// readMade reads "made of oak" behind a thing or before one.
func (r *reader) readMade(n int) bool {
	material, next := r.parseMaterial(r.at + n)
	if material == "" {
		return false
	}
	subjects := r.group
	if r.after && !r.copula && r.last != nil {
		subjects = []*mention{r.last}
	}
	if len(subjects) == 0 {
		r.made = material
	}
	for _, m := range subjects {
		m.material = betterMaterial(m.material, material)
	}
	if len(subjects) > 0 {
		subjects[0].words += " " + r.span(r.at, next-r.at)
	}
	r.at, r.after = next, false
	return true
}
