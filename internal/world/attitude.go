package world

import (
	"fmt"
	"strings"
)

// LinkRegards is the kind of the links from somebody to a player whose attributes are
// a Regard.
const LinkRegards = "regards"

// Deed is an act of a player that changes the attitude of somebody.
type Deed string

// The deeds.
const (
	DeedTalked      Deed = "talked" // once an hour
	DeedPromised    Deed = "promised"
	DeedGave        Deed = "gave"
	DeedStruck      Deed = "struck"
	DeedBeat        Deed = "beat"
	DeedPersuaded   Deed = "persuaded"
	DeedPleaded     Deed = "pleaded in vain"
	DeedBargained   Deed = "bargained"
	DeedHaggled     Deed = "bargained in vain"
	DeedThreatened  Deed = "threatened"
	DeedBlustered   Deed = "threatened in vain"
	DeedDeceived    Deed = "deceived"
	DeedExposed     Deed = "caught in a lie"
	DeedTamed       Deed = "tamed"
	DeedScared      Deed = "scared off"
	DeedCaught      Deed = "caught stealing"
	DeedQuestDone   Deed = "completed a quest"
	DeedQuestFailed Deed = "failed a quest"
	DeedQuestLeft   Deed = "abandoned a quest"
)

// deeds has the change of the attitude by each deed.
var deeds = map[Deed]Attitude{
	DeedTalked:      {Trust: 1},
	DeedPromised:    {Trust: 2},
	DeedGave:        {Trust: 4, Respect: 1},
	DeedStruck:      {Trust: -15, Fear: 8, Respect: -2},
	DeedBeat:        {Trust: -20, Fear: 20, Respect: 3},
	DeedPersuaded:   {Trust: 5, Respect: 2},
	DeedPleaded:     {Trust: -1},
	DeedBargained:   {Trust: 3},
	DeedHaggled:     {Trust: -3, Respect: -2},
	DeedThreatened:  {Trust: -5, Fear: 10},
	DeedBlustered:   {Trust: -5, Respect: -5},
	DeedDeceived:    {Trust: 2},
	DeedExposed:     {Trust: -8},
	DeedTamed:       {Trust: 5},
	DeedScared:      {Fear: 3},
	DeedCaught:      {Trust: -10, Respect: -3},
	DeedQuestDone:   {Trust: 10, Respect: 5},
	DeedQuestFailed: {Trust: -5, Respect: -2},
	DeedQuestLeft:   {Trust: -6, Respect: -3},
}

// Attitude has the feelings of somebody towards a player, each from -100 to 100.
type Attitude struct {
	Trust   int `json:"trust"`
	Fear    int `json:"fear"`
	Respect int `json:"respect"`
}

// After returns the attitude after a deed, each number within its bounds.
func (a Attitude) After(d Deed) Attitude {
	limit := func(n int) int { return min(max(n, -100), 100) }
	b := deeds[d]
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
