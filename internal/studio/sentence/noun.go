package sentence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loregate/internal/meaning"
	"loregate/internal/studio/spec"
)

// nounFeatures are the features that are things of their own.
var nounFeatures = []string{"battlements", "spire", "slits", "windows", "chimney", "door", "stair"}

// readFeature reads a part of a building: "a tower with battlements", "the door" of a house named before.
func (r *reader) readFeature(p *nounPhrase) bool {
	s, ok := senseOf(r.sensesOfPhrase(p), isFeature)
	if !ok || !slices.Contains(nounFeatures, s.name) || r.none || r.away {
		return false
	}
	if r.owner == nil && (p.definite && p.number == 0 || p.owned) {
		return r.readOwnFeature(p, s.name)
	}
	if r.owner == nil || !r.takesFeature(r.owner, s.name) {
		return false
	}
	count := max(int(p.number), 1)
	if p.plural && p.number == 0 {
		count = 0
	}
	r.owner.setFeature(s.name, count)
	r.owner.words += " with " + p.words
	r.owner.setRole(s.name, p.material)
	r.link = nil
	return true
}

func (r *reader) sensesOfPhrase(p *nounPhrase) []sense {
	list, _ := r.findSenses(p.head)
	return list
}

// readOwnFeature reads "the door" as that of the building named before.
func (r *reader) readOwnFeature(p *nounPhrase, feature string) bool {
	for _, m := range slices.Backward(r.mentions) {
		if m.left || !r.takesFeature(m, feature) || len(r.front.subjectsOf()) > 0 {
			continue
		}
		m.words += ", the " + p.words
		if l := r.link; l != nil && !l.inverse {
			for _, one := range l.subjects {
				one.relate(l.relation, m, p.noun)
			}
			if len(l.subjects) == 0 {
				l.to, l.toNoun, r.front = m, p.noun, l
			}
			r.link = nil
		}
		r.last = m
		return true
	}
	return false
}

func (l *link) subjectsOf() []*mention {
	if l == nil {
		return nil
	}
	return l.subjects
}

// setRole sets the material of a part of a building.
func (m *mention) setRole(role, material string) {
	if material == "" {
		return
	}
	m.roles = maps.Clone(m.roles)
	if m.roles == nil {
		m.roles = map[string]string{}
	}
	m.roles[role] = material
}

func (m *mention) setFeature(name string, count int) {
	if m.features == nil {
		m.features = map[string]int{}
	}
	m.features[name] = count
}

// takesFeature reports whether a building has a feature in the language of scenes.
func (v *vocabulary) takesFeature(m *mention, feature string) bool {
	if m.class != isThing {
		return false
	}
	if slices.Contains(v.Things[m.name].Has, feature) {
		return true
	}
	house, tower := bodiesOf(v.parts[m.name])
	switch feature {
	case "thatch", "chimney", "frame":
		return house != nil
	case "battlements", "spire", "slits", "stair":
		return tower != nil
	}
	return house != nil || tower != nil
}

// isBuilding reports whether a thing may have features.
func (v *vocabulary) isBuilding(m *mention) bool {
	house, tower := bodiesOf(v.parts[m.name])
	return m.class == isThing && (house != nil || tower != nil || v.Things[m.name].Has != nil)
}

// bodiesOf returns the house or the tower of a part.
func bodiesOf(p *spec.Part) (*spec.House, *spec.Tower) {
	if p == nil {
		return nil, nil
	}
	return p.House, p.Tower
}

// defaultMany is the number of things if words in the plural give none.
const defaultMany = 3

// maxCount is the greatest number of one thing.
const maxCount = 200

