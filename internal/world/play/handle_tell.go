package play

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// handlingTexts has the texts of the outcomes of acts on things, by their name and effect: {o} is the thing, {t} the
// other thing, {w} words, {is}, {has} and {s} agree with the thing; {O} and {T} begin a sentence.
var handlingTexts = map[string][]string{
	"open":        {"You open {o}.", "{O} open{s} with a creak.", "You get {o} open."},
	"open with":   {"You open {o} with {t}."},
	"open way":    {"You open {o}. The way {d} is open."},
	"close":       {"You shut {o}.", "{O} close{s} with a thump.", "You press {o} shut."},
	"lock with":   {"You lock {o} with {t}."},
	"unlock with": {"You unlock {o} with {t}."},
	"light": {
		"You light {o}. The flame takes.",
		"You get a spark to {o}, and it catches.",
		"{O} catch{es}, and the dark steps back a little.",
	},
	"light with": {"You light {o} with {t}.", "You hold {t} to {o}, and the flame takes."},
	"extinguish": {
		"You put {o} out. A thread of smoke goes up.",
		"{O} go{es} out.",
		"It is darker: {o} {is} out.",
	},
	"extinguish with": {"You put {o} out with {t}."},
	"burn": {
		"You hold {o} to a flame until the edges blacken.",
		"{O} smoke{s} and blacken{s}, and you beat out the flames.",
	},
	"burn with":   {"You burn {o} with {t}, until the edges blacken."},
	"burn failed": {"{O} smoke{s}, and will not catch.", "You do not get {o} to burn."},
	"break": {
		"{O} break{s} under your hands.",
		"You bring your weight down on {o}, and something gives.",
		"There is a crack, and {o} {is} broken.",
	},
	"break with": {
		"You strike {o} with {t}, and there is a crack: {o} {is} broken.",
		"{T} come{ts} down on {o}, which break{s}.",
		"It takes three blows with {t} to break {o}.",
	},
	"break failed": {
		"You set your strength against {o}, and {o} hold{s}.",
		"{O} shake{s}, and do{es} not break.",
		"You hurt your hand on {o}, and that is all.",
	},
	"tear":        {"{O} tear{s} with a long, dry sound.", "You tear {o} from one end to the other."},
	"tear failed": {"{O} stretch{es}, and do{es} not tear.", "You pull at {o} with both hands, and {o} hold{s}."},
	"cut": {
		"You cut {o} with {t}.",
		"{T} go{tes} through {o}.",
		"You saw at {o} with {t} until it parts.",
	},
	"clean": {
		"You clean {o}. It was time that somebody did.",
		"You rub at {o} until the dirt is gone.",
		"{O} come{s} up cleaner than you had thought.",
	},
	"clean with": {"You clean {o} with {t}."},
	"fix": {
		"You put {o} to rights. The mend shows, and holds.",
		"It takes patience, and then {o} {is} whole again.",
	},
	"fix with": {"You put {o} to rights with {t}."},
	"fix failed": {
		"You try to put {o} together again, and the pieces will not have it.",
		"You do not find how {o} should go together.",
	},
	"ring": {
		"You ring {o}. The note goes out, and takes its time to come back.",
		"{O} ring{s} out, and a head or two turns.",
		"One clear stroke of {o}, and then the silence after it.",
	},
	"ring with": {"You strike {o} with {t}, and it rings out."},
	"play": {
		"You play {o}. It is a tune, more or less.",
		"You try {o} and find three notes that agree.",
		"You play {o} until somebody coughs.",
	},
	"knock": {
		"You knock on {o}, and wait. Nobody comes.",
		"Your knuckles on {o}: a dull sound, and nothing after it.",
		"You rap on {o} twice.",
	},
	"turn": {
		"You turn {o} as far as it will go.",
		"{O} turn{s} with a groan.",
		"You set your hand to {o}, and turn.",
	},
	"turn with":    {"You turn {o} with {t}."},
	"turn light":   {"You turn {o} over in your hands. {about}"},
	"turn massive": {"Nobody turns {o}.", "You lean against {o}, which take{s} no notice."},
	"turn failed":  {"{O} will not turn.", "You wrench at {o}, in vain."},
	"push": {
		"You put your shoulder to {o}, and move it a hand's breadth.",
		"{O} give{s} way with a scrape, and stand{s} otherwise than before.",
		"You shift {o} a little.",
	},
	"push with":    {"You shift {o} with {t}."},
	"push light":   {"You lift {o} and weigh it in your hands. {about}", "You move {o} a little to the side."},
	"push soft":    {"You lift a corner of {o}, and let it fall again.", "You lift {o} a little way."},
	"push pull":    {"You pull at {o}. It gives a little, and then it holds.", "You give {o} a good pull."},
	"push massive": {"{O} {is} not for moving.", "You push, and it is you that moves: {o} stay{s} where it was."},
	"push failed":  {"{O} do{es} not budge.", "You strain at {o} until you see stars. It has not moved."},
	"hold up":      {"You hold {o} up {w} and look. {about}"},
	"shake":        {"You shake {o}. {about}", "You shake {o} by your ear. {about}"},
	"shake fixed":  {"You shake {o}. It hardly stirs."},
	"tie":          {"You tie {o} fast.", "You knot {o}, and pull: it holds."},
	"untie":        {"You work at the knot until {o} {is} loose.", "You untie {o}."},
	"untie from":   {"You untie {o} from {t}."},
	"write":        {"You write “{w}” on {o}.", "In your best hand you put “{w}” on {o}.", "“{w}”, says {o} now."},
	"fill":         {"You fill {o} with {w}.", "You dip {o}, and it fills with {w}."},
	"pour":         {"You empty {o}.", "You turn {o} over, and the last drop runs out."},
	"pour on":      {"You empty {o} over {t}."},
	"wet":          {"You dip {o}, and it comes up dripping.", "You get {o} wet through."},
	"put in":       {"You put {o} into {t}."},
	"put on":       {"You put {o} on {t}."},
	"put under":    {"You put {o} under {t}, out of sight."},
	"put behind":   {"You put {o} behind {t}, out of sight."},
	"put beside":   {"You put {o} beside {t}."},
	"put before":   {"You put {o} in front of {t}."},
	"put tied":     {"You tie {o} to {t}. The knot holds."},
	"put fire": {
		"You throw {o} into {t}. It is thrown back at you by the heat, scorched.",
		"{O} lie{s} in {t} for a breath, and you think better of it: scorched, but whole.",
	},
	"wear": {
		"You put {o} on.",
		"You put {o} on, and turn once to see how it sits.",
		"{O} fit{s} well enough.",
	},
	"take off": {"You take {o} off."},
	"eat": {
		"You eat {o}, down to the last crumb.",
		"{O} {is} gone in a few bites, and you feel the better for it.",
	},
	"eat some":   {"You eat a little of {o}.", "You take a bite of {o}."},
	"drink":      {"You drink {o}, and wipe your mouth.", "{O} go{es} down in one."},
	"drink some": {"You drink a little of {o}.", "You take a mouthful of {o}."},
	"drink of":   {"You drink from {o}.", "You put {o} to your lips, and drink."},
	"sit here": {
		"You {w} where you are.",
		"You find a spot, and {w}.",
		"You {w} for a moment, and look about you.",
	},
	"sit": {"You {w} {o}.", "You {w} {o}, and nobody objects.", "For a while you {w} {o}."},
	"go": {
		"You go up to {o}.", "You go over to {o}.", "A few steps, and you stand before {o}.",
		"You cross over to {o}.", "You make your way to {o}.",
	},
	"go along":   {"You {w} {o}.", "Step by step you {w} {o}.", "You {w} {o}, and take your time."},
	"go already": {"You are at {o} already."},
	"make":       {"You make {o} {w}.", "You make {o} {w}, after a fashion.", "In your hands {o} begin{s} to {w}."},
	"make alive": {
		"You try to make {o} {w}. {O} {is} not in the mood.",
		"You show {o} how to {w}, and get a look for it.",
	},
	"climb": {
		"You {w} {o}. You are still where you were, only with a better view.",
		"You {w} {o}, and stay there for a breath.",
		"With a scramble you {w} {o}. The view is the same, from elsewhere.",
	},
	"climb failed": {"You try to {w} {o}, and slide off.", "You miss your footing: you do not {w} {o} this time."},
	"hide": {
		"You {w} {o}, and hold your breath. Nobody looks your way.",
		"You {w} {o}. From there you see without being seen.",
	},
	"hide failed": {"You {w} {o}, and an elbow still shows.", "You {w} {o}. Somebody looks straight at you."},
	"follow": {
		"You keep close to {o}, who for now goes nowhere.",
		"You dog the steps of {o}. It is a short walk: a few paces there, a few back.",
	},
	"follow sensed": {"You follow it as far as {o}.", "It leads you as far as {o}, and no farther.",
		"You go where it comes from: {o}."},
	"follow thing": {"{O} {is} going nowhere, and so, for the moment, are you."},
	"wait":         {"You wait {span}. It is {time} now.", "You let {span} go by. It is {time}."},
	"wait here":    {"{O} {is} here already. You wait a moment all the same."},
	"wait vain": {
		"You wait {span} for {o}, in vain. It is {time} now.",
		"You wait {span}, and no sign of {o}.",
	},
	"wait thing": {"You wait {span} beside {o}. It is {time} now."},
	"dig": {
		"You dig at {o}, and turn up nothing but more of the same.",
		"You dig until your hands are black. There is nothing under {o}.",
	},
	"dig with":   {"You dig at {o} with {t}, and turn up nothing but more of the same."},
	"dig failed": {"{O} {is} too hard to dig in with your hands.", "You scrape at {o}, and get nowhere."},
	"swim": {
		"You swim out a little way, and come back dripping and awake.",
		"You go in up to the neck, take a few strokes, and come out where you went in.",
	},
	"swim into": {
		"There is a splash. {O} {is} cold, and you come out where you went in, dripping.",
		"You are in {o} up to the knees, and then up to the neck, and then out again, dripping and awake.",
	},
	"swim failed": {
		"You go in, and come out again faster: the water is in no mood for you.",
		"You swallow more of the water than you swim through, and are glad of the edge.",
	},
	"throw": {
		"You throw {o} at {t}. It glances off.",
		"{O} strike{s} {t} and drop{s}.",
		"You let fly with {o}. {T} {tis} none the worse for it.",
	},
	"throw water": {
		"You throw {o} into {t}. There is a splash, and a little later {o} wash{es} up at your feet.",
	},
	"hit": {
		"You strike {o}. It hurts you more.",
		"A dull thud: {o} take{s} no notice.",
		"You hit {o}, and nothing gives.",
	},
	"hit water":    {"There is a splash, and {o} close{s} over it.", "Drops fly. {O} settle{s} again."},
	"reach":        {"You {w} {o}. {found}"},
	"reach touch":  {"You {w} {o}. {sense}"},
	"reach listen": {"You {w} {o}. {sense}"},
	"reach smell":  {"You {w} {o}. {sense}"},
	"reach taste":  {"You {w} {o}. {sense}"},
	"hit with": {
		"You strike {o} with {t}. A dull sound, and no more.",
		"{T} strike{ts} {o} and spring{ts} back.",
		"You hit {o} with {t}, and nothing gives.",
	},
	"wake":        {"{O} stir{s}, and settle{s} again.", "You nudge {o}. One eye opens, and shuts."},
	"wake person": {"{O} look{s} at you, wide awake.", "You shake {o} by the shoulder, and get a look for it."},
	"wake thing":  {"Nothing wakes {o}."},
	"look":        {"You look {w} {o}. {found}"},
	"show": {
		"You show {o} to {t}, who looks, and nods.",
		"You hold {o} out to {t}, who gives it a long look and you another.",
		"{T} looks at {o}, and then at you.",
	},
	"show answer":  {"You show {o} to {t}. {w}"},
	"smell place":  {"You sniff the air. {sense}"},
	"taste place":  {"You taste the air. {sense}"},
	"touch place":  {"You put out your hand. {sense}"},
	"listen place": {"You listen. {sense}"},
	"smell":        {"You smell {o}. {sense}"},
	"taste":        {"You put your tongue to {o}. {sense}"},
	"touch":        {"You touch {o}. {sense}"},
	"touch alive":  {"You {w} {o}, who lets you.", "You {w} {o}, and {o} lets you.", "You {w} {o} for a while."},
	"warm": {
		"You warm yourself at {o}.",
		"You hold your hands out to {o}, and are warm.",
		"{O} {is} warm, and soon so are you.",
	},
	"warm self": {"You rub your hands until they are warm.", "You blow into your hands. It helps a little."},
	"listen":    {"You listen to {o}. {sense}"},
}

