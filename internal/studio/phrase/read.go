package phrase

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Act is a call of a tool that the words ask for.
type Act struct {
	Tool   string
	Target string // engine or "" if the words name none
	With   map[string]any
	// Place is the card that a generate_scene names, and Words the rest of its description. In an
	// export_asset or render_preview, Place and Words name a scene that must be built first.
	Place, Words string
	Assumed      []string
}

// Ask is a question about something that the words leave open or that no tool can do.
type Ask struct {
	About string // one of the constants
	Text  string
}

// The topics of an Ask.
const (
	AboutTask  = "task"
	AboutScene = "scene"
)

// Reading is a parsed request.
type Reading struct {
	Acts    []Act
	DryRun  bool // nothing may be applied
	Replace bool // the scene is emptied first
	Engine  string
	Target  string
	Seed    int64
	Asks    []Ask
	Ignored []string // parts of the request that no act carries out
	Unsure  bool     // an act is guessed, or a part that may ask for one was not understood

	text   string
	place  []token  // the last place that a clause without an act names, with its time of day
	labels []string // the names of the objects that a clause adds
	rules  []string // sentences of behaviour
	script string   // name of the script
}

// Parse parses a request. Names are the places that it names, by their position.
func Parse(text string, names []Name) Reading {
	r := Reading{text: text}
	tokens := dropParts(tokenize(text, names))
	tokens = r.readBehaviour(tokens)
	tokens = r.removeModes(r.readFrames(activate(tokens)))
	for _, c := range splitClauses(tokens) {
		r.readClause(c)
	}
	if len(r.rules) > 0 {
		with := map[string]any{"logic_description": strings.Join(r.rules, ". ")}
		if r.script != "" {
			with["name"] = r.script
		}
		r.Acts = append(r.Acts, Act{Tool: "generate_blueprint", With: with})
	}
	return r
}

// ask adds a question.
func (r *Reading) ask(about, format string, args ...any) {
	r.Asks = append(r.Asks, Ask{about, fmt.Sprintf(format, args...)})
}

// readClause adds the act of a clause.
func (r *Reading) readClause(c clause) {
	in := c.tokens
	if r.amend(in) {
		return
	}
	if c.negated || firstContent(in) == len(in) && !anyHas(in, "pron") {
		return
	}
	if i := slices.IndexFunc(in, func(t token) bool { return t.low == "godot" || t.low == "unreal" }); i >= 0 {
		r.Engine = in[i].low
	}
	at := firstVerb(in)
	verb, rest := "", in
	if at >= 0 {
		verb = cmp.Or(in[at].is["verb"], "build")
		rest = slices.Concat(in[:at], in[at+1:])
		if at == firstContent(in) {
			rest = in[at+1:]
		} else if in[at].has("want") {
			rest = slices.Concat(in[at+1:], in[:at]) // "at 1, 2, 0 I want a cone"
		}
	}
	if at < 0 || in[at].has("want") {
		if done, other := passiveOf(rest); done != "" {
			verb, rest = done, other
		}
	}
	r.readVerb(verb, rest, in)
}

