package secrecy

import (
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// blockScanner finds the secret parts of a Markdown text that consist of lines: callouts, sections, fences, containers,
// admonitions, paragraphs with labels and comments.
type blockScanner struct {
	h *Result
	*outline
	found    []span
	looked   int // bytes in which ends of parts were looked for
	unclosed int // offset of the first one that should have an end and has none, or -1
}

func (h *Result) findBlocks(o *outline) (found []span, unclosed int) {
	if h.hides == nil && !strings.Contains(o.text, "[!") {
		return nil, -1
	}
	s := &blockScanner{h: h, outline: o, unclosed: -1}
	for i, b := range o.blocks {
		if b.To <= s.hidden() && b.Kind != markup.ParagraphBlock {
			continue
		}
		switch b.Kind {
		case markup.FenceBlock:
			word := secretLanguage(b.Info)
			why := exact(ruleBlock, word)
			if word == "" && FindWord(b.Info, true) != "" {
				why = Mark{Rule: ruleBlock, What: markup.Clip(b.Info, 60), Doubt: true}
			}
			if why.What != "" && s.hides(why) {
				s.hide(b.From, b.To)
				if !b.Ended && b.Parent < 0 {
					s.unclosed = b.From
				}
			} else if why.What == "" {
				s.readFence(b)
			}
		case markup.CodeBlock: // admonitions in each other
			for _, l := range b.Lines {
				if text := s.lineOf(l); s.h.hides != nil && strings.IndexAny(text, "!?=") == 0 {
					s.readSign(i, l, text)
				}
			}
		case markup.HeadingBlock:
			s.readHeading(i)
		case markup.HTMLBlock:
			s.readHeadElements(i)
			for k, l := range b.Lines {
				if s.h.hides != nil && l.To > s.hidden() {
					s.readLabel(i, k, l)
				}
			}
		case markup.ParagraphBlock:
			s.readParagraph(i)
		}
	}
	return s.found, s.unclosed
}

func (s *blockScanner) hides(why Mark) bool { return s.h.hides != nil && s.h.isHidden(why) }

// hidden returns the offset before which all parts are found.
func (s *blockScanner) hidden() int {
	if len(s.found) == 0 {
		return 0
	}
	return s.found[len(s.found)-1].to
}

func (s *blockScanner) hide(from, to int) {
	from = max(from, s.hidden())
	switch n := len(s.found); {
	case from >= to:
	case n > 0 && s.found[n-1].to == from:
		s.found[n-1].to = to
	default:
		s.found = append(s.found, span{from, to})
	}
}

// lineAt returns the offsets of the line around an offset.
func (s *blockScanner) lineAt(at int) (from, to int) {
	from = strings.LastIndexByte(s.text[:at], '\n') + 1
	if i := strings.IndexByte(s.text[at:], '\n'); i >= 0 {
		return from, at + i + 1
	}
	return from, len(s.text)
}

// around returns the index of the innermost quote, list item or footnote around a block, or -1.
func (s *blockScanner) around(i int) int {
	for i = s.blocks[i].Parent; i >= 0 && s.blocks[i].Kind == markup.ListBlock; {
		i = s.blocks[i].Parent
	}
	return i
}

// limit returns the end of the quote, list item or footnote around a block.
func (s *blockScanner) limit(i int) int {
	if at := s.around(i); at >= 0 {
		return s.blocks[at].To
	}
	return len(s.text)
}

// lineOf returns a line of a block as a reader sees it.
func (s *blockScanner) lineOf(l markup.Span) string {
	return strings.TrimSpace(shown(s.text[l.From:l.To]))
}

var inlineTag = lazyregexp.New(`<[/A-Za-z!][^<>]{0,1000}>`)

// shown returns a line of a text as a reader sees it: without tags, entities and unseen characters, and with plain
// spaces and letters.
func shown(s string) string {
	plain := !strings.ContainsAny(s, "<&")
	if plain && strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return s
	}
	s = markup.Clean(html.UnescapeString(inlineTag.ReplaceAllString(breakForm.ReplaceAllString(s, " "), "")))
	return strings.ReplaceAll(norm.NFKC.String(strings.ReplaceAll(s, "：", ": ")), "\n", " ")
}