// readPhrase reads the noun phrase at the present position.
func (r *reader) readPhrase() bool {
	p, next, ok := r.parsePhrase(r.at)
	if !ok {
		return false
	}
	if !p.known && p.isBare() && !p.plural && isWordAs(p.words, meaning.Verb) && r.link == nil && !r.away && !r.none {
		r.addUnknown(p.words)
		r.readVerb(p.words)
		return true
	}
	if behind, _, _ := r.match(next); p.shown != "" && p.isBare() && !p.plural && r.wordAt(r.at-1) == "and" &&
		isWordAs(p.words, meaning.Verb) && hasSense(behind, isRelation) && len(r.group) > 0 {
		r.readVerb(p.words) // "vines climb the walls and wrap around the columns"
		return true
	}
	r.at = next
	for _, word := range p.strange {
		r.addUnknown(word)
	}
	also := r.also
	r.also = nil
	switch {
	case p.class == isLight && p.known:
		r.addLight(&p)
	case r.away:
		r.addUnknown(p.words)
		r.away = !r.once || r.wordAt(next) == "and" || r.wordAt(next) == ","
		r.after = !r.away && r.last != nil && slices.Contains(pictured, r.last.name) // "a map of the realm on it"
	case r.readFeature(&p):
		r.after = true
	case !p.known || p.class == isFeature:
		r.addStrange(&p, also)
	default:
		r.addMention(&p, also)
	}
	return true
}

func (r *reader) addLight(p *nounPhrase) {
	r.light = cmp.Or(r.light, p.name)
	m := &mention{class: isLight, name: p.name, noun: p.noun, words: p.words, count: 1, from: r.text, left: r.none}
	if r.none {
		m.count = 0
	}
	r.mentions = append(r.mentions, m)
	if r.front != nil {
		m.relation, m.to, m.toNoun = r.front.relation, r.front.to, r.front.toNoun
	}
	r.link, r.after, r.none = nil, false, false
}

// addStrange notes a phrase that is not understood. Of the things that stand in relation to it the answer says so.
func (r *reader) addStrange(p *nounPhrase, also *mention) {
	if !r.noteCreatures(p) {
		r.addUnknown(p.words)
	}
	none := r.none && r.wordAt(r.at) == "of" // "no sight of water"
	if r.after, r.none = true, none; none {
		return
	}
	if r.copula && r.link == nil && !r.turned && len(r.group) == 1 && !p.definite && p.number == 1 {
		r.last, r.strange, r.joined = r.group[0], false, false // "the waterfall is a majestic sight"
		return
	}
	switch l := r.link; {
	case l != nil && l.inverse:
		r.last, r.strange, r.inside = nil, true, true
	case also != nil:
	case l != nil:
		for _, m := range l.subjects {
			m.assume("%s is not understood, and this stands at a free place", p.words)
			if r.broaderKind(meaning.Lemma(p.head, meaning.Noun)) != noThing && m.isFree() {
				m.relate(l.relation, nil, p.noun)
				m.loose = true
			}
		}
		if len(l.subjects) == 0 && !l.lost {
			l.toNoun, r.front = p.noun, l
		}
		r.link = nil
	default:
		r.last, r.strange = nil, !r.joined || len(r.group) == 0 || r.verb
		if !r.joined && !r.verb {
			r.group, r.segment = nil, 0
		}
	}
}