// readVerb adds the act of a verb.
func (r *Reading) readVerb(verb string, rest, in []token) {
	head, _ := headNoun(rest)
	wanted := len(in) > 0 && (verb == "" || in[firstContent(in)%len(in)].has("want"))
	texture := slices.IndexFunc(rest, func(t token) bool { return t.is["noun"] == "texture" }) >= 0
	named := slices.ContainsFunc(in, func(t token) bool { return t.kind == kindName })
	switch {
	case named && anyHas(in, "visit"):
		r.readScene(slices.DeleteFunc(slices.Clone(rest), func(t token) bool { return t.hasAny("visit", "want") }))
	case verb == "add" && r.place != nil && !named && anyHas(rest, "pron") && objectType(head) == "" &&
		!anyHas(rest, "material"):
		in, r.place = r.place, nil
		r.readScene(in)
	case (verb == "" || verb == "build") && anyHas(in, "object") && isSurface(in):
		r.readTexture("paint", in)
	case verb == "add" && named && objectType(head) == "" && !anyHas(rest, "material") && !hasFormat(rest):
		r.readScene(rest)
	case (verb == "" || verb == "build") && isInventory(in):
		r.readList(rest)
	case verb == "light" && (anyPicture(rest) || anyHas(rest, "resolution") || isShot(in, rest)):
		r.readRender(rest)
	case (verb == "" || verb == "build") && !named && anyProfile(in):
		r.readProfile(rest)
	case verb == "light":
		if !r.readUnknown(in) {
			r.addIgnored(in)
		}
	case verb == "build" && isCausative(rest):
		r.ask(AboutTask, "%q is not supported: no tool has a thing act. Behaviour is written as \"when …, …\".", r.spanOf(in))
	case verb == "build" && len(rest) > 2 && isSurface(rest) && isCapital(rest[0].text):
		r.readTexture("paint", rest)
	case verb == "fill" && isCapital(filling(rest)):
		r.readScatter(rest)
	case verb == "fill" || (verb == "no" || verb == "run") && in[0].low == "i":
		r.Unsure = r.Unsure || verb == "fill"
		r.addIgnored(in)
	case (verb == "no" || verb == "add" && objectType(head) == "") && hasFormat(rest):
		r.readExport(rest)
	case verb == "build" && isRestyle(rest):
		r.readTexture("paint", rest)
	case (verb == "no" || verb == "add" || verb == "") && !named && isToEngine(rest):
		r.readImport(rest)
	case verb == "no" || verb == "run" || verb == "script" || verb == "write" && !hasFormat(rest) &&
		objectType(head) != "text":
		r.ask(AboutTask, "%q is not supported: there is no tool for it. undo_run takes back a run.", r.spanOf(in))
	case (verb == "write" || verb == "") && objectType(head) == "text" && anyQuote(rest):
		r.readObject(rest)
	case verb == "export" || verb == "write" || verb == "build" && len(rest) > 1 && rest[0].has("article") &&
		slices.Contains(foreignFormats, rest[1].low):
		r.readExport(rest)
	case verb == "import":
		r.readImport(rest)
	case verb == "list" || verb == "build" && head.isVerb("list") || verb == "build" && len(rest) > 0 && listed(rest):
		r.readList(rest)
	case verb == "profile" || wanted && verb == "build" && head.isVerb("profile"):
		r.readProfile(rest)
	case verb == "scatter" || verb == "add" && countsName(rest) || verb == "paint" && anyHas(rest, "square") ||
		verb == "" && len(rest) > 2 && rest[0].has("most") && !named ||
		slices.ContainsFunc(rest, func(t token) bool { return t.is["copies"] != "" }):
		r.readScatter(rest)
	case verb == "paint" || (verb == "build" || verb == "add") && (texture || slices.ContainsFunc(rest,
		func(t token) bool { return t.has("look") && !(named && anyHas(rest, "style")) })) ||
		verb == "add" && isPaint(rest) || verb == "" && beginsPaint(rest):
		r.readTexture(verb, rest)
	case isDegree(rest):
		r.ask(AboutTask, "%q does not say what is wanted: name a place, an object, a size or a material.", r.spanOf(in))
	case verb == "render" || (verb == "build" || verb == "") && head.isVerb("render"):
		r.readRender(rest)
	case wanted && namesFormat(rest):
		if len(rest) > 1 && rest[1].hasAny("pron", "det") {
			rest = dropVerb(rest) // "ship it as glb"
		}
		r.readExport(slices.DeleteFunc(slices.Clone(rest), func(t token) bool { return t.has("want") }))
	case objectType(head) != "" && (verb != "" || startsObject(in, head)):
		r.readObject(rest)
	case head.is["noun"] == "terrain" && (verb != "" || hasDimension(rest)), head.has("land") && anyHas(rest, "unit"):
		r.readTerrain(rest)
	case verb == "add" && len(r.Acts) > 0 && r.Acts[len(r.Acts)-1].IsScene() && !anyHas(rest, "pron"):
		last := &r.Acts[len(r.Acts)-1] // "add ten crates"
		last.Words = strings.TrimPrefix(last.Words+", "+r.describe(rest), ", ")
	case verb == "add" && countsNamed(rest):
		r.readScatter(rest)
	case verb == "add":
		r.ask(AboutTask, "No tool adds %q: the objects are %s. To build a place, describe it with build.", r.spanOf(rest),
			strings.Join(objectTypes(), ", "))
	case verb == "build" && namesObject(rest):
		r.ask(AboutTask, "No tool does %q: add_object makes %s, and no tool changes an object but for its surface.",
			r.spanOf(in),
			strings.Join(objectTypes(), ", "))
	case verb == "replace" || verb == "build" && len(rest) > 1 && rest[len(rest)-1].has("colour") &&
		(rest[0].has("det") || rest[0].has("pron")) && !rest[0].has("article"):
		r.ask(AboutTask, "%q is not supported: no tool changes or colours a thing that is there.", r.spanOf(in))
	case wanted && verb == "build" && givesAway(in):
		r.ask(AboutTask, "%q is not supported: no tool changes a thing that is there but for its surface.", r.spanOf(in))
	case verb == "build":
		r.readScene(rest)
	case hasPlaceWords(in):
		r.readScene(in)
	case !r.readUnknown(in):
		if slices.ContainsFunc(in, func(t token) bool { return t.kind == kindName }) {
			r.place = slices.DeleteFunc(slices.Clone(in), func(t token) bool { return t.kind != kindName && !t.has("style") })
		}
		r.Unsure = r.Unsure || hasTrace(in) && !isStatement(in)
		r.addIgnored(in)
	}
}

