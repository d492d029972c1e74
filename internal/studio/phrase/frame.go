package phrase

import (
	"slices"
	"strings"
)

// readFrames takes the phrases out of the tokens that hold for the whole request and are composed of
// several words: "do not really build anything" and "throw the current scene away".
func (r *Reading) readFrames(in []token) (out []token) {
	for i := 0; i < len(in); {
		if n := dryNegation(in[i:]); n > 0 {
			r.DryRun, i = true, i+n
			continue
		}
		if n := hypothetical(in[i:]); n > 0 {
			r.DryRun, i = true, i+n
			continue
		}
		n := clearing(in[i:])
		if n == 0 {
			out = append(out, in[i])
			i++
			continue
		}
		r.Replace = true
		out = append(out, token{kind: kindMark, text: ",", low: ",", start: in[i].start, end: in[i].start})
		i += n
	}
	return out
}

// dryNegation returns the length of a phrase at the start of tokens that says that nothing is applied:
// a negation, a verb of effect and a word for everything, in any order.
func dryNegation(in []token) int {
	not, effect, whole := false, false, false
	for i, t := range in {
		switch {
		case t.has("nothing"):
			not, whole = true, true
		case t.has("not"):
			not = true
		case t.has("effect"):
			effect = true
		case (t.isVerb("build") || t.isVerb("add")) && not && !effect && i > 0:
			effect = true
		case (t.has("pron") && t.low != "the scene" && !t.has("det") || t.low == "anything" || t.low == "etwas") && effect:
			whole = true
		case t.has("really"):
		default:
			return 0
		}
		if not && effect && whole {
			for i+1 < len(in) && in[i+1].has("really") {
				i++
			}
			return i + 1
		}
		if i == 0 && !not && !effect {
			return 0
		}
	}
	return 0
}

// hypothetical returns the length of a phrase at the start of tokens that asks for what would happen: "show me what
// would
// happen if you".
func hypothetical(in []token) (n int) {
	if len(in) == 0 || !in[0].has("showing") && in[0].is["dry"] != "_" {
		return 0
	}
	asked, supposed := in[0].has("dry"), false
	for i, t := range in[1:] {
		switch {
		case t.has("asks"):
			asked = true
		case t.has("dry"):
			asked, supposed, n = true, true, i+2
		case t.has("hypothesis"):
			supposed, n = true, i+2
		case t.hasAny("lead", "really", "pron") && t.kind != kindName,
			t.low == ",", slices.Contains(hypothetic, t.low):
			if supposed {
				n = i + 2
			}
		default:
			if asked && supposed {
				return n
			}
			return 0
		}
	}
	return 0
}

// hypothetic are words that may stand in a question of what would happen.
var hypothetic = strings.Fields("only du man tu on se nur it just juste solo seulement solamente einfach simplement")

// wholeScene are the words for all that stands in a scene.
var wholeScene = []string{"everything", "alles", "tout", "todo", "it all", "what is there", "what's there", "was da ist",
	"lo que hay"}

// clearing returns the length of a phrase at the start of tokens that says that the scene is emptied
// first: "wipe the old scene", "starting with an empty scene".
func clearing(in []token) int {
	begins := len(in) > 0 && (in[0].has("begin") || in[0].has("prefix")) // "empieza con" is a phrase of names, too
	if len(in) < 2 || !in[0].has("wipe") && !begins {
		return 0
	}
	if in[0].has("wipe") && slices.Contains(wholeScene, in[1].low) {
		if len(in) > 2 && in[2].has("away") {
			return 3
		}
		return 2
	}
	i := 1
	empty := in[0].has("wipe")
	for ; i < len(in); i++ {
		t := in[i]
		switch {
		case t.has("emptied"):
			empty = true
			continue
		case t.has("present"), t.has("det") && (!t.has("pron") || i+1 < len(in) && in[i+1].hasAny("present", "scenery")),
			begins && t.has("prep"):
			continue
		}
		break
	}
	if i >= len(in) || !empty || !in[i].has("scenery") &&
		!(in[0].has("wipe") && in[i].has("pron") && isSceneWord(in[i].low)) {
		return 0
	}
	i++
	if i < len(in) && in[i].has("present") { // "tira la escena vieja"
		i++
	}
	if i < len(in) && in[i].has("away") {
		i++
	}
	return i
}

// isSceneWord reports whether a phrase ends with a word for the scene.
func isSceneWord(s string) bool {
	return strings.HasSuffix(s, "scene") || strings.HasSuffix(s, "szene") || strings.HasSuffix(s, "escena")
}

