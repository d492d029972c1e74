package phrase

import "slices"

// clause is a part of a sentence that asks for one act.
type clause struct {
	tokens  []token
	negated bool
	early   bool // it is done before the clause that precedes it
	swapped bool // it is done after the clause that follows it
}

// removeModes takes the phrases that hold for the whole request out of the tokens.
func (r *Reading) removeModes(in []token) (out []token) {
	for i, t := range in {
		r.Replace = r.Replace || t.has("renew")
		switch {
		case t.is["dry"] == "_":
			r.DryRun = true
		case t.is["dry"] != "" && (r.DryRun || slices.ContainsFunc(in, func(t token) bool { return t.is["dry"] == "_" })):
		case t.has("keep"):
		case i > 0 && in[i-1].has("clear") && (t.low == "with" || t.low == "by"):
		case i > 0 && in[i-1].is["dry"] == "_" && (t.has("pron") && !t.has("det") || t.low == "anything" || t.low == "yet"):
		case i > 1 && t.low == "yet" && in[i-2].is["dry"] == "_":
		case t.has("clear"):
			r.Replace = true
			out = append(out, token{kind: kindMark, text: ",", low: ",", start: t.start, end: t.start})
		case t.kind == kindTarget:
			r.Target = t.text
			for len(out) > 0 && (out[len(out)-1].has("prep") || out[len(out)-1].low == "target" ||
				out[len(out)-1].low == "the" || out[len(out)-1].has("named")) {
				out = out[:len(out)-1]
			}
		case t.low == "seed" && i+1 < len(in) && in[i+1].isNumber():
			r.Seed = int64(in[i+1].num)
			if len(out) > 0 && out[len(out)-1].has("prep") {
				out = out[:len(out)-1]
			}
		case i > 0 && in[i-1].low == "seed" && t.isNumber():
		default:
			out = append(out, t)
		}
	}
	return out
}

// splitClauses splits the tokens into clauses, in the order in which they are done.
func splitClauses(in []token) []clause {
	var out []clause
	var now clause
	flush := func() {
		if n := len(now.tokens); n > 1 && now.tokens[n-1].has("first") && len(out) > 0 { // "…, but build A first"
			now.tokens, now.early = now.tokens[:n-1], true
		}
		if len(now.tokens) > 0 {
			out = append(out, now)
		}
		now = clause{}
	}
	for i := 0; i < len(in); i++ {
		t := in[i]
		rest := in[i+1:]
		switch {
		case t.kind == kindMark && (t.low == ";" || t.low == "." || t.low == "!" || t.low == "?"):
			flush()
		case t.has("then") && beginsAct(rest, len(now.tokens) > 0):
			flush()
		case (t.low == "," || t.has("and") || t.has("but")) && len(rest) > 0 && continuesAct(rest, now.tokens):
			flush()
		case t.has("first") && beginsAct(rest, false):
			early := len(out) > 0 && len(now.tokens) == 0 && i > 0 && (in[i-1].has("but") || in[i-1].low == ",")
			flush()
			now.early = early
		case t.has("not") && len(rest) > 0 && rest[0].kind == kindName:
			flush()
			now.negated = true
		case now.negated && t.has("but"):
			flush()
		case (t.has("before") || t.has("after")) && (beginsAct(rest, false) || len(now.tokens) == 0 && endsWithVerb(rest)):
			leads := !slices.ContainsFunc(now.tokens, func(t token) bool { return t.has("verb") || t.kind == kindName })
			flush()
			// "before A, B" and "B after A" are done in the order that is not written
			now.early = t.has("after") && !leads
			now.swapped = t.has("before") && leads
		case t.has("not") && i+1 < len(in) && beginsAct(rest, false):
			flush()
			now.negated = true
		case i > 0 && in[i-1].kind == kindName && t.has("verb") && !t.has("noun") && len(rest) > 0 &&
			rest[0].kind == kindWord &&
			!rest[0].hasAny("and", "then", "but", "prep"): // "after building A take a picture"
			flush()
			now.tokens = append(now.tokens, t)
		default:
			now.tokens = append(now.tokens, t)
		}
	}
	flush()
	return orderClauses(out)
}

// endsWithVerb reports whether the words before the next comma end with a verb, as in a German clause.
func endsWithVerb(in []token) bool {
	i := slices.IndexFunc(in, func(t token) bool { return t.low == "," })
	return i > 0 && in[i-1].has("verb")
}

// orderClauses puts clauses in the order in which they are done.
func orderClauses(in []clause) (out []clause) {
	for i := 0; i < len(in); i++ {
		switch {
		case in[i].swapped && i+1 < len(in):
			out = append(out, in[i+1], in[i])
			i++
		case in[i].early && len(out) > 0:
			out = slices.Insert(out, len(out)-1, in[i])
		default:
			out = append(out, in[i])
		}
	}
	return out
}

