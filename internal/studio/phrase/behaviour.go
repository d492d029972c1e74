package phrase

import (
	"slices"
	"strings"
)

// eventWords are the words for an event in a description of behaviour.
var eventWords = map[string]string{"ready": "When it starts", "entered": "When it is entered", "left": "When it is left"}

// readBehaviour takes the sentences about behaviour out of the tokens: those with an event and a
// deed. They end at a full stop.
func (r *Reading) readBehaviour(in []token) (out []token) {
	for len(in) > 0 {
		n := slices.IndexFunc(in, func(t token) bool { return t.kind == kindMark && (t.low == "." || t.low == ";") })
		if n < 0 {
			n = len(in) - 1
		}
		sentence := in[:n+1]
		in = in[n+1:]
		if rule, ok := r.readRule(sentence); ok {
			r.rules = append(r.rules, rule)
			continue
		}
		out = append(out, sentence...)
	}
	return out
}

// readRule reads one sentence about behaviour.
func (r *Reading) readRule(in []token) (string, bool) {
	when, before, after := "", 0, 0
	for i, t := range in {
		switch {
		case t.has("event"):
			when, before, after = eventWords[t.is["event"]], i, i+1
		case t.has("every") && i+2 < len(in) && in[i+1].isNumber() && in[i+2].has("second"):
			when, before, after = "Every "+formatNumber(in[i+1].num)+" seconds", i, i+3
		case t.has("every") && i+1 < len(in) && in[i+1].has("second"):
			when, before, after = "Every 1 seconds", i, i+2
		}
		if when != "" {
			break
		}
	}
	if when == "" {
		return "", false
	}
	if name, _ := nameAfter(in[:before], "named"); name != "" {
		r.script = name
	}
	rest := slices.Concat(in[:before], in[after:])
	do := slices.IndexFunc(rest, func(t token) bool { return t.has("do") })
	if do < 0 {
		return "", false
	}
	verb := rest[do]
	word := verb.is["do"]
	if verb.low == "raise" || verb.low == "turn" {
		word = verb.low
	}
	end := len(rest)
	for end > 0 && rest[end-1].kind == kindMark {
		end--
	}
	tail := ""
	if do+1 < end {
		tail = strings.TrimSpace(r.text[rest[do+1].start:rest[end-1].end])
		if before > do { // the event stands behind the deed
			tail = strings.TrimSpace(r.text[rest[do+1].start:rest[max(do+1, min(before, end)-1)].end])
		}
		tail = strings.Trim(tail, `"'“”«»„`)
	}
	if object := rest[:do]; tail == "" && len(object) > 0 { // "make the Lamp toggle", "the Lamp toggles"
		if i := slices.IndexFunc(object, func(t token) bool {
			return t.kind == kindQuote || t.kind == kindWord && !t.has("verb") && !t.has("det") && !t.has("lead")
		}); i >= 0 {
			tail, _ = readName(object[i:])
		}
	}
	return strings.TrimSpace(when + ", " + word + " " + tail), true
}
