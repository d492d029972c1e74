package command

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"loregate/internal/lazyregexp"
	"loregate/internal/meaning"
)

// Asked is the kind of a plain question.
type Asked string

// The kinds of plain questions. The kind of a question without a form of its own is its first word, such as AskedWhy.
const (
	AskedWhere   Asked = "where"   // where the player is
	AskedTime    Asked = "time"    // the time of day
	AskedDay     Asked = "day"     // the date
	AskedWeather Asked = "weather" //
	AskedPeople  Asked = "people"  // who is here
	AskedMe      Asked = "me"      // the player itself
	AskedPast    Asked = "past"    // the past acts of the player
	AskedQuests  Asked = "quests"  // all quests
	AskedQuest   Asked = "quest"   // one quest
	AskedTakeUp  Asked = "take up" // how to accept a quest
	AskedDo      Asked = "do"      // the acts that are possible here
	AskedBag     Asked = "bag"     // the things that the player carries
	AskedMoney   Asked = "money"   // the player's money
	AskedExits   Asked = "exits"   // the ways out
	AskedLeads   Asked = "leads"   // where a way leads
	AskedWay     Asked = "way"     // the way to something
	AskedLocate  Asked = "locate"  // where something is
	AskedPrices  Asked = "prices"  // of everything that is sold here
	AskedCost    Asked = "cost"    // the price of one thing
	AskedHave    Asked = "have"    // whether the player has something
	AskedThings  Asked = "things"  // the things that lie here
	AskedSense   Asked = "sense"   // sounds and smells
	AskedLook    Asked = "look"    // the view
	AskedSays    Asked = "says"    // the words of somebody, or the writing on something
	AskedInside  Asked = "inside"  // the things in something
	AskedUse     Asked = "use"     // the use of something
	AskedName    Asked = "name"    // the name of something
	AskedState   Asked = "state"   // the occupation of somebody
	AskedWho     Asked = "who"     // a person or a thing itself
	AskedAble    Asked = "able"    // whether the player can do something
	AskedThere   Asked = "there"   // whether something is here
	AskedCount   Asked = "count"   // the number of something
	AskedWhy     Asked = "why"     // also when, how, whose, which and whether
)

// Question is a plain question of a player about the world.
type Question struct {
	Kind      Asked
	Subject   string    // the thing that it is about, as typed; "" if the kind needs none
	Topic     string    // what a question about words is about: what did she say about the boat
	Direction Direction // that it is about
	Words     []string  // all its words, folded
}

//go:embed ask.txt
var askText string

// askForm is a form of questions.
type askForm struct {
	kind Asked
	form *lazyregexp.Regexp
}

// askForms are the forms of ask.txt, in order.
var askForms = sync.OnceValue(func() (all []askForm) {
	lists := []string{"X", `(?P<x>.+?)`}
	for line := range strings.Lines(askText) {
		line = strings.TrimRight(line, "\n")
		if name, form, ok := strings.Cut(line, " = "); ok && name == strings.ToUpper(name) {
			lists = append(lists, name, strings.NewReplacer(lists...).Replace(form))
			continue
		}
		kind, form, ok := strings.Cut(line, ": ")
		if !ok || line[0] == '#' {
			continue
		}
		form = replaceNames(form, lists)
		all = append(all, askForm{Asked(kind), lazyregexp.New("^(?:" + form + ")$")})
	}
	return all
})

// capitals are the names of lists in ask.txt.
var capitals = lazyregexp.New(`ANYONE|WAYS|HERE|NOW|CAN|BE|I|X`)

// replaceNames replaces the names of lists in a form by their values. lists has names and values in turn.
func replaceNames(form string, lists []string) string {
	return capitals.ReplaceAllStringFunc(form, func(name string) string {
		for i := 0; i < len(lists); i += 2 {
			if lists[i] == name && name == "I" {
				return "(?:" + lists[i+1] + ")"
			} else if lists[i] == name {
				return lists[i+1]
			}
		}
		return name // (?P<x>
	})
}

// askLeads are the words before a question that ask for its answer.
var askLeads = sync.OnceValue(func() *lazyregexp.Regexp { return lazyregexp.New(askLine("LEADS")) })

// askFillers are words of a question that change nothing.
var askFillers = lazyregexp.New(` (?:please|exactly|actually|really|the hell|the heck|on earth|by the way|i ` +
	`wonder|again|anyway|for me)\b`)

// askOpens are the words that a plain question begins with.
var askOpens = sync.OnceValue(func() *lazyregexp.Regexp { return lazyregexp.New(askLine("OPENS")) })

// contractions are the short forms of words in questions.
var contractions = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for pair := range strings.SplitSeq(askLine("SHORT"), ", ") {
		short, long, _ := strings.Cut(pair, ":")
		all[short] = long
	}
	return all
})

