package world

import (
	"unicode/utf8"
)

// ParseVersion names the rules by which commands are read. It changes when the same text
// may be read otherwise.
const ParseVersion = "rules/1.0"

// Bounds of a command.
const (
	MaxCommand = 500 // characters
	MaxIntents = 8
)

// Verb is what an intent does.
type Verb string

// The verbs that commands are read as.
const (
	VerbMove      Verb = "move"
	VerbLook      Verb = "look"
	VerbExamine   Verb = "examine"
	VerbTake      Verb = "take"
	VerbDrop      Verb = "drop"
	VerbGive      Verb = "give"
	VerbUse       Verb = "use"
	VerbTalk      Verb = "talk"
	VerbAttack    Verb = "attack"
	VerbDefend    Verb = "defend"
	VerbThrow     Verb = "throw"
	VerbFlee      Verb = "flee"
	VerbRest      Verb = "rest"
	VerbInventory Verb = "inventory"
)

// Verbs are all of them.
var Verbs = []Verb{VerbMove, VerbLook, VerbExamine, VerbTake, VerbDrop, VerbGive, VerbUse, VerbTalk,
	VerbAttack, VerbDefend, VerbThrow, VerbFlee, VerbRest, VerbInventory}

// Intent is one act that a command asks for.
type Intent struct {
	Verb         Verb      `json:"verb"`
	DirectObject string    `json:"directObject,omitzero" jsonschema:"What is acted on, as it was typed, without articles."`
	Direction    Direction `json:"direction,omitzero"`
	Targets      []string  `json:"targets,omitempty" jsonschema:"To whom, at what, with what or where."`
	Modifiers    []string  `json:"modifiers,omitempty" jsonschema:"How, and what is said."`
	Confidence   float64   `json:"confidence" min:"0" max:"1"`
	Order        int       `json:"order" jsonschema:"Place in the command, from 0."`
}

// Span is a part of a text, in characters.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Ambiguity is a part of a command that may mean several things, or nothing known.
type Ambiguity struct {
	Kind     string   `json:"kind" jsonschema:"verb, direction, object, target, pronoun, reference (several things here are called that), absent (nothing here is) or overflow (more than eight acts)."`
	Span     Span     `json:"span"`
	Options  []string `json:"options" jsonschema:"What it may mean."`
	Critical bool     `json:"critical" jsonschema:"Nothing should be done before this is settled."`
}

// Parsed is what was made of a command.
type Parsed struct {
	RawText            string      `json:"rawText"`
	Intents            []Intent    `json:"intents"`
	Ambiguities        []Ambiguity `json:"ambiguities"`
	NeedsClarification bool        `json:"needsClarification"`
	ParseVersion       string      `json:"parseVersion"`
}

// minConfidence is the confidence below which an act is not done without asking.
const minConfidence = 0.5

// Parse reads a command by rules. It is a pure function of the text: what the words name
// in a place is for whoever acts on them. Text beyond MaxCommand characters is not read.
func Parse(text string) Parsed {
	text = clipText(text, MaxCommand)
	p := parser{out: Parsed{RawText: text, Intents: []Intent{}, Ambiguities: []Ambiguity{}, ParseVersion: ParseVersion}}
	p.run(lex(text))
	if len(p.out.Intents) == 0 && len(p.out.Ambiguities) == 0 {
		p.addAmbiguity("verb", Span{0, utf8.RuneCountInString(text)}, verbNames, true)
	}
	p.out.NeedsClarification = len(p.out.Intents) == 0
	for _, a := range p.out.Ambiguities {
		p.out.NeedsClarification = p.out.NeedsClarification || a.Critical
	}
	for _, i := range p.out.Intents {
		p.out.NeedsClarification = p.out.NeedsClarification || i.Confidence < minConfidence
	}
	return p.out
}

// verbNames are Verbs as options of an ambiguity.
var verbNames = func() []string {
	names := make([]string, len(Verbs))
	for i, v := range Verbs {
		names[i] = string(v)
	}
	return names
}()

// parser reads one command.
type parser struct {
	out       Parsed
	overflow  bool
	lastNamed string // what "it" stands for; "" for nothing yet
	moving    bool   // the last act was a move, so that a bare direction goes on
}

func (p *parser) run(words []word) {
	for words = trimTail(words); len(words) > 0; {
		n := clauseEnd(words, p.moving)
		if c := trimJoints(words[:n]); len(c) > 0 {
			p.parseClause(c)
		}
		words = words[n:]
	}
}

// add notes an act, or that there are too many of them.
func (p *parser) add(i Intent, at Span) {
	if len(p.out.Intents) == MaxIntents {
		if !p.overflow {
			p.overflow = true
			p.addAmbiguity("overflow", at, nil, false)
		}
		return
	}
	i.Order = len(p.out.Intents)
	p.out.Intents = append(p.out.Intents, i)
	p.moving = i.Verb == VerbMove
	if i.DirectObject != "" {
		p.lastNamed = i.DirectObject
	}
}

func (p *parser) addAmbiguity(kind string, at Span, options []string, critical bool) {
	if options == nil {
		options = []string{}
	}
	p.out.Ambiguities = append(p.out.Ambiguities, Ambiguity{kind, at, options, critical})
}

// clipText is text cut to a number of characters.
func clipText(s string, max int) string {
	n := 0
	for i := range s {
		if n == max {
			return s[:i]
		}
		n++
	}
	return s
}