// addMention adds what a noun phrase names. It adds nothing if the phrase names a thing that is there
// already.
func (r *reader) addMention(p *nounPhrase, also *mention) {
	m := &mention{class: p.class, name: p.name, noun: p.noun, head: p.head, words: p.words, plural: p.plural,
		scale: p.scale, height: p.height, features: p.features, pattern: p.pattern,
		assumed: p.assumed, from: r.text, exact: p.number > 0 && p.vague == "",
		bare: p.plural && p.number == 0 && !p.definite}
	if m.class == isThing {
		m.stands = r.Things[m.name].Stands
	}
	m.paint(p.material)
	for _, name := range p.names {
		if s, _, ok := r.placeOrThing(name); ok && s.class == isSetting && m.class == isSetting {
			r.mentions = append(r.mentions, &mention{class: isSetting, name: s.name, noun: name, head: name, words: name,
				count: 1, landmark: true, from: r.text})
			continue
		}
		m.assume("%q only qualifies %s", name, p.head)
	}
	if m.pattern == "" && r.pattern != "" && r.joined && p.plural && p.number == 0 {
		m.pattern = r.pattern
	}
	r.pattern = m.pattern
	r.countMention(m, p)
	if r.none {
		m.left, m.count = true, 0
		r.mentions = append(r.mentions, m)
		r.none = r.wordAt(r.at) == "or" || r.wordAt(r.at) == "nor"
		r.link, r.after = nil, false
		return
	}
	m.material, r.made = cmp.Or(m.material, r.made), ""
	if k := len(r.run); m.class == isSurface && m.bare && m.material == "" && k > 0 && r.joined && !r.comma &&
		r.run[k-1].class == isSurface {
		m.material = r.run[k-1].material // "stone walls and floors"
	}
	if r.readPredicateNoun(m, p) {
		return
	}
	if old := r.findEarlier(m, p); old != nil {
		if !strings.HasSuffix(old.words, m.words) {
			old.words += ", " + m.words
		}
		m = old
	} else {
		r.dropForeign(m)
		r.mentions = append(r.mentions, m)
	}
	if strings.Contains(p.noun, " of ") {
		if r.regions == nil {
			r.regions = map[*mention]string{}
		}
		r.regions[m] = p.noun
	}
	for _, note := range p.notes {
		m.assume("%s", note)
	}
	r.named = p.noun
	r.bind(m, also)
	if p.owned && m.isFree() {
		r.putWithOwner(m)
	}
	r.strange, r.reduced = false, nil
	if also != nil && also.class == isThing && m.class == isSurface && p.definite && also.isFree() {
		also.relate("in", m, m.noun) // "the cracks of the floor"
	}
	r.whole = nil
	if also != nil && also.class == isThing {
		r.whole = also // "the towers of the castle rising above"
	}
	if r.last = m; also != nil && also.class == isThing && m.class == isThing && !p.definite && p.number == 0 {
		r.last = also // "a spring of water"
	}
	if m.class == isSurface && r.owner != nil {
		m.owner = r.owner
	} else if also != nil && also.class == isSurface && r.isBuilding(m) {
		also.owner = m
	}
}

// broad are nouns that only say of which kind a thing is.
var broad = []string{"building", "structure", "place", "area", "space", "land", "patch", "piece", "body", "expanse",
	"stand", "construction", "location", "site", "establishment", "maze", "stretch", "plot", "dwelling"}

// readPredicateNoun reads "the stable is a large wooden building": the noun behind "is" is the thing before it.
func (r *reader) readPredicateNoun(m *mention, p *nounPhrase) bool {
	if !r.copula || r.link != nil || r.turned || r.after || len(r.group) != 1 || p.definite || p.number > 1 {
		return false
	}
	of := r.group[0]
	for _, old := range r.mentions {
		if old.from == m.from && old != of && old.class == m.class && old.name == m.name &&
			old.count == 1 && isSameHead(old.head, m.head) {
			of.assume("%s says more of the one before", p.words) // "beside the door. It is a wooden door"
			old.paint(m.material)
			old.words += ", " + p.words
			r.last, r.after, r.copula = old, true, false
			return true
		}
	}
	if m.name == of.name || of.class != isThing && of.class != isSetting ||
		!slices.Contains(broad, p.head) && !meaning.IsA(of.head, meaning.Noun, meaning.Lemma(p.head, meaning.Noun)) {
		return false
	}
	of.words += ", " + p.words
	if of.paint(m.material); m.scale > 0 {
		of.scale = m.scale
	}
	r.last, r.after, r.strange, r.joined, r.copula = of, true, false, false, false
	if r.wordAt(r.at) == "of" && slices.Contains([]string{"land", "water", "ground", "earth", "space", "furniture"},
		r.wordAt(r.at+1)) {
		r.at += 2
	}
	return true
}

// putWithOwner puts a thing with the one that "its" or "their" means.
func (r *reader) putWithOwner(m *mention) {
	owner := r.topic
	if len(r.group) > 0 && r.group[0] != m {
		owner = r.group[0]
	}
	if owner == nil || owner == m || owner.from != r.text {
		return
	}
	if relation := r.ownRelation(m, owner); relation != "" {
		m.relate(relation, owner, owner.noun)
		m.loose, m.own = true, true
	}
}

