package command

import (
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
)

// Speech is a command to speak, before the names in it are known.
type Speech struct {
	Lead string // what the words begin with if somebody is thanked, greeted or asked for pardon
	Rest string // the person and the words, or only the words if Said is set
	Said bool   // Rest is what is said, perhaps with "to" and a person at its end
	Asks bool   // somebody is asked or told, so that words follow the name
}

// speechForms are the verbs of speech by what they begin the words with.
var speechForms = []struct {
	form *lazyregexp.Regexp
	lead string
	said bool
	asks bool
}{
	{lazyregexp.New(`(?i)^(?:ask|question|tell|inform|remind|assure|promise|warn|inquire of|enquire of)$`), "",
		false, true},
	{lazyregexp.New(`(?i)^(?:thank|thanks|thank you|thank you to|thanks to|give thanks to)$`), "thank you",
		false, false},
	{lazyregexp.New(`(?i)^(?:greet|welcome|hail|say hello to|say hi to|wave hello to)$`), "hello", false, false},
	{lazyregexp.New(`(?i)^(?:wish|congratulate)$`), "", false, true},
	{lazyregexp.New(`(?i)^(?:apologi[sz]e to|say sorry to|beg pardon of)$`), "I am sorry", false, false},
	{lazyregexp.New(`(?i)^(?:bid farewell to|say goodbye to|say farewell to|wave goodbye to|take leave of)$`),
		"goodbye", false, false},
	{lazyregexp.New(`(?i)^(?:say|whisper|shout|yell|mutter|murmur|announce|declare|reply|answer)$`), "", true,
		false},
	{lazyregexp.New(`(?i)^(?:talk to|talk with|speak to|speak with|chat to|chat with|converse with|shout to|` +
		`shout at|whisper to|say to|call out to|` +
		`reply to|explain to|confess to|complain to|mention to|introduce myself to|joke with|gossip with)$`), "",
		false, false},
}

// speechLeads are words before a verb of speech that change nothing.
var speechLeads = lazyregexp.New(`(?i)^(?:(?:please|now|then|and|ok|okay|well|so|i|i'll|i will|let me|i want to|` +
	`i would like to|i'd like to|can i|may i|could i|try to|go and|go) )+`)

// ReadSpeech reads a command that begins with a verb of speech. It returns false for any other command, and for one of
// several sentences outside quotation marks.
func ReadSpeech(text string) (Speech, bool) {
	text = strings.TrimSpace(text)
	if lead := speechLeads.FindString(text); lead != "" && !strings.EqualFold(lead, text) {
		text = text[len(lead):]
	}
	if !strings.ContainsAny(text, `"“«`) && (strings.ContainsAny(strings.TrimRight(text, ".!?; "), ".;!?\n") ||
		strings.Contains(text, " then ")) {
		return Speech{}, false
	}
	words := strings.Fields(text)
	for n := min(4, len(words)-1); n > 0; n-- {
		verb := strings.Join(words[:n], " ")
		for _, f := range speechForms {
			if f.form.MatchString(verb) {
				return Speech{Lead: f.lead, Rest: strings.Join(words[n:], " "), Said: f.said, Asks: f.asks}, true
			}
		}
	}
	return Speech{}, false
}

// Unquote returns words without the marks around them.
func Unquote(words string) string {
	words = strings.TrimSpace(words)
	if n := len(words); n > 1 && (words[0] == '"' || strings.HasPrefix(words, "“") || strings.HasPrefix(words, "«")) {
		return strings.TrimSpace(strings.Trim(words, `"“”«»`))
	}
	return strings.TrimSpace(words)
}

// toYou begins questions to somebody that are no requests.
var toYou = lazyregexp.New(`(?i)^(?:and |but |so |well |then )*(?:(?:are|were|do|did|have|had|aren't|don't|` +
	`didn't|haven't) (?:you|u)|(?:who|what|where|why|how|when|which)(?:'s| \w+)*? (?:are|were|do|did|have|had|would|` +
	`will|can|could) (?:you|u)|` +
	`(?:who|what|where|why|how|when)(?:'s| is| are) your)\b`)

// AsksYou reports whether words are a question to somebody.
func AsksYou(text string) bool { return toYou.MatchString(strings.TrimSpace(text)) }

