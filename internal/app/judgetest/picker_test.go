package judgetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/meaning"
	"loregate/internal/stem"
)

// The doors of the default list. The picker knows them, because they take an operation as their
// argument; it knows nothing else of the product.
const (
	findTool   = "find_operation"
	readTool   = "call_operation"
	changeTool = "change_by_operation"
)

// maxPickerCalls is the number of calls that the picker makes for a task at most.
const maxPickerCalls = 6

// picker is a scripted model. It sees names, descriptions, input schemas and the read-only mark of the
// tools, and the words and details of a task. It picks the tool that shares the rarest words with the
// task, and gives each detail to the argument that shares words with its key. Of synonyms it knows
// those of WordNet. It cannot judge an answer.
type picker struct {
	t      *testing.T
	half   string
	cs     *mcp.ClientSession
	wire   *meteredTransport
	offers []offer
	listed int64 // bytes of the list
	calls  int
	made   []string        // the calls, none of which is repeated
	shown  strings.Builder // the answers
}

// offer is a tool, or an operation that a door calls.
type offer struct {
	name, door string
	says       map[string]float64 // weights of the stems of its texts
	fields     []argument
	reads      bool // changes nothing
}

type argument struct {
	name, kind string
	long       bool // takes long texts
	words      map[string]bool
	required   bool
	enum       []string
}

// meteredTransport sends a key, and counts the bytes of bodies in both directions.
type meteredTransport struct {
	key   string
	bytes atomic.Int64
}

func (m *meteredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+m.key)
	m.bytes.Add(max(r.ContentLength, 0))
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		res.Body = &meteredBody{res.Body, &m.bytes}
	}
	return res, err
}

type meteredBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (m *meteredBody) Read(b []byte) (int, error) {
	n, err := m.ReadCloser.Read(b)
	m.bytes.Add(int64(n))
	return n, err
}

// connectPicker connects a picker to the default list.
func connectPicker(t *testing.T, h *house, key, half string) *picker {
	t.Helper()
	p := &picker{t: t, half: half, wire: &meteredTransport{key: h.named[key]}}
	var err error
	p.cs, err = mcp.NewClient(&mcp.Implementation{Name: "picker", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: h.url + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true,
			HTTPClient: &http.Client{Transport: p.wire}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for tool, err := range p.cs.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		p.offers = append(p.offers, offerOf(t, tool))
	}
	p.listed = p.wire.bytes.Load()
	return p
}

// offerOf reads a tool of the list.
func offerOf(t *testing.T, tool *mcp.Tool) offer {
	t.Helper()
	b, err := json.Marshal(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct {
			Type        any
			Description string
			MaxLength   int
			Enum        []any
		}
		Required []string
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	o := offer{name: tool.Name, reads: tool.Annotations != nil && tool.Annotations.ReadOnlyHint, says: map[string]float64{}}
	o.add(tool.Description, 1)
	for _, name := range sortedKeys(schema.Properties) {
		p := schema.Properties[name]
		a := argument{name: name, long: p.MaxLength > longText, required: slices.Contains(schema.Required, name)}
		a.kind = strings.Trim(fmt.Sprint(p.Type), "[]") // of several types the first counts
		for _, e := range p.Enum {
			if s, ok := e.(string); ok {
				a.enum = append(a.enum, s)
			}
		}
		o.addArgument(a, p.Description)
	}
	return o
}

// takenStart is the start of an argument in a list on one line.
var takenStart = regexp.MustCompile(`\w+\*? \(`)

// foundOffers reads the answer of find_operation, whose operations are rows or blocks of lines.
func foundOffers(answer string) (found []offer) {
	var o *offer
	begin := func(name string) {
		found = append(found, offer{name: name, says: map[string]float64{}})
		o = &found[len(found)-1]
	}
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(line)
		cells := strings.Split(line, " | ")
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case len(cells) >= 3 && (cells[2] == readTool || cells[2] == changeTool):
			begin(cells[0])
			o.door, o.reads = cells[2], cells[2] == readTool
			o.add(cells[1], 1)
		case key == "operation":
			begin(value)
		case o == nil:
		case key == "does":
			o.add(value, 1)
		case key == "takes":
			for _, at := range takenStart.FindAllStringIndex(value, -1) {
				end := len(value)
				if next := takenStart.FindStringIndex(value[at[1]:]); next != nil {
					end = at[1] + next[0]
				}
				o.addTaken(strings.TrimSuffix(value[at[0]:end], ", "))
			}
		case key == "call_by":
			o.door, o.reads = value, value == readTool
		case strings.HasPrefix(line, "- ") && strings.Contains(line, " ("):
			o.addTaken(strings.TrimPrefix(line, "- "))
		}
	}
	return slices.DeleteFunc(found, func(o offer) bool { return o.door != readTool && o.door != changeTool })
}

