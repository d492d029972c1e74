// Package stem removes the endings of words, so that all forms of a word have the same stem.
package stem

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmers maps ISO 639-1 language codes to the algorithms of the Snowball project,
// https://snowballstem.org.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem, "fi": finnish.Stem, "fr": french.Stem,
	"hu": hungarian.Stem,
	"it": italian.Stem, "nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem, "ro": romanian.Stem,
	"ru": russian.Stem, "sv": swedish.Stem,
	"tr": turkish.Stem,
}

// Languages returns the sorted codes of the languages with a stemmer.
func Languages() []string { return slices.Sorted(maps.Keys(stemmers)) }

// Of returns the stem of a lower-case word. It returns the word unchanged if the language is
// unknown or the word contains a digit.
func Of(language, word string) string {
	stem := stemmers[language]
	if stem == nil || strings.ContainsAny(word, "0123456789") {
		return word
	}
	e := workspaces.Get().(*snowballstem.Env)
	defer workspaces.Put(e)
	e.SetCurrent(word)
	stem(e)
	return e.Current()
}

var workspaces = sync.Pool{New: func() any { return snowballstem.NewEnv("") }}
