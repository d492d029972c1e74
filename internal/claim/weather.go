package claim

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// sky is a kind of weather.
type sky string

const (
	rain    sky = "rain"
	snow    sky = "snow"
	hail    sky = "hail"
	fog     sky = "fog"
	thunder sky = "thunder"
	wind    sky = "wind"
	calm    sky = "calm"
	sun     sky = "sun"
	dry     sky = "dry"
	warm    sky = "warm"
	cold    sky = "cold"
	cloud   sky = "cloud"
	stars   sky = "stars" // which shine on any night but one that hides them
)

// skies are the words of each kind. Nouns and verbs tell of the weather alone; the others only of the day, the air or
// the sky: see descriptive.
var skies = func() map[string][]sky {
	m := map[string][]sky{}
	for kind, words := range map[sky]string{
		rain: "rain rainfall rainstorm drizzle downpour cloudburst shower deluge raindrop rainy drizzly wet soggy " +
			"pour sodden torrent deluge monsoon sprinkle teem pelt raincloud drench",
		snow:    "snow snowfall blizzard snowstorm snowman snowball snowflake flake snowdrift snowy flurry slush snowfield",
		hail:    "hail hailstone sleet hailstorm",
		fog:     "fog mist haze smog foggy misty hazy murk murky brume vapour vapor fogbound fogbank",
		thunder: "thunder lightning thunderstorm thunderclap thundercloud",
		wind: "wind gale gust tempest breeze squall storm thunderstorm hurricane windy stormy blustery breezy " +
			"blizzard rainstorm snowstorm typhoon cyclone tornado whirlwind zephyr draughty windswept gusty northerly",
		calm: "calm windless still motionless becalmed breathless stillness airless",
		sun: "sun sunshine sunlight sunny cloudless clear moonlight bright sunbeam " +
			"sunlit sunburst sunrays fine fair lovely glorious " +
			"sunshiny unclouded",
		stars: "starry starlight starlit moonlit",
		dry:   "dry dusty drought parched arid cloudless",
		warm:  "warm hot heat mild balmy sultry swelter warmth heatwave sunshine",
		cold:  "cold frost chill icy freeze frosty chilly bitter snow blizzard frozen",
		cloud: "cloud overcast cloudy leaden cloudbank",
	} {
		for _, w := range strings.Fields(words) {
			m[w] = append(m[w], kind)
		}
	}
	return m
}()

// storms are words of weather that bring rain as well.
var storms = wordSet("thunderstorm rainstorm storm tempest")

// descriptive words tell of the weather only beside a word for the day, the air or the sky.
var descriptive = wordSet("wet dry still clear bright fair fine warm hot cold mild calm icy bitter dusty heat " +
	"chill warmth frozen freeze soggy sodden pour motionless bitter chilly parched lovely glorious " +
	"breathless stillness airless torrent flake leaden pelt sprinkle teem northerly drench")

// skyNouns are what descriptive words of the weather are said of.
var skyNouns = wordSet("it spell day night morning evening afternoon noon air sky weather season street heavens " +
	"today " +
	"tonight outside road ground horizon dusk dawn sea")

// conflicts are kinds of weather that exclude each other.
var conflicts = [][2]sky{{rain, sun}, {rain, dry}, {rain, snow}, {rain, hail}, {snow, sun}, {snow, warm}, {snow, dry},
	{snow, hail}, {hail, sun}, {hail, dry}, {fog, sun}, {wind, calm},
	{thunder, sun}, {thunder, dry}, {thunder, calm}, {cold, warm}, {cloud, sun},
	{rain, stars}, {snow, stars}, {fog, stars}, {thunder, stars}, {hail, stars}, {cloud, stars}}

// skiesIn returns the kinds of weather that a text asserts, and those that it denies. whole is set for a text that is
// all about the weather.
func skiesIn(list []token, whole bool) (said, denied []sky) {
	all := whole || isOfSky(list)
	for i, t := range list {
		base := skyBase(t.word)
		if base == "" || inSomebody(list, i) || isImage(list, i) {
			continue
		}
		if descriptive[base] && !whole && (!all || isAttribute(list, i) ||
			!isOfSky(list[max(0, i-5):min(i+5, len(list))])) {
			continue
		}
		into := &said
		if hasWord(list[max(0, i-4):i], denials) && !hasRun(list[max(0, i-4):i], "but") || i > 0 &&
			list[i-1].word == "of" && hasWord(list[max(0, i-4):i], denials) {
			into = &denied
		}
		if !descriptive[base] && base != "sun" && (isGone(list[i+1:min(i+5, len(list))]) ||
			hasRun(list[max(0, i-3):i], "last of") && hasWord(list[i+1:min(i+3, len(list))], wordSet("away off")) ||
			hasRun(list[i+1:min(i+4, len(list))], "let up")) {
			into = &denied
		}
		*into = append(*into, skies[base]...)
		if storms[base] {
			*into = append(*into, rain)
		}
	}
	for phrase, kind := range skyPhrases {
		if hasRun(list, phrase) {
			said = append(said, kind)
		}
	}
	said = append(said, skyColours(list)...)
	slices.Sort(said)
	return slices.Compact(said), denied
}

