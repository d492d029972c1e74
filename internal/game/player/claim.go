package player

import (
	"slices"
	"strings"
	"unicode"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/slicesx"
)

// Claim is what a line says to the table. It is all that the Brain learns of the Core's plans, and
// is public as soon as it is said. The zero Claim says nothing that could be checked.
type Claim struct {
	Kind  Kind
	About rule.Seat // the player it names; 0 if it names nobody
	Basis Basis     // of an accusation
	Third rule.Seat // the other player of the basis
}

// Kind is the kind of a claim.
type Kind string

// The kinds of claims.
const (
	Remark   Kind = ""         // nothing that could be checked
	Question Kind = "question" // what did you do last night?
	Accuse   Kind = "accuse"   // you belong to the AI side
	Defend   Kind = "defend"   // you are human
	Deny     Kind = "deny"     // I am human
	Mined    Kind = "mined"    // last night I mined for you
	NoSlot   Kind = "no slot"  // last night I tried to mine for you, and found no slot
	Worked   Kind = "worked"   // last night I worked on my project
	Blocked  Kind = "blocked"  // last night I could not act
	Acted    Kind = "acted"    // last night I used my ability
)

// isNight reports whether a claim tells of the last night.
func (k Kind) isNight() bool {
	return slices.Contains([]Kind{Mined, NoSlot, Worked, Blocked, Acted}, k)
}

// Basis is the evidence for an accusation: public facts that everybody can check.
type Basis string

// The bases of accusations.
const (
	ByHunch      Basis = ""
	ByTokens     Basis = "tokens"     // it has more tokens than any other
	ByMining     Basis = "mining"     // it claims to have mined for a third, who gained less than is claimed
	ByMilestones Basis = "milestones" // it claims to have worked on its project more often than it has milestones
	ByPush       Basis = "push"       // it accused a third, who was human
	ByDefence    Basis = "defence"    // it defended a third, who was not human
	ByVote       Basis = "vote"       // it voted to keep a third, who was not human
)

// words lists the words that show each kind of claim. A text is read sentence by sentence, in small
// letters and without punctuation; a word matches whole words, so that "ai" is not part of "said".
var words = struct{ against, trust, not, mine, failed, project, blocked, ability, night []string }{
	against: []string{"suspect", "suspicious", "lying", "liar", "lied", "lies", "nominate", "machine", "the ai", "aligned",
		"deactivate", "guilty", "vote out", "convert", "converted", "watch"},
	trust:   []string{"trust", "human", "vouch", "believe", "innocent", "honest", "clear", "one of us"},
	not:     []string{"not", "no", "never", "nobody", "cannot", "can't", "don't", "isn't", "nothing", "hardly", "without"},
	mine:    []string{"mined", "mining for", "mine for", "my rig", "my slot"},
	failed:  []string{"no slot", "no free slot", "failed", "came to nothing", "in vain", "found none"},
	project: []string{"my project", "my own project", "my milestone"},
	blocked: []string{"was blocked", "could not act", "was stopped", "kept me from"},
	ability: []string{"my office", "my ability"},
	night:   []string{"night", "mine", "mined", "project", "tokens"},
}

// ReadClaims returns the claims in a message of a player, in order. The texts of people
// and programs are read alike: a program is held to the words that its model chose.
func ReadClaims(t *view.Table, m view.Message) []Claim {
	speaker, ok := rule.ParseSeat(deref(m.Player))
	if !ok {
		return nil
	}
	var claims []Claim
	for _, sentence := range splitSentences(m.Text) {
		claims = append(claims, readSentence(t, speaker, sentence)...)
	}
	return claims
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// splitSentences splits a text behind the marks that end a sentence.
func splitSentences(text string) []string {
	var sentences []string
	for text != "" {
		end := strings.IndexAny(text, ".!?;\n")
		if end < 0 {
			return append(sentences, text)
		}
		sentences, text = append(sentences, text[:end+1]), text[end+1:]
	}
	return sentences
}

func readSentence(t *view.Table, speaker rule.Seat, sentence string) []Claim {
	text := foldWords(sentence)
	named := namedIn(t, text, speaker)
	if strings.HasSuffix(sentence, "?") {
		return askedOf(text, named)
	}
	if hasWord(text, "i", "my", "me") {
		if c, ok := readNight(text, named); ok {
			return []Claim{c}
		}
	}
	kind := Remark
	switch {
	case hasWord(text, words.trust...):
		kind = Defend
		if hasWord(text, words.not...) {
			kind = Accuse
		}
	case hasWord(text, words.against...) && !hasWord(text, words.not...):
		kind = Accuse
	}
	if kind == Remark || len(named) == 0 {
		return nil
	}
	if kind == Accuse {
		named = named[:1] // the others are its evidence
	}
	return slicesx.Map(named, func(s rule.Seat) Claim { return Claim{Kind: kind, About: s} })
}

// askedOf reads a question about the last night to the players that it names.
func askedOf(text string, named []rule.Seat) (claims []Claim) {
	if !hasWord(text, words.night...) {
		return nil
	}
	for _, s := range named {
		claims = append(claims, Claim{Kind: Question, About: s})
	}
	return claims
}

func readNight(text string, named []rule.Seat) (Claim, bool) {
	switch {
	case hasWord(text, words.blocked...):
		return Claim{Kind: Blocked}, true
	case hasWord(text, words.mine...) && len(named) > 0:
		if hasWord(text, words.failed...) {
			return Claim{Kind: NoSlot, About: named[0]}, true
		}
		return Claim{Kind: Mined, About: named[0]}, true
	case hasWord(text, words.project...):
		return Claim{Kind: Worked}, true
	case hasWord(text, words.ability...):
		return Claim{Kind: Acted}, true
	}
	return Claim{}, false
}

// foldWords returns the words of a sentence in small letters between single spaces, with a space at
// each end.
func foldWords(sentence string) string {
	var b strings.Builder
	b.WriteByte(' ')
	gap := true
	for _, r := range strings.ToLower(sentence) {
		if r == '’' {
			r = '\''
		}
		if r == '\'' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
			gap = false
		} else if !gap {
			b.WriteByte(' ')
			gap = true
		}
	}
	if !gap {
		b.WriteByte(' ')
	}
	return b.String()
}

// hasWord reports whether a folded text contains one of the words.
func hasWord(text string, list ...string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(text, " "+w+" ") })
}

// namedIn returns the players but the speaker whose names a folded text contains, in the order of
// their names in it.
func namedIn(t *view.Table, text string, speaker rule.Seat) []rule.Seat {
	type place struct {
		seat rule.Seat
		at   int
	}
	var found []place
	for s := rule.Seat(1); int(s) <= len(t.Players); s++ {
		name := foldWords(t.Players[s.String()].Name)
		if s == speaker || len(name) < 3 {
			continue
		}
		if at := strings.Index(text, name); at >= 0 {
			found = append(found, place{s, at})
		}
	}
	slices.SortStableFunc(found, func(a, b place) int { return a.at - b.at })
	return slicesx.Map(found, func(p place) rule.Seat { return p.seat })
}
