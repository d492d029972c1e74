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
		if stem, ok := strings.CutSuffix(verb, ending); ok && len(stem) > 3 {
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

// inflected returns the classes of a word that is not English: those of a verb with another ending, or those of the parts of a
// German compound, such as "steinbrucke"; nil if there are none.
func inflected(word string) classes {
	if is := verbStems()[stemOf(word)]; is != nil {
		return is
	}
	for at := 3; at+4 <= len(word); at++ {
		tail := words().phrases[word[at:]]["word"]
		if tail == "" {
			continue
		}
		for _, link := range []string{"", "s", "n", "en", "er"} {
			head, ok := strings.CutSuffix(word[:at], link)
			if is := words().phrases[head]; ok && (is["word"] != "" || is["material"] != "") {
				return classes{"word": strings.TrimSpace(is["material"]+" "+is["word"]) + " " + tail}
			}
		}
	}
	return nil
}