// skyPhrases are phrases for the weather.
var skyPhrases = map[string]sky{"not a breath": calm, "hardly a breath": calm, "scarcely a breath": calm,
	"barely a breath": calm, "no breath": calm, "not a cloud": sun, "not a drop": dry,
	"had a drop": dry, "seen a drop": dry, "no drop": dry, "no clouds": sun, "no cloud": sun, "want of rain": dry,
	"lack of rain": dry, "stopped raining": dry, "not raining": dry, "dry as": dry, "stopped snowing": dry,
	"no longer rains": dry, "no longer raining": dry, "no wind": calm, "smooth as glass": calm, "smooth as a": calm,
	"flat as a": calm, "flat as glass": calm, "like glass": calm, "in the calm": calm, "dead calm": calm, "no rain": dry,
	"see for miles": sun, "sees for miles": sun, "stars are out": stars, "stars glitter": stars, "stars shine": stars,
	"every star": stars, "full of stars": stars, "count the stars": stars, "stars twinkle": stars,
	"the stars": stars, "bone dry": dry, "like milk": calm, "slack in the heat": dry, "the last of the sun": sun,
	"soaked to the": rain, "soaked through": rain, "wet to the skin": rain, "wet through": rain, "drenched to": rain,
	"hand before": fog, "hand in front of": fog, "beyond my nose": fog, "past my nose": fog, "end of my nose": fog,
	"it blows": wind, "it is blowing": wind, "blows hard": wind, "not a leaf": calm, "no leaf": calm,
	"without a ripple": calm, "not a ripple": calm,
	"hangs limp": calm, "hang limp": calm, "like a mirror": calm, "as a mirror": calm, "breath smokes": cold,
	"in buckets": rain, "in sheets": rain, "cats and dogs": rain, "your umbrella": rain, "an umbrella": rain,
	"in the heat": warm, "quiet day": calm}

// skyColours returns the kinds of weather in which the sky has the colour that a text gives it.
func skyColours(list []token) (said []sky) {
	for i, t := range list {
		if t.word != "sky" && t.word != "skies" && t.word != "heavens" {
			continue
		}
		around := list[max(0, i-4):min(i+6, len(list))]
		switch {
		case hasWord(around, wordSet("blue azure clear flawless spotless")):
			said = append(said, sun)
		case hasWord(around, wordSet("grey gray leaden lead overcast sullen")):
			said = append(said, cloud)
		}
	}
	return said
}

// gone are words that say of the weather that it is over.
var gone = wordSet("dead died gone dropped stopped over ceased ended fallen lifted burned burnt cleared thinned " +
	"dissolved vanished dispersed passed melted subsided abated eased away")

// isGone reports whether the words after a kind of weather say that it is over.
func isGone(after []token) bool {
	if len(after) == 0 {
		return false
	}
	w := after[0].word
	return gone[w] && w != "over" && w != "fallen" && w != "away" ||
		(beForms[w] || haveForms[w]) && hasWord(after[1:], gone)
}

// isOfSky reports whether a sentence has a word that weather is said of. "It" counts only if it stands for nothing that
// was named before.
func isOfSky(list []token) bool {
	for i, t := range list {
		if skyNouns[t.word] && (t.word != "it" || !slices.ContainsFunc(list[lastMark(list[:i]):i],
			func(t token) bool { return isNoun(t.word) && skies[skyBase(t.word)] == nil })) {
			return true
		}
	}
	return false
}

// lastMark returns the index behind the last mark of a list.
func lastMark(list []token) int {
	for i, t := range slices.Backward(list) {
		if t.mark {
			return i + 1
		}
	}
	return 0
}

// isImage reports whether a word of the weather is said of something else: "my husband is the sun".
func isImage(list []token, i int) bool {
	at := i - 1
	for at >= 0 && (articles[list[at].word] || meaning.Lemma(list[at].word, meaning.Adjective) != "" &&
		!beForms[list[at].word]) {
		at--
	}
	if at < 1 || at == i-1 || !beForms[list[at].word] {
		return false
	}
	list = withoutInserts(list[:at])
	before := list[lastMark(list):]
	return len(before) > 0 && !isOfSky(before) && !hasWord(before, wordSet("there here this that it")) &&
		!slices.ContainsFunc(before, func(t token) bool { return skyBase(t.word) != "" })
}

// skyBase returns the form of a word that skies has, or "".
func skyBase(word string) string {
	for _, base := range []string{word, nounOf(word), verbOf(word), meaning.Lemma(word, meaning.Adjective)} {
		if base != "" && skies[base] != nil {
			return base
		}
	}
	return ""
}

// isAttribute reports whether a descriptive word stands before a noun that is not of the sky: "wet leather".
func isAttribute(list []token, i int) bool {
	for k := i + 1; k < len(list) && k <= i+2 && !list[k].mark; k++ {
		w := list[k].word
		if skyNouns[w] || skies[skyBase(w)] != nil {
			return false
		}
		if w == "and" || prepositions[w] || meaning.IsFunctionWord(w) || isAdverb(w) {
			return false
		}
		if isNoun(w) {
			return true
		}
	}
	return false
}