// addTaken adds an argument of an answer of find_operation: "name* (type=default): description".
func (o *offer) addTaken(line string) {
	head, about, _ := strings.Cut(line, "): ")
	name, kind, _ := strings.Cut(head, " (")
	a := argument{name: strings.TrimSuffix(name, "*"), required: strings.HasSuffix(name, "*")}
	a.kind, _, _ = strings.Cut(kind, "=")
	if strings.Contains(a.kind, "|") {
		a.kind, a.enum = "string", strings.Split(a.kind, "|")
	}
	o.addArgument(a, about)
}

// takesID reports whether an argument takes an id, by its name.
func takesID(name string) bool {
	words := wordsIn(name)
	return len(words) > 0 && (words[len(words)-1] == "id" || words[len(words)-1] == "ids")
}

// needsID reports whether a tool requires an id.
func (o offer) needsID() bool {
	return slices.ContainsFunc(o.fields, func(a argument) bool { return a.required && takesID(a.name) })
}

func (o *offer) add(text string, weight float64) {
	for s := range stemsOf(text) {
		o.says[s] = max(o.says[s], weight)
	}
}

func (o *offer) addArgument(a argument, about string) {
	a.words = stemsOf(a.name + " " + about)
	o.add(a.name+" "+about, 0.5)
	o.fields = append(o.fields, a)
}

// wordsIn returns the words of a text without those of grammar, those of camelCase and snake_case
// apart.
func wordsIn(text string) (words []string) {
	var b strings.Builder
	var last rune
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	for _, w := range strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) > 1 && !meaning.IsFunctionWord(w) {
			words = append(words, w)
		}
	}
	return words
}

func stemsOf(text string) map[string]bool {
	list := map[string]bool{}
	for _, w := range wordsIn(text) {
		list[stem.Of("english", w)] = true
	}
	return list
}

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

// isQuestion reports whether a text asks for knowledge: it has a question mark and does not begin
// with a verb, as in "Lay the table. Who sits there?"
func isQuestion(text string) bool {
	first, _, _ := strings.Cut(strings.ToLower(text), " ")
	return strings.Contains(text, "?") && (meaning.IsFunctionWord(first) || meaning.Lemma(first, meaning.Verb) != first)
}

// synonymWeight is the weight of a word that stands for a word of the request.
const synonymWeight = 0.4

func requestOf(c taskCase) request {
	q := request{text: c.Text, asks: isQuestion(c.Text), words: map[string]float64{}, given: c.Given}
	text := c.Text
	for _, key := range sortedKeys(c.Given) {
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
	for _, w := range sortedKeys(q.words) {
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
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(scores[b.name], scores[a.name]) })
	return own[offers[0].name] / all
}

// sure is the share of a request's words that a tool must have so that no other is looked for.
const sure = 0.5

// maxReadings is the number of tools that the picker reads by for a question: reading is harmless,
// and it cannot judge an answer.
const maxReadings = 3

// solve works on a task until a call changes something, or enough is read, or the calls are used up.
func (p *picker) solve(q request) {
	p.t.Helper()
	rest := slices.DeleteFunc(slices.Clone(p.offers), func(o offer) bool {
		return o.name == findTool || o.name == readTool || o.name == changeTool || q.asks && !o.reads
	})
	if q.rank(slices.Clone(p.offers)) < sure {
		answer, _ := p.call(offer{name: findTool}, map[string]any{"words": q.purpose[:min(len(q.purpose), 300)]})
		for _, o := range foundOffers(answer) {
			if o.reads || !q.asks {
				rest = append(rest, o)
			}
		}
	}
	for readings := 0; len(rest) > 0 && p.calls < maxPickerCalls && readings < maxReadings; rest = rest[1:] {
		q.rank(rest)
		if !p.attempt(rest[0], q) {
			continue
		}
		if !rest[0].reads {
			return
		}
		readings++
	}
}

