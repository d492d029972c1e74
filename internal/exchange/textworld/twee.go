package textworld

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/lazyregexp"
)

// ImportTwee imports stories in Twee 3. A passage becomes a place with exits to the passages that it
// links; scripts and style sheets are left out.
func ImportTwee(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Walk{Format: "twee", Suffixes: []string{".twee", ".tw"},
		Empty: "no file contains a passage, which begins with two colons",
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			x := &story{s: s, file: name, byName: map[string]*passageText{}}
			x.read(string(data))
			return x.addPassages(ctx)
		}}.Import(ctx, c, g, files, o)
}

// passageText is a passage of a story.
type passageText struct {
	name  string
	tags  []string
	text  string // once its file is read
	lines []string
	line  int
	sheet *exchange.Sheet
}

// story is the import of one file.
type story struct {
	s      *record.Source
	file   string
	all    []*passageText
	byName map[string]*passageText
	title  string
	start  string
}

var headForm = lazyregexp.New(`^::[ \t]*((?:\\.|[^\\\[{])*)(?:\[((?:\\.|[^\\\]])*)\])?[ \t]*(\{.*\})?[ \t]*$`)

// unescape removes the backslashes before characters.
var unescape = lazyregexp.New(`\\(.)`)

// read divides a file into passages.
func (x *story) read(text string) {
	x.start = "Start"
	var p *passageText
	var code []string
	n := 0
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		n++
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, "::") {
			if p != nil {
				p.lines = append(p.lines, line+"\n")
			}
			continue
		}
		m := headForm.FindStringSubmatch(line)
		if m == nil {
			x.s.AddProblem(x.file, n, "is not the head of a passage; the passage is left out")
			p = nil
			continue
		}
		p = &passageText{name: strings.TrimSpace(unescape.ReplaceAllString(m[1], "$1")),
			tags: strings.Fields(unescape.ReplaceAllString(m[2], "$1")), line: n}
		switch {
		case slices.Contains(p.tags, "script") || slices.Contains(p.tags, "stylesheet"):
			code = append(code, p.name)
		case p.name == "StoryTitle" || p.name == "StoryData":
			x.all = append(x.all, p)
		case x.byName[p.name] != nil:
			x.s.AddProblem(x.file, n, "the passage %q occurs twice; left out", p.name)
			p = &passageText{}
		default:
			x.byName[p.name] = p
			x.all = append(x.all, p)
		}
	}
	if len(code) > 0 {
		x.s.AddProblem(x.file, 0, "%d passages are scripts or style sheets; left out: %s", len(code),
			exchange.FirstNames(code))
	}
	x.readStory()
}

// readStory reads the title and the start, and removes their passages.
func (x *story) readStory() {
	for _, p := range x.all {
		p.text, p.lines = strings.Join(p.lines, ""), nil
	}
	x.all = slices.DeleteFunc(x.all, func(p *passageText) bool {
		switch p.name {
		case "StoryTitle":
			x.title = strings.TrimSpace(p.text)
		case "StoryData":
			if start := decoded.TextOf(decoded.ParseObject(p.text)["start"]); start != "" {
				x.start = start
			}
		default:
			return false
		}
		return true
	})
	if x.title == "" {
		x.title = strings.TrimSuffix(path.Base(x.file), path.Ext(x.file))
	}
}

func (x *story) addPassages(ctx context.Context) error {
	for _, p := range x.all {
		var err error
		p.sheet, err = x.s.Add(ctx, record.Card{Key: []string{x.file, p.name}, File: fmt.Sprintf("%s:%d", x.file, p.line),
			Name: p.name, Suffixes: []string{x.title, x.file}, Type: "Location", Tags: p.tags,
			Codename: "twee-" + x.title + "-" + p.name, Fields: map[string]any{"twee": map[string]any{"story": x.title}},
			Text: record.Text(p.text), Render: x.render})
		if err != nil {
			return err
		}
	}
	directions := record.UsedDirections{}
	for _, p := range x.all {
		x.addExits(directions, p)
	}
	if p := x.byName[x.start]; p != nil {
		x.s.BeginAt(p.sheet)
	}
	return nil
}

// linkForm matches the links of Twine: [[target]], [[label|target]], [[label->target]], [[target<-label]].
var linkForm = lazyregexp.New(`\[\[([^\[\]\n]+)\]\]`)

// splitLink returns the label and the target of a link.
func splitLink(inner string) (label, target string) {
	if i := strings.LastIndex(inner, "->"); i >= 0 {
		return strings.TrimSpace(inner[:i]), strings.TrimSpace(inner[i+2:])
	}
	if target, label, ok := strings.Cut(inner, "<-"); ok {
		return strings.TrimSpace(label), strings.TrimSpace(target)
	}
	if label, target, ok := strings.Cut(inner, "|"); ok {
		return strings.TrimSpace(label), strings.TrimSpace(target)
	}
	return strings.TrimSpace(inner), strings.TrimSpace(inner)
}

// render returns the text of a passage with wiki links to the passages of the file.
func (x *story) render(from *exchange.Sheet, source string) string {
	var links record.Kept
	marked := linkForm.ReplaceAllStringFunc(record.WithoutMarks(source), func(m string) string {
		label, target := splitLink(m[2 : len(m)-2])
		to := x.byName[target]
		if to == nil {
			return m
		}
		return links.Keep(x.s.LinkText(from, to.sheet, label))
	})
	return links.Restore(record.PlainHTML(marked))
}

// addExits adds an exit for each passage that a passage links.
func (x *story) addExits(directions record.UsedDirections, p *passageText) {
	seen := map[string]bool{p.name: true}
	for _, m := range linkForm.FindAllStringSubmatch(p.text, -1) {
		label, target := splitLink(m[1])
		to := x.byName[target]
		if seen[target] {
			continue
		}
		seen[target] = true
		if to == nil {
			if !strings.Contains(target, "://") {
				x.s.AddProblem(x.file, p.line, "%q links %q, which is no passage of this file", p.name, target)
			}
			continue
		}
		direction, ok := directions.Take(p.sheet, record.DirectionIn(label))
		if !ok {
			x.s.AddProblem(x.file, p.line, "%q links more than twelve passages; the exit to %q is left out", p.name, target)
			continue
		}
		x.s.AddEdge(x.file, "exit", p.sheet, to.sheet, map[string]any{"direction": direction, "description": label})
	}
}