var beginsHead = lazyregexp.New(`(?i)^[ \t]*<h[1-6]\b`)

// headLevel returns the level of the heading that a block is or begins with, or 0.
func (s *blockScanner) headLevel(b markup.Block) int {
	switch {
	case b.Kind == markup.HeadingBlock && len(b.Lines) == 0:
		return b.Level
	case len(b.Lines) == 0:
	case b.Kind == markup.HeadingBlock:
		// The line below a definition or table makes no heading of it.
		if !definitionHead.MatchString(s.text[b.Lines[0].From:b.Lines[0].To]) && tableAt(s.text, b) < 0 {
			return b.Level
		}
	case b.Kind == markup.HTMLBlock || b.Kind == markup.ParagraphBlock:
		if m := beginsHead.FindString(s.text[b.Lines[0].From:b.Lines[0].To]); m != "" {
			return int(m[len(m)-1] - '0')
		}
	}
	return 0
}

// definitionHead matches the beginning of a definition, table row or callout.
var definitionHead = lazyregexp.New(`^(?:\[[^\]]{1,200}\]:|\||\[!)`)

// sectionEnd returns the end of the section below a heading: the next heading of the same or a higher level in the same
// quote, list item or element, or the end of that.
func (s *blockScanner) sectionEnd(i, level int) int {
	within, limit, open := s.around(i), s.limit(i), 0
	for j := i + 1; j < len(s.blocks) && s.blocks[j].From < limit; j++ {
		b := s.blocks[j]
		if s.around(j) != within || s.isSoft(b.From, s.blocks[i].From) {
			continue
		}
		if head := s.headLevel(b); head > 0 && head <= level && open == 0 {
			return b.From
		}
		if b.Kind == markup.HTMLBlock {
			if open += elementBalance(s.text[b.From:b.To]); open < 0 {
				return b.From
			}
		}
	}
	return limit
}

var headTag = lazyregexp.New(`(?i)<h[1-6]\b`)

var boxTag = lazyregexp.New(`(?i)<(/?)(?:article|aside|blockquote|center|details|div|fieldset|figure|footer|` +
	`header|li|main|ol|section|table|tbody|td|th|tr|ul)\b[^>]*>`)

// elementBalance returns how many more elements a text opens than it closes.
func elementBalance(text string) (n int) {
	for _, m := range boxTag.FindAllStringSubmatch(text, -1) {
		if n++; m[1] != "" {
			n -= 2
		}
	}
	return n
}

func (s *blockScanner) isSecretHead(title string) bool {
	m, ok := TitleMark(title)
	return ok && s.hides(m)
}

func (s *blockScanner) readHeading(i int) {
	b := s.blocks[i]
	if len(b.Lines) == 0 || s.readCallout(i, b.Lines[0]) {
		return
	}
	title := ""
	for _, l := range b.Lines {
		title += s.lineOf(l) + " "
	}
	if !strings.HasPrefix(title, "[!") && s.isSecretHead(title) {
		s.hide(b.From, s.sectionEnd(i, b.Level))
	}
}

// readHeadElements finds the sections below headings of HTML in a block.
func (s *blockScanner) readHeadElements(i int) {
	b := s.blocks[i]
	if s.h.hides == nil || !headTag.MatchString(s.readable[b.From:b.To]) {
		return
	}
	within := *s.h
	within.form = HTML
	page := within.scanHTML(s.readable[b.From:b.To], &judge{}, 0)
	for _, f := range page.found {
		s.hide(b.From+f.from, b.From+f.to)
	}
	if page.part != nil && page.part.section != nil {
		s.hide(b.From+page.part.from, s.sectionEnd(i, page.part.section.level))
	}
}

// fenceForm matches the line that begins a fence.
var fenceForm = lazyregexp.New("^[ \t>]*(?:(?:[-*+]|\\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})[ \t]*([^`\n]*)")

