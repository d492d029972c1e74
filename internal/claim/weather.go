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
)

// skies are the words of each kind. Nouns and verbs tell of the weather alone; the others only of the day, the air or
// the sky: see descriptive.
var skies = func() map[string][]sky {
	m := map[string][]sky{}
	for kind, words := range map[sky]string{
		rain: "rain rainfall rainstorm drizzle downpour cloudburst shower deluge raindrop rainy drizzly wet soggy " +
			"pour sodden",
		snow:    "snow snowfall blizzard snowstorm snowflake flake snowdrift snowy flurry",
		hail:    "hail hailstone sleet hailstorm",
		fog:     "fog mist haze smog foggy misty hazy murk brume",
		thunder: "thunder lightning thunderstorm thunderclap thundercloud",
		wind:    "wind gale gust tempest breeze squall storm thunderstorm hurricane windy stormy blustery breezy blizzard rainstorm snowstorm",
		calm:    "calm windless still motionless becalmed",
		sun: "sun sunshine sunlight sunny cloudless clear moonlight bright sunbeam " +
			"sunlit sunburst sunrays fine fair lovely glorious",
		dry:   "dry dusty drought parched arid cloudless",
		warm:  "warm hot heat mild balmy sultry swelter warmth heatwave sunshine",
		cold:  "cold frost chill icy freeze frosty chilly bitter snow blizzard frozen",
		cloud: "cloud overcast cloudy",
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
	"chill warmth frozen freeze soggy sodden pour motionless bitter chilly parched lovely glorious")

// skyNouns are what descriptive words of the weather are said of.
var skyNouns = wordSet("it spell day night morning evening afternoon noon air sky weather season street heavens " +
	"today " +
	"tonight outside road ground horizon dusk dawn sea")

// conflicts are kinds of weather that exclude each other.
var conflicts = [][2]sky{{rain, sun}, {rain, dry}, {rain, snow}, {rain, hail}, {snow, sun}, {snow, warm}, {snow, dry},
	{snow, hail}, {hail, sun}, {hail, dry}, {fog, sun}, {wind, calm},
	{thunder, sun}, {thunder, dry}, {thunder, calm}, {cold, warm}, {cloud, sun}}

// skiesIn returns the kinds of weather that a text asserts, and those that it denies. whole is set for a text that is
// all about the weather.
func skiesIn(list []token, whole bool) (said, denied []sky) {
	all := whole || isOfSky(list)
	for i, t := range list {
		base := skyBase(t.word)
		if base == "" || inSomebody(list, i) || descriptive[base] && !whole && (!all || isAttribute(list, i) ||
			!isOfSky(list[max(0, i-5):min(i+3, len(list))])) {
			continue
		}
		into := &said
		if hasWord(list[max(0, i-4):i], denials) && !hasRun(list[max(0, i-4):i], "but") || i > 0 &&
			list[i-1].word == "of" && hasWord(list[max(0, i-4):i], denials) {
			into = &denied
		}
		if !descriptive[base] && isGone(list[i+1:min(i+4, len(list))]) {
			into = &denied
		}
		*into = append(*into, skies[base]...)
		if storms[base] {
			*into = append(*into, rain)
		}
	}
	for phrase, kind := range map[string]sky{"not a breath": calm, "not a cloud": sun, "not a drop": dry,
		"had a drop": dry, "seen a drop": dry, "no drop": dry, "sky is blue": sun, "skies are blue": sun,
		"no clouds": sun, "no cloud": sun, "want of rain": dry, "lack of rain": dry, "stopped raining": dry,
		"not raining":     dry,
		"stopped snowing": dry, "no longer rains": dry, "no longer raining": dry,
		"blue sky": sun, "blue skies": sun, "no wind": calm, "smooth as glass": calm,
		"clear sky": sun, "no rain": dry} {
		if hasRun(list, phrase) {
			said = append(said, kind)
		}
	}
	slices.Sort(said)
	return slices.Compact(said), denied
}

// gone are words that say of the weather that it is over.
var gone = wordSet("dead died gone dropped stopped over ceased ended fallen lifted")

// isGone reports whether the words after a kind of weather say that it is over.
func isGone(after []token) bool {
	if len(after) == 0 {
		return false
	}
	w := after[0].word
	return gone[w] && w != "over" && w != "fallen" || (beForms[w] || haveForms[w]) && hasWord(after[1:], gone)
}

// isOfSky reports whether a sentence has a word that weather is said of. "It" counts only if it stands for nothing that
// was named before.
func isOfSky(list []token) bool {
	for i, t := range list {
		if skyNouns[t.word] && (t.word != "it" || !slices.ContainsFunc(list[:i],
			func(t token) bool { return isNoun(t.word) && skies[skyBase(t.word)] == nil })) {
			return true
		}
	}
	return false
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
	after := list[i+1 : min(i+5, len(list))]
	return len(after) >= 3 && (after[0].word == "in" || after[0].word == "of") && possessives[after[1].word] &&
		isAny(nounOf(after[2].word), "body part", "mind", "external body part", "feeling", "organ") ||
		len(after) >= 3 && after[0].word == "in" && possessives[after[1].word] && wordSet("head heart eyes mind " +
			"voice soul")[after[2].word]
}

// skyHints are words of phrases for the weather: "blue sky", "not a breath".
var skyHints = wordSet("sky skies breath drop glass")

// MayTellWeather reports whether a text has a word of the weather.
func MayTellWeather(text string) bool {
	return slices.ContainsFunc(tokensOf(text), func(t token) bool { return skyBase(t.word) != "" || skyHints[t.word] })
}

// readWeather reads what the weather is at the place.
func readWeather(s *statement, w *World) []Claim {
	all := clause{tokens: s.tokens, named: s.named}
	verbs := all.verbs()
	if len(s.clauses) > 0 && s.clauses[0].order && s.tokens[0].word != "look" && s.tokens[0].word != "see" &&
		s.tokens[0].word != "mind" {
		return nil
	}
	isPast := func(v verb) bool { return v.tense == past || v.was }
	isNow := func(v verb) bool { return !isPast(v) && v.tense != base }
	if slices.ContainsFunc(verbs, isPast) && !slices.ContainsFunc(verbs, isNow) {
		return nil // it tells of another time
	}
	said, denied := skiesIn(s.tokens, false)
	if len(said) == 0 && len(denied) == 0 {
		return nil
	}
	return []Claim{{Predicate: Weather, Subject: w.Place, Object: None,
		Word: joinSkies(said) + "|" + joinSkies(denied)}}
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
	if text == "" {
		return Unsure, ""
	}
	known, without := skiesIn(tokensOf(text), true)
	for _, k := range without {
		if k == wind {
			known = append(known, calm)
		}
	}
	said, denied, _ := strings.Cut(c.Word, "|")
	agrees := false
	for s := range strings.FieldsSeq(said) {
		if slices.Contains(known, sky(s)) {
			agrees = true
			continue
		}
		for _, k := range known {
			if slices.Contains(conflicts, [2]sky{sky(s), k}) || slices.Contains(conflicts, [2]sky{k, sky(s)}) {
				return False, fmt.Sprintf("the weather at %s is: %s", w.name(w.Place), text)
			}
		}
	}
	for d := range strings.FieldsSeq(denied) {
		if slices.Contains(known, sky(d)) {
			return False, fmt.Sprintf("the weather at %s is: %s", w.name(w.Place), text)
		}
		agrees = true
	}
	if agrees {
		return True, ""
	}
	return Unsure, ""
}
