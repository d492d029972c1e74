package phrase

import (
	"strings"
	"sync"
)

// verbEndings are endings of verbs in German, French and Spanish, the longest first.
var verbEndings = strings.Fields("eraient issions aramos ieramos ieras ieran ieron iendo aient erait erais erons erions eriez " +
	"arian arias aria erias eria irias iria iera eras eran aras aran ando amos emos imos aban abas adas ados ions test tet ten " +
	"era ara aba ada ado erez iez ait ais ons ant ent est end ez es er ir re te en et st as an ar os t e a o s")

// stemOf returns a verb without its ending.
func stemOf(verb string) string {
	for _, ending := range verbEndings {
		if stem, ok := strings.CutSuffix(verb, ending); ok && (len(stem) > 3 || len(stem) == 3 && len(ending) > 2) {
			return stem
		}
	}
	return verb
}

// verbStems maps the stems of the vocabulary's foreign verbs to their classes.
var verbStems = sync.OnceValue(func() map[string]classes {
	stems := map[string]classes{}
	for phrase, is := range words().phrases {
		if is["verb"] == "" || is["noun"] != "" || strings.Contains(phrase, " ") || len(phrase) < 5 || isEnglish(phrase) {
			continue
		}
		if stem := stemOf(phrase); len(stem) > 3 && (stems[stem] == nil || stems[stem]["verb"] > is["verb"]) {
			stems[stem] = classes{"verb": is["verb"]}
		}
	}
	return stems
})

// enclitics are pronouns at the end of a verb: "exporte-le", "expórtalo".
var enclitics = strings.Fields("-moi -le -la -les -nous -les-moi -le-moi melo mela noslo nosla lo la los las me nos")

// inflected returns the classes of a word that is not English: those of a verb with another ending, or those of the
// parts of a
// German compound, such as "steinbrucke"; nil if there are none.
func inflected(word string) classes {
	for _, e := range enclitics {
		verb, ok := strings.CutSuffix(word, e)
		if is := words().phrases[verb]; ok && (is["verb"] != "" || is["want"] != "") {
			return is
		}
	}
	if is := verbStems()[stemOf(word)]; is != nil {
		return is
	}
	for at := 3; at+4 <= len(word); at++ {
		last := words().phrases[word[at:]]
		tail := last["word"]
		if tail == "" && last["noun"] != "texture" {
			continue
		}
		for _, link := range []string{"", "s", "n", "en", "er"} {
			head, ok := strings.CutSuffix(word[:at], link)
			is := words().phrases[head]
			if ok && last["noun"] == "texture" && is["material"] != "" {
				return classes{"noun": "texture", "material": is["material"]}
			}
			if ok && tail != "" && (is["word"] != "" || is["material"] != "") {
				return classes{"word": strings.TrimSpace(is["material"]+" "+is["word"]) + " " + tail}
			}
		}
	}
	return nil
}
