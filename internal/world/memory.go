package world

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/stem"
	"loregate/internal/world/command"
)

// Regard holds the attributes of a link regards: how somebody feels towards a player, and what the two said and did to
// each other. The words are contents beside the cards, which the link names by their hashes.
type Regard struct {
	Attitude
	Met      int          `json:"met,omitempty"`    // number of exchanges
	Last     int64        `json:"last,omitempty"`   // the player's clock at the latest exchange
	Recent   []canon.Hash `json:"recent,omitempty"` // the latest exchanges, oldest first
	Promises []canon.Hash `json:"promises,omitempty"`
	Summary  canon.Hash   `json:"summary,omitzero"` // of the exchanges before Recent
}

// Bounds of a Regard. Beyond MaxRecent exchanges, the older half is summed up.
const (
	MaxRecent   = 40
	maxPromises = 10
	maxSummary  = 8 // lines
)

// Exchange is a content that a Regard names.
type Exchange struct {
	Verb    command.Verb `json:"verb"`
	Said    string       `json:"said,omitempty"`   // the player's words
	Answer  string       `json:"answer,omitempty"` // the other's
	Things  string       `json:"things,omitempty"` // that changed hands or struck
	Effect  string       `json:"effect,omitempty"`
	Promise bool         `json:"promise,omitempty"`
}

// Memory is the content of a summary.
type Memory struct {
	Lines []string `json:"lines"`
	By    string   `json:"by"` // ByRules or the name of a model
}

// SubjectOf returns the subject of the tokens that play a player.
func SubjectOf(player canon.CardID) access.Subject {
	return access.Subject("player-" + player.String())
}

// PrivateLabel returns the label of data between a player and somebody: game masters see it, and those who play
// the player or narrate to it.
func PrivateLabel(player canon.Card) access.Label {
	var f struct {
		Narrators []access.Subject `json:"narrators"`
	}
	DecodeFields(player.Fields, &f)
	return access.NewLabel(access.LevelGM, append(f.Narrators, SubjectOf(player.ID), player.CreatedBy)...)
}

// RegardOf returns how somebody regards a player, and the link that says so. Without one, the link is the one to make.
func (m *AsOf) RegardOf(ctx context.Context, of, player canon.CardID) (l canon.Link, r Regard, err error) {
	links, err := m.ReadLinks(ctx, canon.LinkQuery{From: of, To: player, Kinds: []string{LinkRegards}}, 1)
	l = canon.Link{ID: canon.LinkIDOf(LinkRegards, of.String(), player.String()), Kind: LinkRegards, From: of, To: player}
	if len(links) > 0 {
		l = links[0]
		DecodeFields(l.Attrs, &r)
	}
	return l, r, err
}

// ReadExchange returns an exchange. ok is false if it was forgotten.
func (m *AsOf) ReadExchange(ctx context.Context, h canon.Hash) (e Exchange, ok bool, err error) {
	text, err := m.StoredText(ctx, h)
	DecodeFields(json.RawMessage(text), &e)
	return e, text != "", err
}

// ReadMemory returns a summary; it has no lines if it was forgotten.
func (m *AsOf) ReadMemory(ctx context.Context, h canon.Hash) (s Memory, err error) {
	text, err := m.StoredText(ctx, h)
	DecodeFields(json.RawMessage(text), &s)
	return s, err
}

// Perceive returns an event with the words in its payload that are kept beside it, as far as the reader may know them.
func (m *AsOf) Perceive(ctx context.Context, e canon.StoredEvent) (canon.StoredEvent, error) {
	switch event.Type(e.Type) {
	case PlayerNarrated:
		var n Narration
		DecodeFields(e.Payload, &n)
		text, err := m.StoredText(ctx, n.Content)
		if err != nil || text == "" {
			return e, err
		}
		DecodeFields(json.RawMessage(text), &n)
		e.Payload, err = json.Marshal(n)
		return e, err
	case PlayerAct:
		var d Action
		if DecodeFields(e.Payload, &d); !d.Private || d.Target == nil {
			return e, nil
		}
		then := *m
		then.Seq, then.prefetchedPlace = e.Seq, canon.CardID{}
		l, r, err := then.RegardOf(ctx, d.Target.ID, d.PlayerID)
		if err != nil || l.Since != e.Seq || len(r.Recent) == 0 {
			return e, err
		}
		x, ok, err := m.ReadExchange(ctx, r.Recent[len(r.Recent)-1])
		if !ok || err != nil {
			return e, err
		}
		d.Detail, d.Answer = x.Said, x.Answer
		e.Payload, err = json.Marshal(d)
		return e, err
	}
	return e, nil
}

