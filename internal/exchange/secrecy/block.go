package secrecy

import (
	"bytes"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"loregate/internal/exchange"
	"loregate/internal/markup"
)

// maxOpenFences is the number of fences in each other, or without an end, that a text may have.
const maxOpenFences = 8

// readBlocks returns the blocks of a Markdown text. A fence that goes to the end of the text because it has no end is
// read as a line: marks after it may hide text from some readers. So are the fences of a plugin around text that is no
// code. ok is false for a text whose blocks are not sure.
func readBlocks(text string) (blocks []markup.Block, ok bool) {
	for range maxOpenFences {
		blocks, err := markup.Blocks(text)
		if err != nil {
			return nil, false
		}
		read := []byte(text)
		for _, b := range blocks {
			isOpen := !b.Ended && strings.TrimSpace(text[b.To:]) == ""
			isText := isOpen || strings.HasPrefix(b.Info, "ad-")
			if b.Kind == markup.FenceBlock && isText && secretLanguage(b.Info) == "" {
				blankFence(read, b.From)
				if b.Ended {
					blankFence(read, strings.LastIndexByte(text[:b.To-1], '\n')+1)
				}
			}
		}
		if string(read) == text {
			return blocks, true
		}
		text = string(read)
	}
	return nil, false
}

// blankFence replaces the signs of the fence on a line.
func blankFence(text []byte, from int) {
	at := from + bytes.IndexAny(text[from:], "`~")
	for sign := text[at]; at < len(text) && text[at] == sign; at++ {
		text[at] = 'x'
	}
}

// blockScanner finds the secret parts of a Markdown text that consist of lines: callouts, sections, fences, containers,
// admonitions, paragraphs with labels and comments.
type blockScanner struct {
	h        *Result
	text     string
	blocks   []markup.Block
	found    []span
	unclosed int // offset of the first one that should have an end and has none, or -1
}