// attempt calls a tool, and once more with the help of the error's words. An answer without content
// is a failure.
func (p *picker) attempt(o offer, q request) bool {
	p.t.Helper()
	in, ok := q.fill(o, nil)
	if !ok {
		return false
	}
	answer, failed := p.call(o, in)
	if !failed {
		return true
	}
	for w := range stemsOf(answer) {
		q.words[w] = max(q.words[w], errorWeight)
	}
	again, ok := q.fill(o, stemsOf(answer))
	if !ok || p.calls >= maxPickerCalls {
		return false
	}
	if marshal(again) == marshal(in) && !p.findIDs(again) || p.calls >= maxPickerCalls {
		return false
	}
	_, failed = p.call(o, again)
	return !failed
}

// errorWeight is the weight of an error's words in the choice of the next tool.
const errorWeight = 0.4

var someID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// findIDs puts ids in the place of names where an argument takes an id: it searches for the name with
// the tool whose texts fit that best, and takes the first id of the answer.
func (p *picker) findIDs(in map[string]any) (changed bool) {
	p.t.Helper()
	for _, name := range sortedKeys(in) {
		text, isText := in[name].(string)
		if !isText || !takesID(name) || someID.MatchString(text) || p.calls >= maxPickerCalls {
			continue
		}
		lookup := request{text: text, asks: true, words: map[string]float64{"search": 1, "name": 1, "id": 1}}
		offers := slices.DeleteFunc(slices.Clone(p.offers), func(o offer) bool { return o.needsID() })
		lookup.rank(offers)
		args, ok := lookup.fill(offers[0], nil)
		if !ok {
			return changed
		}
		answer, _ := p.call(offers[0], args)
		if id := someID.FindString(answer); id != "" {
			in[name], changed = id, true
		}
	}
	return changed
}

func marshal(v any) string {
	b, _ := json.Marshal(v) // JSON values only
	return string(b)
}

// call makes a call, directly or through a door. It keeps the answer and returns its first text.
func (p *picker) call(o offer, in map[string]any) (answer string, failed bool) {
	p.t.Helper()
	key := o.name + marshal(in)
	if slices.Contains(p.made, key) {
		return "", true
	}
	p.made = append(p.made, key)
	p.calls++
	name, arguments := o.name, in
	if o.door != "" {
		name, arguments = o.door, map[string]any{"operation": o.name, "arguments": in}
	}
	r, err := p.cs.CallTool(p.t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	for i, c := range r.Content {
		text, ok := c.(*mcp.TextContent)
		if !ok {
			continue
		}
		if p.shown.WriteString(text.Text + "\n"); i == 0 {
			answer = text.Text
		}
	}
	logMiss(p.t, p.half, "%s %s: %v %.300s", o.name, marshal(in), r.IsError, answer)
	head, _, _ := strings.Cut(answer, ":")
	empty := slices.Contains([]string{"null", "nothing", "0", "{}", "[]"}, strings.TrimSpace(head))
	return answer, r.IsError || empty || strings.Contains(answer, "status: rejected")
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
			if taken[f.name] != "" || f.accept(q.given[keys[i]]) == nil || fit < least || q.isTask(f) {
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
		case said != "":
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
	if !f.required || !f.words[stem.Of("english", "sentence")] {
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

// fit scores an argument for a detail.
func (q request) fit(key string, f argument, hints map[string]bool) float64 {
	k, name := stemsOf(key), stemsOf(f.name)
	if _, isText := q.given[key].(string); !isText && countCommon(k, f.words) == 0 {
		return 0
	}
	score := 0.1 + 3*float64(countCommon(k, name)) + 1.5*float64(countCommon(k, f.words)) + 2*float64(countCommon(name, hints))
	for _, w := range sortedKeys(f.words) { // sorted, so that sums are the same in every run
		if weight := q.words[w]; name[w] {
			score += 3 * weight
		} else {
			score += 0.3 * weight
		}
	}
	if f.required {
		score += 2
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
		case a.kind == "array", a.kind == "list of string":
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
		if a.kind == "array" || strings.HasPrefix(a.kind, "list of ") {
			return v
		}
	}
	return nil
}

var somePlan = regexp.MustCompile(`plan_id\W+(` + someID.String() + `)`)

// planID returns the plan_id of the last answer that has one.
func (p *picker) planID() string {
	all := somePlan.FindAllStringSubmatch(p.shown.String(), -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}
