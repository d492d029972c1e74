package markup

import (
	"net/url"
	"strings"
	"unicode"
)

// RefKind distinguishes links from nests.
type RefKind uint8

const (
	// LinkRef is [[Target|Text]], which leads to a card.
	LinkRef RefKind = iota + 1
	// NestRef is {{Name|options}}, which shows a card in place.
	NestRef
)

// Ref is one link or nest in a card's content.
type Ref struct {
	Kind       RefKind
	Target     string // the name as written, trimmed; may be relative; entities are kept
	Text       string // of a link the text after the first '|', of a nest its options; as written
	Start, End int    // byte range in the content, brackets included
	External   bool   // a link to an address: /…, http:, https: or mailto:
	Path       string // in Markdown the target with its folders, without ".md" and the part after '#'

	targetStart, targetEnd int    // byte range of Target in the content
	part                   string // the heading or block of the target that Markdown names
	markdown               bool   // written as in Markdown notes
	encoded                bool   // the target is an address, in which spaces are %20
}

// Refs returns the links and nests of a card's content in order, none inside another. The grammar:
//
//	link    = "[[" target [ "|" text ] "]]"
//	nest    = "{{" name [ "|" options ] "}}"
//	comment = "{{#" … "}}"                  is not a ref
//	escape  = "\[[" or "\{{"                is not a ref and opens none
//
// A ref ends at the first closing pair. It contains no second opening pair of its own kind: in "[[a
// [[b]]" only [[b]] is a link. Refs inside a link or a nest are part of its text or its options. A
// ref with a blank target is ignored. Content need not be HTML; tags and attributes are not parsed.
// The cost is linear.
func Refs(content string) []Ref {
	var refs []Ref
	for s := range scanSyntax(content) {
		if s.kind == linkSpan || s.kind == nestSpan {
			refs = append(refs, s.toRef(content))
		}
	}
	return refs
}

// RewriteRefs replaces the targets of refs. It calls f for each ref in order and, if ok is true,
// replaces the bytes of the target. Spaces around the target, texts, options and everything outside
// are preserved byte for byte. A new target that could not be read back as the same ref is ignored:
// a blank one, one with '|' or brackets, or one with a '#' that would make a nest a comment.
func RewriteRefs(content string, f func(Ref) (newTarget string, ok bool)) string {
	return rewriteRefs(content, Refs(content), f)
}

// rewriteRefs is RewriteRefs for given refs.
func rewriteRefs(content string, refs []Ref, f func(Ref) (newTarget string, ok bool)) string {
	var b strings.Builder
	done := 0
	for _, r := range refs {
		target, ok := f(r)
		if !ok || target == r.Target || !r.canHold(target) {
			continue
		}
		if r.encoded {
			target = url.PathEscape(target)
		}
		b.WriteString(content[done:r.targetStart])
		b.WriteString(target)
		done = r.targetEnd
	}
	if done == 0 {
		return content
	}
	b.WriteString(content[done:])
	return b.String()
}

// DropComments removes {{# comments}}, which are meant for editors. A comment ends at the first
// closing pair. The cost is linear.
func DropComments(content string) string {
	var b strings.Builder
	done, end := 0, -1
	for at := 0; ; {
		i := strings.Index(content[at:], "{{")
		if i < 0 {
			break
		}
		i += at
		at = i + 2
		if i > done && content[i-1] == '\\' {
			continue
		}
		if end < at {
			n := strings.Index(content[at:], "}}")
			if n < 0 {
				break
			}
			end = at + n
		}
		if strings.HasPrefix(strings.TrimLeftFunc(content[at:end], unicode.IsSpace), "#") {
			b.WriteString(content[done:i])
			done = end + 2
			at = done
		}
	}
	b.WriteString(content[done:])
	return b.String()
}

// canHold reports whether a target can be written in the brackets of r.
func (r Ref) canHold(target string) bool {
	if strings.TrimSpace(target) == "" || strings.ContainsAny(target, "|\n\r") {
		return false
	}
	if r.Kind == LinkRef {
		return !strings.Contains(target, "[[") && !strings.Contains(target, "]]") &&
			!strings.HasSuffix(target, "]") && !strings.HasPrefix(target, "[")
	}
	return !strings.ContainsAny(target, "{}") && !strings.HasPrefix(strings.TrimSpace(target), "#")
}

