package secrecy

import (
	"sort"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// bracket is a comment whose whole text is a mark, such as <!-- gm -->, or the end of one, such as <!-- /gm -->. Such a
// comment hides itself. Its author may think that it also hides the text up to its partner.
type bracket struct {
	span
	word string // the mark; "" for an end without a name
	ends bool
}

// maxBracket is the number of bytes of the text of a bracket.
const maxBracket = 60

// readBracket reads the text of a comment.
func readBracket(inner string) (word string, ends, ok bool) {
	inner = strings.TrimSpace(inner)
	if inner == "" || len(inner) > maxBracket {
		return "", false, false
	}
	inner, ends = strings.CutPrefix(inner, "/")
	_, joined, _ := Spellings(inner)
	word = strings.TrimSpace(joined)
	if name, ok := withoutWord(word, marks().Brackets.End); ok {
		word, ends = name, true
	} else if name, ok := withoutWord(word, marks().Brackets.Begin); ok {
		word = name
	}
	return word, ends, word == "" && ends || isSecretWord(word)
}

// withoutWord returns a mark without one of some words before or after it, or "" for such a word alone.
func withoutWord(text string, words []string) (mark string, ok bool) {
	for _, word := range words {
		for _, cut := range []func(string, string) (string, bool){strings.CutPrefix, strings.CutSuffix} {
			mark, ok = cut(text, word)
			if mark = strings.TrimSpace(mark); ok && (mark == "" || isSecretWord(mark)) {
				return mark, true
			}
		}
	}
	return "", false
}

// findBrackets returns the ranges from comments whose whole text is a mark to their partners, or without one to the end
// of their sections or paragraphs. readable is the text without code, o its blocks in Markdown, and found are the parts
// that its marks hide.
func (h *Result) findBrackets(readable string, o *outline, found []span) (all []span) {
	if h.hides == nil {
		return nil
	}
	list := h.listBrackets(readable, found)
	partners := pairBrackets(list)
	alone := 0 // brackets without a partner so far
	for i, b := range list {
		if b.ends {
			continue
		}
		part, inner := b.span, ""
		switch k := partners[i]; {
		case k > 0:
			inner = readable[b.to:list[k].from]
			part.to = list[k].to
			if h.form != Markdown {
				part = span{widenBracket(readable, b.span).from, widenBracket(readable, list[k].span).to}
			}
		default:
			if alone++; alone > maxLooks {
				part.to = len(readable)
			} else if o != nil {
				s := &blockScanner{h: h, outline: o}
				part.to = max(b.to, s.bracketEnd(b.span))
			} else {
				part = bracketPart(readable, b.span)
			}
			inner = readable[b.to:part.to]
		}
		if strings.TrimSpace(inner) != "" && h.isHidden(Mark{Rule: ruleComment, Doubt: true,
			What: markup.Clip(strings.Join(strings.Fields(readable[b.from:b.to]), " "), maxBracket)}) {
			all = append(all, part)
		}
	}
	return mergeSpans(all, nil)
}

// listBrackets returns the brackets of a text that do not stand in other hidden parts.
func (h *Result) listBrackets(text string, found []span) (all []bracket) {
	add := func(at, n int, inner string) {
		word, ends, ok := readBracket(inner)
		k := sort.Search(len(found), func(k int) bool { return found[k].to > at })
		isWithin := k < len(found) && found[k].from <= at && found[k].to >= at+n && found[k] != span{at, at + n}
		if ok && !isWithin {
			all = append(all, bracket{span{at, at + n}, word, ends})
		}
	}
	for at := 0; at < len(text); {
		i := strings.IndexAny(text[at:], "<%[")
		if i < 0 {
			break
		}
		at += i
		n := 1
		switch rest := text[at:]; {
		case strings.HasPrefix(rest, "<!--"):
			n = commentLength(rest)
			inner, closed := strings.CutSuffix(rest[:n], "-->")
			if closed && n > len("<!--") {
				add(at, n, inner[len("<!--"):])
			}
		case strings.HasPrefix(rest, percents) && (h.form == Markdown || h.foreign):
			n = commentLength(rest)
			inner, closed := strings.CutSuffix(rest[:n], percents)
			if closed && len(inner) > len(percents) {
				add(at, n, inner[len(percents):])
			}
		case rest[0] == '[' && h.form == Markdown:
			if before := strings.TrimRight(text[:at], "> \t"); before != "" && !strings.HasSuffix(before, "\n") {
				break
			}
			line, _, _ := strings.Cut(rest[:min(len(rest), maxBegin)], "\n")
			if m := definitionForm.FindStringSubmatch(line); m != nil {
				n = len(line)
				add(at, n, strings.Trim(m[2], "()\"' \t\r"))
			}
		}
		at += n
	}
	return all
}

// pairBrackets returns the index of the end of each bracket that has one: of its own word, or else one without a name.
func pairBrackets(list []bracket) map[int]int {
	partners, open := map[int]int{}, map[string][]int{}
	for i, b := range list {
		switch waiting := open[b.word]; {
		case !b.ends:
			open[b.word] = append(waiting, i)
		case b.word != "" && len(waiting) > 0:
			partners[waiting[len(waiting)-1]] = i
			open[b.word] = waiting[:len(waiting)-1]
		}
	}
	var nameless []int // ends behind i, the nearest last
	for i := len(list) - 1; i >= 0; i-- {
		switch n := len(nameless); {
		case list[i].ends && list[i].word == "":
			nameless = append(nameless, i)
		case !list[i].ends && partners[i] == 0 && n > 0:
			partners[i] = nameless[n-1]
			nameless = nameless[:n-1]
		}
	}
	return partners
}

// bracketEnd returns the end of the section after a comment that stands in a line of its own, or of its paragraph.
func (s *blockScanner) bracketEnd(c span) int {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].From > c.from }) - 1
	if i < 0 || s.blocks[i].To <= c.from {
		return s.limitAfter(c.to)
	}
	from, to := s.lineAt(c.from)
	if strings.Trim(s.text[from:c.from], "> \t-*+") != "" || strings.TrimSpace(s.text[c.to:max(c.to, to)]) != "" {
		end := s.blocks[i].To
		if i+1 < len(s.blocks) && s.blocks[i+1].Kind == markup.ParagraphBlock && s.blocks[i+1].From == end {
			return s.blocks[i+1].To // the comment ended a block in the middle of a paragraph
		}
		return end
	}
	within := s.around(i)
	for j := i + 1; j < len(s.blocks) && s.blocks[j].From < s.limit(i); j++ {
		if s.around(j) != within {
			continue
		}
		if level := s.headLevel(s.blocks[j]); level > 0 {
			return s.sectionEnd(j, level)
		}
		break
	}
	level := maxLevel
	for j := i - 1; j >= 0; j-- {
		if head := s.headLevel(s.blocks[j]); head > 0 && s.around(j) == within {
			level = head
			break
		}
	}
	return s.sectionEnd(i, level)
}