// readFence reads a fence that is code. If a fence of secrets begins in it that would have to be shorter to be an
// example, the first may lack its end.
func (s *blockScanner) readFence(b markup.Block) {
	outer := fenceForm.FindStringSubmatch(s.text[b.From:b.To])
	if outer == nil || s.h.hides == nil {
		return
	}
	for _, l := range b.Lines {
		inner := fenceForm.FindStringSubmatch(s.text[l.From:l.To])
		if inner == nil || !strings.HasPrefix(inner[1], outer[1]) {
			continue
		}
		word := secretLanguage(inner[2])
		why := Mark{Rule: ruleBlock, What: inner[1] + word + " in code", Doubt: true}
		if from, _ := s.lineAt(l.From); word != "" && s.hides(why) {
			s.hide(from, b.To)
			return
		}
	}
}

// secretLanguage returns the language of a fence that plugins use for secrets, such as ad-secret, or "".
func secretLanguage(info string) string {
	language := strings.TrimLeft(strings.ToLower(html.UnescapeString(info)), "{. ")
	if i := strings.IndexAny(language, " \t{},:"); i >= 0 {
		language = language[:i]
	}
	if name := strings.TrimPrefix(language, "ad-"); name == "" || !isExact(name) {
		return ""
	}
	return language
}

var calloutForm = lazyregexp.New(`^\[!([^\]\n]{1,200})\][+-]?[ \t]*(.*)$`)

// readCallout takes out the quote that begins with a secret callout on a line.
func (s *blockScanner) readCallout(i int, l markup.Span) (found bool) {
	text := strings.TrimLeft(withoutTask(s.lineOf(l)), "> \t*_~=\\")
	why, marked := markOfCallout(text)
	if !marked || l.To <= s.hidden() {
		return false
	}
	quote := s.around(i)
	for quote >= 0 && s.blocks[quote].Kind != markup.QuoteBlock {
		quote = s.around(quote)
	}
	end := s.blocks[i].To
	if quote < 0 {
		why.Doubt = true // it hides nothing where the note was written
		if at := s.around(i); at >= 0 {
			end = s.blocks[at].To
		} else if i+1 < len(s.blocks) && s.blocks[i+1].Kind == markup.QuoteBlock && s.blocks[i+1].From == end {
			end = s.blocks[i+1].To
		}
	} else {
		end = s.blocks[quote].To
	}
	if found = s.h.isHidden(why); found {
		from, _ := s.lineAt(l.From)
		s.hide(from, end)
	}
	return found
}

// markOfCallout returns the mark of a callout's kind, options or title.
func markOfCallout(text string) (why Mark, marked bool) {
	if !strings.HasPrefix(text, "[!") {
		return why, false
	}
	m := calloutForm.FindStringSubmatch(text)
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
		return Mark{Rule: ruleCallout, What: name + " " + markup.Clip(strings.TrimSpace(title), 60),
			Doubt: true}, true
	}
	return why, false
}

var taskSign = lazyregexp.New(`^\[.\][ \t]+`)

// withoutTask returns a line without the box of a task.
func withoutTask(line string) string {
	if !strings.HasPrefix(line, "[") {
		return line
	}
	return line[len(taskSign.FindString(line)):]
}

// maxLooks is the number of times that a text is read to find the ends of parts in each other. After that they end with
// the block around them.
const maxLooks = 20

// maxLine is the number of bytes of a line in which marks are looked for.
const maxLine = 2000

func (s *blockScanner) readParagraph(i int) {
	b := s.blocks[i]
	if first := tableAt(s.text, b); s.h.hides != nil && first >= 0 {
		s.readTable(b, first)
		b.Lines = b.Lines[:first]
	}
	if strings.Contains(s.text[b.From:b.To], "<") {
		s.readHeadElements(i)
	}
	for k, l := range b.Lines {
		if s.readCallout(i, l) || s.h.hides == nil || s.hidden() >= s.limit(i) {
			continue
		}
		l.To = min(l.To, l.From+maxLine)
		text := withoutTask(s.lineOf(l))
		if text != "" && !s.readSign(i, l, text) && l.To > s.hidden() {
			s.readLabel(i, k, l)
		}
	}
}

