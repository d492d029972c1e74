package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/markup"
)

// Version is the version of the rules that parse commands. It changes whenever the same text
// may be parsed differently.
const Version = "rules/3.3"

// Bounds of a command.
const (
	MaxLength  = 500 // characters
	MaxIntents = 8
)

// Verb is the kind of act of an intent.
type Verb string

// The verbs that the parser produces.
const (
	Move      Verb = "move"
	Look      Verb = "look"
	Examine   Verb = "examine"
	Take      Verb = "take"
	Drop      Verb = "drop"
	Give      Verb = "give"
	Use       Verb = "use"
	Talk      Verb = "talk"
	Attack    Verb = "attack"
	Defend    Verb = "defend"
	Throw     Verb = "throw"
	Flee      Verb = "flee"
	Rest      Verb = "rest"
	Inventory Verb = "inventory"
)

// Verbs of acts that depend on the place and the player; no reading has them.
const (
	Attempt Verb = "attempt" // an act that the grammar does not know
	Quests  Verb = "quests"  // look over one's quests
	Accept  Verb = "accept"  // a quest
	Abandon Verb = "abandon" // a quest
	Buy     Verb = "buy"
	Sell    Verb = "sell"
	Haggle  Verb = "haggle"
	Price   Verb = "price" // ask for prices
	Ask     Verb = "ask"   // a plain question about the world
)

// Verbs lists all verbs of the grammar.
var Verbs = []Verb{Move, Look, Examine, Take, Drop, Give, Use, Talk,
	Attack, Defend, Throw, Flee, Rest, Inventory}

// Intent is one act that a command asks for.
type Intent struct {
	Verb         Verb      `json:"verb"`
	DirectObject string    `json:"directObject,omitzero" jsonschema:"The thing acted on, as it was typed, without articles."`
	Direction    Direction `json:"direction,omitzero"`
	Targets      []string  `json:"targets,omitempty" jsonschema:"The recipient, goal, instrument or place of the act."`
	Modifiers    []string  `json:"modifiers,omitempty" jsonschema:"Adverbs, and the words said."`
	Confidence   float64   `json:"confidence" min:"0" max:"1"`
	Order        int       `json:"order" jsonschema:"Place in the command, from 0."`

	trade  Verb   // Buy or Sell if the words ask for a trade; see AsTrade
	manner Manner // the clause that it was read from
	at     Span   // of the clause
	clause string // its text
}

// Span is a part of a text, in characters.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// SpanOf returns the position of a name in a text, in characters, or the span of the whole text if
// the name does not occur in it literally.
func SpanOf(raw, name string) Span {
	at := strings.Index(raw, name)
	if at < 0 {
		return Span{0, len([]rune(raw))}
	}
	start := len([]rune(raw[:at]))
	return Span{start, start + len([]rune(name))}
}

// Ambiguity is a part of a command that may mean several things, or that matches nothing known.
type Ambiguity struct {
	Kind     string   `json:"kind" jsonschema:"verb, direction, object, target, pronoun, reference (several things here have that name), absent (nothing here has it) or overflow (more than eight acts)."`
	Span     Span     `json:"span"`
	Options  []string `json:"options" jsonschema:"Possible meanings."`
	Critical bool     `json:"critical" jsonschema:"Resolve this before you carry out the command."`

	clause Span // whose verb is unclear
}

// Parsed is the result of parsing a command.
type Parsed struct {
	RawText            string      `json:"rawText"`
	Intents            []Intent    `json:"intents"`
	Ambiguities        []Ambiguity `json:"ambiguities"`
	NeedsClarification bool        `json:"needsClarification"`
	ParseVersion       string      `json:"parseVersion"`

	told bool // it only tells or asks something, and no word stands in place of a verb
}

// minConfidence is the confidence below which an act needs clarification.
const minConfidence = 0.5

// Parse parses a command by rules. It is a pure function of the text: resolving names to things at
// a place is up to the caller. Text beyond MaxLength characters is ignored.
func Parse(text string) Parsed { return parse(text, lex(markup.Clip(text, MaxLength)), false) }

// ParseIn parses a command as Parse does, where things with some names are present. A name in the text is one word,
// whatever words it has ("the boat called So He Left"); the longest one counts. A pronoun that nothing in the text
// explains stays as it was typed.
func ParseIn(text string, names []string) Parsed {
	return parse(text, joinNames(lex(markup.Clip(text, MaxLength)), names), true)
}