// inSomebody reports whether the weather is that of a mind: "a storm in his head".
func inSomebody(list []token, i int) bool {
	after := list[i+1 : min(i+7, len(list))]
	if len(after) > 1 && (after[0].word == "in" || after[0].word == "of" || after[0].word == "behind") {
		for _, t := range after[1:] {
			if t.mark || prepositions[t.word] {
				break
			}
			if bodyParts[t.word] || isAny(nounOf(t.word), "body part", "external body part", "feeling", "garment") {
				return true
			}
		}
	}
	return len(after) >= 3 && (after[0].word == "in" || after[0].word == "of") && possessives[after[1].word] &&
		isAny(nounOf(after[2].word), "body part", "mind", "external body part", "feeling", "organ") ||
		len(after) >= 3 && after[0].word == "in" && possessives[after[1].word] && wordSet("head heart eyes mind " +
			"voice soul")[after[2].word]
}

var bodyParts = wordSet("head heart eyes mind voice soul eyebrows brow face trousers")

// skyHints are words of phrases for the weather: "blue sky", "not a breath".
var skyHints = wordSet("sky skies breath drop glass stars star miles heavens soaked skin wet hand nose leaf ripple " +
	"limp mirror blows blowing buckets sheets cats umbrella")

// isWeather reports whether a noun tells of the weather alone.
func isWeather(word string) bool {
	base := skyBase(word)
	return base != "" && isNoun(word) && !descriptive[base]
}

// MayTellWeather reports whether a text has a word of the weather.
func MayTellWeather(text string) bool { return mayTellWeather(tokensOf(text)) }

func mayTellWeather(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return skyBase(t.word) != "" || skyHints[t.word] })
}

// readWeather reads what the weather is at the place.
func readWeather(s *statement, w *World) []Claim {
	all := clause{tokens: s.tokens, named: s.named}
	verbs := all.verbs()
	if len(s.clauses) > 0 && s.clauses[0].order && s.tokens[0].word != "mind" && skyBase(s.tokens[0].word) == "" &&
		!isPerceiving(s.tokens[0].word) {
		return nil
	}
	isPast := func(v verb) bool { return v.tense == past || v.was }
	isNow := func(v verb) bool { return !isPast(v) && v.tense != base }
	if slices.ContainsFunc(verbs, isPast) && !slices.ContainsFunc(verbs, isNow) {
		return nil // it tells of another time
	}
	said, denied := skiesIn(s.tokens, false)
	if s.asked != "" && denials[s.tokens[0].word] {
		denied = append(denied, s.asked)
	}
	if len(said) == 0 && len(denied) == 0 {
		return nil
	}
	return []Claim{{Predicate: Weather, Subject: s.weatherPlace(w), Object: None,
		Word: joinSkies(said) + "|" + joinSkies(denied)}}
}

// weatherPlace returns the place whose weather a sentence tells: one that it names and whose weather is known, or the
// place of the text.
func (s *statement) weatherPlace(w *World) int {
	c := clause{tokens: s.tokens, named: s.named}
	for _, m := range s.named {
		if _, known := w.Weathers[m.entity]; known && !m.pronoun && m.entity != w.Place && (m.from <= 1 ||
			placing[c.wordBefore(m.from)]) {
			return m.entity
		}
	}
	return w.Place
}

func joinSkies(list []sky) string {
	var b []string
	for _, s := range list {
		b = append(b, string(s))
	}
	return strings.Join(b, " ")
}

// judgeWeather compares the weather of a text with that of the place.
func judgeWeather(c Claim, w *World) (Truth, string) {
	text := w.Weather
	if c.Subject != w.Place {
		text = w.Weathers[c.Subject]
	}
	if text == "" && c.Word != string(stars)+"|" {
		return Unsure, ""
	}
	known, without := skiesIn(tokensOf(text), true)
	for _, k := range without {
		if k == wind {
			known = append(known, calm)
		}
	}
	said, denied, _ := strings.Cut(c.Word, "|")
	if slices.Contains(known, sun) {
		known = append(known, stars)
	}
	if slices.ContainsFunc(known, func(s sky) bool { return s == rain || s == snow || s == hail || s == thunder }) {
		known = append(known, cloud)
	}
	agrees := false
	for s := range strings.FieldsSeq(said) {
		if slices.Contains(known, sky(s)) {
			agrees = true
			continue
		}
		for _, k := range known {
			if slices.Contains(conflicts, [2]sky{sky(s), k}) || slices.Contains(conflicts, [2]sky{k, sky(s)}) {
				return False, fmt.Sprintf("the weather at %s is: %s", w.name(c.Subject), text)
			}
		}
	}
	for d := range strings.FieldsSeq(denied) {
		if slices.Contains(known, sky(d)) {
			return False, fmt.Sprintf("the weather at %s is: %s", w.name(c.Subject), text)
		}
		agrees = true
	}
	if agrees || said == string(stars) && denied == "" {
		return True, ""
	}
	return Unsure, ""
}
