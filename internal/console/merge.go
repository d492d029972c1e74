package console

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// The lines around the two sides of a conflict in a text that is merged.
const (
	mineBegins   = "<<<<<<< yours\n"
	theirsBegins = "=======\n"
	conflictEnds = ">>>>>>> theirs\n"
)

// textConflict is a place of a text that two people have changed.
type textConflict struct {
	Mine, Theirs string
	from, to     int // bytes of the text with its final newline
}

// findConflicts returns the conflicts that a text marks.
func findConflicts(text string) (list []textConflict) {
	text += "\n"
	for at := 0; ; {
		begin := indexLine(text, mineBegins, at)
		middle := indexLine(text, theirsBegins, begin)
		end := indexLine(text, conflictEnds, middle)
		if begin < 0 || middle < 0 || end < 0 {
			return list
		}
		at = end + len(conflictEnds)
		list = append(list, textConflict{Mine: text[begin+len(mineBegins) : middle],
			Theirs: text[middle+len(theirsBegins) : end], from: begin, to: at})
	}
}

// indexLine returns where a line begins that is at from or behind it; -1 if there is none.
func indexLine(text, line string, from int) int {
	for from >= 0 {
		i := strings.Index(text[from:], line)
		if i < 0 {
			return -1
		}
		if from += i; from == 0 || text[from-1] == '\n' {
			return from
		}
		from++
	}
	return -1
}

// mergeTexts merges two changes of a text, and marks the conflicts.
func mergeTexts(base, mine, theirs string) string {
	var b strings.Builder
	for _, p := range markup.Merge(unixLines(base), mine, unixLines(theirs)) {
		b.WriteString(p.Text)
		if p.Conflict {
			b.WriteString(mineBegins + p.Mine + theirsBegins + p.Theirs + conflictEnds)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// takeSide puts the lines of a side in place of a conflict: mine, theirs or both.
func takeSide(text, number, side string) (string, error) {
	all := findConflicts(text)
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(all) {
		return "", fault.BadField("take", "names no conflict of the text")
	}
	c := all[n]
	lines := map[string]string{"mine": c.Mine, "theirs": c.Theirs, "both": c.Mine + c.Theirs}[side]
	text += "\n"
	return strings.TrimSuffix(text[:c.from]+lines+text[c.to:], "\n"), nil
}

// mergeInputs sets the texts of inputs for the card as it is now: those of a person who began with the fields of base.
// Fields that only others have changed are theirs, unless chosen is set: then the person has seen them.
func mergeInputs(inputs, base, mine []fieldInput, chosen bool) []fieldInput {
	textIn := func(list []fieldInput, name string) string {
		if i := slices.IndexFunc(list, func(f fieldInput) bool { return f.Name == name }); i >= 0 {
			return list[i].Text
		}
		return ""
	}
	for _, f := range mine {
		if !slices.ContainsFunc(inputs, func(in fieldInput) bool { return in.Name == f.Name }) {
			f.Stored = ""
			inputs = append(inputs, f)
		}
	}
	for i, f := range inputs {
		was, wanted, theirs := textIn(base, f.Name), textIn(mine, f.Name), f.Stored
		if wanted == was && !chosen {
			wanted = theirs
		}
		inputs[i].Text, inputs[i].Theirs = wanted, theirs
		inputs[i].Clash = wanted != was && wanted != theirs && theirs != was
	}
	return inputs
}

// takeTheirs sets the input of a field to the value that somebody else wrote.
func takeTheirs(inputs []fieldInput, name string) {
	for i, f := range inputs {
		if f.Name == name {
			inputs[i].Text, inputs[i].Clash = f.Theirs, false
		}
	}
}

// revision is a card as it was at a version.
type revision struct {
	version
	Type    string                     `json:"type"`
	Content string                     `json:"content"`
	Fields  map[string]json.RawMessage `json:"fields"`
}

// readRevision reads a version of the card that the address names. A version that cannot be read any more is empty,
// so that nothing is merged without being looked at.
func (v *visit) readRevision(number string) (revision, error) {
	r, err := call[revision](v, "get_revision", fields{"name": v.r.PathValue("name"), "version": numberOf(number)})
	if errors.Is(err, fault.NotFound) || errors.Is(err, fault.Invalid) {
		return revision{}, nil
	}
	return r, err
}

// describeChanges lists the changes of a card besides its text and its fields.
func describeChanges(base revision, present card) (list []string) {
	if base.Level != present.Level && base.Level != "" {
		list = append(list, "Who sees it is now: "+levelName(present.Level)+". Saving keeps that.")
	}
	if base.Type != present.Type && base.Type != "" {
		list = append(list, "The type is now "+present.Type+".")
	}
	return list
}
