package sentence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loregate/internal/studio/spec"
)

// nounFeatures are the features that are things of their own.
var nounFeatures = []string{"battlements", "spire", "slits", "windows", "chimney", "door", "stair"}

// readFeature reads a part of a building: "thatched houses", "a tower with battlements".
func (r *reader) readFeature(s sense, words string, plural, follows bool) bool {
	count := max(int(r.noun.number), 1)
	if slices.Contains(nounFeatures, s.name) {
		if r.owner == nil && r.noun.definite && !follows {
			return r.readOwnFeature(s.name)
		}
		if r.owner == nil || follows || !r.takesFeature(r.owner, s.name) || r.none {
			return false
		}
		if plural && r.noun.number == 0 {
			count = 0
		}
		r.owner.setFeature(s.name, count)
		r.owner.words += " with " + strings.Join(append(r.noun.words, words), " ")
		r.owner.setRole(s.name, r.noun.material)
		r.noun, r.link = phraseHead{}, nil
		return true
	}
	if follows {
		r.noun.features = maps.Clone(r.noun.features)
		if r.noun.features == nil {
			r.noun.features = map[string]int{}
		}
		r.noun.features[s.name] = count
		if s.name == "storeys" {
			r.noun.number = 0
		}
		r.noun.words = append(r.noun.words, words)
		return true
	}
	return false
}

// readOwnFeature reads "the door" as that of the building named before.
func (r *reader) readOwnFeature(feature string) bool {
	for _, m := range slices.Backward(r.mentions) {
		if m.left || !r.takesFeature(m, feature) {
			continue
		}
		r.noun = phraseHead{}
		m.words += ", the " + r.Features[feature][0]
		link := r.link
		r.bind(m)
		if link != nil && link.subject != nil && link.subject.to == m {
			link.subject.toNoun = r.Features[feature][0]
		}
		r.last = m
		return true
	}
	return false
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

// addMention adds what a noun names, with the words before it. It returns nil if the noun names a
// thing that is there already, is elsewhere, or is left out.
func (r *reader) addMention(s sense, words string, plural bool) *mention {
	head := r.noun
	r.noun = phraseHead{}
	full := strings.Join(append(head.words, words), " ")
	if r.away {
		r.away = false
		r.addUnknown(full)
		if r.leads != nil && r.leads.relation == "" {
			r.leads.relation, r.leads.toNoun = "leading to", words
		}
		r.leads = nil
		return nil
	}
	m := &mention{class: s.class, name: s.name, noun: words, words: full, plural: plural, material: head.material,
		scale:  head.scale,
		height: head.height, features: head.features, pattern: head.pattern, from: r.text}
	for _, name := range head.names {
		if s, _, ok := r.placeOrThing(name); ok && s.class == isSetting && m.class == isSetting {
			r.mentions = append(r.mentions, &mention{class: isSetting, name: s.name, words: name, count: 1,
				landmark: true, from: r.text})
			continue
		}
		m.assume("%q only qualifies %s", name, words)
	}
	r.countMention(m, head)
	if r.none {
		r.none = false
		m.left, m.count = true, 0
		r.mentions = append(r.mentions, m)
		return nil
	}
	m.material, r.made = cmp.Or(m.material, r.made), ""
	if old := r.findEarlier(m, head); old != nil {
		if !strings.HasSuffix(old.words, full) {
			old.words += ", " + full
		}
		r.bind(old)
		r.last = old
		return nil
	}
	r.dropForeign(m)
	r.mentions = append(r.mentions, m)
	r.bind(m)
	r.last = m
	r.joinGroup(m)
	if r.isBuilding(m) {
		r.owner = nil
	}
	if m.class == isSurface && r.owner != nil {
		m.owner, r.last = r.owner, r.owner
	}
	return m
}

// joinGroup adds a thing to the list of those that a verb is about.
func (r *reader) joinGroup(m *mention) {
	if r.verb {
		r.group, r.verb = nil, false
	}
	if m.class == isThing || m.class == isSurface {
		r.group = append(r.group, m)
	}
}

// countMention fills in the number.
func (r *reader) countMention(m *mention, head phraseHead) {
	m.count = int(head.number)
	switch {
	case m.class != isThing:
		m.count = 1
	case m.count > maxCount:
		m.assume("%d are too many for one scene; %d are built", m.count, maxCount)
		m.count = maxCount
	case head.vague:
		m.assume("%s is %d", head.words[0], m.count)
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
func (r *reader) findEarlier(m *mention, head phraseHead) *mention {
	for _, old := range slices.Backward(r.mentions) {
		if old.class != m.class || old.name != m.name || old.left {
			continue
		}
		sameText := old.from == m.from
		switch {
		case sameText && r.copula && old == r.last:
			// "the cottage is a wooden building"
		case sameText && !head.definite && m.class == isThing && m.material != old.material && m.material != "":
			return nil
		case sameText && head.number > 0 && m.class == isThing && !head.definite:
			return nil
		case sameText && !head.definite && m.class == isThing && !(m.plural && old.plural):
			return nil
		}
		if !sameText && head.number > 0 && !head.vague {
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
		}
	}
}

// pictured are things whose contents the words after "of" name.
var pictured = []string{"painting", "statue", "tapestry", "barrel", "bucket", "sack", "bottle", "pot", "bowl",
	"crate",
	"chest", "basket", "cart", "mug", "sign", "book", "scroll", "plate", "kettle", "shelf", "bookcase"}

// bind gives the mention its place in the relation that waits for it.
func (r *reader) bind(m *mention) {
	if l := r.front; l != nil && r.link == nil && m != l.object && m.class == isThing {
		if m.relation == "" { // also the things after it: "in the yard stand a cart and a bench"
			m.relation, m.to, m.loose = l.relation, l.object, true
		}
	}
	l := r.link
	if l == nil {
		return
	}
	r.link = nil
	switch {
	case l.inverse && l.subject == nil:
	case l.inverse:
		m.relate(l.relation, l.subject)
		l.subject.landmark = true
		r.front = &link{relation: l.relation, object: l.subject}
		if r.each && m.count*l.subject.count <= maxCount {
			m.count *= max(l.subject.count, 1)
		}
	case l.object != nil:
		l.subject.and, m.landmark = m, true
	case l.subject == nil:
		m.landmark = true
		r.front = &link{relation: l.relation, object: m}
	case l.subject == m:
	default:
		m.landmark = true
		for _, one := range append([]*mention{l.subject}, l.all...) {
			if one != m {
				one.relate(l.relation, m)
			}
		}
		if l.relation == "between" && m.count == 1 {
			r.link = &link{relation: l.relation, subject: l.subject, object: m}
		}
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