// activate turns "once A is built, …" and "when A has been built, …" into "build A, …".
func activate(in []token) []token {
	for i, t := range in {
		if !t.has("after") && !t.has("when") {
			continue
		}
		for k := i + 2; k+1 < len(in) && k < i+8 && in[k].kind != kindMark; k++ {
			if in[k].has("passive") && in[k+1].has("verb") {
				out := slices.Clone(in[:i])
				out = append(out, in[k+1])
				out = append(out, in[i+1:k]...)
				return append(out, in[k+2:]...)
			}
		}
	}
	return in
}

// passiveOf finds the verb of "I want A painted" and "I need A to be scattered". It returns the verb and
// the tokens without it, or "".
func passiveOf(in []token) (verb string, rest []token) {
	for i := 1; i < len(in); i++ {
		t := in[i]
		led := in[i-1].has("passive")
		if t.has("material") && in[i-1].low == "to be" {
			return "paint", slices.Concat(in[:i-1], in[i:])
		}
		if !t.has("verb") || t.has("noun") || !led && !t.has("done") && !strings.HasSuffix(t.low, "ed") {
			continue
		}
		from := i
		if led {
			from--
		}
		return t.is["verb"], slices.Concat(in[:from], in[i+1:])
	}
	return "", nil
}

// amend lets a clause complete the act before it: "name it Altar", "make it 200 m by 100 m", "do not
// include textures", "at night". It reports whether it did.
func (r *Reading) amend(in []token) bool {
	if len(r.Acts) == 0 || len(in) == 0 {
		return false
	}
	last := &r.Acts[len(r.Acts)-1]
	content := trimTokens(in)
	if len(content) == 0 {
		return false
	}
	switch first := content[0]; {
	case last.Tool == "export_asset" && hasFormat(content) && len(content) < 6 && !anyHas(content, "article") &&
		!first.isVerb("export") && !slices.ContainsFunc(content, func(t token) bool {
		return t.kind == kindName ||
			t.kind == kindQuote
	}):
		return r.amendExport(last, content)
	case last.Tool == "export_asset" && anyHas(content, "textures_off") && len(content) <= 2:
		last.With["include_textures"] = false
	case last.Tool == "add_object" && first.has("named") && !first.has("prep") && len(content) > 1:
		name, _ := nameAfter(content, "named")
		last.With["name"] = name
	case last.IsScene() && len(content) == 1 && first.has("style") && last.With["style"] == nil:
		last.With["style"] = first.is["style"]
	case last.Tool == "generate_terrain" && first.has("named") && !first.has("prep") && len(content) > 1:
		last.With["name"], _ = nameAfter(content, "named")
	case last.Tool == "generate_terrain" && hasDimension(content) && (refersBack(content) || !slices.ContainsFunc(content,
		func(t token) bool { return t.hasAny("verb", "want", "noun", "material") || t.kind == kindName })):
		return r.amendTerrain(last, content)
	case last.Tool == "populate_level" && first.has("most") && len(content) > 1 && content[1].isNumber():
		last.With["budget_max_instances"] = content[1].num
	default:
		return false
	}
	return true
}

// amendExport sets the format or path that a clause names in the export before: "use obj", "put it in exports/a.obj".
func (r *Reading) amendExport(last *Act, in []token) bool {
	more := Reading{text: r.text}
	more.readExport(in)
	if len(more.Acts) != 1 {
		return false
	}
	for _, name := range []string{"format", "path"} {
		if v, ok := more.Acts[0].With[name]; ok {
			last.With[name] = v
		}
	}
	last.Assumed = nil
	return true
}

// IsScene reports whether an act builds a scene.
func (a Act) IsScene() bool { return a.Tool == "generate_scene" }

// refersBack reports whether a clause is about the thing before: "make it …", "it should be …".
func refersBack(in []token) bool {
	i := 0
	for i < len(in) && (in[i].has("lead") || in[i].isVerb("build")) {
		i++
	}
	return i < len(in) && in[i].has("pron")
}

// amendTerrain sets the sizes that a clause names in the land before.
func (r *Reading) amendTerrain(last *Act, in []token) bool {
	more := Reading{text: r.text}
	more.readTerrain(in)
	if len(more.Acts) != 1 {
		return false
	}
	if slices.Contains(more.Acts[0].Assumed, landSize) {
		delete(more.Acts[0].With, "width")
		delete(more.Acts[0].With, "height")
	} else {
		last.Assumed = slices.DeleteFunc(last.Assumed, func(s string) bool { return s == landSize })
	}
	if slices.Contains(more.Acts[0].Assumed, landDetail) {
		delete(more.Acts[0].With, "detail_level")
	} else {
		last.Assumed = slices.DeleteFunc(last.Assumed, func(s string) bool { return s == landDetail })
	}
	for name, value := range more.Acts[0].With {
		last.With[name] = value
	}
	r.Asks = append(r.Asks, more.Asks...)
	return true
}

// The assumptions about land.
const (
	landSize   = "the land is 200 m by 200 m"
	landDetail = "the land has low detail"
)
