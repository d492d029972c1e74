package command

import (
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/meaning"
)

// plainForms are old, short and sloppy forms of words, each with the plain one.
var plainForms = func() map[string]string {
	all := map[string]string{}
	for pair := range strings.SplitSeq("thou:you, thee:you, ye:you, thy:your, thine:your, thyself:yourself, hast:have, hath:has, "+
		"dost:do, doth:does, wilt:will, shalt:shall, canst:can, wouldst:would, couldst:could, shouldst:should, didst:did, "+
		"wast:were, wert:were, 'tis:it is, 'twas:it was, prithee:please, whither:where, wherefore:why, whence:where, nay:no, "+
		"yea:yes, aye:yes, morrow:morning, anon:soon, naught:nothing, "+
		"im:I'm, ive:I've, ill:I'll, id:I'd, dont:don't, doesnt:doesn't, didnt:didn't, cant:can't, wont:won't, isnt:isn't, "+
		"arent:aren't, wasnt:wasn't, youre:you're, youve:you've, thats:that's, theres:there's, theyre:they're, hes:he's, shes:she's, "+
		"whats:what's, wheres:where's, whos:who's, hows:how's, whys:why's, lets:let's, "+
		"u:you, ur:your, ya:you, r:are, wat:what, wot:what, wher:where, wich:which, whic:which, thx:thanks, thanx:thanks, ty:thanks, "+
		"tnx:thanks, pls:please, plz:please, plse:please, hallo:hello, hullo:hello, heya:hello, hiya:hello, howdy:hello, goodmorning:good morning, goodevening:good evening, goodafternoon:good afternoon, "+
		"gonna:going to, wanna:want to, gotta:have to, gimme:give me, lemme:let me, dunno:don't know, kinda:rather, cuz:because, "+
		"coz:because, yep:yes, yeah:yes, yup:yes, yea:yes, nope:no, nah:no, ok:okay, somthing:something, anythin:anything", ", ") {
		short, long, _ := strings.Cut(pair, ":")
		all[short] = long
	}
	return all
}()

// ambiguousForms are forms that are other words, too: they count only where the word behind them cannot follow the
// other.
var ambiguousForms = map[string]*lazyregexp.Regexp{
	"ill": lazyregexp.New(`(?i)^(?:be|go|take|do|have|come|bring|help|try|buy|pay|wait|walk|get|give|tell|see|ask)\b`),
	"id":  lazyregexp.New(`(?i)^(?:like|love|rather|be|have|say)\b`),
	"r":   lazyregexp.New(`(?i)^(?:u|you|they|we|these|those|there|the)\b`), "ya": lazyregexp.New(`.`),
	"ye": lazyregexp.New(`.`), "art": lazyregexp.New(`(?i)^(?:thou|you)\b`),
	"hes": lazyregexp.New(`.`), "lets": lazyregexp.New(`(?i)^(?:go|see|talk|look|take|try|sit|eat|drink)\b`),
}

// chatter matches words that only tell a mood, and emoticons.
var chatter = lazyregexp.New(`(?i)(?:^|[ ,]+)(?:lol|rofl|lmao|(?:ha ?){2,}h?|(?:he){2,}|xd|:-?[)(DPp]|;-?\)|` +
	`<3)(?:$|[ ,.!?]+)`)

// unasked are questions in an order of words that English has not, or has for statements, and their usual order.
var unasked = []struct {
	form  *lazyregexp.Regexp
	usual string
}{
	{lazyregexp.New(`(?i)^(who|whom|what|where|why|how(?: (?:much|many|long|far|old)(?: \w+)?)?|which \w+) (i|` +
		`you|he|she|it|we|they) ` +
		`(am|are|is|was|were|can|could|will|would|must|should|do|did|does)\b(.*)$`), "$1 $3 $2$4"},
	{lazyregexp.New(`(?i)^(what|where|why|how(?: (?:much|many|long|far)(?: \w+)?)?|which \w+) (i|you|we|` +
		`they) (have|need|want|carry|go|see|sell|get|know|think|` +
		`live|work|sit|not)\b(.*)$`), "$1 do $2 $3$4"},
	{lazyregexp.New(`(?i)^(?:how much|what) costs? (?:a |an |the )?(.+?)([?.! ]*)$`), "how much does $1 cost$2"},
	{lazyregexp.New(`(?i)^how much (?:does )?((?:a |an |the |` +
		`your )?[\w' ]+?) costs?([?.! ]*)$`), "how much does $1 cost$2"},
	{lazyregexp.New(`(?i)^((?:the |my |your )?[\pL'-]+(?: [\pL'-]+)?) (where|what|who) (is|` +
		`are)([?.! ]*)$`), "$2 $3 $1$4"},
	{lazyregexp.New(`(?i)^((?:the |this |that )?(?:[\pL'-]+ )?[\pL'-]+) (is|are|was|` +
		`were) ([^?]+)\?+$`), "$2 $1 $3?"},
}

// inverted matches the beginnings of questions that have their usual order.
var inverted = lazyregexp.New(`(?i)^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|who|` +
	`whom|whose|what|where|why|when|how|which|and|but|so|` +
	`if|you|i|there|it|that|this|well|any|\w+,)\b`)

