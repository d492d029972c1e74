package secrecy

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/markup"
)

// Names of the rules.
const (
	ruleLevel       = "level"
	ruleBroken      = "unreadable front matter"
	RuleFrontMatter = "front matter"
	ruleTag         = "tag"
	rulePlusGM      = "+GM in a name"
	ruleName        = "name"
	ruleCallout     = "callout"
	ruleComment     = "comment"
	ruleElement     = "HTML element"
	ruleBlock       = "block"
	ruleHeading     = "heading"
	ruleLabel       = "label"
)

// Mark is a reason to hide a note, or a part of it, from players.
type Mark struct {
	Rule  string // name of a rule, for example one of Rules
	What  string // the folder's path, word, tag or key that matched
	Doubt bool   // a suspicion that the user should confirm
}

// exact returns a mark that can only mean a secret.
func exact(rule, what string) Mark { return Mark{Rule: rule, What: what} }

// IsByWords reports whether a mark is only a word in a heading or at the beginning of a paragraph. Such
// words suggest a secret in notes of a game master, and nothing in a book of rules.
func IsByWords(m Mark) bool {
	return m.Doubt && (m.Rule == ruleHeading || m.Rule == ruleLabel)
}

// Rule describes one way in which an import recognises secrets.
type Rule struct {
	Name       string `yaml:"name"`
	Exact      string `yaml:"secret"`
	Suspicious string `yaml:"looks_secret"`
}

// Rules returns the table of marks that imports treat as secret. Exact marks hide. Suspicious marks
// hide until the user confirms or opens them.
func Rules() []Rule { return marks().Rules }

// WordList are the secret words of a language.
type WordList struct{ Language, Patterns string }

// WordLists returns the table of words that make a name suspicious.
func WordLists() (all []WordList) {
	for _, w := range marks().Words {
		all = append(all, WordList{w.Language, strings.Join(slices.Concat(w.Strong, w.Weak), " | ")})
	}
	return all
}

// plainWords removes the endings 's and n't, which are no words of their own.
var plainWords = strings.NewReplacer("'s", "", "’s", "", "n't", "nt", "n’t", "nt")

// Spellings returns three forms of a text in which secret words are searched. All are lower-case
// letters with one space between words and around them. parted has no accents and separates words
// joined by camel case or digits. joined has no accents and keeps such words joined. accented keeps
// both the words and their accents.
func Spellings(text string) (parted, joined, accented string) {
	text = norm.NFC.String(plainWords.Replace(text[:min(len(text), 1000)]))
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		if i > 0 {
			before := runes[i-1]
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsUpper(before) && after) ||
				unicode.IsDigit(r) != unicode.IsDigit(before) {
				b.WriteByte(' ')
			}
		}
		b.WriteRune(r)
	}
	return Letters(markup.Fold(b.String())), Letters(markup.Fold(text)), Letters(strings.ToLower(text))
}

// Letters replaces each run of characters that are not letters by one space.
func Letters(text string) string {
	return " " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }), " ") + " "
}

// FindWord returns the first secret word in a text, or "". strict leaves out the words that also
// have other meanings.
func FindWord(text string, strict bool) string {
	if strict {
		return known(strictWord, text, func() string { return findWord(text, true) })
	}
	return known(anyWord, text, func() string { return findWord(text, false) })
}

// searched is a question about a text. The headings and labels of notes are few, and come often.
type searched struct {
	kind searchKind
	text string
}

type searchKind int

const (
	anyWord searchKind = iota
	strictWord
	exactWord
	secretWord

	maxKnown      = 64 // bytes of a text that is remembered
	maxKnownWords = 10_000
)

var knownWords = struct {
	sync.Mutex
	found map[searched]string
}{found: map[searched]string{}}

// known returns the answer to a question, which find gives if it is not remembered.
func known(kind searchKind, text string, find func() string) string {
	if len(text) > maxKnown {
		return find()
	}
	knownWords.Lock()
	word, ok := knownWords.found[searched{kind, text}]
	knownWords.Unlock()
	if ok {
		return word
	}
	word = find()
	knownWords.Lock()
	defer knownWords.Unlock()
	if len(knownWords.found) >= maxKnownWords {
		clear(knownWords.found)
	}
	knownWords.found[searched{kind, strings.Clone(text)}] = word
	return word
}

func findWord(text string, strict bool) string {
	form := marks().all
	if strict {
		form = marks().strong
	}
	parted, joined, accented := Spellings(text)
	for _, reading := range slices.Compact([]string{parted, joined, accented}) {
		if m := form.FindStringSubmatch(reading); m != nil {
			return m[1]
		}
	}
	if !strict && marks().whole.MatchString(strings.TrimSpace(parted)) {
		return strings.TrimSpace(parted)
	}
	return ""
}

// isExact reports whether a text as a whole is a mark for the GM's secrets.
func isExact(text string) bool {
	return known(exactWord, text, func() string {
		parted, joined, _ := Spellings(text)
		if marks().exact.MatchString(strings.TrimSpace(parted)) || marks().exact.MatchString(strings.TrimSpace(joined)) {
			return text
		}
		return ""
	}) != ""
}

// isSecretWord reports whether a text as a whole is a mark, or a word of the lists of any language.
func isSecretWord(text string) bool {
	return isExact(text) || known(secretWord, text, func() string {
		parted, joined, accented := Spellings(text)
		if slices.ContainsFunc([]string{parted, joined, accented}, func(reading string) bool {
			return marks().word.MatchString(strings.TrimSpace(reading))
		}) {
			return text
		}
		return ""
	}) != ""
}