// AddressesYou reports whether words speak to somebody: they have "you" and are no request to the game that the grammar
// reads as an act.
func AddressesYou(text string) bool {
	words := lex(text)
	you := false
	for _, w := range words {
		you = you || w.oneOf("you", "your", "yours", "yourself", "you're", "you've", "you'll", "you'd")
	}
	if !you || len(words) == 0 {
		return false
	}
	if AsksYou(text) || asksWithYou(words, text) {
		return true
	}
	p := Parse(text)
	return p.NeedsClarification || len(p.Intents) == 1 && p.Intents[0].Verb == Talk && p.Intents[0].DirectObject == ""
}

// asksWithYou reports whether words are a marked question that is no request to do something: is there anything that I
// can do for you?
func asksWithYou(words []word, text string) bool {
	if !strings.HasSuffix(strings.TrimSpace(text), "?") {
		return false
	}
	if _, more, named := strings.Cut(text, ","); named && len(words) > 2 &&
		(words[1].kind == comma || words[2].kind == comma) {
		words = lex(more) // walker, have you work for me?
	}
	return len(words) > 0 &&
		slices.Contains(strings.Fields("is are was were am do does did has have had what who whom whose where why how "+
			"when which anything any got"), mendQuestionWord(words[0], true))
}

// PronounAt is a pronoun of a command, with its place.
type PronounAt struct {
	Word string
	Span Span
	Owns bool // her jar
}

// pronounsOf lists the pronouns of a command that stand for somebody or something, in order.
func pronounsOf(text string) (out []PronounAt) {
	words := lex(text)
	for i, w := range words {
		if !w.oneOf("he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their") {
			continue
		}
		next := word{known: unknown}
		if i+1 < len(words) {
			next = words[i+1]
		}
		owns := w.oneOf("his", "its", "their") || w.fold == "her" && next.kind == plainWord && next.fold != "" &&
			!next.is(grammarClasses|whClass) && !next.oneOf(afterHer...)
		out = append(out, PronounAt{Word: w.fold, Span: Span{w.start, w.end}, Owns: owns})
	}
	return out
}

// afterHer are words behind "her" that are nothing of hers.
var afterHer = strings.Fields("if whether that about why what how where who when please again now back goodbye hello")

// PronounsToName lists the pronouns of a question and of a command to speak or to trade whose referent the command does
// not name itself. Those of other commands are names for the grammar.
func PronounsToName(text string) []PronounAt {
	all := pronounsOf(text)
	if len(all) == 0 {
		return nil
	}
	if q, ok := ReadQuestion(text); ok {
		if q.Subject != "" && len(pronounsOf(q.Subject)) > 0 || q.Kind == AskedAble || q.Subject == "" &&
			q.Kind.isOpen() {
			return all
		}
		return nil
	}
	if speech, ok := ReadSpeech(text); ok {
		return pronounsOfSpeech(text, speech, all)
	}
	if i, ok := ReadTrade(text); ok && (PronounOf(i.DirectObject) != NoPronoun || len(i.Targets) > 0 &&
		PronounOf(i.Targets[0]) != NoPronoun) {
		return all
	}
	return nil
}

// pronounsOfSpeech returns the pronoun of the person spoken to, and one that is spoken about: ask her about him.
func pronounsOfSpeech(text string, speech Speech, all []PronounAt) (out []PronounAt) {
	runes := []rune(strings.TrimRight(text, " .!?"))
	from := len(runes) - len([]rune(strings.TrimRight(speech.Rest, " .!?")))
	for _, p := range all {
		before := strings.TrimRight(string(runes[:min(p.Span.Start, len(runes))]), " ")
		last := p.Span.End == len(runes)
		if !speech.Said && p.Span.Start == from || last && speech.Said && strings.HasSuffix(before, " to") ||
			last && strings.HasSuffix(before, " about") {
			out = append(out, p)
		}
	}
	return out
}

// isOpen reports whether questions of a kind are answered by their words.
func (k Asked) isOpen() bool {
	switch k {
	case AskedWhy, "when", "how", "whose", "which", "whether", AskedSays:
		return true
	}
	return false
}
