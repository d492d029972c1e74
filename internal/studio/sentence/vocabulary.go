package sentence

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"loregate/internal/meaning"
	"loregate/internal/studio/builder"
	"loregate/internal/studio/spec"
)

//go:embed data
var dataFiles embed.FS

// The places where a thing stands by itself.
const (
	onFloor   = ""
	asHouse   = "building"
	onWall    = "wall"
	onCeiling = "ceiling"
	asPlant   = "plant"
	onTable   = "small"
	isFlat    = "flat"
	asLand    = "land"
	atHead    = "head"   // at the far end of a room
	atCentre  = "centre" // in the middle
	inRows    = "rows"
	isAfloat  = "afloat"
)

// thing is an entry of the vocabulary that names a part.
type thing struct {
	Words  []string
	Stands string
	Many   int      // of them if words in the plural give no number; default 3
	Inside string   // the setting of its rooms
	Has    []string // features that it has without being told
}

// setting is an entry of the vocabulary that names a place.
type setting struct {
	Words   []string
	Indoor  *indoor
	Adds    map[string]int // things that belong to it
	Terrain string         // of a card
	Ground  string
	Hills   float64
	Flat    float64
	Way     string // material of the road through it
	Walled  string // material of the wall around it
	River   bool
	Sea     bool
	Quay    bool
	Puddles bool
}

// indoor is a room.
type indoor struct {
	Size        [3]float64
	Wall, Floor string
	Rough       bool // carved out of rock
	Canal       bool // with water along its middle
}

// vocabulary is the data of words.yaml and parts.yaml.
type vocabulary struct {
	Things       map[string]thing
	Settings     map[string]setting
	Household    []string
	Portable     []string // of the household, things that also stand outdoors
	Inner        []string
	Homonyms     []string
	Shown        []string
	Hidden       []string
	Kinds        map[string]string // things by the broader nouns of WordNet
	Surfaces     map[string]string
	Materials    map[string][]string
	Sizes        map[string]float64
	Numbers      map[string]float64
	Vague        map[string]float64
	Light        map[string][]string
	Relations    map[string][]string
	Inverse      map[string][]string
	Verbs        map[string][]string
	Bearing      map[string][]string
	Within       map[string][]string
	Elsewhere    []string
	Without      []string
	Made         []string
	Arrangements map[string][]string
	Features     map[string][]string
	Plain        string

	parts   map[string]*spec.Part
	senses  map[string][]sense // by words in lower case
	longest int                // words of the longest entry
	verbs   map[string]sense   // relations by the base form of verbs
}

// class is the role of words in a sentence.
type class int

// The classes, in the order in which the vocabulary page lists them.
const (
	isThing class = iota
	isSetting
	isSurface
	isFeature
	isMaterial
	isSize
	isNumber
	isVague
	isLight
	isRelation
	isInverse
	isWithin
	isElsewhere
	isWithout
	isMade
	isArrangement
	isInner
	isPlain
)

// sense is one meaning of words.
type sense struct {
	class class
	name  string // the key of its entry
	value float64
	// region is the noun of the region of the landmark that a relation names: "along the side of".
	region string
}

var loadVocabulary = sync.OnceValues(readVocabulary)

func readVocabulary() (*vocabulary, error) {
	text, err := dataFiles.ReadFile("data/words.yaml")
	if err != nil {
		return nil, err
	}
	v := &vocabulary{senses: map[string][]sense{}}
	if err := yaml.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("sentence: words.yaml: %w", err)
	}
	if text, err = dataFiles.ReadFile("data/parts.yaml"); err != nil {
		return nil, err
	}
	s, err := spec.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("sentence: parts.yaml: %w", err)
	}
	v.parts = s.Define
	props, _, err := builder.Vocabulary()
	if err != nil {
		return nil, err
	}
	for _, name := range props {
		if v.parts[name] == nil {
			v.parts[name] = &spec.Part{Is: name, Prop: &spec.Prop{Kind: name}}
		}
	}
	for name := range v.Things {
		if v.parts[name] == nil {
			return nil, fmt.Errorf("sentence: words.yaml names %s, and parts.yaml has no such part", name)
		}
	}
	v.index()
	return v, nil
}

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// index fills the senses of all words.
func (v *vocabulary) index() {
	add := func(c class, name string, value float64, words ...string) {
		for _, w := range words {
			v.senses[w] = append(v.senses[w], sense{class: c, name: name, value: value})
			v.longest = max(v.longest, strings.Count(w, " ")+1)
		}
	}
	lists := func(c class, m map[string][]string) {
		for _, name := range keysOf(m) {
			add(c, name, 0, m[name]...)
		}
	}
	for _, name := range keysOf(v.Things) {
		add(isThing, name, 0, v.Things[name].Words...)
	}
	for _, name := range keysOf(v.Settings) {
		add(isSetting, name, 0, v.Settings[name].Words...)
	}
	for _, word := range keysOf(v.Surfaces) {
		add(isSurface, v.Surfaces[word], 0, word)
	}
	lists(isFeature, v.Features)
	lists(isMaterial, v.Materials)
	lists(isLight, v.Light)
	lists(isRelation, v.Relations)
	lists(isInverse, v.Inverse)
	lists(isWithin, v.Within)
	lists(isArrangement, v.Arrangements)
	v.verbs = map[string]sense{}
	for c, m := range map[class]map[string][]string{isRelation: v.Verbs, isInverse: v.Bearing} {
		for name, list := range m {
			for _, verb := range list {
				if s, ok := v.verbs[verb]; !ok || s.class == isInverse {
					v.verbs[verb] = sense{class: c, name: name}
				}
			}
		}
	}
	for c, m := range map[class]map[string]float64{isSize: v.Sizes, isNumber: v.Numbers, isVague: v.Vague} {
		for word, value := range m {
			add(c, word, value, word)
		}
	}
	for c, list := range map[class][]string{isElsewhere: v.Elsewhere, isWithout: v.Without,
		isMade: v.Made, isInner: v.Inner, isPlain: strings.Fields(v.Plain)} {
		add(c, "", 0, list...)
	}
	for _, list := range v.senses {
		slices.SortFunc(list, func(a, b sense) int { return int(a.class) - int(b.class) })
	}
}

