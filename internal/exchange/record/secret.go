package record

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Block is a part of a record's text. A mark of secrecy that does not end hides the rest of its block.
type Block struct {
	Name string // of the section at the source, which hides the block if a heading of these words does
	Head string // HTML that stands above the text, if readers see any of the text
	Text string // in the form of the source
	GM   bool   // the source hides the block from players
	Note bool   // a note of the GM's beside the text, which GM is set for too
	Open bool   // the hidden parts are taken out already
}

// Text returns the blocks of a text that players read, one for each part that is not blank.
func Text(parts ...string) (blocks []Block) {
	for _, part := range decoded.NonEmpty(parts...) {
		blocks = append(blocks, Block{Text: part})
	}
	return blocks
}

// hidden are the parts of a record, divided by who reads them.
type hidden struct {
	open, secret []Block        // of its text
	runs         []run          // of its text, in order
	lines        []string       // hidden in its name and tags
	past         [][]Block      // hidden in its earlier versions
	fields       map[string]any // those that hold a hidden part
}

// run are blocks of a text that follow one another and that the same readers see.
type run struct {
	blocks []Block
	hidden bool
}

// markForm returns the form in which package secrecy reads a text.
func (f Form) markForm() secrecy.Form {
	return map[Form]secrecy.Form{HTML: secrecy.HTML, Markdown: secrecy.Markdown, Plain: secrecy.Plain}[f]
}

// mayHaveMarks reports whether a text has a sign with which a mark begins.
func (f Form) mayHaveMarks(text string) bool {
	return secrecy.MayHoldMark(text, f.markForm()) || f == Markdown && strings.Contains(text, ":") // of a label
}

// Hide divides a text of a file by the marks of secrecy in it. secret is the hidden text as written, with its
// marks.
func (s *Source) Hide(file string, form Form, text string) (open, secret string) {
	parts := s.splitMarks(file, form, text)
	return parts.Open, parts.Secret()
}

// HidesSection reports whether the name of a section of a file, such as a post or a page, hides its text.
func (s *Source) HidesSection(file, name string) bool {
	m, ok := secrecy.TitleMark(name)
	return ok && s.Choices.Decide(m, file, true)
}

// NameMarks returns the marks in the name of a note of a game master. Words such as keeper, which also name people, do
// not count, nor does an exact mark: Add hides that part of the name.
func NameMarks(name string) []secrecy.Mark {
	if secrecy.HasAnyMark(name) || secrecy.FindWord(name, true) == "" {
		return nil
	}
	return secrecy.NameMarks(name)
}

func (s *Source) splitMarks(file string, form Form, text string) secrecy.Result {
	if !form.mayHaveMarks(text) {
		return secrecy.Result{Open: text, UnclosedAt: -1}
	}
	parts := secrecy.Split(text, form.markForm(), func(m secrecy.Mark) bool {
		return (s.JudgesWords || !secrecy.IsByWords(m)) && s.Choices.Decide(m, file, true)
	})
	if parts.UnclosedAt >= 0 {
		s.AddProblem(file, 0, "a hidden part has no end; all text after it is for the GM")
	}
	return parts
}

// takeSecrets takes the hidden parts out of a record's text, name and tags. A record that the source keeps for
// the GM stays as it is.
func (s *Source) takeSecrets(r *Card) *hidden {
	h := &hidden{}
	h.open, h.secret, h.runs = s.splitText(*r, r.Text)
	take := func(what, text string) string {
		if r.Level >= access.LevelGM {
			return text
		}
		open, secret := s.Hide(r.File, Markdown, text)
		if secret != "" && what != "" {
			h.lines = append(h.lines, what+": "+text)
		}
		return open
	}
	if r.Name = take("name", r.Name); CardName(r.Name) == "" && len(h.lines) > 0 {
		r.Name = "Untitled " + s.cardID(r.Key...).String()[:8]
	}
	r.Codename = take("", r.Codename)
	for i, text := range r.Suffixes {
		r.Suffixes[i] = take("", text)
	}
	tags := make([]string, 0, len(r.Tags))
	for _, tag := range r.Tags {
		tags = append(tags, exchange.TagName(take("tag", tag)))
	}
	r.Tags = decoded.TrimAll(tags)
	return h
}

// commentMarks removes the marks of comments.
var commentMarks = strings.NewReplacer("<!--", "", "-->", "")

