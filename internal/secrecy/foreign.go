package secrecy

import (
	"html"
	"slices"
	"sort"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// Marks of Markdown in a text of another form hide nothing there, and their author may have thought that they do: they
// are unsure. They are looked for in the text as it is, in a plain one also those that only look secret, and in HTML
// also in the words of each block.

// mayHoldForeign reports whether a text in HTML or a plain one may have marks of Markdown.
func mayHoldForeign(text string) bool {
	return strings.ContainsAny(withoutTags(text), ":#|!%") || strings.Contains(text, "/// ") || holdsWide(text)
}

// foreignPlace tells of the text in which a mark of Markdown stands.
var foreignPlace = map[Form]string{HTML: " in HTML", Plain: " in a plain text"}

// addForeign adds the marks of Markdown in a text of another form.
func (u *unsureMarks) addForeign() {
	known := slices.Clone(u.exact)
	for _, spans := range u.doubts {
		known = append(known, spans...)
	}
	known = mergeSpans(known, nil)
	add := func(what string, s span, beyond []span) {
		m := Mark{Rule: ruleBlock, What: what + foreignPlace[u.form], Doubt: true}
		if _, is := u.doubts[m]; !is && len(u.order) < maxUnsure {
			u.order = append(u.order, m)
		}
		u.doubts[m], u.beyond[m] = append(u.doubts[m], s), append(u.beyond[m], beyond...)
	}
	hides := everyMark
	if u.form == HTML {
		hides = isExactMark // others are in its blocks
	}
	for _, s := range Split(u.text, Markdown, hides).spans() {
		if what := firstLine(u.text[s.from:s.to]); !strings.HasPrefix(what, percents) && !overlaps(known, s) {
			add(what, s, nil) // comments are known
		}
	}
	if u.form != HTML {
		return
	}
	blocks := htmlBlocks(u.text)
	for _, spans := range u.doubts {
		known = append(known, spans...)
	}
	known = mergeSpans(known, nil)
	done := 0 // up to which the marks of blocks hide
	for i, b := range blocks {
		from, isMarked := 0, false
		if b.from >= done {
			from, isMarked = b.mark()
		}
		s := span{b.from, b.to}
		if isMarked {
			s.from = b.at[from]
		}
		if !isMarked || overlaps(known, s) {
			continue
		}
		what, beyond := firstLine(b.words[from:]), b.goesOn(blocks[i+1:])
		if !strings.HasPrefix(what, percents) {
			add(what, s, beyond)
			if done = b.to; len(beyond) > 0 {
				done = beyond[len(beyond)-1].to
			}
		}
	}
}

// overlaps reports whether a range shares a byte with one of a list that is in order.
func overlaps(list []span, s span) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].to > s.from })
	return i < len(list) && list[i].from < s.to
}

// firstLine returns the beginning of the first line of a text that has one.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return markup.Shorten(line, 40)
}

// htmlBlock is the text between two tags that begin or end blocks.
type htmlBlock struct {
	from, to int
	isHead   bool   // it is in a heading element
	words    string // without tags, and with the signs of Markdown for emphasis
	at       []int  // the offset in the text for each byte of words, and for its end
}

var (
	notWords    = lazyregexp.New(`(?is)<code\b.*?</code\s*>|<[^<>]*>|&[#\w]{1,20};`)
	emphasisTag = lazyregexp.New(`(?i)^</?(?:b|strong|i|em|u|mark)\b`)
	codeTag     = lazyregexp.New(`(?i)^<pre\b`)
)

// htmlBlocks returns the blocks of a text in HTML that have words. The text of <pre> is code.
func htmlBlocks(text string) (all []htmlBlock) {
	from, tag := 0, ""
	for _, next := range append(blockTag.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		b := htmlBlock{from: from, to: next[0], isHead: headingLevel(strings.ToLower(strings.Trim(tag, "<> "))) > 0}
		if strings.TrimSpace(text[b.from:b.to]) != "" && !codeTag.MatchString(tag) {
			if b.read(text); strings.TrimSpace(b.words) != "" {
				all = append(all, b)
			}
		}
		from, tag = next[1], text[next[0]:next[1]]
	}
	return all
}

// read sets the words of a block.
func (b *htmlBlock) read(text string) {
	var words strings.Builder
	write := func(s string, at, step int) {
		words.WriteString(s)
		for i := range len(s) {
			b.at = append(b.at, at+i*step)
		}
	}
	done := b.from
	for _, t := range notWords.FindAllStringIndex(text[b.from:b.to], -1) {
		from, to := b.from+t[0], b.from+t[1]
		write(text[done:from], done, 1)
		switch sign := text[from:to]; {
		case sign[0] == '&':
			write(html.UnescapeString(sign), from, 0)
		case emphasisTag.MatchString(sign):
			write("**", from, 0)
		}
		done = to
	}
	write(text[done:b.to], done, 1)
	b.words, b.at = words.String(), append(b.at, b.to)
}

// mark returns the offset in a block's words of the first mark that would hide in Markdown.
func (b htmlBlock) mark() (from int, isMarked bool) {
	if !mayBeUnsure(b.words, Markdown) {
		return 0, false
	}
	if h := Split(b.words, Markdown, everyMark); len(h.Parts) > 0 {
		return h.spans()[0].from, true
	}
	return 0, len(textMarks(b.words)) > 0
}

// goesOn returns the ranges of the blocks after a block that its mark would hide too: those of its section, those to
// the end of a fence, or the next one if it is a label alone.
func (b htmlBlock) goesOn(next []htmlBlock) (all []span) {
	first := strings.TrimSpace(b.words)
	isHead := strings.HasPrefix(first, "#") && strings.Contains(first[:min(len(first), maxHead)], "# ")
	isFence := strings.HasPrefix(first, ":::") || strings.HasPrefix(first, "///")
	label, rest := secretLabel(first)
	isLabel := label != "" && rest == ""
	for _, n := range next {
		ends := isHead && (n.isHead || strings.HasPrefix(strings.TrimSpace(n.words), "# "))
		if !isHead && !isFence && !isLabel || ends {
			break
		}
		all = append(all, span{n.from, n.to})
		isLabel = false
	}
	return all
}

// maxHead is the length of the signs with which a heading of Markdown begins, with the blank after them.
const maxHead = 7