// senseWords are words of sentences about the perceptions of a sense.
var senseWords = map[string][]string{
	"smell": strings.Fields(
		"smell smells smelling scent reek reeks stink stinks odour fragrance perfume pine tar smoke rot incense lavender",
	),
	"taste": strings.Fields("taste tastes tasting salt salty sweet bitter sour flavour tongue eat drink beer bread"),
	"touch": strings.Fields(
		"warm cold cool hot wet dry smooth rough soft hard sharp damp worn polished sticky heat touch feel feels",
	),
	"listen": strings.Fields(
		"sound sounds hum hums ring rings creak creaks creaking note noise sing sings tick ticks silence silent quiet voice voices hear heard call calls scream slaps tried drip drips hammering bell whisper rattle",
	),
}

// dull are the texts of a sense that no text tells of.
var dull = map[string][]string{
	"smell": {
		"{O} smell{s} as you would expect, only more so.",
		"There is hardly any smell to {o}.",
		"Dust, mostly.",
	},
	"taste": {
		"{O} taste{s} of very little.",
		"It is an acquired taste, and you have not acquired it.",
		"You will remember not to do that again.",
	},
	"touch": {
		"{O} feel{s} as you would expect.",
		"{O} {is} cool under your fingers.",
		"{O} {is} rougher than you had thought.",
	},
	"listen": {"{O} keep{s} quiet.", "Not a sound.", "You hear your own breath, and little else."},
}

