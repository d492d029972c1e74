package markup

import (
	"cmp"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SnippetOptions configure the length and format of a snippet.
type SnippetOptions struct {
	Max  int         // approximate length in characters; 0: 200
	Mark bool        // wrap hits in <mark> and escape everything else for HTML
	Find FindOptions // how terms are matched; Limit applies to each term
}

// hitLimit is the default maximum number of hits per term.
const hitLimit = 100

// Snippet returns the piece of a plain text with the most different terms and hits, on one line. It
// is cut at spaces if possible, with "…" for omitted text. If there are no hits, it is the
// beginning of the text. With o.Mark the result is HTML with only mark tags; otherwise it is plain
// text.
func Snippet(text string, terms []string, o SnippetOptions) string {
	if o.Max <= 0 {
		o.Max = 200
	}
	if o.Find.Limit <= 0 {
		o.Find.Limit = hitLimit
	}
	hits := findTerms(text, terms, o.Find)
	from, to := widenRange(text, bestHits(hits, o.Max), o.Max)
	return renderSnippet(text, from, to, hits, o.Mark)
}

// hit is a match with the index of its term.
type hit struct {
	Match
	term int
}

func findTerms(text string, terms []string, o FindOptions) []hit {
	var hits []hit
	f := foldText(text, o)
	for i, term := range terms[:min(len(terms), 64)] {
		if strings.TrimSpace(term) == "" || len(term) > maxQuery {
			continue
		}
		for _, m := range findIn(f, term, o) {
			hits = append(hits, hit{m, i})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.term, b.term))
	})
	return hits
}

// bestHits returns the range of the best hits within width characters: those with the most
// different terms, then the most hits, then the first.
func bestHits(hits []hit, width int) Match {
	var best Match
	bestTerms, bestCount := 0, 0
	seen := map[int]int{}
	end := 0
	for i, h := range hits {
		for end < len(hits) && (end <= i || hits[end].End-h.Start <= width) {
			seen[hits[end].term]++
			end++
		}
		if n := end - i; len(seen) > bestTerms || len(seen) == bestTerms && n > bestCount {
			bestTerms, bestCount = len(seen), n
			best = Match{h.Start, hits[end-1].End}
		}
		if seen[h.term]--; seen[h.term] == 0 {
			delete(seen, h.term)
		}
	}
	return best
}

// widenRange widens a range to width characters, equally before and after, and then moves both ends
// in to the nearest space.
func widenRange(text string, around Match, width int) (from, to int) {
	spare := width - utf8.RuneCountInString(text[around.Start:around.End])
	from = runesBefore(text, around.Start, max(spare/2, 0))
	used := utf8.RuneCountInString(text[from:around.Start])
	to = runesAfter(text, around.End, max(spare-used, 0))
	unused := spare - used - utf8.RuneCountInString(text[around.End:to])
	from = runesBefore(text, from, unused)
	if from > 0 {
		if i := strings.IndexFunc(text[from:around.Start], unicode.IsSpace); i >= 0 {
			from += i
		}
	}
	if to < len(text) {
		if i := strings.LastIndexFunc(text[around.End:to], unicode.IsSpace); i > 0 {
			to = around.End + i
		}
	}
	return from, to
}

// runesBefore returns the offset n characters before i; runesAfter returns the one n characters
// after i.
func runesBefore(text string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	return i
}

func runesAfter(text string, i, n int) int {
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return i
}

func renderSnippet(text string, from, to int, hits []hit, mark bool) string {
	var b strings.Builder
	put := func(s string) {
		if mark {
			s = html.EscapeString(s)
		}
		b.WriteString(s)
	}
	if from > 0 {
		b.WriteString("…")
	}
	at := from + len(text[from:to]) - len(strings.TrimLeftFunc(text[from:to], unicode.IsSpace))
	to = max(at, from+len(strings.TrimRightFunc(text[from:to], unicode.IsSpace)))
	for _, h := range hits {
		if !mark || h.Start < at || h.End > to {
			continue
		}
		put(oneLine(text[at:h.Start]))
		b.WriteString("<mark>")
		put(oneLine(text[h.Start:h.End]))
		b.WriteString("</mark>")
		at = h.End
	}
	put(oneLine(text[at:to]))
	if to < len(strings.TrimRightFunc(text, unicode.IsSpace)) {
		b.WriteString("…")
	}
	return b.String()
}

// oneLine replaces each run of white space by one space.
func oneLine(s string) string {
	var b strings.Builder
	for s != "" {
		word := wordEnd(s)
		if b.WriteString(s[:word]); word == len(s) {
			break
		}
		b.WriteByte(' ')
		s = strings.TrimLeftFunc(s[word:], unicode.IsSpace)
	}
	return b.String()
}