// CountRefs counts the links and nests in a content, except links to addresses. It stops counting
// above most.
func CountRefs(content string, most int) (n int) {
	for s := range scanSyntax(content) {
		if s.kind == nestSpan || s.kind == linkSpan && !s.toRef(content).External {
			if n++; n > most {
				break
			}
		}
	}
	return n
}

// span is a piece of wiki syntax found by scanSyntax.
type span struct {
	kind       spanKind
	start, end int
}

type spanKind uint8

const (
	linkSpan spanKind = iota + 1
	nestSpan
	commentSpan
	escapeSpan
)

// scanSyntax yields every piece of wiki syntax in order. From an opening pair it looks ahead at
// most to the next opening pair of its kind, or to the closing pair, whose offset it remembers. The
// total cost is therefore linear.
func scanSyntax(content string) func(yield func(span) bool) {
	return func(yield func(span) bool) {
		if !strings.Contains(content, "[[") && !strings.Contains(content, "{{") {
			return
		}
		c := cursor{content: content, nextClose: [2]int{-1, -1}}
		for c.next() {
			if !yield(c.span) {
				return
			}
		}
	}
}

// cursor is the state of one scan.
type cursor struct {
	content   string
	at        int
	span      span
	nextClose [2]int // offset of the first "]]" and "}}" at or after the last search, or len(content)
}

func (c *cursor) next() bool {
	for {
		i := c.findOpening()
		if i < 0 {
			return false
		}
		if i > 0 && c.content[i-1] == '\\' {
			c.span = span{escapeSpan, i - 1, i + 2}
			c.at = i + 2
			return true
		}
		if c.closeSpan(i) {
			return true
		}
	}
}

// findOpening returns the offset of the next "[[" or "{{" at or after c.at, or -1.
func (c *cursor) findOpening() int {
	for {
		i := strings.IndexAny(c.content[c.at:], "[{")
		if i < 0 {
			c.at = len(c.content)
			return -1
		}
		i += c.at
		if i+1 < len(c.content) && c.content[i+1] == c.content[i] {
			return i
		}
		c.at = i + 1
	}
}

// closeSpan sets the span that opens at i and moves past it. If no span opens there, it moves past
// the first bracket and returns false.
func (c *cursor) closeSpan(i int) bool {
	opener, which, closer, kind := "[[", 0, "]]", linkSpan
	if c.content[i] == '{' {
		opener, which, closer, kind = "{{", 1, "}}", nestSpan
	}
	c.at = i + 1
	end := c.findClosing(which, i+2, closer)
	if end == len(c.content) {
		return false
	}
	inner := c.content[i+2 : end]
	if strings.Contains(c.content[i+1:end], opener) {
		return false
	}
	switch {
	case kind == nestSpan && strings.HasPrefix(strings.TrimSpace(inner), "#"):
		kind = commentSpan
	case strings.TrimSpace(beforeBar(inner)) == "":
		return false
	}
	c.span = span{kind, i, end + 2}
	c.at = end + 2
	return true
}

// findClosing returns the offset of the next closing pair at or after from, or len(content).
func (c *cursor) findClosing(which, from int, closer string) int {
	if c.nextClose[which] < from {
		c.nextClose[which] = len(c.content)
		if n := strings.Index(c.content[from:], closer); n >= 0 {
			c.nextClose[which] = from + n
		}
	}
	return c.nextClose[which]
}

func (s span) toRef(content string) Ref {
	inner := content[s.start+2 : s.end-2]
	head := beforeBar(inner)
	target := strings.TrimSpace(head)
	r := Ref{Kind: LinkRef, Target: target, Start: s.start, End: s.end}
	r.targetStart = s.start + 2 + strings.Index(head, target)
	r.targetEnd = r.targetStart + len(target)
	if len(head) < len(inner) {
		r.Text = inner[len(head)+1:]
	}
	if s.kind == nestSpan {
		r.Kind = NestRef
		return r
	}
	r.External = isAddress(target)
	return r
}

func beforeBar(s string) string {
	head, _, _ := strings.Cut(s, "|")
	return head
}

// isAddress reports whether a link target is an address and not a card.
func isAddress(target string) bool {
	if strings.HasPrefix(target, "/") {
		return true
	}
	scheme, _, ok := strings.Cut(target, ":")
	if !ok {
		return false
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
		return true
	}
	return false
}