// tellHandling narrates the outcome of an act on a thing.
func (m narrator) tellHandling(ctx context.Context, d world.Action) (string, error) {
	t := d.Handling
	key := strings.TrimSpace(t.Act + " " + t.Effect)
	if t.Act == "put" && t.Effect == "" {
		key = "put " + t.Words
	}
	list := handlingTexts[key]
	if len(list) == 0 {
		list = handlingTexts[t.Act]
	}
	if len(list) == 0 {
		list = []string{"You " + d.Detail + "."}
	}
	text := list[d.Line%len(list)]
	for mark, read := range map[string]func() (string, error){
		"{about}": func() (string, error) { return m.firstSentence(ctx, d) },
		"{found}": func() (string, error) { return m.tellFound(ctx, d) },
		"{sense}": func() (string, error) { return m.tellSense(ctx, d) },
		"{span}":  func() (string, error) { return world.FormatDuration(d.DurationMs), nil },
		"{time}":  func() (string, error) { return world.TimeOfDay(d.Clock), nil },
		"{d}":     func() (string, error) { return d.Direction.Phrase(), nil },
	} {
		if !strings.Contains(text, mark) {
			continue
		}
		value, err := read()
		if err != nil {
			return "", err
		}
		text = strings.ReplaceAll(text, mark, value)
	}
	text = strings.TrimSpace(fillIn(text, *t))
	more, err := m.tellForetold(ctx, d)
	if text = strings.TrimSpace(text + " " + more); err != nil {
		return "", err
	}
	if t.Act == "wait" && world.FormatDuration(d.DurationMs) != world.FormatDuration(d.DurationMs+d.CutMs) {
		text += " " + tooLong
	}
	return text, nil
}

