package secrecy

import (
	"regexp"
	"strings"

	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/markup"
)

// block is a secret part of a Markdown text that consists of lines.
type block struct {
	kind   blockKind
	from   int // offset of its first byte
	first  line
	level  int            // of its heading
	nested int            // number of containers that are open in it
	sign   string         // the fence with which it ends
	end    *regexp.Regexp // matches its last line
	last   string         // its last line so far
}

// blockKind says where a block ends.
type blockKind int

const (
	oneLine       blockKind = iota
	section                 // at the next heading of the same or a higher level, or with its quote
	paragraph               // at a blank line; one that is a list item, with the item
	untilBlank              // at a blank line
	callout                 // with its quote
	container               // at its last ":::"
	fence                   // at its closing fence
	indented                // at a line that is not indented more than the first
	untilTag                // after a line that matches
	notEnding               // with the text
	maxBlocks     = 8       // number of blocks that may be open in each other
	maxBlockStart = 2000    // number of bytes of a line that are looked at
)

// blockScanner finds the secret parts of a Markdown text that consist of lines, however nested in quotes and lists.
type blockScanner struct {
	h     *Result
	text  string
	open  []*block
	found []span
}

// findBlocks finds these parts. unclosed is the offset of the first one that should have an end and has none, or -1.
func (h *Result) findBlocks(text string) (found []span, unclosed int) {
	if h.hides == nil && !strings.Contains(text, "[!") {
		return nil, -1
	}
	s := &blockScanner{h: h, text: text}
	code := markdown.NewCodeScanner(text)
	after := readLine(text, 0)
	for at := 0; at < len(text); {
		l := after
		if n := code.FenceLength(at); n > 0 {
			l = line{from: at, next: at + n, text: "```", isCode: true}
		}
		after = line{}
		if l.next < len(text) {
			after = readLine(text, l.next)
		}
		s.readLine(l, after)
		at = l.next
	}
	for _, b := range s.open {
		if b.kind >= container && b.kind != indented {
			return s.found, b.from
		}
	}
	return s.found, -1
}

func (s *blockScanner) readLine(l, after line) {
	begun := s.begin(l, after)
	still, hidden := s.open[:0], false
	for _, b := range s.open {
		within, ended := b.readLine(s.text, l, after)
		hidden = hidden || within
		if !ended {
			b.last = l.text
			still = append(still, b)
		}
	}
	s.open = still
	from := l.from
	if begun != nil {
		if !hidden {
			from = begun.from
		}
		hidden = true
		if len(s.open) == maxBlocks {
			begun.kind = notEnding // where so many end is unknown
			s.open = s.open[:maxBlocks-1]
		}
		if begun.last = l.text; begun.kind != oneLine {
			s.open = append(s.open, begun)
		}
	}
	if !hidden {
		return
	}
	if n := len(s.found); n > 0 && s.found[n-1].to == from {
		s.found[n-1].to = l.next
		return
	}
	s.found = append(s.found, span{from, l.next})
}

// readLine reports whether a line belongs to an open block, and whether the block ends with it or before it.
func (b *block) readLine(text string, l, after line) (within, ended bool) {
	level, _ := headingOf(text, l, after)
	if l.quotes < b.first.quotes {
		// A paragraph of a quote goes on without its sign.
		lazy := (b.kind == paragraph || b.kind == callout) && l.text != "" && b.last != "" && level == 0 && !l.isCode
		return lazy, !lazy
	}
	switch b.kind {
	case section:
		ended = level > 0 && level <= b.level
	case paragraph:
		switch {
		case level > 0:
			ended = true
		case !b.first.item:
			ended = l.text == ""
		case l.item:
			ended = l.indent <= b.first.indent
		default:
			ended = l.text != "" && l.indent <= b.first.indent && b.last == ""
		}
	case untilBlank:
		ended = l.text == ""
	case indented:
		ended = l.text != "" && l.indent <= b.first.indent
	case container:
		if colons := strings.TrimLeft(l.text, ":"); len(l.text)-len(colons) >= 3 {
			if b.nested++; colons == "" {
				b.nested -= 2
			}
		}
		return true, b.nested == 0
	case fence:
		return true, strings.HasPrefix(l.text, b.sign) && strings.Trim(l.text, b.sign[:1]) == ""
	case untilTag:
		return true, b.end.MatchString(text[l.from:l.next])
	}
	return !ended, ended
}