// reorderQuestion returns a question in the usual order of words: where i am, why you not pay, the crab is asleep?
func reorderQuestion(text string) string {
	if lead, rest, ok := strings.Cut(text, ", "); ok && len(strings.Fields(lead)) < 4 {
		return lead + ", " + reorderQuestion(rest)
	}
	for n, u := range unasked {
		if n == len(unasked)-1 && inverted.MatchString(text) {
			continue
		}
		if u.form.MatchString(text) {
			return u.form.ReplaceAllString(text, u.usual)
		}
	}
	return text
}

// addressed matches a form of address at the end of words, in front of their mark.
var addressed = lazyregexp.New(`(?i)^(.*[^,]),? (?:sir|ma'am|monsieur|madame|mademoiselle|miss|mister|mate|my (?:friend|dear)|` +
	`good (?:sir|man|woman)|pal|buddy|m'lady|milady|my (?:lord|lady))([?.!]*)$`)

// cutAddressed cuts off a form of address at the end, unless it is a name: talk to the miss.
func cutAddressed(text string) string {
	m := addressed.FindStringSubmatch(text)
	if m == nil || len(strings.Fields(m[1])) < 2 {
		return text
	}
	before := strings.Fields(m[1])
	if last := lex(before[len(before)-1]); len(last) > 0 &&
		(last[0].is(articleClass|prepositionClass) || last[0].oneOf("old", "young", "my", "your")) {
		return text
	}
	return m[1] + m[2]
}

// plainWords finds the words of a text.
var plainWords = lazyregexp.New(`'?[\pL][\pL'’]*`)

// closerLook matches the wish to look at something.
var closerLook = lazyregexp.New(`(?i)^i(?:'d| would) (?:like|love|want) (?:to (?:have|take|get) )?(?:an? )?` +
	`(?:closer |good |better |quick |proper )?look at `)

// Plain returns a text with the plain forms of old, short and sloppy words: hast thou, im, thx. Words in quotation
// marks and names stay as they are.
func Plain(text string) string {
	if strings.ContainsAny(text, `"“«`) {
		return text
	}
	if cut := strings.TrimSpace(chatter.ReplaceAllString(text, " ")); cut != "" {
		text = cut
	}
	text = closerLook.ReplaceAllString(strings.ReplaceAll(text, "; ", ". "), "look at ")
	at := plainWords.FindAllStringIndex(text, -1)
	var b strings.Builder
	from := 0
	for n, m := range at {
		typed := text[m[0]:m[1]]
		fold := strings.ToLower(strings.ReplaceAll(typed, "’", "'"))
		long := plainForms[fold]
		if fold == "art" {
			long = "are"
		}
		if long == "" || n > 0 && typed != fold && typed != strings.ToUpper(typed) {
			continue
		}
		if only := ambiguousForms[fold]; only != nil && !only.MatchString(strings.TrimLeft(text[m[1]:], " ")) {
			continue
		}
		b.WriteString(text[from:m[0]] + long)
		from = m[1]
	}
	text = b.String() + text[from:]
	if strings.Contains(text, "\n") {
		return text
	}
	var list []string
	for s := range meaning.Sentences(text) {
		list = append(list, reorderQuestion(cutAddressed(s)))
	}
	return strings.Join(list, " ")
}

// statementSubjects are words that begin a statement and no order.
var statementSubjects = strings.Fields(
	"he she it they this that these those there nobody everybody everyone somebody someone " +
		"nothing something everything it's that's he's she's they're there's you you're you've you'd you'll my your his her their our its here's " +
		"we're people",
)

// statesOfOneself matches statements of the player about itself, which are no acts.
var statesOfOneself = lazyregexp.New(`(?i)^(?:(?:i|we)(?:'m| am|'re| are) (?:\w+ly |so |very |too |not |` +
	`just |only |still |also |really |quite |such |a |an |the |all |no |in |from |` +
	`at |on )*(\w+)\b|(?:i|we) (?:have|had|was|were|did|do not|don't|didn't|can't|cannot|could not|couldn't|won't|` +
	`wouldn't|know|knew|think|` +
	`thought|believe|lied|never|always|only|love|like|hate|heard|saw|found|lost|feel|felt|hope|suppose|guess|mean|` +
	`meant|promise|` +
	`swear|agree|understand|see|remember|forgot|owe|prefer|doubt|come from|came|promised|told|wonder|brought|bet|` +
	`miss|care|wish|seem)\b|(?:i|we)(?:'ve|'d rather) )`)