// fillIn puts the things of a handling into a text.
func fillIn(text string, t world.Handling) string {
	many, others := world.IsAre(t.Thing) == "are", world.IsAre(t.Other) == "are"
	pick := func(many bool, plural, singular string) string {
		if many {
			return plural
		}
		return singular
	}
	return strings.NewReplacer("{o}", t.Thing, "{O}", capitalize(t.Thing), "{t}", t.Other, "{T}", capitalize(t.Other),
		"{w}", t.Words,
		"{is}", pick(many, "are", "is"), "{has}", pick(many, "have", "has"), "{s}", pick(many, "", "s"), "{es}",
		pick(many, "", "es"),
		"{ts}", pick(others, "", "s"), "{tis}", pick(others, "are", "is"), "{tes}", pick(others, "", "es")).Replace(text)
}

// textsAbout returns the texts about the thing of an act: that of its card, or the sentence of the place that names it.
func (m narrator) textsAbout(ctx context.Context, d world.Action) (list []string, err error) {
	if len(d.Objects) > 0 {
		t, ok, err := m.CardByID(ctx, d.Objects[0].ID)
		if err != nil || !ok {
			return nil, err
		}
		text, err := m.ReadText(ctx, t)
		return []string{text}, err
	}
	at, ok, err := m.FindAtLink(ctx, d.PlayerID)
	if err != nil || !ok {
		return nil, err
	}
	of := at.To
	if d.Target != nil {
		of = d.Target.ID
	}
	card, ok, err := m.CardByID(ctx, of)
	if err != nil || !ok {
		return nil, err
	}
	all, err := passagesAt(ctx, m.AsOf, card)
	if d.Handling.Effect != "place" {
		for _, near := range nearnesses {
			if r := findMention(all, strings.TrimPrefix(d.Handling.Thing, "the "), near); r.isMentioned() {
				return []string{r.mention.Sentence}, err
			}
		}
		return nil, err
	}
	for _, p := range slices.Backward(all) {
		list = append(list, p.text)
	}
	return list, err
}