// beginsAct reports whether tokens begin with a verb. Skipped are words that may stand before it.
func beginsAct(in []token, must bool) bool {
	i := firstContent(in)
	if i >= len(in) {
		return false
	}
	return in[i].has("verb") || in[i].has("want") || must && !in[i].isNumber() || in[i].has("dry")
}

// continuesAct reports whether the tokens after a comma or "and" begin another act: a verb, or an
// object of the kind that the clause before adds.
func continuesAct(in, before []token) bool {
	if len(before) == 0 {
		return true
	}
	i := 0
	for i < len(in) && (in[i].hasAny("lead", "then", "and", "but", "first") ||
		in[i].low == ",") {
		i++
	}
	if i >= len(in) {
		return false
	}
	switch t := in[i]; {
	case t.has("not"):
		return beginsAct(in[i+1:], false)
	case t.has("before") || t.has("after"):
		return beginsAct(in[i+1:], false)
	case t.has("event"), t.has("dry"), t.has("want"):
		return true
	case t.has("verb"):
		return !t.has("noun") || t.is["noun"] == "picture" || !t.isVerb("build")
	}
	if i+2 < len(in) && in[i].has("material") && in[i+1].has("onto") {
		return true
	}
	if i+1 < len(in) && in[i].has("article") && (in[i+1].isVerb("render") || formats[in[i+1].low] != "") {
		return true
	}

	return nounAfter(in[i:], "noun") && isObject(in[firstContent(in[i:])+i:]) && addsObject(before)
}

// firstContent returns the index of the first token that is no lead word, article, pronoun or mark.
func firstContent(in []token) int {
	for i, t := range in {
		if !(t.has("lead") || t.has("det") && !t.has("verb") || t.hasAny("pron", "then", "and", "first") ||
			t.kind == kindMark) {
			return i
		}
	}
	return len(in)
}

// nounAfter reports whether an article or number begins the tokens and a noun of a class follows.
func nounAfter(in []token, class string) bool {
	if len(in) < 2 || !in[0].has("article") && !in[0].isNumber() {
		return false
	}
	for _, t := range in[1:min(len(in), 4)] {
		if t.has(class) {
			return true
		}
		if t.has("prep") || t.kind != kindWord {
			return false
		}
	}
	return false
}

// isObject reports whether one of the first tokens is an object that add_object makes.
func isObject(in []token) bool {
	return slices.ContainsFunc(in[:min(len(in), 3)], func(t token) bool { return objectType(t) != "" })
}

// addsObject reports whether a clause adds an object.
func addsObject(in []token) bool {
	kind, _ := headNoun(in[min(firstVerb(in)+1, len(in)):])
	return objectType(kind) != ""
}

// firstVerb returns the index of a clause's verb, or -1. A verb stands behind words that may lead
// in, or at the end as in German.
func firstVerb(in []token) int {
	i := firstContent(in)
	if i < len(in) && (in[i].has("verb") || in[i].has("want")) {
		return i
	}
	for i < len(in) && (in[i].isNumber() || in[i].kind == kindMark || in[i].hasAny("prep", "lead", "unit", "side")) {
		i++ // "at 1, 2, 0 I want a cone"
	}
	if i > 0 && i < len(in) && in[i-1].has("lead") && in[i].has("verb") || i < len(in) && in[i].has("want") {
		return i
	}
	for i := len(in) - 1; i > 0 && i >= len(in)-2; i-- {
		if in[i].has("verb") && !in[i].has("noun") && !in[i].has("det") {
			return i
		}
	}
	return -1
}

// endsNoun are the classes of words that end a noun phrase.
var endsNoun = []string{"prep", "named", "number", "by", "style", "times", "camera", "look", "sayings", "most", "scale", "rotation",
	"prefix", "side", "square"}

// headNoun returns the token that a noun phrase is about and its index: the last noun of the
// vocabulary before a preposition, number, quotation or mark.
func headNoun(in []token) (head token, at int) {
	at = -1
	for i, t := range in {
		if at >= 0 && head.is["noun"] != "" && (t.has("flat") || t.kind == kindWord && t.is == nil && !isEnglish(t.low)) {
			break // "un terrain plat"
		}
		if at >= 0 && (t.has("relative") || objectType(head) != "" && isLabel(t)) {
			break
		}
		if t.hasAny("lead", "idle") || t.has("det") && t.low != "plan" || t.has("article") {
			continue
		}
		if at < 0 && (t.isNumber() || t.has("by") || t.has("unit") || i > 0 && in[i-1].has("unit") && t.has("prep")) {
			continue
		}
		if t.kind != kindWord || objectType(t) == "" && slices.ContainsFunc(endsNoun, t.has) {
			break
		}
		head, at = t, i
	}
	return head, at
}

// objectType returns the object_type that a token names, or "".
func objectType(t token) string {
	switch n := t.is["noun"]; n {
	case "cube", "sphere", "cylinder", "cone", "plane", "torus", "text", "light", "camera", "empty":
		return n
	}
	return ""
}