// findSenses returns the senses of words, or of their singular.
func (v *vocabulary) findSenses(words string) (list []sense, plural bool) {
	if list = v.senses[words]; list != nil {
		// "stairs" and "ruins" are entries of their own; other plurals are forms.
		return list, false
	}
	for _, one := range singularsOf(words) {
		for _, s := range v.senses[one] {
			if s.class <= isMaterial || s.class == isArrangement {
				list = append(list, s)
			}
		}
		if list != nil {
			return list, true
		}
	}
	return nil, false
}

// singularsOf returns the forms of words whose last one may be a plural.
func singularsOf(words string) []string {
	cut := strings.LastIndexByte(words, ' ') + 1
	list := []string{strings.TrimSuffix(words, "s"), strings.TrimSuffix(words, "es")}
	if one := meaning.Lemma(words[cut:], meaning.Noun); one != "" {
		list = append(list, words[:cut]+one)
	}
	return slices.DeleteFunc(list, func(one string) bool { return one == words })
}

// knownSenses is the number of senses of a noun that WordNet is asked for: rarer ones would be guesses.
const knownSenses = 1

// resolve returns the thing or setting that is nearest in meaning to a noun that the vocabulary
// lacks, with the word that names it: a word that is at most three steps broader, else a kind of things.
func (v *vocabulary) resolve(noun string) (sense, string, bool) {
	isOne := func(kinds []string) bool {
		return slices.ContainsFunc(kinds, func(kind string) bool { return meaning.IsA(noun, meaning.Noun, kind) })
	}
	word, ok := meaning.Canonical(noun, meaning.Noun, knownSenses, func(w string) bool {
		_, _, ok := v.placeOrThing(w)
		return ok && !slices.Contains(v.Homonyms, w)
	})
	if ok && isOne(v.Shown) && !isOne(v.Hidden) {
		return v.placeOrThing(word)
	}
	name := v.broaderKind(noun)
	if name == "" || name == noThing {
		return sense{}, "", false
	}
	return sense{class: isThing, name: name}, v.Things[name].Words[0], true
}

// noThing is the kind of nouns that no scene shows.
const noThing = "nothing"

// broaderKind returns the kind of things to which the most frequent sense of a noun belongs.
func (v *vocabulary) broaderKind(noun string) string {
	return v.Kinds[v.nearestKind(noun, 0)]
}

// nearestKind returns the nearest broader noun of kinds for one sense of a noun.
func (v *vocabulary) nearestKind(noun string, sense int) string {
	kind, _ := meaning.Ancestor(noun, meaning.Noun, sense, func(w string) bool { return v.Kinds[w] != "" })
	return kind
}

// rareSenses is the number of senses after the first that resolveRare looks at.
const rareSenses = 2

// resolveRare returns the thing that a less frequent sense of a noun is a kind of, if it names no person or animal: "an
// egg", "a stamp".
func (v *vocabulary) resolveRare(noun string) (sense, string, bool) {
	if v.isCreature(noun) {
		return sense{}, "", false
	}
	for rank := 1; rank <= rareSenses; rank++ {
		if name := v.Kinds[v.nearestKind(noun, rank)]; name != "" && name != noThing {
			return sense{class: isThing, name: name}, v.Things[name].Words[0], true
		}
	}
	return sense{}, "", false
}

// isCreature reports whether a noun names a person or an animal: of stone it is a statue.
func (v *vocabulary) isCreature(noun string) bool {
	return meaning.IsA(noun, meaning.Noun, "person") || meaning.IsA(noun, meaning.Noun, "animal") ||
		meaning.IsA(noun, meaning.Noun, "spiritual being")
}

// isMaterial returns the material that a noun names, such as oak.
func (v *vocabulary) isMaterial(noun string) string {
	for kind, material := range map[string]string{"wood": "timber", "metallic element": "metal", "fabric": "canvas",
		"leather": "canvas"} {
		if noun != "" && meaning.IsA(noun, meaning.Noun, kind) {
			return material
		}
	}
	return ""
}

// placeOrThing returns the sense of a word as a thing or setting, with the word.
func (v *vocabulary) placeOrThing(word string) (sense, string, bool) {
	for _, s := range v.senses[word] {
		if s.class == isThing || s.class == isSetting {
			return s, word, true
		}
	}
	return sense{}, "", false
}