// firstSentence returns the first sentence of the text about the thing of an act.
func (m narrator) firstSentence(ctx context.Context, d world.Action) (string, error) {
	list, err := m.textsAbout(ctx, d)
	if err != nil {
		return "", err
	}
	known, err := m.sentencesNaming(ctx, d)
	for _, text := range list {
		for sentence := range meaning.Sentences(markup.OneLine(text)) {
			if slices.Contains(known, sentence) {
				return "", err // the place has told it
			}
			return sentence, err
		}
	}
	return "", err
}

// tellFound tells of the things that a look under, behind or into a thing finds.
func (m narrator) tellFound(ctx context.Context, d world.Action) (string, error) {
	if len(d.Objects) > 0 {
		t, ok, err := m.CardByID(ctx, d.Objects[0].ID)
		if err != nil || !ok {
			return "", err
		}
		how := lastWord(d.Handling.Words)
		how = cmp.Or(putWords[how], how)
		inside, err := m.tellContents(ctx, t, how)
		if err != nil {
			return "", err
		}
		traces, err := readTrace(ctx, m.AsOf, t.ID)
		if err != nil {
			return "", err
		}
		for _, sentence := range traces {
			if aspectOf(sentence) == "filling" && how == "in" {
				inside = strings.TrimSpace(sentence + " " + inside)
			}
		}
		if inside != "" {
			return inside, nil
		}
	}
	texts := []string{"There is nothing.", "Nothing but dust.", "Nothing that anybody would want.",
		"You find nothing there.",
		"Empty.", "If there was ever anything, it is gone."}
	if len(nounsOf(d.Handling.Thing)) > 0 && (subject{nouns: nounsOf(d.Handling.Thing)}).isKind(append([]string{"well",
		"puddle"}, liquid...)...) {
		texts = []string{"Only water.", "Your own face looks back at you.", "It is too dark down there to see the bottom."}
	}
	if slices.Contains(nounsOf(d.Handling.Thing), "fire") {
		texts = []string{"It is hot, and you draw back.", "Embers, and too much heat to look for more."}
	}
	return texts[d.Line%len(texts)], nil
}

// sentencesNaming returns the sentences of the texts at the place that name the thing of an act.
func (m narrator) sentencesNaming(ctx context.Context, d world.Action) (list []string, err error) {
	at, ok, err := m.FindAtLink(ctx, d.PlayerID)
	if err != nil || !ok || d.Handling.Effect == "place" {
		return nil, err
	}
	place, ok, err := m.CardByID(ctx, at.To)
	if err != nil || !ok {
		return nil, err
	}
	all, err := passagesAt(ctx, m.AsOf, place)
	for _, p := range all {
		for sentence := range meaning.Sentences(markup.OneLine(p.text)) {
			if _, ok := command.ReadProse(sentence).Find(strings.TrimPrefix(d.Handling.Thing, "the "), command.SameWords); ok {
				list = append(list, sentence)
			}
		}
	}
	return list, err
}

// tellForetold returns the sentence of the place that names the thing and tells of the act upon it: tilting it to
// the lamp you may read a line.
func (m narrator) tellForetold(ctx context.Context, d world.Action) (string, error) {
	verb, _, _ := strings.Cut(d.Detail, " ")
	if d.Handling.Thing == "" || d.Effect == "failed" || len(senseWords[d.Handling.Act]) > 0 {
		return "", nil
	}
	list, err := m.sentencesNaming(ctx, d)
	for _, sentence := range list {
		if slices.ContainsFunc(command.BareWords(sentence), func(w string) bool {
			return strings.HasSuffix(w, "ing") && meaning.Lemma(w, meaning.Verb) == verb
		}) {
			return sentence, err
		}
	}
	return "", err
}

// tellSense returns the sentence about a thing that tells of a sense.
func (m narrator) tellSense(ctx context.Context, d world.Action) (string, error) {
	sense := d.Handling.Act
	if sense == "reach" {
		sense = d.Handling.Effect
	}
	list, err := m.textsAbout(ctx, d)
	if err != nil {
		return "", err
	}
	more, err := m.sentencesNaming(ctx, d)
	if err != nil {
		return "", err
	}
	for _, text := range append(list, more...) {
		for sentence := range meaning.Sentences(markup.OneLine(text)) {
			if slices.ContainsFunc(command.BareWords(sentence), func(w string) bool {
				return slices.Contains(senseWords[sense], w)
			}) {
				return sentence, nil
			}
		}
	}
	if d.Handling.Effect == "place" && len(list) > 1 {
		return list[0], nil
	}
	if d.Handling.Effect == "place" {
		return "There is nothing out of the ordinary.", nil
	}
	texts := dull[sense]
	return texts[d.Line%len(texts)], nil
}
