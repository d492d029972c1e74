package markup

import (
	"iter"
	"strings"

	"golang.org/x/net/html"

	"loregate/internal/lazyregexp"
)

// The Markdown writer turns each line end in HTML into a space. Line ends between the words of a
// paragraph or list item must be kept, because people write one fact per line. A placeholder, the
// sign, stands for such a line end while the writer works.

// findLineEnds returns the places of the line ends of a text, each with the spaces before it and the white
// space after it.
func findLineEnds(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for done := 0; ; {
			i := strings.IndexByte(text[done:], '\n')
			if i < 0 {
				return
			}
			start := done + len(strings.TrimRight(text[done:done+i], " \t\f"))
			end := len(text) - len(strings.TrimLeft(text[done+i:], " \t\f\r\n"))
			if !yield(start, end) {
				return
			}
			done = end
		}
	}
}

// markBreaks replaces the line ends between words by the sign.
func markBreaks(n *html.Node, sign string) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && strings.Contains(c.Data, "\n"):
			c.Data = withBreaks(c, sign)
		case c.Type == html.ElementNode && canKeepBreaks(c.Data):
			markBreaks(c, sign)
		}
	}
}

// canKeepBreaks reports whether an element may keep line ends. Code and elements that are one line
// in Markdown may not.
func canKeepBreaks(tag string) bool {
	switch tag {
	case "table", "td", "th", "caption", "pre", "code", "textarea":
		return false
	}
	return headingLevel(tag) == 0
}

// withBreaks returns the text of a node with signs in place of its line ends. A line end at the
// start or end of the text counts only next to words in another element.
func withBreaks(n *html.Node, sign string) string {
	var b strings.Builder
	done := 0
	for start, end := range findLineEnds(n.Data) {
		b.WriteString(n.Data[done:start])
		done = end
		if (start > 0 || hasWords(n.PrevSibling)) && (end < len(n.Data) || hasWords(n.NextSibling)) {
			b.WriteString(sign)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String() + n.Data[done:]
}

// hasWords reports whether n is a non-empty inline element, such as strong.
func hasWords(n *html.Node) bool {
	return n != nil && n.Type == html.ElementNode && !isBlock(n.Data) && n.FirstChild != nil
}

var (
	blockSigns  = lazyregexp.New(`^(?:[ >]|(?:[-*+]|\d{1,9}[.)]) )*`)
	beginsBlock = lineStart{"#>-+*=:|_~",
		lazyregexp.New(`^(?:#{1,6}(?:[ \t]|$)|>|[-+*](?:[ \t]|$)|=+[ \t]*$|[-:|][-:| \t]*$|\*[* \t]*$|_[_ \t]*$|~~~)`)}
	beginsItem = lineStart{"0123456789", lazyregexp.New(`^\d{1,9}[.)](?:[ \t]|$)`)}
)

// maxSigns is the maximum length of the quote and list signs that are repeated before each
// continued line. Markdown does not require them.
const maxSigns = 40

// writeBreaks replaces the signs in Markdown by line ends.
func writeBreaks(markdown, sign string) string {
	if !strings.Contains(markdown, sign) {
		return markdown
	}
	var b strings.Builder
	for line := range strings.Lines(markdown) {
		parts := strings.Split(line, sign)
		before := linePrefix(blockSigns.FindString(parts[0]))
		b.WriteString(parts[0])
		for _, part := range parts[1:] {
			b.WriteByte('\n')
			b.WriteString(before)
			b.WriteString(asWords(part))
		}
	}
	return b.String()
}

// linePrefix returns the text to write before a continued line of a paragraph.
func linePrefix(signs string) string {
	if len(signs) > maxSigns {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r == '>' {
			return r
		}
		return ' '
	}, signs)
}

// asWords escapes a line that would otherwise begin a block.
func asWords(line string) string {
	bare := strings.TrimRight(line, "\n")
	switch {
	case beginsBlock.MatchString(bare):
		return `\` + line
	case beginsItem.MatchString(bare):
		i := strings.IndexAny(line, ".)")
		return line[:i] + `\` + line[i:]
	}
	return line
}