// promiseWords begin the words of a promise.
var promiseWords = []string{
	"i promise",
	"i swear",
	"i vow",
	"i will",
	"i'll",
	"you have my word",
	"my word on it",
	"we will",
	"we'll",
}

// IsPromise reports whether words promise something.
func IsPromise(said string) bool {
	words := " " + strings.ToLower(said)
	return slices.ContainsFunc(promiseWords, func(p string) bool { return strings.Contains(words, " "+p+" ") })
}

// Recall describes an exchange between a player and somebody in a sentence.
func (e Exchange) Recall(player, other string) string {
	var parts []string
	switch e.Verb {
	case command.Talk:
		if e.Said != "" {
			parts = append(parts, player+" said: “"+strings.TrimSpace(e.Said)+"”")
		} else {
			parts = append(parts, player+" came to talk.")
		}
	case command.Give:
		parts = append(parts, player+" gave "+e.Things+".")
	case command.Attack, command.Throw:
		did := " struck "
		if e.Effect == "beaten" {
			did = " beat "
		}
		parts = append(parts, player+did+other+withThings(e.Things)+".")
	case command.Accept:
		parts = append(parts, player+" agreed to “"+e.Things+"”.")
	case command.Attempt:
		how := ", and failed."
		if e.Effect == "managed" {
			how = ", and managed it."
		}
		parts = append(parts, player+" tried to "+e.Said+how)
	}
	if e.Answer != "" {
		parts = append(parts, Quote(other, e.Answer))
	}
	return strings.Join(parts, " ")
}

func withThings(things string) string {
	if things == "" {
		return ""
	}
	return " with " + things
}

// SumUp picks the most telling of some sentences, at most maxSummary: again and again the one that adds most to
// what the picked ones have, each word counting the less the more sentences have it.
func SumUp(sentences []string) []string {
	words, has := make([]map[string]bool, len(sentences)), map[string]int{}
	for i, s := range sentences {
		words[i] = map[string]bool{}
		for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if w = stem.Of("en", w); !words[i][w] {
				words[i][w] = true
				has[w]++
			}
		}
	}
	var picked []int
	told := map[string]bool{}
	for len(picked) < maxSummary {
		best, most := -1, 0.0
		for i := range sentences {
			gain := 0.0
			for _, w := range slices.Sorted(maps.Keys(words[i])) {
				if !told[w] {
					gain += 1 / float64(has[w])
				}
			}
			if gain > most {
				best, most = i, gain
			}
		}
		if best < 0 {
			break
		}
		picked = append(picked, best)
		for w := range words[best] {
			told[w] = true
		}
	}
	slices.Sort(picked)
	var out []string
	for _, i := range picked {
		out = append(out, sentences[i])
	}
	return out
}

// Contents returns the hashes of all that a Regard remembers.
func (r Regard) Contents() []canon.Hash {
	list := append(slices.Clone(r.Recent), r.Promises...)
	if r.Summary != (canon.Hash{}) {
		list = append(list, r.Summary)
	}
	slices.SortFunc(list, func(a, b canon.Hash) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(list)
}

// Keep adds an exchange. It returns the exchanges that are now to be summed up, oldest first.
func (r *Regard) Keep(h canon.Hash, promise bool, clock int64) (old []canon.Hash) {
	r.Met, r.Last = r.Met+1, clock
	r.Recent = append(r.Recent, h)
	if promise {
		r.Promises = append(r.Promises, h)
		r.Promises = r.Promises[max(0, len(r.Promises)-maxPromises):]
	}
	if len(r.Recent) > MaxRecent {
		old, r.Recent = r.Recent[:MaxRecent/2], r.Recent[MaxRecent/2:]
	}
	return old
}