// splitText divides the blocks of a text.
func (s *Source) splitText(r Card, text []Block) (open, secret []Block, runs []run) {
	if r.Level >= access.LevelGM {
		return text, nil, []run{{blocks: text}}
	}
	add := func(b Block, hidden bool) {
		if strings.TrimSpace(b.Text) == "" && r.Form != HTML {
			return
		}
		if n := len(runs); n == 0 || runs[n-1].hidden != hidden {
			runs = append(runs, run{hidden: hidden})
		}
		last := &runs[len(runs)-1]
		last.blocks = append(last.blocks, b)
	}
	for _, b := range text {
		whole, hidden := b, b
		parts := secrecy.Result{Open: b.Text, UnclosedAt: -1}
		switch {
		case b.GM, s.HidesSection(r.File, b.Name):
			b.Text = ""
			add(whole, true)
		case b.Open:
			hidden.Text = ""
			add(whole, false)
		default:
			parts = s.splitMarks(r.File, r.Form, b.Text)
			b.Text, hidden.Text = parts.Open, parts.Secret()
			if r.Form != HTML { // the conversion to HTML leaves comments out
				hidden.Text = commentMarks.Replace(hidden.Text)
			}
			at := 0
			piece := func(to int, isHidden bool) {
				one := whole
				if one.Text = whole.Text[at:to]; isHidden && r.Form != HTML {
					one.Text = commentMarks.Replace(one.Text)
				}
				if at = to; one.Text == "" {
					return
				}
				if isHidden && strings.TrimSpace(parts.Open) != "" {
					one.Head = ""
				}
				add(one, isHidden)
				if !isHidden && strings.TrimSpace(one.Text) != "" {
					whole.Head = ""
				}
			}
			for _, span := range parts.Spans() {
				piece(span.From, false)
				piece(span.To, true)
			}
			piece(len(whole.Text), false)
		}
		if strings.TrimSpace(b.Text) != "" {
			open = append(open, b)
		}
		if strings.TrimSpace(hidden.Text) != "" {
			secret = append(secret, hidden)
		}
	}
	return open, secret, runs
}

// wholeBody returns the body of a sheet whose text has hidden parts at their places. If a part cannot be converted
// alone without a change of the text around it, all parts stand at the end.
func (r Card) wholeBody(sh *exchange.Sheet, h *hidden) func(context.Context) (string, error) {
	masters := &exchange.Sheet{File: sh.File, Above: sh, Name: exchange.GMPart, Label: access.NewLabel(access.LevelGM)}
	return func(ctx context.Context) (string, error) {
		open, err := r.body(sh, h.open, "")(ctx)
		if err != nil {
			return "", err
		}
		var whole, seen strings.Builder
		var ranges []secrecy.Range
		for _, run := range h.runs {
			from := sh
			if run.hidden {
				from = masters
			}
			text, err := r.body(from, run.blocks, "")(ctx)
			if err != nil {
				return "", err
			}
			at := whole.Len()
			if r.Form != HTML && at > 0 && !strings.HasSuffix(whole.String(), "\n") { // of the hidden run
				if whole.WriteByte('\n'); !run.hidden {
					ranges[len(ranges)-1].To++
				}
			}
			if whole.WriteString(text); run.hidden {
				ranges = append(ranges, secrecy.Range{Span: markup.Span{From: at, To: whole.Len()}})
			} else {
				seen.WriteString(text)
			}
		}
		text := whole.String()
		if withoutBlank(seen.String()) != withoutBlank(open) {
			secret, err := r.body(masters, h.secret, "\n")(ctx)
			if err != nil {
				return "", err
			}
			text = open + "\n" + secret
			ranges = []secrecy.Range{{Span: markup.Span{From: len(open), To: len(text)}}}
		}
		sh.Exported = &exchange.Exported{Digest: exchange.DigestText(text), Parts: ranges}
		return text, nil
	}
}

func withoutBlank(text string) string { return strings.Join(strings.Fields(text), "") }

// body returns a sheet body for blocks that the readers of a sheet see. end stands after each block of HTML that
// does not end with it.
func (r Card) body(from *exchange.Sheet, blocks []Block, end string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var b strings.Builder
		for i, block := range blocks {
			text := block.Text
			if r.Render != nil {
				text = r.Render(from, text)
			}
			if i > 0 && r.Form != HTML {
				b.WriteString("\n\n")
			}
			b.WriteString(plainBrackets.Replace(block.Head) + text)
			if r.Form == HTML && !strings.HasSuffix(text, end) {
				b.WriteString(end)
			}
		}
		switch r.Form {
		case Markdown:
			return exchange.HTMLBody(b.String())(ctx)
		case Plain:
			return PlainHTML(b.String()), ctx.Err()
		}
		return b.String(), ctx.Err()
	}
}

