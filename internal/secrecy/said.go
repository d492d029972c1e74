package secrecy

import (
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// hasMostWords reports whether most of the words of two texts are the same.
func hasMostWords(a, b string) bool {
	all, others := wordsOf(a), wordsOf(b)
	same := 0
	for word := range all {
		if others[word] {
			same++
		}
	}
	return 2*same >= max(len(all), len(others))
}

// minWord is the number of bytes of a word that tells something of its text.
const minWord = 4

func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !isWordSign(r) }) {
		if len(word) >= minWord {
			all[word] = true
		}
	}
	return all
}

func sharesWord(words map[string]bool, text string) bool {
	for word := range wordsOf(text) {
		if words[word] {
			return true
		}
	}
	return false
}

// keepLines hides the lines and phrases of hidden parts that turn up in open text, and texts of several words out of
// them. The beginnings of lines, the signs between words and tags do not matter.
func (d *division) keepLines() {
	fresh := d.freshOpen()
	if fresh == nil {
		return
	}
	lines, said, least := map[string]int{}, sayings{}, minPhrase
	kept := d.keptTexts()
	for i, p := range d.before.Parts {
		from, to := Peel(p.Text)
		isGone := !strings.Contains(strings.ToLower(string(kept[i+1])), strings.ToLower(strings.TrimSpace(p.Text[from:to])))
		whole := p.Text + "\n" + p.Text[from:to]
		for s := range linesOf(whole, d.Form) {
			line := whole[s.From:s.To]
			core := coreOf(line)
			if len(wordsIn(core)) == 0 || !isGone && len(wordsOf(core)) == 0 {
				continue
			}
			lines[core] = i + 1
			for phrase := range strings.FieldsFuncSeq(withoutTags(line), isPhraseEnd) {
				said.addPhrase(phrase, i+1)
			}
		}
		inner := p.Text[from:to]
		said.addAll(inner, i+1)
		if words := wordsIn(inner); isGone && len(words) > 0 && len(words) < minPhrase && len(strings.TrimSpace(inner)) > 1 {
			said[hashWords(inner, words)], least = i+1, 1 // a short part is gone: its words may stand elsewhere
		}
	}
	d.keepSaid(said, fresh, least)
	var open map[string]bool // lines of the open text before
	for s := range linesOf(d.text, d.Form) {
		if !slices.Contains(fresh[s.From:s.To], true) {
			continue
		}
		core := coreOf(d.text[s.From:s.To])
		if owner := lines[core]; owner > 0 {
			if open == nil {
				open = coresOf(d.before.Open, d.Form)
			}
			if !open[core] {
				d.fill(s, owner)
			}
		}
	}
}

// keptTexts returns the text that each part of before has still, by its owner.
func (d *division) keptTexts() [][]byte {
	kept := make([][]byte, len(d.before.Parts)+1)
	for i, owner := range d.owners {
		if owner > 0 && int(owner) < len(kept) {
			kept[owner] = append(kept[owner], d.text[i])
		}
	}
	return kept
}

// linesOf returns the ranges of the lines of a text, with their ends. In HTML, tags that begin or end blocks also end
// lines, and are in none.
func linesOf(text string, form Form) iter.Seq[markup.Span] {
	return func(yield func(markup.Span) bool) {
		at := 0
		for line := range strings.SplitAfterSeq(text, "\n") {
			from, end := at, at+len(line)
			if form == HTML {
				for _, tag := range blockTag.FindAllStringIndex(line, -1) {
					if !yield(markup.Span{From: from, To: at + tag[0]}) {
						return
					}
					from = at + tag[1]
				}
			}
			if !yield(markup.Span{From: from, To: end}) {
				return
			}
			at = end
		}
	}
}

// coresOf returns the lines of a text as coreOf does.
func coresOf(text string, form Form) map[string]bool {
	all := map[string]bool{}
	for s := range linesOf(text, form) {
		line := text[s.From:s.To]
		all[coreOf(line)] = true
	}
	return all
}

// freshOpen tells of each byte of the text whether it is open and did not stand in the open text before; nil if no
// word is.
func (d *division) freshOpen() []bool {
	fresh := make([]bool, len(d.text))
	for i, owner := range d.owners {
		fresh[i] = owner == 0
	}
	for _, m := range d.shared {
		for i := range m.Len {
			fresh[m.B+i] = fresh[m.B+i] && d.wasHidden[m.A+i]
		}
	}
	for i, r := range d.text {
		if fresh[i] && isWordSign(r) {
			return fresh
		}
	}
	return nil
}

var commentMarks = strings.NewReplacer("<!--", " ", "-->", " ")

// coreOf returns a line from its first word to its last, without tags.
func coreOf(line string) string {
	line = lineBegin.ReplaceAllString(withoutTags(commentMarks.Replace(line)), " ")
	return strings.TrimFunc(line, func(r rune) bool { return !isWordSign(r) })
}