// isDegree reports whether tokens ask for more or less of a quality: "it more lively".
func isDegree(in []token) bool {
	i := slices.IndexFunc(in, func(t token) bool { return t.has("degree") })
	return i >= 0 && firstContent(in) >= i && i+1 < len(in) && !in[i+1].isNumber()
}

// isToEngine reports whether tokens end with an engine: "it to Godot".
func isToEngine(in []token) bool {
	n := len(in)
	return n > 1 && (in[n-1].low == "godot" || in[n-1].low == "unreal") && in[n-2].has("prep")
}

// countsNamed reports whether tokens put many of a named kind somewhere: "fifty bushes named Bush on Terrain".
func countsNamed(in []token) bool {
	name, _ := nameAfter(in, "named")
	return name != "" && anyHas(in, "onto") && slices.ContainsFunc(in[:min(len(in), 3)], func(t token) bool {
		return t.isNumber() && t.num > 1
	})
}

// startsObject reports whether a clause without a verb names an object that it adds: "a cone at …", "cone at …".
func startsObject(in []token, head token) bool {
	for len(in) > 1 && in[0].kind == kindMark {
		in = in[1:]
	}
	return in[0].has("article") || in[0].isNumber() || head.low == in[0].low
}

// anyQuote reports whether tokens hold a quotation.
func anyQuote(in []token) bool {
	return slices.ContainsFunc(in, func(t token) bool { return t.kind == kindQuote })
}

// anyProfile reports whether a clause is about speed: "what frame rate do we get on level town?".
func anyProfile(in []token) bool {
	return slices.ContainsFunc(in, func(t token) bool { return t.isVerb("profile") && len(t.low) > 2 }) &&
		in[firstContent(in)%len(in)].hasAny("asks", "do", "want", "showing")
}

// isShot reports whether a clause takes a picture with its verb alone: "snap it".
func isShot(in, rest []token) bool {
	return slices.ContainsFunc(in, func(t token) bool {
		return t.low == "snap" || t.low == "shoot" ||
			t.low == "capture"
	}) &&
		(firstContent(rest) == len(rest) || rest[0].has("pron") && rest[firstContent(rest)].has("prep"))
}

// isRestyle reports whether tokens give the thing before a material: "it stone".
func isRestyle(in []token) bool {
	n := len(in)
	return n > 1 && n < 5 && in[0].has("pron") && !in[0].has("det") && in[n-1].has("material")
}

