package secrecy

import (
	"html"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// Relabel returns the text with another label for the chosen parts. Parts with the label of the level of users become
// open text, without their outermost mark if it stands around the text or begins a callout. Marks in a chosen part hide
// there on their own, with the label that the part had.
func (t Text) Relabel(form Form, label access.Label, chosen func(Passage) bool, newID func() string) Text {
	var out Text
	var open strings.Builder
	at := 0
	add := func(p Passage, text string) {
		if text != "" {
			p.At, p.Text = open.Len(), text
			out.Parts = append(out.Parts, p)
		}
	}
	for _, p := range t.Parts {
		open.WriteString(t.Open[at:p.At])
		at = p.At
		if !chosen(p) {
			add(p, p.Text)
			continue
		}
		if p.Label.Covers(label) { // nobody more reads it
			p.Label = label
			add(p, p.Text)
			continue
		}
		inner, signs := Unwrap(p.Text)
		isMarked := signs == (Signs{})
		if plain, ok := withoutMark(p.Text, form); ok && isMarked && label.Level <= access.LevelUser {
			inner, isMarked = plain, false
		}
		isFirst := true
		for _, piece := range pieces(inner, isMarked, form) {
			next := p
			if !isFirst {
				next.ID = rootID(p.ID) + pieceSign + newID()
			}
			switch {
			case piece.hidden:
				add(next, piece.text)
			case label.Level > access.LevelUser:
				next.Label = label
				add(next, signs.Wrap(piece.text))
			default:
				open.WriteString(piece.text)
				continue
			}
			isFirst = false
		}
	}
	open.WriteString(t.Open[at:])
	out.Open = open.String()
	orderParts(out.Parts, t.Parts)
	return out
}

// pieceSign stands in the id of a piece between the id of the part that was cut into pieces and its own.
const pieceSign = "."

func rootID(id string) string {
	root, _, _ := strings.Cut(id, pieceSign)
	return root
}

// IsPieceOf reports whether a part has an id, or is a piece of the part that had it before it was cut into pieces.
func (p Passage) IsPieceOf(id string) bool {
	return p.ID == id || rootID(p.ID) == id
}

// piece is a part of a text, hidden by a mark of its own or not.
type piece struct {
	text   string
	hidden bool
}

// pieces returns the pieces of a hidden part: those with marks of their own, and the text between them. isMarked
// tells that the text has its outermost mark, which does not count.
func pieces(text string, isMarked bool, form Form) (all []piece) {
	from, to := 0, len(text)
	if isMarked {
		from, to = Peel(text)
	}
	if strings.TrimSpace(text[to:]) == "" {
		to = len(text)
	}
	d := division{Writer: Writer{Form: form}, text: text[from:to]}
	spans := exactSpans(d.text, form)
	if isMarked && from == 0 && to == len(text) && !holdsWords(joinSpans(text, subtractFrom(span{0, to}, spans))) {
		return []piece{{text, false}} // its mark does not end in it
	}
	runs := slicesx.Map(spans, func(s span) run { return run{markup.Span{From: s.from, To: s.to}, 1} })
	at := 0
	for _, r := range d.widen(runs) {
		if r.From+from > at {
			all = append(all, piece{text[at : r.From+from], false})
		}
		all = append(all, piece{text[r.From+from : r.To+from], true})
		at = r.To + from
	}
	if at < len(text) {
		all = append(all, piece{text[at:], false})
	}
	return all
}

// withoutMark returns a part without its outermost mark; ok is false for a mark that is words of the text, such as a
// heading.
func withoutMark(part string, form Form) (plain string, ok bool) {
	s := carried(part)
	text := part[s.From:s.To]
	kind, in, ok := findMark(text)
	switch {
	case !ok:
		plain, ok = plainCallout(text)
	case kind == elementMark:
		if plain, ok = plainElement(text, in); ok && form == HTML {
			if callout, is := plainCallout(plain); is {
				plain = callout
			}
		}
	default:
		plain = strings.TrimSpace(text[in.From:in.To])
	}
	return part[:s.From] + plain + part[s.To:], ok
}

// plainElement returns a secret element without its mark. in is the range of its content. Of the element nothing is
// left if its name is the mark, and if it then only groups its content.
func plainElement(text string, in markup.Span) (plain string, ok bool) {
	t := readTag(text)
	head, left := text[:t.size], len(t.attrs)
	for _, a := range slices.Backward(t.attrs) {
		if !new(judge).judgeAttribute(a).marked {
			continue
		}
		kept := openClasses(a)
		if kept == "" {
			left--
		}
		head, ok = head[:a.from]+kept+head[a.to:], true
	}
	if isExact(t.name) || ok && left == 0 && (t.name == "div" || t.name == "span") {
		return strings.TrimSpace(text[in.From:in.To]), true
	}
	return head + text[t.size:], ok
}

// openClasses returns an attribute with the classes that are no marks, or "".
func openClasses(a attribute) string {
	if a.key != "class" {
		return ""
	}
	open := slicesx.Filter(strings.Fields(a.value), func(class string) bool {
		return !new(judge).judgeClass([]string{class}).marked
	})
	if len(open) == 0 {
		return ""
	}
	return ` class="` + html.EscapeString(strings.Join(open, " ")) + `"`
}

// calloutHead matches the first line of a callout, in Markdown or after its conversion to HTML.
var calloutHead = lazyregexp.New(`^((?:[>*+\s-]|\d{1,9}[.)]\s|<[a-z]+>)*)\[!([^\]\n]{1,200})\]([+-]?)([^\n<]*)`)

// plainCallout returns a secret callout as a note. A title that is a mark is left out.
func plainCallout(text string) (plain string, ok bool) {
	m := calloutHead.FindStringSubmatch(text)
	if m == nil {
		return text, false
	}
	if _, ok := markOfCallout("[!" + m[2] + "]" + m[4]); !ok {
		return text, false
	}
	kind, _, _ := strings.Cut(m[2], "|")
	if isExact(kind) || FindWord(kind, false) != "" {
		kind = "note"
	}
	if why, marked := markOfCallout("[!note]" + m[4]); marked && !why.Doubt {
		m[4] = ""
	}
	return m[1] + "[!" + kind + "]" + m[3] + m[4] + text[len(m[0]):], true
}
