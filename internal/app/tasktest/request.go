package tasktest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"loregate/internal/meaning"
	"loregate/internal/stem"
)

// longText is the length above which an argument takes texts rather than names.
const longText = 2000

// request holds the words of a task without those of its details: 1 for its own, less for those that
// WordNet calls their synonyms.
type request struct {
	text    string   // the task
	purpose string   // the task without its details
	asks    bool     // is a question
	keys    []string // of the details, in the order of the text
	words   map[string]float64
	given   map[string]any
}

// isQuestion reports whether a text asks for knowledge: it has a question mark, and no sentence of it is an order, which
// begins with a verb, as in "Lay the table. Who sits there?"
func isQuestion(text string) bool {
	for s := range meaning.Sentences(text) {
		first, _, _ := strings.Cut(strings.ToLower(s), " ")
		if !strings.HasSuffix(s, "?") && !meaning.IsFunctionWord(first) && meaning.Lemma(first, meaning.Verb) != "" {
			return false
		}
	}
	return strings.Contains(text, "?")
}

// synonymWeight is the weight of a word that stands for a word of the request.
const synonymWeight = 0.4

func requestOf(c Task) request {
	q := request{text: c.Text, asks: isQuestion(c.Text), words: map[string]float64{}, given: c.Given}
	text := c.Text
	for _, key := range slices.Sorted(maps.Keys(c.Given)) {
		if s, ok := c.Given[key].(string); ok {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "\""+s+"\"", " "), s, " ")
		}
	}
	q.purpose = strings.Join(strings.Fields(text), " ")
	q.keys = slices.SortedFunc(maps.Keys(c.Given), func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Index(c.Text, fmt.Sprint(c.Given[a])), strings.Index(c.Text, fmt.Sprint(c.Given[b]))),
			strings.Compare(a, b))
	})
	text += " " + strings.Join(q.keys, " ")
	for _, w := range wordsIn(text) {
		for _, part := range []meaning.Part{meaning.Noun, meaning.Verb, meaning.Adjective} {
			for _, near := range meaning.Synonyms(w, part) {
				for s := range stemsOf(near) {
					q.words[s] = max(q.words[s], synonymWeight)
				}
			}
		}
	}
	for s := range stemsOf(text) {
		q.words[s] = 1
	}
	return q
}

// fitKind is the factor for a tool that reads if the request is a question, and for one that does
// more if it is not.
const fitKind = 1.5

// lengthPart is the part of a score that depends on the length of the offer's texts, as b of BM25.
const lengthPart = 0.5

// rank sorts offers by the words that they share with a request; a word counts the more, the fewer
// offers have it. It returns the share of the request's own words that the first offer has.
func (q request) rank(offers []offer) float64 {
	in := map[string]int{}
	for _, o := range offers {
		for w := range o.says {
			in[w]++
		}
	}
	scores, own, all := map[string]float64{}, map[string]float64{}, 0.0
	for _, w := range slices.Sorted(maps.Keys(q.words)) {
		rare := math.Log(1 + float64(len(offers))/float64(max(in[w], 1)))
		for _, o := range offers {
			scores[o.name] += q.words[w] * o.says[w] * rare
			if q.words[w] == 1 {
				own[o.name] += o.says[w] * rare
			}
		}
		if q.words[w] == 1 {
			all += rare
		}
	}
	mean := 0.0
	for _, o := range offers {
		mean += float64(len(o.says)) / float64(len(offers))
	}
	for _, o := range offers {
		scores[o.name] /= 1 - lengthPart + lengthPart*float64(len(o.says))/mean
		if o.reads == q.asks {
			scores[o.name] *= fitKind
		}
		if o.needsID() {
			scores[o.name] /= fitKind // a task gives names, so that another call comes before
		}
		scores[o.name] *= o.prior
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(scores[b.name], scores[a.name]) })
	return own[offers[0].name] / all
}