func (h *Result) findBlocks(text string, blocks []markup.Block) (found []span, unclosed int) {
	if h.hides == nil && !strings.Contains(text, "[!") {
		return nil, -1
	}
	s := &blockScanner{h: h, text: text, blocks: blocks, unclosed: -1}
	for i, b := range blocks {
		if b.To <= s.hidden() && b.Kind != markup.ParagraphBlock {
			continue
		}
		switch b.Kind {
		case markup.FenceBlock:
			word := secretLanguage(b.Info)
			why := exact(ruleBlock, word)
			if word == "" && FindWord(b.Info, true) != "" {
				why = exchange.Mark{Rule: ruleBlock, What: markup.Clip(b.Info, 60), Doubt: true}
			}
			if why.What != "" && s.hides(why) {
				s.hide(b.From, b.To)
				if !b.Ended && b.Parent < 0 {
					s.unclosed = b.From
				}
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

func (s *blockScanner) hides(why exchange.Mark) bool { return s.h.hides != nil && s.h.isHidden(why) }

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

var inlineTag = regexp.MustCompile(`<[/A-Za-z!][^<>]{0,1000}>`)

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

var (
	elementHead = regexp.MustCompile(`(?i)<h([1-6])\b[^>]{0,1000}>`)
	beginsHead  = regexp.MustCompile(`(?i)^[ \t]*<h[1-6]\b`)
)

// headLevel returns the level of the heading that a block is or begins with, or 0.
func (s *blockScanner) headLevel(b markup.Block) int {
	switch {
	case b.Kind == markup.HeadingBlock && len(b.Lines) == 0:
		return b.Level
	case len(b.Lines) == 0:
	case b.Kind == markup.HeadingBlock:
		// What underlines a definition or a table is no heading.
		if !definitionHead.MatchString(s.text[b.Lines[0].From:b.Lines[0].To]) && !isTable(s.text, b) {
			return b.Level
		}
	case b.Kind == markup.HTMLBlock || b.Kind == markup.ParagraphBlock:
		if m := beginsHead.FindString(s.text[b.Lines[0].From:b.Lines[0].To]); m != "" {
			return int(m[len(m)-1] - '0')
		}
	}
	return 0
}

var definitionHead = regexp.MustCompile(`^(?:\[[^\]]{1,200}\]:|\|)`)

// sectionEnd returns the end of the section below a heading: the next heading of the same or a higher level in the same
// quote or list item, or the end of that.
func (s *blockScanner) sectionEnd(i, level int) int {
	within, limit := s.around(i), s.limit(i)
	for j := i + 1; j < len(s.blocks) && s.blocks[j].From < limit; j++ {
		if head := s.headLevel(s.blocks[j]); head > 0 && head <= level && s.around(j) == within {
			return s.blocks[j].From
		}
	}
	return limit
}

func (s *blockScanner) isSecretHead(title string) bool {
	return FindWord(title, false) != "" && s.hides(exchange.Mark{Rule: ruleHeading,
		What: markup.Clip(strings.TrimSpace(title), 80), Doubt: !isExact(title)})
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
	if s.isSecretHead(title) {
		s.hide(b.From, s.sectionEnd(i, b.Level))
	}
}

// readHeadElements finds the sections below headings of HTML in a block.
func (s *blockScanner) readHeadElements(i int) {
	b := s.blocks[i]
	if s.h.hides == nil {
		return
	}
	text := s.text[b.From:b.To]
	heads := elementHead.FindAllStringSubmatchIndex(text, 1000)
	for k, m := range heads {
		title, _, _ := strings.Cut(asciiLower(text[m[1]:min(len(text), m[1]+400)]), "</h")
		if !s.isSecretHead(strings.Join(strings.Fields(shown(strings.ReplaceAll(title, "\n", " "))), " ")) {
			continue
		}
		end := s.sectionEnd(i, int(text[m[2]]-'0'))
		for _, next := range heads[k+1:] {
			if text[next[2]] <= text[m[2]] {
				end = b.From + next[0]
				break
			}
		}
		s.hide(b.From+m[0], end)
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

var calloutForm = regexp.MustCompile(`^\[!([^\]\n]{1,200})\][+-]?[ \t]*(.*)$`)

// readCallout takes out the quote that begins with a secret callout on a line.
func (s *blockScanner) readCallout(i int, l markup.Span) (found bool) {
	text := strings.TrimLeft(taskSign.ReplaceAllString(s.lineOf(l), ""), "> \t*_~=\\")
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
func markOfCallout(text string) (why exchange.Mark, marked bool) {
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
		return exchange.Mark{Rule: ruleCallout, What: name + " " + markup.Clip(strings.TrimSpace(title), 60),
			Doubt: true}, true
	}
	return why, false
}

var taskSign = regexp.MustCompile(`^\[.\][ \t]+`)

// maxLine is the number of bytes of a line in which marks are looked for.
const maxLine = 2000

func (s *blockScanner) readParagraph(i int) {
	b := s.blocks[i]
	if s.h.hides != nil && isTable(s.text, b) {
		s.readTable(b)
		return
	}
	if strings.Contains(s.text[b.From:b.To], "<") {
		s.readHeadElements(i)
	}
	for k, l := range b.Lines {
		if s.readCallout(i, l) || s.h.hides == nil {
			continue
		}
		l.To = min(l.To, l.From+maxLine)
		text := taskSign.ReplaceAllString(s.lineOf(l), "")
		if text != "" && !s.readSign(i, l, text) && l.To > s.hidden() {
			s.readLabel(i, k, l)
		}
	}
}

var (
	containerForm  = regexp.MustCompile(`^(?::{3,}|/{3,})[ \t]*(.+)$`)
	containerWords = regexp.MustCompile(`\pL[\pL\pN_-]*`)
	containerLine  = regexp.MustCompile(`^[ \t>]*(?::{3,}|/{3,})[ \t]*(.*)$`)
	definitionForm = regexp.MustCompile(`(?i)^\[(?://|comment|_|)\]:[ \t]*(\S*)[ \t]*(.*)$`)
	shortcodeForm  = regexp.MustCompile(`\{(?:\{[<%]|%)-?\s*([\pL_-]{1,40})`)
	admonitionForm = regexp.MustCompile(`^(?:!!!|\?\?\?|===)[+!]*[ \t]*` +
		`([\pL_-]{1,40}(?:[ \t]+[\pL_-]{1,40}){0,9})?[ \t]*(?:"([^"\n]*)")?$`)
)

// readSign takes out the part that begins with a sign on a line: a container, admonition, comment or secret shortcode.
func (s *blockScanner) readSign(i int, l markup.Span, text string) (found bool) {
	from, next := s.lineAt(l.From)
	take := func(why exchange.Mark, from int, end func() int) bool {
		if !s.hides(why) {
			return false
		}
		to := end()
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
				return take(why, from, func() int { return s.containerEnd(next, s.limit(i)) })
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
				if m[2] != "" && strings.IndexByte(`)"'`, m[2][len(m[2])-1]) >= 0 {
					return next
				}
				return s.blocks[i].To
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
		end := regexp.MustCompile(`\{[{%][^\n}]*(?:/|end)\s*` + regexp.QuoteMeta(word) + `[^\n}]*\}{1,2}`)
		if take(why, l.From+m[0], func() int { return s.endOf(end, l.From+m[1]) }) {
			return true
		}
	}
	return false
}

// endOf returns the offset after the first match of a form from an offset on, or -1.
func (s *blockScanner) endOf(form *regexp.Regexp, from int) int {
	if m := form.FindStringIndex(s.text[from:]); m != nil {
		return from + m[1]
	}
	return -1
}

func markOfContainer(head string) (why exchange.Mark, marked bool) {
	for _, word := range append(containerWords.FindAllString(head, 20), head) {
		if isExact(word) {
			return exact(ruleBlock, "::: "+word), true
		}
	}
	return exchange.Mark{Rule: ruleBlock, What: "::: " + markup.Clip(head, 60), Doubt: true}, FindWord(head, true) != ""
}

// containerEnd returns the offset after the last line of a container, or -1. Containers may stand in each other.
func (s *blockScanner) containerEnd(at, limit int) int {
	for open := 1; at < limit; {
		line, _, _ := strings.Cut(s.text[at:limit], "\n")
		at = min(at+len(line)+1, limit)
		if m := containerLine.FindStringSubmatch(line); m != nil && !s.isCode(at-1) {
			if open++; strings.TrimSpace(m[1]) == "" {
				open -= 2
			}
			if open == 0 {
				return at
			}
		}
	}
	return -1
}

// isCode reports whether an offset is in a fence.
func (s *blockScanner) isCode(at int) bool {
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].From > at }) - 1
	return i >= 0 && s.blocks[i].Kind == markup.FenceBlock && at < s.blocks[i].To
}

func markOfAdmonition(kinds, title string) (why exchange.Mark, marked bool) {
	secret := isExact(title)
	for _, kind := range strings.Fields(kinds) {
		secret = secret || isExact(kind)
	}
	return exchange.Mark{Rule: ruleBlock, What: "!!! " + strings.TrimSpace(kinds+" "+markup.Clip(title, 60)),
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
	labelForm = regexp.MustCompile(`^([^\pL\pN|#:]{0,12})(\pL[^:|\n\[\]{}<]{1,40}?)[ \t]*(:{1,2})(?:[ \t]+|\\|$)`)
	linkForm  = regexp.MustCompile(`\[\[([^\]|]{1,60})(?:\|[^\]]{0,60})?\]\]|\[([^\]]{1,60})\]\([^)]{0,200}\)`)
	signForm  = strings.NewReplacer("*", "", "_", "", "=", "", "~", "", "`", "")
	breakForm = regexp.MustCompile(`(?i)<br\b[^>]{0,200}>`)
)

// secretLabel returns the secret label with which a line begins, or "". rest is the text after it. A label that is not
// emphasized must be exact.
func secretLabel(written string) (label, rest string) {
	text := strings.TrimSpace(shown(written))
	if !strings.Contains(text, ":") {
		return "", ""
	}
	plain := signForm.Replace(linkForm.ReplaceAllString(text, "$1$2"))
	m := labelForm.FindStringSubmatch(plain)
	isField := m != nil && m[3] == "::" && strings.ContainsAny(m[1], "[(") && !strings.HasPrefix(written, "&")
	if m == nil || isField || FindWord(m[2], true) == "" {
		return "", ""
	}
	head, after, _ := strings.Cut(text, ":")
	if !strings.ContainsAny(head, "*_=~`[") && !strings.HasPrefix(after, "*") && !isExact(m[2]) {
		return "", ""
	}
	return strings.TrimSpace(m[2]), strings.Trim(plain[len(m[0]):], " \t\\")
}

// readLabel takes out a paragraph or list item that begins with a secret label on one of its lines, also after a break.
// A label alone stands for the block after its paragraph.
func (s *blockScanner) readLabel(i, k int, l markup.Span) {
	b := s.blocks[i]
	isItem := k == 0 && b.Parent == i-1 && i > 0 && s.blocks[b.Parent].Kind == markup.ItemBlock
	from, _ := s.lineAt(l.From)
	written, label, rest := s.text[l.From:l.To], "", ""
	if isItem {
		written = taskSign.ReplaceAllString(written, "")
	}
	for skipped := 0; label == ""; {
		br := breakForm.FindStringIndex(written)
		if br == nil {
			br = []int{len(written), len(written)}
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
	if !s.hides(exchange.Mark{Rule: ruleLabel, What: label, Doubt: true}) {
		return
	}
	end := b.To
	if isItem {
		end = s.blocks[b.Parent].To
	} else if rest == "" && k == len(b.Lines)-1 {
		end = max(end, s.nextSibling(i))
	}
	s.hide(from, end)
}

// maxBreaks is the number of breaks of a line after which labels are looked for.
const maxBreaks = 20

// nextSibling returns the end of the block after a paragraph if the paragraph can introduce it, or 0.
func (s *blockScanner) nextSibling(i int) int {
	for j := i + 1; j < len(s.blocks) && s.blocks[j].From < s.limit(i); j++ {
		if next := s.blocks[j]; next.Parent == s.blocks[i].Parent {
			if s.headLevel(next) == 0 && next.Kind != markup.RuleBlock {
				return next.To
			}
			break
		}
	}
	return 0
}

var delimiterRow = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// isTable reports whether a paragraph is a table.
func isTable(text string, b markup.Block) bool {
	return len(b.Lines) > 1 && strings.Contains(text[b.Lines[0].From:b.Lines[0].To], "|") &&
		delimiterRow.MatchString(text[b.Lines[1].From:b.Lines[1].To])
}

// readTable takes out the rows of a table that have a secret label, and a table with a secret column.
func (s *blockScanner) readTable(b markup.Block) {
	for k, l := range b.Lines {
		if k == 1 || l.To <= s.hidden() {
			continue
		}
		for n, cell := range strings.Split(strings.Trim(s.lineOf(l), "| \t"), "|") {
			cell = strings.TrimSpace(cell)
			label, _ := secretLabel(cell)
			if (k == 0 || n == 0) && isExact(cell) && cell != "" {
				label = cell
			}
			if label == "" || !s.hides(exchange.Mark{Rule: ruleLabel, What: label, Doubt: true}) {
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