// filling returns the name of the object that a clause fills something with, or "".
func filling(in []token) string {
	i := slices.IndexFunc(in, func(t token) bool { return t.low == "with" || t.is["word"] == "with" })
	if i < 0 || i+1 >= len(in) {
		return ""
	}
	return in[i+1].text
}

// namesFormat reports whether tokens name a format of files.
func namesFormat(in []token) bool {
	return slices.ContainsFunc(in, func(t token) bool { return formats[t.low] != "" })
}

// countsName reports whether tokens put many of a named object somewhere: "20 of Lantern on Terrain".
func countsName(in []token) bool {
	return len(in) > 2 && in[0].isNumber() && in[1].has("prep") && (in[2].kind == kindQuote || in[2].kind == kindWord &&
		isCapital(in[2].text))
}

// givesAway reports whether a clause gives a thing another one: "give the guard a sword".
func givesAway(in []token) bool {
	i := firstContent(in)
	if i >= len(in) || in[i].low != "give" {
		return false
	}
	for k, t := range in[i+1:] {
		switch {
		case k > 0 && t.has("article"):
			return true
		case t.has("prep"), t.has("and"), t.kind == kindMark:
			return false
		}
	}
	return false
}

// addIgnored records a part of the request that no act carries out.
func (r *Reading) addIgnored(in []token) {
	if s := r.spanOf(in); s != "" {
		r.Ignored = append(r.Ignored, s)
	}
}

// objectTypes lists the objects that add_object makes.
func objectTypes() (list []string) {
	for _, n := range valuesOf("noun") {
		if objectType(token{is: classes{"noun": n}}) != "" {
			list = append(list, n)
		}
	}
	return list
}

// isPaint reports whether tokens put a material on an object: "grass on Terrain".
func isPaint(in []token) bool {
	i := firstContent(in)
	return i < len(in) && in[i].has("material") && anyHas(in[i:], "onto")
}

// beginsPaint reports whether a clause without a verb is about a surface: "sand on it", not "a stone circle on a hill".
func beginsPaint(in []token) bool {
	return len(in) > 2 && in[0].has("material") && in[1].has("onto")
}

// namesObject reports whether tokens are about one named object rather than about a place.
func namesObject(in []token) bool {
	for i, t := range in {
		if t.is["object"] == "_" || t.has("named") && !(i+1 < len(in) && in[i+1].kind == kindName) {
			return true
		}
		if objectType(t) != "" && in[0].low == "the" && i+1 < len(in) &&
			in[i+1].kind == kindWord && !in[i+1].hasAny("prep", "and") {
			return true // "make the camera fly"
		}
	}
	return false
}

// listed reports whether tokens ask for a list of objects: "a list of all objects".
func listed(in []token) bool {
	i := firstContent(in)
	return i < len(in) && in[i].isVerb("list")
}

// hasPlaceWords reports whether a clause without a verb describes a scene: it begins with an
// indefinite article or a number, or with the name of a place.
func hasPlaceWords(in []token) bool {
	if len(in) == 0 || slices.ContainsFunc(in, func(t token) bool { return t.low == "for" && len(in) < 3 }) {
		return false
	}
	return len(in) > 1 && (in[0].has("article") || in[0].has("number")) && !in[1].has("vague") || in[0].kind == kindName ||
		len(in) > 2 && in[0].low == "scene" && in[1].low == ":"
}

// hasFormat reports whether tokens name a format of files or a path.
func hasFormat(in []token) bool {
	return slices.ContainsFunc(in, func(t token) bool { return formats[t.low] != "" || t.kind == kindPath })
}

// hasDimension reports whether tokens hold a length.
func hasDimension(in []token) bool {
	return slices.ContainsFunc(in, token.isNumber) || anyHas(in, "level")
}

// spanOf returns the part of the sentence from the first to the last token, without lead words.
func (r *Reading) spanOf(in []token) string {
	in = trimTokens(in)
	if len(in) == 0 {
		return ""
	}
	return strings.TrimSpace(r.text[in[0].start:in[len(in)-1].end])
}