var (
	containerForm  = lazyregexp.New(`^(?::{3,}|/{3,})[ \t]*(.+)$`)
	containerWords = lazyregexp.New(`\pL[\pL\pN_-]*`)
	containerLine  = lazyregexp.New(`^((?: {0,3}>)* {0,3})(:{3,}|/{3,})[ \t]*(.*)$`)
	definitionForm = lazyregexp.New(`(?i)^\[[ \t]*(?://|comment|_|)[ \t]*\]:[ \t]*(\S*)[ \t]*(.*)$`)
	shortcodeForm  = lazyregexp.New(`\{(?:\{[<%]|%)-?\s*([\pL_-]{1,40})`)
	admonitionForm = lazyregexp.New(`^(?:!!!|\?\?\?|===)[+!]*[ \t]*` +
		`([\pL_-]{1,40}(?:[ \t]+[\pL_-]{1,40}){0,9})?[ \t]*(?:"([^"\n]*)")?$`)
)

// readSign takes out the part that begins with a sign on a line: a container, admonition, comment or secret shortcode.
func (s *blockScanner) readSign(i int, l markup.Span, text string) (found bool) {
	from, next := s.lineAt(l.From)
	take := func(why Mark, from int, end func() int) bool {
		if !s.hides(why) {
			return false
		}
		to := -1
		if s.looked < maxLooks*len(s.text) {
			to = end()
			s.looked += max(to, s.limit(i)) - from
		}
		if to < 0 {
			if to = s.limit(i); s.unclosed < 0 {
				s.unclosed = from
			}
		}
		s.hide(from, to)
		return true
	}
	switch text[0] {
	case ':', '/':
		if m := containerForm.FindStringSubmatch(text); m != nil {
			if why, marked := markOfContainer(m[1]); marked {
				sign := text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
				quotes := s.blocks[i].Quotes
				return take(why, from, func() int { return s.containerEnd(next, s.limit(i), sign, quotes) })
			}
		}
	case '!', '?', '=':
		if m := admonitionForm.FindStringSubmatch(text); m != nil {
			if why, marked := markOfAdmonition(m[1], m[2]); marked {
				return take(why, from, func() int { return s.admonitionEnd(i, l.From, next) })
			}
		}
	case '[':
		if m := definitionForm.FindStringSubmatch(text); m != nil {
			return take(exact(ruleComment, "[//]: #"), from, func() int {
				for at, line := next, m[2]; ; {
					if line = strings.TrimSpace(line); line != "" && strings.IndexByte(`)"'`, line[len(line)-1]) >= 0 {
						return at
					}
					if at >= s.blocks[i].To {
						return s.blocks[i].To
					}
					line, _, _ = strings.Cut(s.text[at:s.blocks[i].To], "\n")
					at = min(at+len(line)+1, s.blocks[i].To)
				}
			})
		}
	}
	if !strings.Contains(text, "{") {
		return false
	}
	for _, m := range shortcodeForm.FindAllStringSubmatchIndex(s.text[l.From:l.To], 20) {
		word := s.text[l.From+m[2] : l.From+m[3]]
		if word != "comment" && !isExact(word) {
			continue
		}
		why := exact(ruleBlock, "{{ "+word+" }}")
		if word == "comment" {
			why = exact(ruleComment, "{% comment %}")
		}
		if take(why, l.From+m[0], func() int { return s.shortcodeEnd(l.From+m[0], word) }) {
			return true
		}
	}
	return false
}

// shortcodeEnd returns the offset after the end of the shortcode that begins at an offset, or -1. Those of one name may
// stand in each other, and one may end itself.
func (s *blockScanner) shortcodeEnd(at int, word string) int {
	form := regexp.MustCompile(`\{[{%][<%]?-?\s*(/|end)?` + regexp.QuoteMeta(word) + `\b[^\n{}]*?(/?)[>%]?-?\}{1,2}`)
	open := 0
	for _, m := range form.FindAllStringSubmatchIndex(s.text[at:], -1) {
		switch {
		case m[2] >= 0:
			open--
		case m[5] == m[4]:
			open++
		}
		if open <= 0 {
			return at + m[1]
		}
	}
	return -1
}

func markOfContainer(head string) (why Mark, marked bool) {
	for _, word := range append(containerWords.FindAllString(head, 20), head) {
		if isExact(word) {
			return exact(ruleBlock, "::: "+word), true
		}
	}
	return Mark{Rule: ruleBlock, What: "::: " + markup.Clip(head, 60), Doubt: true}, FindWord(head, true) != ""
}

