package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/markup"
	"loregate/internal/meaning"
)

// Act is an act that somebody else than the parser read from a command.
type Act struct {
	Verb      Verb      `json:"verb"`
	Direction Direction `json:"direction"` // "" for none
	Object    string    `json:"object"`    // "" for none
	Targets   []string  `json:"targets"`
}

// Unclear lists the kinds of ambiguity that a reader may report.
var Unclear = []string{"", "verb", "direction", "object", "target", "pronoun"}

// readConfidence is the confidence of acts that a reader read.
const readConfidence = 0.7

// ReadAs returns a reading of a command by somebody else. It is an error if a reading names acts or directions that do
// not exist, or things with words that the command does not contain: a reader may understand a command, but may not
// add to it. unclear is the kind of its critical ambiguity; "" if it has none. A command that asks for no act and is
// not unclear is read as by rules: its verb is asked for.
func ReadAs(text string, acts []Act, unclear, version string) (Parsed, error) {
	text = markup.Clip(text, MaxLength)
	out := Parsed{RawText: text, Intents: make([]Intent, 0, len(acts)), Ambiguities: []Ambiguity{}, ParseVersion: version}
	if len(acts) > MaxIntents || !slices.Contains(Unclear, unclear) {
		return out, fmt.Errorf("command: a reading has up to %d acts, and is unclear in none or one of %s", MaxIntents,
			strings.Join(Unclear[1:], ", "))
	}
	if len(acts) == 0 {
		unclear = cmp.Or(unclear, "verb")
	}
	for n, act := range acts {
		i := Intent{Verb: act.Verb, Direction: act.Direction, DirectObject: act.Object, Targets: act.Targets,
			Confidence: readConfidence, Order: n}
		if !slices.Contains(Verbs, act.Verb) || act.Direction != "" && !act.Direction.Valid() {
			return out, fmt.Errorf("command: acts[%d]: there is no such verb or direction", n)
		}
		for _, name := range append([]string{act.Object}, act.Targets...) {
			if len(BareWords(name)) > 0 && !Mentions(text, name) {
				return out, fmt.Errorf("command: acts[%d]: the command does not name that", n)
			}
		}
		out.Intents = append(out.Intents, i)
	}
	if unclear != "" {
		out.NeedsClarification = true
		options := []string{}
		if unclear == "verb" {
			options = verbNames
		}
		out.Ambiguities = append(out.Ambiguities, Ambiguity{Kind: unclear,
			Span: Span{0, utf8.RuneCountInString(text)}, Options: options, Critical: true})
	}
	return out, nil
}

// The confidences of acts by the rules that read them.
const (
	goalConfidence   = 0.7  // a goal without a verb
	mendedConfidence = 0.75 // a misspelt word
	answerConfidence = 0.84 // the answer to a question
	tableConfidence  = 0.85 // a verb of the table
	freeConfidence   = 0.5  // a clause whose verb the grammar does not know
	idiomConfidence  = 0.9  // and that of listed verbs that are rarer
	listedConfidence = 0.95 // a verb of an act's list

)

// isDeed reports whether a noun is an act, an event or a state and no object.
func isDeed(noun string) bool {
	is := func(kind string) bool { return meaning.IsA(noun, meaning.Noun, kind) }
	return slices.ContainsFunc([]string{"act", "event", "state"}, is) && !is("object")
}
