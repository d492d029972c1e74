package lore

import (
	"fmt"
	"maps"
	"slices"

	"loregate/internal/markup"
	"loregate/internal/world"
)

// shortener cuts values to the size that contexts allow, and records the original lengths by path.
type shortener struct{ cut map[string]int }

func (s shortener) shortenValue(path string, v any, depth int) any {
	switch v := v.(type) {
	case string:
		text, whole := world.Shorten(markup.Clean(v), world.MaxText)
		if whole > 0 {
			s.cut[path] = whole
		}
		return text
	case []any:
		if len(v) > maxMembers || depth > maxNesting {
			s.cut[path] = len(v)
		}
		out := []any{}
		for i := 0; i < min(len(v), maxMembers) && depth <= maxNesting; i++ {
			out = append(out, s.shortenValue(fmt.Sprintf("%s[%d]", path, i), v[i], depth+1))
		}
		return out
	case map[string]any:
		if len(v) > maxMembers || depth > maxNesting {
			s.cut[path] = len(v)
		}
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if len(out) < maxMembers && depth <= maxNesting {
				out[k] = s.shortenValue(path+"."+k, v[k], depth+1)
			}
		}
		return out
	}
	return v
}

// Bounds of a fact's fields, in addition to MaxText.
const (
	maxMembers = 100 // of an object or list
	maxNesting = 8
)