func parse(text string, words []word, keepPronouns bool) Parsed {
	text = markup.Clip(text, MaxLength)
	p := parser{
		out: Parsed{RawText: text, Intents: make([]Intent, 0, 2), Ambiguities: []Ambiguity{}, ParseVersion: Version},
		at:  -1, keepPronouns: keepPronouns,
	}
	if isAside(text, words) {
		p.out.told = true
	} else {
		p.run(words)
	}
	if len(p.out.Intents) == 0 && len(p.out.Ambiguities) == 0 {
		p.addAmbiguity("verb", Span{0, utf8.RuneCountInString(text)}, verbNames, true)
	}
	runes := []rune(text)
	for n, i := range p.out.Intents {
		p.out.Intents[n].clause = string(runes[min(i.at.Start, len(runes)):min(i.at.End, len(runes))])
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

// verbNames lists Verbs as options of an ambiguity.
var verbNames = func() []string {
	names := make([]string, len(Verbs))
	for i, v := range Verbs {
		names[i] = string(v)
	}
	return names
}()

// parser parses one command.
type parser struct {
	out       Parsed
	overflow  bool
	lastNamed string // the last named object, which "it" means; "" if none yet
	lastMet   string // the last named person: "her" means this one; "" if none yet
	moving    bool   // the last act was a move, so a bare direction continues it
	at        int    // place of the next act, or -1 for the end
	from      int    // place of the first act of the last clause
	remark    *Span  // the first part that asks for no act
	thanks    *Span  // thanks, which are an act if nothing else is
	unclear   bool   // a part without a verb that is known may ask for an act
	trade     Verb   // Buy or Sell if the verb of the clause is one of trade
	manner    Manner // of the clause

	keepPronouns bool // a pronoun that nothing explains is a name
}

// run parses the words of a command, sentence by sentence.
func (p *parser) run(words []word) {
	if len(words) > 1 {
		if v := expandVerb(words[0]); v != "" {
			words[0].fold, words[0].known = v, lexicon()[v]
		}
	}
	mendParticles(words)
	for len(words) > 0 && !p.overflow {
		n := 0
		for n < len(words) && words[n].kind != stop {
			n++
		}
		sentence := trimJoints(words[:n])
		asked := n < len(words) && words[n].raw == "?"
		words = words[min(n+1, len(words)):]
		if n := len(sentence); n > 0 && n < 3 && len(words) > 0 && isAddressee(sentence) &&
			(idiomSets()["being"][sentence[n-1].fold] || sentence[n-1].isName()) {
			words = slices.Concat(sentence, []word{{kind: comma, raw: ",", fold: ",", known: unknown}}, words)
			continue // smith! mend the sword
		}
		if len(sentence) > 0 {
			p.parseSentence(sentence, asked)
		}
	}
	if p.thanks != nil && len(p.out.Intents) == 0 && len(p.out.Ambiguities) == 0 {
		p.add(Intent{Verb: Talk, Confidence: 0.8}, *p.thanks)
	}
	for i := range p.out.Intents {
		p.out.Intents[i].Order = i
	}
	if len(p.out.Intents) == 0 && len(p.out.Ambiguities) == 0 && p.remark != nil {
		p.addAmbiguity("verb", *p.remark, verbNames, true)
		p.out.told = !p.unclear
	}
}

// add appends an intent, or an ambiguity of kind overflow if there are too many.
func (p *parser) add(i Intent, at Span) {
	if len(p.out.Intents) == MaxIntents {
		if !p.overflow {
			p.overflow = true
			p.addAmbiguity("overflow", at, nil, false)
		}
		return
	}
	if p.trade == Buy && i.Verb == Take || p.trade == Sell && i.Verb == Give {
		i.trade = p.trade
	}
	i.manner, i.at = p.manner, at
	if p.at < 0 {
		p.out.Intents = append(p.out.Intents, i)
	} else {
		p.out.Intents = slices.Insert(p.out.Intents, p.at, i)
		p.at++
	}
	p.moving = i.Verb == Move
	if i.DirectObject != "" {
		p.lastNamed = i.DirectObject
	}
}

// addRemark notes a part of a command that asks for no act.
func (p *parser) addRemark(words []word) {
	if p.remark == nil {
		p.remark = &Span{words[0].start, words[len(words)-1].end}
	}
}

func (p *parser) addAmbiguity(kind string, at Span, options []string, critical bool) {
	if options == nil {
		options = []string{}
	}
	p.out.Ambiguities = append(p.out.Ambiguities, Ambiguity{Kind: kind, Span: at, Options: options, Critical: critical})
}

// WithAttempts returns a command of several clauses with the clauses that are unclear as acts that the grammar does not
// know. It returns false if the command is clear, if no clause is, or if an unclear one is no act.
func (p Parsed) WithAttempts(isAct func(clause string) bool) (Parsed, bool) {
	runes, clear, unclear := []rune(p.RawText), []Intent{}, []Span{}
	for _, i := range p.Intents {
		if i.Confidence < minConfidence {
			unclear = append(unclear, i.at)
		} else {
			clear = append(clear, i)
		}
	}
	for _, a := range p.Ambiguities {
		switch {
		case !a.Critical:
		case a.clause != Span{}:
			unclear = append(unclear, a.clause)
		case !slices.ContainsFunc(unclear, func(s Span) bool { return s.Start <= a.Span.Start && a.Span.End <= s.End }):
			return p, false
		}
	}
	if len(clear) == 0 || len(unclear) == 0 {
		return p, false
	}
	for _, s := range unclear {
		clause := string(runes[s.Start:s.End])
		if !isAct(clause) {
			return p, false
		}
		clear = append(clear, Intent{Verb: Attempt, DirectObject: clause, Confidence: freeConfidence, at: s, clause: clause})
	}
	slices.SortStableFunc(clear, func(a, b Intent) int { return a.at.Start - b.at.Start })
	for n := range clear {
		clear[n].Order = n
	}
	p.Intents, p.Ambiguities, p.NeedsClarification = clear, []Ambiguity{}, false
	return p, true
}

// Question returns the question to the player about the first critical ambiguity of a
// command.
func (p Parsed) Question() string {
	for _, a := range p.Ambiguities {
		if !a.Critical {
			continue
		}
		runes := []rune(p.RawText)
		said := string(runes[a.Span.Start:a.Span.End])
		switch a.Kind {
		case "verb":
			return fmt.Sprintf("You are not sure how to %q. "+
				"Try going somewhere, looking at something, taking it or talking to somebody.", said)
		case "direction":
			return "Where do you want to go?"
		case "object":
			return "What do you mean to do that with?"
		case "target":
			return "Whom, or what, do you mean?"
		case "pronoun":
			return fmt.Sprintf("What do you mean by %q?", said)
		}
	}
	return "You are not sure what you mean. Say it in other words."
}