// askLine returns the value of a name of ask.txt.
func askLine(name string) string {
	for line := range strings.Lines(askText) {
		if value, ok := strings.CutPrefix(line, name+" = "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// initials are short words with a point that ends no sentence: Master J. Blott.
var initials = lazyregexp.New(`\b([A-Z]|Mr|Mrs|Ms|Dr|St)\.`)

// nearHere matches a direction in front of "here" that adds nothing: what is down here?
var nearHere = lazyregexp.New(`(?i)\b(?:up|down|over|out|in) (here|there)\b`)

// ReadQuestion reads a plain question about the world. It returns false for any other command: for an act, for a
// request
// in the form of a question, and for a question to somebody ("Oda, who are you?"; "who are you?").
func ReadQuestion(text string) (Question, bool) {
	words := lex(nearHere.ReplaceAllString(initials.ReplaceAllString(text, "$1"), "$1"))
	for len(words) > 0 && words[len(words)-1].kind != plainWord {
		words = words[:len(words)-1]
	}
	asked := strings.HasSuffix(strings.TrimSpace(text), "?")
	if !asked && exclaims.MatchString(strings.TrimSpace(text)) {
		return Question{}, false
	}
	var folds, raws []string
	for _, w := range words {
		if w.kind == stop || w.kind == quoted || w.kind == colon {
			return Question{}, false
		}
		if w.kind != plainWord {
			continue
		}
		fold := mendQuestionWord(w, len(folds) == 0 && asked)
		if long := contractions()[fold]; long != "" {
			fold = long
		}
		for part := range strings.FieldsSeq(fold) {
			folds, raws = append(folds, part), append(raws, w.raw)
			if part != w.fold {
				raws[len(raws)-1] = part
			}
		}
	}
	whole := strings.Join(folds, " ")
	from := len(askLeads().FindString(whole))
	line := whole[from:]
	for _, cut := range askFillers.FindAllStringIndex(line, -1) {
		if cut[1] == len(line) { // at the end only: elsewhere they may be part of a name
			line = line[:cut[0]]
		}
	}
	if !askOpens().MatchString(line) || !isPlainQuestion(line, asked || from > 0, slices.ContainsFunc(words,
		func(w word) bool { return w.kind == comma })) {
		return Question{}, false
	}
	q := Question{Words: strings.Fields(line)}
	for _, f := range askForms() {
		m := f.form.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		part := func(name string) string {
			i := f.form.SubexpIndex(name)
			if i < 0 || m[2*i] < 0 {
				return ""
			}
			at := strings.Count(whole[:from+m[2*i]], " ")
			n := strings.Count(line[m[2*i]:m[2*i+1]], " ") + 1
			return strings.Join(trimLeading(raws[at:at+n]), " ")
		}
		q.Kind, q.Subject, q.Topic = f.kind, part("x"), part("of")
		if d := part("dir"); d != "" {
			q.Direction, _ = DirectionOf(strings.ReplaceAll(strings.TrimSuffix(d, " there"), " ", ""))
		}
		return q, true
	}
	return Question{}, false
}

// trimLeading removes the articles in front of a name.
func trimLeading(words []string) []string {
	for len(words) > 1 && slices.Contains([]string{"the", "a", "an", "this", "that", "these", "those", "some",
		"any"}, strings.ToLower(words[0])) {
		words = words[1:]
	}
	return words
}

// isPlainQuestion reports whether a line that begins like a question is a question about the world. marked tells
// that it
// has a question mark or asks for its answer in words, and parted that it has a comma.
func isPlainQuestion(line string, marked, parted bool) bool {
	words := strings.Fields(line)
	first, second := words[0], ""
	if len(words) > 1 {
		second = words[1]
	}
	subject := slices.Contains([]string{"i", "we", "he", "she", "it", "they", "there", "this", "that", "these",
		"those", "anyone",
		"anybody", "anything", "someone", "somebody", "something", "any", "everyone", "everybody", "one", "people",
		"my", "his",
		"her", "their", "its"}, second)
	toYou := slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"you", "your", "yours", "yourself"}, w)
	})
	switch {
	case toYou || parted && !marked:
		return false
	case first == "when" || first == "while":
		return marked || slices.Contains([]string{"is", "are", "does", "do", "did", "will", "was", "can",
			"should"}, second)
	case slices.Contains(strings.Fields(askLine("WH")), first):
		return len(words) > 1 || first == "who" || first == "where" || marked
	case slices.Contains([]string{"any", "anyone", "anybody", "anything", "someone", "somebody", "and"}, first):
		return marked
	case first == "may" || first == "could" || first == "might" || first == "shall":
		return marked && !slices.Contains([]string{"i", "we"}, second) && subject // may I is a request
	case first == "would" || first == "will":
		return marked && subject && second != "it" && second != "that" || marked && second == "the"
	case first == "do" || first == "have":
		return subject && second != "it" && second != "that" && second != "this" && second != "my" && second != "her" &&
			second != "his" && second != "something" && second != "anything" || marked && second == "the"
	}
	return marked || subject || slices.Contains([]string{"is", "are", "does", "was", "were", "did", "has"},
		first) && len(words) > 2
}

// askSlips finds the function words of questions that a typed one may be a slip of.
var askSlips = sync.OnceValue(func() slips {
	return newSlips(strings.Fields("what where which when whose there these those something anything nothing anyone " +
		"anybody someone somebody everyone everybody could would should does"))
})

// mendQuestionWord returns the folded word that is meant by a word of a question which no dictionary has: somthing.
// first tells that it begins a marked question.
func mendQuestionWord(w word, first bool) string {
	if w.raw != w.fold && !first || len(w.fold) < 4 || contractions()[w.fold] != "" || w.known != unknown ||
		slices.Contains(strings.Fields(askLine("WH")), w.fold) {
		return w.fold
	}
	for _, pos := range []meaning.Part{meaning.Noun, meaning.Verb, meaning.Adjective} {
		if meaning.Lemma(w.fold, pos) != "" {
			return w.fold
		}
	}
	if near := askSlips().nearWords(w.fold); len(near) > 0 && !slices.Contains(near, w.fold) {
		return near[0]
	}
	return w.fold
}