// begin returns the secret block that begins on a line, or nil.
func (s *blockScanner) begin(l, after line) *block {
	b := &block{from: l.from, first: l}
	if l.isCode {
		if word := secretFence(s.text[l.from:l.next]); word != "" && s.hides(exact(ruleBlock, word)) {
			return b
		}
		return nil
	}
	if l.text == "" {
		return nil
	}
	l.text = l.text[:min(len(l.text), maxBlockStart)]
	if why, marked := markOfCallout(l); marked {
		if b.kind = callout; l.quotes == 0 {
			b.kind, why.Doubt = untilBlank, true
		}
		if s.h.isHidden(why) {
			return b
		}
	}
	if s.h.hides == nil {
		return nil
	}
	if level, title := headingOf(s.text, l, after); level > 0 {
		b.kind, b.level = section, level
		word := FindWord(title, false)
		if word != "" && s.hides(exchange.Mark{Rule: ruleHeading, What: markup.Clip(strings.TrimSpace(title), 80),
			Doubt: !isExact(title)}) {
			return b
		}
		return nil
	}
	if why, marked := b.readSign(s.text, l); marked && s.hides(why) {
		return b
	}
	return s.beginLabel(b, l)
}

func (s *blockScanner) hides(why exchange.Mark) bool { return s.h.hides != nil && s.h.isHidden(why) }

var (
	containerForm  = regexp.MustCompile(`^:{3,}[ \t]*(.+)$`)
	containerWords = regexp.MustCompile(`[\pL][\pL\pN_-]*`)
	definitionForm = regexp.MustCompile(`(?i)^\[(?://|comment|_|)\]:[ \t]*(\S*)[ \t]*(.*)$`)
	shortcodeForm  = regexp.MustCompile(`^\{\{[<%]\s*([\pL_-]{1,40})`)
	liquidForm     = regexp.MustCompile(`\{%-?\s*comment\b`)
	endLiquid      = regexp.MustCompile(`\{%-?\s*endcomment\s*-?%\}`)
	admonitionForm = regexp.MustCompile(`^(?:!!!|\?\?\?)\+?[ \t]*([\pL_-]{1,40}(?:[ \t]+[\pL_-]{1,40}){0,9})?[ \t]*(?:"([^"\n]*)")?$`)
)

// readSign returns the mark of a line that begins with a sign: a fence, container, admonition, comment or secret
// shortcode. It says of the block where it ends.
func (b *block) readSign(text string, l line) (why exchange.Mark, marked bool) {
	switch l.text[0] {
	case '`', '~':
		b.kind, b.sign = fence, l.text[:len(l.text)-len(strings.TrimLeft(l.text, l.text[:1]))]
		word := secretFence(l.text)
		return exact(ruleBlock, word), word != ""
	case ':':
		m := containerForm.FindStringSubmatch(l.text)
		if m == nil {
			return why, false
		}
		b.kind, b.nested = container, 1
		for _, word := range append(containerWords.FindAllString(m[1], 20), m[1]) {
			if isExact(word) {
				return exact(ruleBlock, "::: "+word), true
			}
		}
		return exchange.Mark{Rule: ruleBlock, What: "::: " + markup.Clip(m[1], 60), Doubt: true}, FindWord(m[1], true) != ""
	case '!', '?':
		return b.readAdmonition(l)
	case '[':
		m := definitionForm.FindStringSubmatch(l.text)
		if m == nil {
			return why, false
		}
		if b.kind = untilBlank; m[2] != "" && strings.IndexByte(`)"'`, m[2][len(m[2])-1]) >= 0 {
			b.kind = oneLine
		}
		return exact(ruleComment, "[//]: #"), true
	case '{':
		if m := shortcodeForm.FindStringSubmatch(l.text); m != nil && isExact(m[1]) {
			b.kind, b.end = untilTag, regexp.MustCompile(`\{\{[^\n]*/[^\n]*`+regexp.QuoteMeta(m[1]))
			return exact(ruleBlock, "{{ "+m[1]+" }}"), true
		}
	}
	if liquidForm.MatchString(l.text) {
		if b.kind, b.end = untilTag, endLiquid; endLiquid.MatchString(text[l.from:l.next]) {
			b.kind = oneLine
		}
		return exact(ruleComment, "{% comment %}"), true
	}
	return why, false
}

