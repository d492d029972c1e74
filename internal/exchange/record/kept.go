package record

import (
	"strconv"
	"strings"

	"loregate/internal/lazyregexp"
)

// Kept holds parts of a text, such as links, that the conversion of the text must not change. A mark stands in the
// text for each part.
type Kept struct{ parts []string }

// The marks are a number between two characters of the private use area.
const (
	keptBegin = "\ue000"
	keptEnd   = "\ue001"
)

var (
	withoutMarks = strings.NewReplacer(keptBegin, "", keptEnd, "")
	keptForm     = lazyregexp.New(keptBegin + "([0-9]+)" + keptEnd)
)

// WithoutMarks removes the characters of marks from a text, before its parts are kept.
func WithoutMarks(text string) string { return withoutMarks.Replace(text) }

// Keep keeps a part and returns its mark.
func (k *Kept) Keep(part string) string {
	k.parts = append(k.parts, part)
	return keptBegin + strconv.Itoa(len(k.parts)-1) + keptEnd
}

// Restore puts the parts back into a text.
func (k *Kept) Restore(text string) string {
	if !strings.Contains(text, keptBegin) {
		return text
	}
	return keptForm.ReplaceAllStringFunc(text, func(mark string) string {
		i, err := strconv.Atoi(mark[len(keptBegin) : len(mark)-len(keptEnd)])
		if err != nil || i >= len(k.parts) {
			return ""
		}
		return k.parts[i]
	})
}