// fill gives the details of a request to the arguments that fit them best together. A required text
// that no detail fits is the text of the request. hints are the words of an error. ok is false if
// another required argument stays empty.
func (q request) fill(o offer, hints map[string]bool) (in map[string]any, ok bool) {
	keys := q.keys
	var best map[string]string
	bestScore := -1.0
	least := 0.01
	if slices.ContainsFunc(o.fields, q.isTask) {
		least = 2 // the task says the details too; only words that fit well give them twice
	}
	var assign func(i int, score float64, taken map[string]string)
	assign = func(i int, score float64, taken map[string]string) {
		if i == len(keys) {
			if score > bestScore {
				best, bestScore = maps.Clone(taken), score
			}
			return
		}
		for _, f := range o.fields {
			fit := q.fit(keys[i], f, hints)
			fills := taken[f.name] == "" && f.accept(q.given[keys[i]]) != nil && f.name != reference
			if !fills || fit < least || q.isTask(f) {
				continue
			}
			if f.required {
				fit += 0.01 * float64(len(keys)-i) // the first detail is the subject
			}
			taken[f.name] = keys[i]
			assign(i+1, score+fit, taken)
			delete(taken, f.name)
		}
		assign(i+1, score, taken)
	}
	assign(0, 0, map[string]string{})
	in = map[string]any{}
	rest, wholeText := maps.Clone(q.given), false
	for _, f := range o.fields {
		if key := best[f.name]; key != "" {
			in[f.name] = f.accept(q.given[key])
			delete(rest, key)
		}
	}
	for _, f := range o.fields {
		switch said := q.saidOf(f); {
		case in[f.name] != nil:
		case said != "" && (f.required || q.names(f)):
			in[f.name] = said
		case !f.required:
		case len(f.enum) > 0:
			in[f.name] = f.enum[0]
		case f.kind == "string" && !takesID(f.name) && !wholeText:
			in[f.name], wholeText = q.text, true
		case f.kind == "object":
			in[f.name] = rest
		default:
			return nil, false
		}
	}
	return in, true
}

// isTask reports whether an argument takes a task in words: it requires a sentence, and no detail is
// one.
func (q request) isTask(f argument) bool {
	if !f.required || !f.words[stem.Of("en", "sentence")] {
		return false
	}
	for _, v := range q.given {
		if s, ok := v.(string); ok && isLong(s) {
			return false
		}
	}
	return true
}

// isLong reports whether a detail is a text rather than a name.
func isLong(s string) bool { return strings.Count(s, " ") > 3 }

// saidOf returns the value of a list of values that the request names.
func (q request) saidOf(f argument) string {
	for _, e := range f.enum {
		words := stemsOf(e)
		n := 0
		for w := range words {
			if q.words[w] == 1 {
				n++
			}
		}
		if n > 0 && n == len(words) {
			return e
		}
	}
	return ""
}

// names reports whether the request has a word of an argument's name: without one, a word of the request that is also
// a value of the argument is said of something else.
func (q request) names(f argument) bool {
	return slices.ContainsFunc(wordsIn(f.name), func(w string) bool { return q.words[stem.Of("en", w)] > 0 })
}

// fit scores an argument for a detail.
func (q request) fit(key string, f argument, hints map[string]bool) float64 {
	k, name := stemsOf(key), stemsOf(f.name)
	if _, isText := q.given[key].(string); !isText && countCommon(k, f.words) == 0 {
		return 0
	}
	score := 0.1 + 3*float64(countCommon(k, name)) + 1.5*float64(countCommon(k, f.words)) + 2*float64(countCommon(name, hints))
	for _, w := range slices.Sorted(maps.Keys(f.words)) { // sorted, so that sums are the same in every run
		if weight := q.words[w]; name[w] {
			score += 3 * weight
		} else {
			score += 0.3 * weight
		}
	}
	if f.required {
		score += 2
	}
	if key == f.name {
		score += 5
	}
	if len(f.enum) > 0 {
		score += 4
	}
	if s, ok := q.given[key].(string); ok && f.long == isLong(s) {
		score++
	}
	return score
}

func countCommon(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// accept returns a detail in the form of the argument, or nil.
func (a argument) accept(v any) any {
	switch v := v.(type) {
	case string:
		i := slices.IndexFunc(a.enum, func(e string) bool { return strings.EqualFold(e, v) })
		switch {
		case i >= 0:
			return a.enum[i]
		case len(a.enum) > 0:
		case a.kind == "string":
			return v
		case a.kind == "array", strings.HasPrefix(a.kind, "list of string"):
			return []any{v}
		}
	case float64:
		if strings.HasPrefix(a.kind, "integer") || strings.HasPrefix(a.kind, "number") {
			return v
		}
	case bool:
		if a.kind == "boolean" {
			return v
		}
	case []any:
		isList := strings.HasPrefix(a.kind, "list of ") || strings.HasPrefix(a.kind, `schema {"type":"array"`)
		if a.kind == "array" || isList {
			return v
		}
	}
	return nil
}