// IsStatement reports whether a text states something, which is said to somebody, and is no order: you look tired, that
// is not much, I have walked all day.
func IsStatement(text string) bool {
	text = strings.TrimSpace(text)
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(text, "’", "'")))
	if len(words) < 2 || strings.HasSuffix(text, "?") {
		return false
	}
	first, second := strings.Trim(words[0], ",.!"), strings.Trim(words[1], ",.!")
	if first == "you" || first == "you're" || first == "your" {
		return slices.ContainsFunc(words[1:], isFinite) || first != "you" || !HasCommand(text)
	}
	if m := statesOfOneself.FindStringSubmatch(text); m != nil {
		return (!strings.HasSuffix(m[1], "ing") || !HasCommand(text)) && (!mayOrder.MatchString(text) || !orders(text))
	}
	if len(words) == 2 && (second == "one" || second == "ones") {
		return false
	}
	if slices.Contains(statementSubjects, first) {
		return strings.Contains(first, "'") || slices.ContainsFunc(words[1:], isFinite)
	}
	if first == "the" || first == "a" || first == "an" {
		return slices.ContainsFunc(words[1:], isFinite) && !HasCommand(text)
	}
	return false
}

// mayOrder matches statements about oneself that may be acts: I have a look, I see to the fire.
var mayOrder = lazyregexp.New(`(?i)^(?:i|we) (?:(?:have|had) (?:to|a|an|some|another)\b|(?:like|love|prefer|` +
	`mean|feel|see|remember|find|only|` +
	`just|always) \w+)`)

// orders reports whether the grammar reads a text about oneself as an act: I have the lamp in mind, I like to order
// beer.
func orders(text string) bool {
	p := Parse(text)
	return len(p.Intents) > 0 && !p.NeedsClarification && p.Intents[0].Verb != Talk
}

// isFinite reports whether a word is a form of a verb that makes a sentence of a subject.
func isFinite(w string) bool {
	w = strings.Trim(w, ",.!;:")
	switch w {
	case "is",
		"are",
		"was",
		"were",
		"has",
		"have",
		"had",
		"does",
		"do",
		"did",
		"will",
		"would",
		"can",
		"could",
		"should",
		"must",
		"may",
		"might",
		"isn't",
		"aren't",
		"wasn't",
		"don't",
		"doesn't",
		"won't",
		"can't",
		"look",
		"seem",
		"sound",
		"smell",
		"talk",
		"said",
		"told",
		"know",
		"never",
		"hasn't",
		"owe",
		"need",
		"want":
		return true
	}
	base := meaning.Lemma(w, meaning.Verb)
	return base != "" && base != w && !strings.HasSuffix(w, "ing") && meaning.Lemma(w, meaning.Adjective) == "" &&
		(strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "s") && meaning.Lemma(w, meaning.Noun) == "" ||
			strings.HasSuffix(w, "s") && w == base+"s")
}

// courteousLead matches the beginning of courtesies and of short answers.
var courteousLead = lazyregexp.New(`(?i)^(?:oh |ah |well |and |but |so |many |my )*(?:thanks?|thank you|` +
	`hello|hi|hey|good (?:morning|day|` +
	`evening|night|afternoon)|morning|evening|afternoon|goodnight|good ?bye|bye|farewell|see you|so long|` +
	`i am sorry|i'm sorry|` +
	`sorry|pardon|excuse me|greetings|cheers|yes|no|maybe|perhaps|okay|sure|gladly|certainly|absolutely|indeed|` +
	`really|never ?mind|` +
	`deal|agreed|later|huh|why|right|true|of course|i see|i understand|not (?:now|yet|today|really|at all|for me)|` +
	`all ?right|very well|fine|` +
	`well met|nice to meet|pleased to meet|a pleasure|with pleasure|take care|sleep well|good luck|bless|please|` +
	`both|help|wow|goodness|` +
	`apologies|ouch|alas|hm+|oh|ah|aha|oops|damn|ugh|hooray|hurrah|yay|boo|if i must|another time|some other time|` +
	`what|who knows|and|so|go on|how (?:are you|do you do))\b`)

// courteousWords are words that may follow.
var courteousWords = strings.Fields(
	"you thank thanks very much a lot many kindly so good to meet me i am i'm the my for now then again sorry " +
		"there all everyone everybody friends folks friend sir madam monsieur madame mademoiselle ma'am mam miss mister lady ladies gentlemen gents mate dear people " +
		"be it is with that this later soon another time today not yet mind just too sleep well luck great here both of " +
		"next care don't worry god your in on do will would love way no yes only must think hello hi hey bye goodbye goodnight " +
		"tomorrow moment minute little while day night evening morning afternoon please again met nice course ever really indeed can't",
)

// IsCourtesy reports whether a text is nothing but a courtesy or a short answer: good evening all, thanks a lot,
// not now.
func IsCourtesy(text string) bool {
	text = strings.TrimSpace(text)
	lead := courteousLead.FindString(text)
	rest := lex(text[len(lead):])
	switch first, _, _ := strings.Cut(strings.ToLower(lead), " "); {
	case lead == "" || len(rest) > 10:
		return false
	case strings.HasSuffix(text, "?") && first != "how":
		return !slices.ContainsFunc(
			rest,
			func(w word) bool { return w.kind == plainWord && w.fold != "so" && w.fold != "not" },
		)
	case slices.Contains([]string{"what", "and", "so", "why"}, strings.ToLower(lead)):
		return !slices.ContainsFunc(rest, func(w word) bool { return w.kind == plainWord })
	}
	return !slices.ContainsFunc(rest, func(w word) bool {
		return w.kind == quoted || w.kind == plainWord && !slices.Contains(courteousWords, w.fold)
	})
}