func isPhraseEnd(r rune) bool { return strings.ContainsRune(".!?;[]{}|&*_=~%#:", r) }

// Number of words of a text that is known again.
const (
	minPhrase = 3 // of a phrase as a whole
	minSaid   = 5 // out of a longer text
)

// sayings are the texts of several words that a text says, with the owner of each.
type sayings map[uint64]int

// sayingSeed makes the sayings of all texts comparable.
var sayingSeed = maphash.MakeSeed()

// addAll adds all texts of minSaid words.
func (s sayings) addAll(text string, owner int) {
	words := wordsIn(text)
	for i := 0; i+minSaid <= len(words); i++ {
		s[hashWords(text, words[i:i+minSaid])] = owner
	}
}

// addFrom adds all texts of some to minSaid words.
func (s sayings) addFrom(least int, text string) {
	words := wordsIn(text)
	for i := range words {
		for n := least; n <= minSaid && i+n <= len(words); n++ {
			s[hashWords(text, words[i:i+n])] = 1
		}
	}
}

// addPhrase adds a phrase of few words.
func (s sayings) addPhrase(text string, owner int) {
	if words := wordsIn(text); len(words) >= minPhrase && len(words) < minSaid {
		s[hashWords(text, words)] = owner
	}
}

func hashWords(text string, words []markup.Span) uint64 {
	var h maphash.Hash
	h.SetSeed(sayingSeed)
	for _, w := range words {
		_, _ = h.WriteString(strings.ToLower(text[w.From:w.To])) // never fails
		_ = h.WriteByte(' ')
	}
	return h.Sum64()
}

// wordsIn returns the ranges of the words of a text, without those in tags.
func wordsIn(text string) (words []markup.Span) {
	text = withoutTags(text)
	for i := 0; i < len(text); {
		from := strings.IndexFunc(text[i:], isWordSign)
		if from < 0 {
			break
		}
		from += i
		to := strings.IndexFunc(text[from:], func(r rune) bool { return !isWordSign(r) })
		if i = from + to; to < 0 {
			i = len(text)
		}
		words = append(words, markup.Span{From: from, To: i})
	}
	return words
}

var anyTag = lazyregexp.New(`</?[a-zA-Z][^<>]*>`)

// withoutTags returns a text of the same length with blanks in place of tags.
func withoutTags(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return anyTag.ReplaceAllStringFunc(text, func(tag string) string { return strings.Repeat(" ", len(tag)) })
}

// keepSaid hides the texts of hidden parts that stand anywhere in the fresh text, and not in the open text before,
// with the new text around them in their line or block.
func (d *division) keepSaid(hidden sayings, fresh []bool, least int) {
	words := wordsIn(d.text)
	var open sayings
	done := 0
	for i := range words {
		isFresh := false
		for n := 1; n <= minSaid && i+n <= len(words); n++ {
			w := words[i+n-1]
			if isFresh = isFresh || slices.Contains(fresh[w.From:w.To], true); !isFresh || n < least {
				continue
			}
			said := markup.Span{From: words[i].From, To: w.To}
			h := hashWords(d.text, words[i:i+n])
			owner := hidden[h]
			if owner == 0 || said.To <= done {
				continue
			}
			if open == nil {
				open = sayings{}
				open.addFrom(least, d.before.Open)
			}
			if open[h] != 0 {
				continue
			}
			for _, s := range d.withoutOpen(d.blockAround(said)) {
				if s.From < said.To && said.From < s.To {
					d.fill(s, owner)
					done = max(done, s.To)
				}
			}
		}
	}
}

// blockTag matches a tag that begins or ends a block.
var blockTag = lazyregexp.New(`(?i)</?(?:p|div|li|t[dhr]|h[1-6]|blockquote|[ou]l|table|section|br|hr|pre)\b[^<>]*>`)

// blockAround returns the line of a range, or in HTML its block.
func (d *division) blockAround(said markup.Span) markup.Span {
	block := markup.Span{From: strings.LastIndexByte(d.text[:said.From], '\n') + 1, To: len(d.text)}
	if i := strings.IndexByte(d.text[said.To:], '\n'); i >= 0 {
		block.To = said.To + i
	}
	if tags := blockTag.FindAllStringIndex(d.text[block.From:said.From], -1); len(tags) > 0 {
		block.From += tags[len(tags)-1][1]
	}
	if tag := blockTag.FindStringIndex(d.text[said.To:block.To]); tag != nil {
		block.To = said.To + tag[0]
	}
	return block
}

// Tells returns a function that reports whether an open text has a word that tells something of a hidden part.
func Tells(open string) func(part string) bool {
	words := wordsOf(open)
	return func(part string) bool {
		from, to := Peel(part)
		return sharesWord(words, part[from:to])
	}
}

// IsIn reports whether the text of a hidden part, without its mark, stands in an open text.
func IsIn(open, part string) bool {
	from, to := Peel(part)
	inner := strings.TrimSpace(part[from:to])
	return inner != "" && strings.Contains(open, inner)
}