// containerEnd returns the offset after the last line of a container that began with a sign, or -1. Containers may
// stand in each other.
func (s *blockScanner) containerEnd(at, limit int, sign string, quotes int) int {
	for open := 1; at < limit; {
		line, _, _ := strings.Cut(s.text[at:limit], "\n")
		start := at
		at = min(at+len(line)+1, limit)
		m := containerLine.FindStringSubmatch(line)
		if m == nil || !strings.HasPrefix(m[2], sign) || strings.Count(m[1], ">") != quotes || s.isCode(start) {
			continue
		}
		if open++; strings.TrimSpace(m[3]) == "" {
			open -= 2
		}
		if open == 0 {
			return at
		}
	}
	return -1
}

// isCode reports whether an offset is in a fence or in indented code.
func (s *blockScanner) isCode(at int) bool {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].From > at }) - 1
	if i < 0 || at >= s.blocks[i].To {
		return false
	}
	kind := s.blocks[i].Kind
	return kind == markup.FenceBlock || kind == markup.CodeBlock
}

func markOfAdmonition(kinds, title string) (why Mark, marked bool) {
	secret := isExact(title)
	for _, kind := range strings.Fields(kinds) {
		secret = secret || isExact(kind)
	}
	return Mark{Rule: ruleBlock, What: "!!! " + strings.TrimSpace(kinds+" "+markup.Clip(title, 60)),
		Doubt: !secret}, secret || FindWord(kinds, true) != "" || FindWord(title, true) != ""
}

// admonitionEnd returns the end of the lines from the offset at that are indented more than the sign of an admonition.
func (s *blockScanner) admonitionEnd(i, sign, at int) (end int) {
	quotes, limit := s.blocks[i].Quotes, s.limit(i)
	start, _ := s.lineAt(sign)
	column, _ := columnOf(s.text[start:sign]+"!", quotes)
	for end = at; at < limit; {
		line, _, _ := strings.Cut(s.text[at:limit], "\n")
		at = min(at+len(line)+1, limit)
		indent, blank := columnOf(line, quotes)
		if !blank && indent <= column {
			break
		}
		if !blank {
			end = at
		}
	}
	return end
}

// columnOf returns the column of the first character of a line after the signs of some quotes, and whether there is
// none.
func columnOf(line string, quotes int) (column int, blank bool) {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>' && quotes > 0:
			quotes--
			column = 0
		case c == '\t':
			column += 4
		case c == ' ' || strings.IndexByte("-*+.)0123456789", c) >= 0 && strings.HasSuffix(line, "!"):
			column++
		case c == '\r':
		default:
			return column, false
		}
	}
	return column, true
}

var (
	labelForm = lazyregexp.New(`^[^\pL|#:]{0,12}(\pL[^:|\n\[\]{}<]{1,40}?)[ \t]*(:{1,2})(?:[ \t]+|\\|[^/:\s]|$)`)
	linkForm  = lazyregexp.New(`\[\[([^\]|]{1,60})(?:\|[^\]]{0,60})?\]\]|\[([^\]]{1,60})\]\([^)]{0,200}\)`)
	signForm  = strings.NewReplacer("*", "", "_", "", "=", "", "~", "", "`", "", "[", "", "]", "")
	breakForm = lazyregexp.New(`(?i)<br\b[^>]{0,200}>`)
)

// secretLabel returns the secret label with which a line begins, or "". rest is the text after it. A label that is not
// emphasized, nor the key of a Dataview field, must be a mark or secret word as a whole.
func secretLabel(written string) (label, rest string) {
	if strings.IndexByte(written, ':') < 0 && strings.IndexByte(written, '&') < 0 && !strings.Contains(written, "：") {
		return "", ""
	}
	text := strings.TrimSpace(shown(written))
	if !strings.Contains(text[:min(len(text), maxLabel)], ":") {
		return "", ""
	}
	plain := text
	if strings.Contains(plain, "[") {
		plain = linkForm.ReplaceAllString(text, "$1$2")
	}
	plain = signForm.Replace(plain)
	m := labelForm.FindStringSubmatch(plain)
	head, after, _ := strings.Cut(text, ":")
	isField := m != nil && m[2] == "::" && strings.ContainsAny(head, "[(`")
	if m == nil || isField || FindWord(m[1], true) == "" {
		return "", ""
	}
	label, rest = strings.TrimSpace(m[1]), strings.Trim(plain[strings.IndexByte(plain, ':'):], ": \t\\")
	if strings.ContainsAny(head, "*_=~`[") || strings.HasPrefix(after, "*") || isSecretWord(label) {
		return label, rest
	}
	if said := truthOf(rest); m[2] == "::" && said != isYes && said != isNo { // others are about the whole note
		return label, rest
	}
	return "", ""
}