// countMention fills in the number.
func (r *reader) countMention(m *mention, p *nounPhrase) {
	m.count = int(p.number)
	switch {
	case m.class != isThing:
		m.count = max(min(m.count, maxCount), 1)
	case m.count > maxCount:
		m.assume("%d are too many for one scene; %d are built", m.count, maxCount)
		m.count = maxCount
	case p.vague != "":
		m.assume("%s is %d", p.vague, m.count)
	case m.count == 0 && plural(m):
		m.count = cmp.Or(r.Things[m.name].Many, defaultMany)
		m.assume("the number is %d", m.count)
	case m.count == 0:
		m.count = 1
	}
}

func plural(m *mention) bool { return m.plural || m.pattern != "" }

// findEarlier returns the mention that a noun with an article refers to, or that a later text names
// again. A later text's number replaces an earlier one.
func (r *reader) findEarlier(m *mention, p *nounPhrase) *mention {
	for _, old := range slices.Backward(r.mentions) {
		if old.class != m.class || old.name != m.name || old.left {
			continue
		}
		if old.from == m.from && strings.Contains(p.words, "another ") {
			return nil
		}
		sameText, same := old.from == m.from, isSameHead(old.head, m.head)
		switch {
		case sameText && r.copula && r.verb && len(r.group) == 1 && old == r.group[0] && r.link == nil:
			// "the cottage is a wooden building"
		case sameText && m.class == isThing && !same && len(m.assumed)+len(old.assumed) > 0:
			continue
		case sameText && m.class == isThing && !p.definite && (m.material != old.material && m.material != "" ||
			p.number > 0 || !(m.plural && old.plural)):
			return nil
		case sameText && m.class == isThing && p.number > 0 && int(p.number) != old.count:
			continue
		}
		if !sameText && p.number > 0 && p.vague == "" {
			old.count, old.assumed = m.count, nil
		}
		old.material = cmp.Or(m.material, old.material)
		old.scale = cmp.Or(m.scale, old.scale)
		for name, n := range m.features {
			old.setFeature(name, n)
		}
		return old
	}
	return nil
}

// isSameHead reports whether two nouns are forms of one.
func isSameHead(a, b string) bool {
	return a == b || slices.Contains(singularsOf(a), b) || slices.Contains(singularsOf(b), a) ||
		meaning.Lemma(a, meaning.Noun) == meaning.Lemma(b, meaning.Noun) && meaning.Lemma(a, meaning.Noun) != ""
}

// dropForeign removes the features that a thing does not have, and notes them.
func (r *reader) dropForeign(m *mention) {
	for _, name := range keysOf(m.features) {
		if r.takesFeature(m, name) {
			continue
		}
		delete(m.features, name)
		if name == "thatch" {
			m.material = cmp.Or(m.material, "thatch")
			continue
		}
		if name != "lit" {
			r.addUnknown(r.Features[name][0])
			continue
		}
		m.assume("its light is not shown")
	}
}

// pictured are things whose contents the words after "of" name.
var pictured = []string{"painting", "statue", "tapestry", "sign", "book", "scroll", "mirror"}

// bind gives the mention its place in the relation that waits for it, and in the list before it.
func (r *reader) bind(m *mention, also *mention) {
	l := r.link
	if l != nil && l.held && l.outer != nil && r.joined && r.wordAt(r.at) == "of" {
		l = l.outer // "jars of seeds, bags of herbs"
		r.link = l
	}
	if l != nil && l.relation == "with" && l.to != nil && l.to.class == isThing && r.joined && r.comma && m.exact {
		r.link, l = nil, nil // "a table with two chairs, and a fireplace"
	}
	switch {
	case l != nil && l.inverse:
		r.bindMember(m, l)
	case l != nil:
		r.bindLandmark(m, l)
	default:
		if l := r.front; l != nil && m != l.to && also == nil && m.isFree() {
			r.putLoosely(m, l)
			m.double(l.each || l.either && m.count == 1)
		}
		if also == nil {
			r.joinGroup(m)
		}
	}
	if !r.joined || r.comma {
		r.run = nil
	}
	r.run = append(r.run, m)
	r.after, r.listed, r.joined, r.comma = true, r.joined, false, false
}