// addSecret gives a record's card its hidden parts. If more than its text has some, or the GM has notes beside it, they
// become a child card.
func (s *Source) addSecret(above *exchange.Sheet, r Card, h *hidden) {
	had := len(h.lines) > 0 || len(h.secret) > 0
	for _, was := range h.past {
		had = had || len(was) > 0
	}
	for k, v := range r.GMFields {
		h.fields = WithField(h.fields, k, v)
	}
	if !had && len(h.fields) == 0 {
		return
	}
	gmKey := exchange.Sheet{Above: above, Name: exchange.GMPart}
	isNote := slices.ContainsFunc(h.secret, func(b Block) bool { return b.Note })
	if !isNote && len(h.lines)+len(h.past)+len(h.fields) == 0 && r.Data == nil && s.collection.ByKey[gmKey.Key()] == nil {
		s.collection.Hidden++
		above.InPlace, above.Body = true, r.wholeBody(above, h)
		return
	}
	gm := &exchange.Sheet{File: r.File, ID: exchange.ChildID(above.ID, exchange.GMPart), Above: above,
		Name: exchange.GMPart, Label: access.NewLabel(max(access.LevelGM, above.Label.Level)), MatchIDOnly: true,
		Fields: decoded.EncodeFields(h.fields)}
	for s.collection.ByKey[gm.Key()] != nil {
		gm.Name += "+Hidden"
	}
	write := func(blocks []Block, lines []string) func(context.Context) (string, error) {
		text := r.body(gm, blocks, "\n")
		return func(ctx context.Context) (string, error) {
			body, err := text(ctx)
			for _, line := range lines {
				body += "<p>" + plainBrackets.Replace(html.EscapeString(line)) + "</p>\n"
			}
			return body, err
		}
	}
	gm.Body = write(h.secret, h.lines)
	for _, was := range h.past {
		gm.Past = append(gm.Past, exchange.Past{Body: write(was, nil), Fields: gm.Fields})
	}
	s.collection.Hidden++
	s.collection.Add(gm)
}

// splitFields takes the hidden parts out of a card's fields. hidden are the whole values of the fields that had
// such parts.
func (s *Source) splitFields(r Card, fields json.RawMessage) (open json.RawMessage, hidden map[string]any) {
	if r.Level >= access.LevelGM || len(fields) == 0 {
		return fields, nil
	}
	d := json.NewDecoder(bytes.NewReader(fields))
	d.UseNumber()
	var all map[string]any
	if d.Decode(&all) != nil {
		return fields, nil // not an object: EncodeFields makes no such fields
	}
	seen := map[string]any{}
	for _, k := range decoded.SortedKeys(all) {
		one, had := s.openValue(r, map[string]any{k: all[k]})
		maps.Copy(seen, one.(map[string]any))
		if had {
			hidden = WithField(hidden, k, all[k])
		}
	}
	if hidden == nil {
		return fields, nil
	}
	return decoded.EncodeFields(seen), hidden
}

// openValue returns a copy of a value without its hidden parts. had reports whether it had any.
func (s *Source) openValue(r Card, v any) (open any, had bool) {
	switch v := v.(type) {
	case string:
		if r.Form == Markdown && secrecy.HidesWhole(v) {
			return "", true
		}
		text, secret := s.Hide(r.File, r.Form, v)
		return text, secret != ""
	case []any:
		out := make([]any, len(v))
		for i := range v {
			inner, hidden := s.openValue(r, v[i])
			out[i], had = inner, had || hidden
		}
		return out, had
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range decoded.SortedKeys(v) {
			_, hiddenKey := s.openValue(r, k)
			inner, hidden := s.openValue(r, v[k])
			if m, ok := secrecy.FieldMark(k, v[k]); ok && !hiddenKey {
				hiddenKey = s.Choices.Decide(m, r.File, true)
			}
			if had = had || hidden || hiddenKey; !hiddenKey {
				out[k] = inner
			}
		}
		return out, had
	}
	return v, false
}
