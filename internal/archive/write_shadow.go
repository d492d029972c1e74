package archive

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	nethtml "golang.org/x/net/html"

	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
)

// A shadow is a text of the same length in bytes as a card's content in which everything that must
// not be linked is overwritten: with glue if a word continues across it, as in [[wolf]]pack, and
// with a wall if it does not, as at <p>. Tags such as <b> are first overwritten with soft;
// settleSoft then replaces soft by one of the two.
const (
	glue = '\x01'
	wall = '\x02'
	soft = '\x03'
)

// shadowOf returns the shadow of content.
func shadowOf(kind canon.TextKind, content string) string {
	b := []byte(content)
	for _, r := range canon.RefsIn(kind, content) {
		blotRange(b, r.Start, r.End, glue)
	}
	blotAll(b, wikiComment, glue)
	switch kind {
	case canon.TextHTML:
		blotHTML(b)
	case canon.TextMarkdown:
		blotMarkdown(b)
	}
	blotAll(b, address, glue)
	settleSoft(b)
	return string(b)
}

// settleSoft replaces soft by glue inside a word and by a wall elsewhere.
func settleSoft(b []byte) {
	for i := 0; i < len(b); i++ {
		if b[i] != soft {
			continue
		}
		end := i + 1
		for end < len(b) && b[end] == soft {
			end++
		}
		before, _ := utf8.DecodeLastRune(b[:i])
		after, _ := utf8.DecodeRune(b[end:])
		with := byte(wall)
		if inWord(before) && inWord(after) {
			with = glue
		}
		blotRange(b, i, end, with)
		i = end
	}
}

// inWord reports whether a rune of a shadow is part of a word.
func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) || r == glue
}

func blotRange(b []byte, from, to int, with byte) {
	for i := from; i < to; i++ {
		b[i] = with
	}
}

func blotAll(b []byte, what *lazyregexp.Regexp, with byte) {
	for _, m := range what.FindAllIndex(b, -1) {
		blotRange(b, m[0], m[1], with)
	}
}

var (
	wikiComment = lazyregexp.New(`(?s)\{\{\s*#.*?\}\}`)
	address     = lazyregexp.New(`(?i)\b(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)[^\s\x01-\x03<>"]+|[^\s\x01-\x03<>"@]+@[^\s\x01-\x03<>"@]+`)
	entity      = lazyregexp.New(`&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)

	markdownInline = lazyregexp.New("(?s)`{3,}.*?`{3,}|``.+?``|`[^`]+`" + // code
		`|!?\[[^\[\]]*\]\([^()]*\)|!?\[[^\[\]]*\]\[[^\[\]]*\]` + // links and pictures
		`|<[^<>]*>`) // addresses and tags
	markdownDefinition = lazyregexp.New(`(?m)^ {0,3}\[[^\[\]]+\]:.*$`)
	underline          = lazyregexp.New(`^ {0,3}(?:=+|-+)\s*$`)
)

// unlinkedElements are the elements whose text is not linked.
var unlinkedElements = map[string]bool{"a": true, "code": true, "pre": true, "script": true, "style": true,
	"template": true, "title": true,
	"textarea": true, "button": true, "select": true, "kbd": true, "samp": true, "svg": true, "math": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true}

// inlineElements are the elements that do not end a word.
var inlineElements = map[string]bool{"a": true, "abbr": true, "b": true, "bdi": true, "code": true, "em": true,
	"font": true, "i": true, "ins": true,
	"del": true, "mark": true, "s": true, "small": true, "span": true, "strike": true, "strong": true, "sub": true,
	"sup": true, "u": true, "wbr": true}

func blotHTML(b []byte) {
	z := nethtml.NewTokenizer(strings.NewReader(string(b)))
	open, at := map[string]int{}, 0
	inside := func() bool {
		for _, n := range open {
			if n > 0 {
				return true
			}
		}
		return false
	}
	for {
		kind := z.Next()
		end := at + len(z.Raw())
		switch kind {
		case nethtml.ErrorToken:
			if inside() {
				blotRange(b, at, len(b), glue)
			}
			return
		case nethtml.TextToken:
			if inside() {
				blotRange(b, at, end, glue)
			}
			blotEntities(b[at:end])
		case nethtml.StartTagToken, nethtml.EndTagToken, nethtml.SelfClosingTagToken:
			raw, _ := z.TagName()
			name := string(raw)
			if unlinkedElements[name] {
				open[name] = max(0, open[name]+map[nethtml.TokenType]int{nethtml.StartTagToken: 1, nethtml.EndTagToken: -1}[kind])
			}
			with := byte(wall)
			if inlineElements[name] {
				with = soft
			}
			blotRange(b, at, end, with)
		default: // a comment or a doctype
			blotRange(b, at, end, glue)
		}
		at = end
	}
}

// blotEntities overwrites entities. An entity of a letter is part of a word, so it becomes glue.
func blotEntities(b []byte) {
	for _, m := range entity.FindAllIndex(b, -1) {
		r, _ := utf8.DecodeRuneInString(html.UnescapeString(string(b[m[0]:m[1]])))
		with := byte(wall)
		if isLetter(r) {
			with = glue
		}
		blotRange(b, m[0], m[1], with)
	}
}

// blotMarkdown overwrites code, headings, links and tags.
func blotMarkdown(b []byte) {
	fence, at, before := "", 0, -1 // before is the start of the previous line
	for line := range strings.Lines(string(b)) {
		end := at + len(line)
		text := strings.TrimLeft(line, " ")
		opens := strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")
		switch {
		case fence != "":
			blotRange(b, at, end, wall)
			if strings.HasPrefix(text, fence) {
				fence = ""
			}
		case opens:
			blotRange(b, at, end, wall)
			fence = text[:3]
		case strings.HasPrefix(text, "#"), strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"):
			blotRange(b, at, end, wall)
		case underline.MatchString(line) && before >= 0:
			blotRange(b, before, end, wall)
		}
		before = at
		if strings.TrimSpace(line) == "" {
			before = -1
		}
		at = end
	}
	blotAll(b, markdownDefinition, wall)
	blotAll(b, markdownInline, glue)
	blotEntities(b)
}

// wordSpan holds the start and end of a word in bytes.
type wordSpan struct{ start, end int }

// wordsIn splits a text into words and returns the text before each word, with white space as one
// space. A word that contains glue matches no name.
func wordsIn(text string) (words []wordSpan, gaps []string) {
	done := 0
	start := -1
	end := func(at int) {
		if start >= 0 {
			words = append(words, wordSpan{start, at})
			gaps = append(gaps, oneGap(text[done:start]))
			done, start = at, -1
		}
	}
	for i, r := range text {
		if inWord(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		end(i)
	}
	end(len(text))
	return words, gaps
}

func isLetter(r rune) bool { return unicode.IsLetter(r) }

func oneGap(s string) string {
	if strings.TrimSpace(s) == "" && s != "" {
		return " "
	}
	return s
}