// readLabel takes out a paragraph or list item that begins with a secret label on one of its lines, also after a break.
// A label alone stands for the block after its paragraph.
func (s *blockScanner) readLabel(i, k int, l markup.Span) {
	b := s.blocks[i]
	isItem := k == 0 && b.Parent == i-1 && i > 0 && s.blocks[b.Parent].Kind == markup.ItemBlock
	from, _ := s.lineAt(l.From)
	written, label, rest := s.text[l.From:l.To], "", ""
	if isItem {
		written = withoutTask(written)
	}
	for skipped := 0; label == ""; {
		br := []int{len(written), len(written)}
		if strings.Contains(written, "<") {
			if at := breakForm.FindStringIndex(written); at != nil {
				br = at
			}
		}
		if label, rest = secretLabel(written[:br[0]]); label != "" {
			rest += written[br[1]:]
			break
		}
		if br[1] == len(written) || skipped == maxBreaks {
			return
		}
		skipped++
		written = written[br[1]:]
		from, isItem = l.To-len(written), false
	}
	if !s.hides(Mark{Rule: ruleLabel, What: label, Doubt: true}) {
		return
	}
	end := b.To
	if isItem {
		end = s.blocks[b.Parent].To
	} else if strings.Trim(rest, filling+" ") == "" && k == len(b.Lines)-1 {
		end = max(end, s.nextSibling(i))
	}
	s.hide(from, end)
}

// maxLabel is the length of the beginning of a line in which the colon of a label stands, in bytes.
const maxLabel = 400

// maxBreaks is the number of breaks of a line after which labels are looked for.
const maxBreaks = 20

// nextSibling returns the end of the block after a paragraph if the paragraph can introduce it, or 0.
func (s *blockScanner) nextSibling(i int) int {
	for j := i + 1; j < len(s.blocks) && s.blocks[j].From < s.limit(i); j++ {
		if next := s.blocks[j]; next.Parent == s.blocks[i].Parent {
			if strings.Trim(s.text[next.From:next.To], filling+" >\t\r\n") == "" {
				continue
			}
			if s.headLevel(next) == 0 && next.Kind != markup.RuleBlock {
				return next.To
			}
			break
		}
	}
	return 0
}

var delimiterRow = lazyregexp.New(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// tableAt returns the line of a paragraph with which a table begins, or -1.
func tableAt(text string, b markup.Block) int {
	for k := 1; k < len(b.Lines); k++ {
		above, below := b.Lines[k-1], b.Lines[k]
		if strings.Contains(text[below.From:below.To], "-") && strings.Contains(text[above.From:above.To], "|") &&
			delimiterRow.MatchString(text[below.From:below.To]) {
			return k - 1
		}
	}
	return -1
}

// readTable takes out the rows of a table that have a secret label, and a table with a secret column.
func (s *blockScanner) readTable(b markup.Block, first int) {
	for k, l := range b.Lines[first:] {
		if k == 1 || l.To <= s.hidden() {
			continue
		}
		for n, cell := range strings.Split(strings.Trim(s.lineOf(l), "| \t"), "|") {
			cell = strings.TrimSpace(cell)
			label, _ := secretLabel(cell)
			if (k == 0 || n == 0) && isExact(cell) && cell != "" {
				label = cell
			}
			if label == "" || !s.hides(Mark{Rule: ruleLabel, What: label, Doubt: true}) {
				continue
			}
			from, to := s.lineAt(l.From)
			if k == 0 {
				to = b.To
			}
			s.hide(from, to)
			break
		}
	}
}
