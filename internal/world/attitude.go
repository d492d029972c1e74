package world

import (
	"fmt"
	"strings"

	"loregate/internal/canon"
)

// LinkRegards is the kind of the links from somebody to a player whose attributes are
// an Attitude.
const LinkRegards = "regards"

// Attitude has the feelings of somebody towards a player, each from -100 to 100.
type Attitude struct {
	Trust   int `json:"trust"`
	Fear    int `json:"fear"`
	Respect int `json:"respect"`
}

// AttitudeOf returns the attitude of a link regards.
func AttitudeOf(l canon.Link) (a Attitude) {
	DecodeFields(l.Attrs, &a)
	return a.Plus(Attitude{})
}

// Plus returns the sum, each number within its bounds.
func (a Attitude) Plus(b Attitude) Attitude {
	limit := func(n int) int { return min(max(n, -100), 100) }
	return Attitude{limit(a.Trust + b.Trust), limit(a.Fear + b.Fear), limit(a.Respect + b.Respect)}
}

// String describes the attitude in words, such as "trusts, fears a little"; "" if it is indifferent.
func (a Attitude) String() string {
	var parts []string
	add := func(n int, more, less string) {
		word := more
		if n < 0 {
			n, word = -n, less
		}
		switch {
		case n >= 50:
			parts = append(parts, word+" deeply")
		case n >= 20:
			parts = append(parts, word)
		case n >= 5:
			parts = append(parts, word+" a little")
		}
	}
	add(a.Trust, "trusts", "distrusts")
	add(a.Fear, "fears", "is unafraid of")
	add(a.Respect, "respects", "despises")
	return strings.Join(parts, ", ")
}

// describeAttitude returns an attitude towards a player as a sentence.
func describeAttitude(a Attitude, player string) string {
	if a == (Attitude{}) {
		return ""
	}
	words := a.String()
	if words == "" {
		words = "is indifferent to"
	}
	return fmt.Sprintf("%s: %s (trust %d, fear %d, respect %d).", player, words, a.Trust, a.Fear, a.Respect)
}
