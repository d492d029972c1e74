package markup

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// The writer of Markdown makes a space of each line end of HTML. Those between the words
// of a paragraph or a list item are kept, for people write one thing a line: a sign stands
// for them while the writer works.

var lineEnds = regexp.MustCompile(`[ \t\f]*\n\s*`)

// markBreaks puts a sign in place of the line ends that stand between words.
func markBreaks(n *html.Node, sign string) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && strings.Contains(c.Data, "\n"):
			c.Data = withBreaks(c, sign)
		case c.Type == html.ElementNode && keepsBreaks(c.Data):
			markBreaks(c, sign)
		}
	}
}

// keepsBreaks leaves out the elements whose Markdown is one line, and code.
func keepsBreaks(tag string) bool {
	switch tag {
	case "table", "td", "th", "caption", "pre", "code", "textarea":
		return false
	}
	return headingLevel(tag) == 0
}

// withBreaks is the text of a node with signs in place of its line ends. At its own ends
// there is one only beside words in another element.
func withBreaks(n *html.Node, sign string) string {
	var b strings.Builder
	done := 0
	for _, m := range lineEnds.FindAllStringIndex(n.Data, -1) {
		b.WriteString(n.Data[done:m[0]])
		done = m[1]
		if (m[0] > 0 || hasWords(n.PrevSibling)) && (m[1] < len(n.Data) || hasWords(n.NextSibling)) {
			b.WriteString(sign)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String() + n.Data[done:]
}

// hasWords tells of an element in a line, such as strong, that holds something.
func hasWords(n *html.Node) bool {
	return n != nil && n.Type == html.ElementNode && !isBlock(n.Data) && n.FirstChild != nil
}

var (
	blockSigns  = regexp.MustCompile(`^(?:[ >]|(?:[-*+]|\d{1,9}[.)]) )*`)
	beginsBlock = regexp.MustCompile(`^(?:#{1,6}(?:[ \t]|$)|>|[-+*](?:[ \t]|$)|=+[ \t]*$|[-:|][-:| \t]*$|\*[* \t]*$|_[_ \t]*$|~~~)`)
	beginsItem  = regexp.MustCompile(`^\d{1,9}[.)](?:[ \t]|$)`)
)

// maxSigns is the longest run of signs of quotes and lists that is written before each line
// again. Markdown needs none.
const maxSigns = 40

// writeBreaks makes line ends of the signs in Markdown.
func writeBreaks(markdown, sign string) string {
	if !strings.Contains(markdown, sign) {
		return markdown
	}
	var b strings.Builder
	for line := range strings.Lines(markdown) {
		parts := strings.Split(line, sign)
		before := continued(blockSigns.FindString(parts[0]))
		b.WriteString(parts[0])
		for _, part := range parts[1:] {
			b.WriteByte('\n')
			b.WriteString(before)
			b.WriteString(asWords(part))
		}
	}
	return b.String()
}

// continued is what stands before a further line of a paragraph.
func continued(signs string) string {
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

// asWords keeps a line from beginning a block.
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