// putLoosely puts a thing where those before it are, unless later words say more.
func (r *reader) putLoosely(m *mention, l *link) {
	m.relation, m.to, m.toNoun, m.loose = fitRelation(l.relation, m, l.to), l.to, l.toNoun, true
	if l.to == nil && l.toNoun == "" && m.pattern == "row" && l.relation == "in" {
		m.relation = ""
	}
	if l.to == nil && l.toNoun != "" {
		m.assume("%s is not understood, and this stands at a free place", l.toNoun)
	}
	if l.to != nil {
		l.to.landmark = true
	}
}

// bindMember puts a thing in relation to the landmark before it: "a table surrounded by chairs".
func (r *reader) bindMember(m *mention, l *link) {
	relation := l.relation
	if relation == "with" && l.to != nil && l.to != m {
		relation = r.ownRelation(m, l.to)
	}
	if relation != "with" && relation != "" && l.to != m && m.isFree() {
		put := *l
		put.relation = relation
		r.putLoosely(m, &put)
		m.own = l.relation == "with"
		m.held = l.held && !r.joined
		m.loose = !m.held
		if n := r.countOf(l.subjects); r.each && m.count*n <= maxCount {
			m.count *= n
		}
	}
	l.verb = true
}

func (r *reader) countOf(list []*mention) int {
	n := 0
	for _, m := range list {
		n += max(m.count, 1)
	}
	return max(n, 1)
}

// bindLandmark ends a relation with its landmark. "Between" may have two.
func (r *reader) bindLandmark(m *mention, l *link) {
	r.link = nil
	if l.to != nil { // the second of two
		for _, one := range l.subjects {
			if one.to == l.to && one != m {
				one.and, m.landmark = m, true
			}
		}
		return
	}
	m.landmark = true
	if l.lost {
		r.placeCreatures(m)
	}
	noun := r.named
	if l.region != "" {
		noun = l.region + " of " + noun
	}
	if l.spread && l.relation == "on" && m.class == isSetting && !r.isOpenPlace(m) {
		l.relation = "in" // "trees dot the valley"
	}
	for _, one := range l.subjects {
		one.relate(l.relation, m, noun)
	}
	if len(l.subjects) == 0 {
		if !l.lost {
			r.front = &link{relation: l.relation, to: m, toNoun: noun, each: l.each, either: l.either}
		}
		return
	}
	if l.relation == "between" && m.count == 1 && r.wordAt(r.at) != "and" && !r.each {
		for _, one := range l.subjects {
			if one.to == m && one.relation == "between" {
				one.relation = "in" // "amid the debris"
			}
		}
	}
	if l.relation == "between" && (m.count == 1 || r.isFunction(r.at+1)) && r.wordAt(r.at) == "and" {
		l.to = m
		r.link = l
		r.at++
	}
}

// joinGroup adds a thing to the list of those that a verb is about.
func (r *reader) joinGroup(m *mention) {
	if !r.joined || r.verb && !r.turned || len(r.group) == 0 {
		turned := r.turned || r.front != nil && r.verb && len(r.group) == 0
		r.object = r.verb && !r.turned && !r.joined && len(r.group) > 0
		r.group, r.segment, r.verb, r.turned = nil, 0, false, turned
	}
	if m.class != isLight && !slices.Contains(r.group, m) {
		r.group = append(r.group, m)
	}
}

// describeMention returns the number and the noun of a mention.
func (v *vocabulary) describeMention(m *mention) string {
	switch m.class {
	case isSetting:
		return "the place is " + v.Settings[m.name].Words[0]
	case isLight:
		return "the light is " + m.name
	case isInner:
		return "the place is inside"
	case isSurface:
		return strings.TrimSuffix(fmt.Sprintf("the %s, of %s", m.name, m.material), ", of ")
	}
	return fmt.Sprintf("%d %s", m.count, v.Things[m.name].Words[0])
}