// limitAfter returns the offset of the first heading after an offset.
func (s *blockScanner) limitAfter(at int) int {
	for _, b := range s.blocks {
		if b.From >= at && s.headLevel(b) > 0 {
			return b.From
		}
	}
	return len(s.text)
}

// maxLevel is the lowest level of a heading.
const maxLevel = 6

// widenBracket returns the range of the element that holds a comment and nothing else.
func widenBracket(text string, c span) span {
	s := markup.Span{From: c.from, To: c.to}
	widenElement(text, &s, max(0, c.from-maxBegin), min(len(text), c.to+maxBegin))
	return span{s.From, s.To}
}

var startsBlock = lazyregexp.New(`(?i)^\s*(?:$|</?(?:p|div|li|t[dhr]|h[1-6]|blockquote|[ou]l|table|section|hr|pre)\b)`)

// bracketPart returns the range of a text in HTML from a comment to the end of its section, if it stands between blocks
// or alone in one, or of its block.
func bracketPart(text string, c span) span {
	part := widenBracket(text, c)
	if !startsBlock.MatchString(text[part.to:]) {
		part.to += matchStart(blockTag.FindStringIndex(text[part.to:]), len(text)-part.to)
		return part
	}
	from := part.to
	if at := beginsHead.FindStringIndex(strings.TrimLeft(text[from:], " \t\n")); at != nil {
		from += len(text[from:]) - len(strings.TrimLeft(text[from:], " \t\n")) + at[1]
	}
	part.to = from + matchStart(headTag.FindStringIndex(text[from:]), len(text)-from)
	depth := 0
	for _, m := range boxTag.FindAllStringSubmatchIndex(text[from:part.to], -1) {
		if depth++; m[2] < m[3] {
			depth -= 2
		}
		if depth < 0 {
			return span{part.from, from + m[0]}
		}
	}
	return part
}

// matchStart returns the beginning of a match, or otherwise if there is none.
func matchStart(match []int, otherwise int) int {
	if match == nil {
		return otherwise
	}
	return match[0]
}
