package markup

import "strings"

// MergePart is a part of a merged text.
type MergePart struct {
	Text     string // merged lines; "" in a conflict
	Conflict bool
	Mine     string // in a conflict, the lines of each side
	Theirs   string
}

// Merge merges two changes of a text line by line. Changes of the same or of adjacent lines are a conflict, unless they
// are equal. Lines end with a newline, also the last one. The texts are compared as by Diff, within its bounds.
func Merge(base, mine, theirs string) []MergePart {
	old, left, right := splitLines(base), splitLines(mine), splitLines(theirs)
	m := merger{old: old, mine: side{lines: left, edits: lineEdits(old, left)},
		theirs: side{lines: right, edits: lineEdits(old, right)}}
	for len(m.mine.edits)+len(m.theirs.edits) > 0 {
		m.mergeRegion()
	}
	m.addLines(strings.Join(old[m.done:], ""))
	return m.parts
}

// side is one of two changed texts.
type side struct {
	lines []string
	edits []edit // of the base, without those that are merged
	shift int    // lines that the merged edits have added
}

// merger holds the state of a merge: the lines of the base up to done are merged.
type merger struct {
	old          []string
	mine, theirs side
	done         int
	parts        []MergePart
}

// mergeRegion merges the next lines of the base that either side has changed.
func (m *merger) mergeRegion() {
	from, to := m.nextRegion()
	m.addLines(strings.Join(m.old[m.done:from], ""))
	was, left, right := strings.Join(m.old[from:to], ""), m.mine.takeEdits(from, to), m.theirs.takeEdits(from, to)
	switch {
	case left == right, right == was:
		m.addLines(left)
	case left == was:
		m.addLines(right)
	default:
		m.parts = append(m.parts, MergePart{Conflict: true, Mine: left, Theirs: right})
	}
	m.done = to
}

// nextRegion returns a range of the base in which no edit begins or ends halfway.
func (m *merger) nextRegion() (from, to int) {
	from = len(m.old)
	for _, edits := range [][]edit{m.mine.edits, m.theirs.edits} {
		if len(edits) > 0 {
			from = min(from, edits[0].a1)
		}
	}
	to = from
	left, right := m.mine.edits, m.theirs.edits
	for {
		switch {
		case len(left) > 0 && left[0].a1 <= to:
			to, left = max(to, left[0].a2), left[1:]
		case len(right) > 0 && right[0].a1 <= to:
			to, right = max(to, right[0].a2), right[1:]
		default:
			return from, to
		}
	}
}

// takeEdits removes the edits within a range of the base, and returns the side's text in place of that range.
func (s *side) takeEdits(from, to int) string {
	first := from + s.shift
	for len(s.edits) > 0 && s.edits[0].a1 <= to {
		s.shift, s.edits = s.edits[0].b2-s.edits[0].a2, s.edits[1:]
	}
	return strings.Join(s.lines[first:to+s.shift], "")
}

// addLines adds lines that are merged.
func (m *merger) addLines(text string) {
	switch n := len(m.parts); {
	case text == "":
	case n > 0 && !m.parts[n-1].Conflict:
		m.parts[n-1].Text += text
	default:
		m.parts = append(m.parts, MergePart{Text: text})
	}
}