// readAdmonition reads an admonition of MkDocs, such as !!! secret "Title", which the indented lines below it follow.
func (b *block) readAdmonition(l line) (why exchange.Mark, marked bool) {
	m := admonitionForm.FindStringSubmatch(l.text)
	if m == nil {
		return why, false
	}
	b.kind = indented
	secret := isExact(m[2])
	for _, kind := range strings.Fields(m[1]) {
		secret = secret || isExact(kind)
	}
	return exchange.Mark{Rule: ruleBlock, What: "!!! " + strings.TrimSpace(m[1]+" "+markup.Clip(m[2], 60)),
		Doubt: !secret}, secret || FindWord(m[1], true) != "" || FindWord(m[2], true) != ""
}

// secretFence returns the language of a fence that plugins use for secrets, such as ad-secret. The fence may stand in
// another one. It returns "" if there is none.
func secretFence(code string) string {
	outer := true
	for s := range strings.Lines(code) {
		if outer || strings.Contains(s, "ad-") {
			language := strings.ToLower(markdown.FenceLanguage(s))
			name, plugin := strings.CutPrefix(language, "ad-")
			if name != "" && (plugin || outer) && isExact(name) {
				return language
			}
		}
		outer = false
	}
	return ""
}

var calloutForm = regexp.MustCompile(`^\[!([^\]\n]{1,200})\][+-]?[ \t]*(.*)$`)

// markOfCallout returns the mark of a callout's kind, options or title.
func markOfCallout(l line) (why exchange.Mark, marked bool) {
	if !strings.HasPrefix(l.text, "[!") {
		return why, false
	}
	m := calloutForm.FindStringSubmatch(l.text)
	if m == nil {
		return why, false
	}
	title := m[2]
	kind, options, _ := strings.Cut(m[1], "|")
	name := "[!" + strings.ToLower(strings.TrimSpace(kind)) + "]"
	switch {
	case isExact(kind) || FindWord(kind, true) != "" || isExact(options):
		return exact(ruleCallout, name), true
	case isExact(title):
		return exact(ruleCallout, name+" "+strings.TrimSpace(title)), true
	case FindWord(kind, false) != "" || FindWord(title, true) != "" || FindWord(options, true) != "":
		return exchange.Mark{Rule: ruleCallout, What: name + " " + markup.Clip(strings.TrimSpace(title), 60),
			Doubt: true}, true
	}
	return why, false
}

var (
	labelForm = regexp.MustCompile(`^([^\pL\pN|#\[({<:]{0,12})(\pL[^:*_=\[\]|\n]{1,40}?)([*_=]{0,3})[ \t]*:{1,2}([*_=]{0,3})(?:[ \t]|$)`)
	breakForm = regexp.MustCompile(`(?i)<br\b[^>]{0,200}>`)
)

// beginLabel returns the block of a paragraph or list item that begins with a secret label, also after a line break.
func (s *blockScanner) beginLabel(b *block, l line) *block {
	b.kind = paragraph
	if s.isLabel(l.text, s.text[l.from:l.next]) {
		return b
	}
	if l.plain {
		return nil
	}
	written := s.text[l.from:min(l.next, l.from+maxBlockStart)]
	for _, br := range breakForm.FindAllStringIndex(written, 20) {
		if rest := written[br[1]:]; s.isLabel(strings.TrimSpace(shown(rest)), rest) {
			b.from = l.from + br[1]
			return b
		}
	}
	return nil
}

// isLabel reports whether a text, as shown and as written, begins with a secret label. One that is not emphasized must
// be exact.
func (s *blockScanner) isLabel(text, written string) bool {
	if !strings.Contains(text, ":") {
		return false
	}
	m := labelForm.FindStringSubmatch(text)
	if m == nil || FindWord(m[2], true) == "" {
		return false
	}
	head, _, _ := strings.Cut(written, ":")
	if !strings.ContainsAny(m[1]+m[3]+m[4], "*_=") && !strings.Contains(head, "<") && !isExact(m[2]) {
		return false
	}
	return s.hides(exchange.Mark{Rule: ruleLabel, What: strings.TrimSpace(m[2]), Doubt: true})
}