// trimTokens removes lead words and marks from both ends.
func trimTokens(in []token) []token {
	idle := func(t token) bool {
		return t.kind == kindMark && t.low != ")" && t.low != "(" || t.hasAny("lead", "then", "and", "but")
	}
	for len(in) > 0 && idle(in[0]) {
		in = in[1:]
	}
	for len(in) > 0 && idle(in[len(in)-1]) {
		in = in[:len(in)-1]
	}
	return in
}

// readScene adds a generate_scene.
func (r *Reading) readScene(in []token) {
	a := Act{Tool: "generate_scene", With: map[string]any{}}
	var keep []token
	for i, t := range in {
		switch {
		case t.has("or"):
			r.ask(AboutScene, "Which one is meant by %q? Name one place.", r.spanOf(in))
		case t.kind == kindName && a.Place == "":
			a.Place = t.text
			if len(keep) > 1 && keep[len(keep)-1].has("prep") { // "the tavern of Mosswell"
				keep = append(keep, t)
			}
		case t.has("style"):
			a.With["style"] = t.is["style"]
		case t.low == "godot" || t.low == "unreal":
			keep = dropTrailing(keep)
		case t.has("idle"), i+1 < len(in) && t.has("prep") && in[i+1].has("style"):
		default:
			keep = append(keep, t)
		}
	}
	a.Words = r.describe(dropTrailing(keep))
	if a.Place == "" && isVague(keep) && r.place != nil && anyHas(in, "pron") {
		in, r.place = r.place, nil
		r.readScene(in)
		return
	}
	if a.Place == "" && isVague(keep) {
		r.ask(AboutScene, "What should be built? Name a place, or describe it.")
		a.Words = ""
	}
	r.Acts = append(r.Acts, a)
}

// dropTrailing removes prepositions from the end.
func dropTrailing(in []token) []token {
	for len(in) > 0 && in[len(in)-1].has("prep") {
		in = in[:len(in)-1]
	}
	return in
}

// isVague reports whether tokens say nothing about a place: "it", "something nice with water".
func isVague(in []token) bool {
	i := slices.IndexFunc(in, func(t token) bool {
		return t.kind == kindQuote || t.kind == kindWord && !t.hasAny("pron", "det", "lead", "prep") &&
			!t.has("then") && !t.has("level") && !t.isNumber() && (!t.has("vague") || t.is["vague"] == "thing")
	})
	return i < 0 || in[i].has("vague")
}

// describe writes the words of a description, with the words of other languages in English.
func (r *Reading) describe(in []token) string {
	for len(in) > 0 && (in[0].has("pron") && !in[0].has("article") || in[0].has("lead") || in[0].kind == kindMark ||
		in[0].low == "of" || in[0].has("then")) {
		in = in[1:]
	}
	in = trimTokens(in)
	if len(in) > 2 && in[0].low == "scene" && in[1].low == ":" {
		in = in[2:]
	}
	for i := 0; i+1 < len(in) && in[i].has("det") && in[i+1].low == "scene"; {
		in = in[2:]
		if len(in) > 0 && in[0].has("prep") && in[0].low == "of" {
			in = in[1:]
		}
	}
	var b strings.Builder
	for i, t := range in {
		if i > 0 && (t.start > in[i-1].end) {
			b.WriteByte(' ')
		}
		switch word, number := t.is["word"], t.is["number"]; {
		case t.kind == kindWord && word != "":
			b.WriteString(word)
		case t.kind == kindWord && number != "" && !slices.Contains(englishNumbers, t.low):
			b.WriteString(number)
		default:
			b.WriteString(r.text[t.start:t.end])
		}
	}
	return b.String()
}

// englishNumbers are the number words that a description keeps.
var englishNumbers = append([]string{"half a dozen", "a dozen",
	"two dozen", "a pair of", "a couple of"}, strings.Fields("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "+
	"sixteen eighteen twenty thirty forty fifty sixty hundred")...)
