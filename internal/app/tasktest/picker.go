package tasktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"loregate/internal/lazyregexp"
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

// Picker is a scripted model. It sees names, descriptions, input schemas and the read-only mark of the
// tools, and the words and details of a task. It picks the tool that shares the rarest words with the
// task, and gives each detail to the argument that shares words with its key. Of synonyms it knows
// those of WordNet. It cannot judge an answer.
type Picker struct {
	// Calls is the number of calls that it has made.
	Calls int

	offers []offer
	do     Do
	made   []string        // the calls, none of which is repeated
	shown  strings.Builder // the answers
}

// Do calls a tool. It returns the text of the answer, and whether the answer is an error.
type Do func(tool string, arguments map[string]any) (answer string, failed bool)

// Tool is a tool as a client shows it to a model.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // of the input
	Reads             bool            // changes nothing
}

// New returns a picker that has tools and calls them with do.
func New(tools []Tool, do Do) (*Picker, error) {
	if len(tools) == 0 {
		return nil, errors.New("no tool is listed")
	}
	p := &Picker{do: do}
	for _, tool := range tools {
		o, err := offerOf(tool)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", tool.Name, err)
		}
		p.offers = append(p.offers, o)
	}
	return p, nil
}

// Shown returns all answers.
func (p *Picker) Shown() string { return p.shown.String() }

// offer is a tool, or an operation that a door calls.
type offer struct {
	name, door string
	says       map[string]float64 // weights of the stems of its texts
	fields     []argument
	reads      bool    // changes nothing
	prior      float64 // factor of its score
}

type argument struct {
	name, kind string
	long       bool // takes long texts
	words      map[string]bool
	required   bool
	enum       []string
}

// offerOf reads a tool of the list.
func offerOf(tool Tool) (offer, error) {
	var schema struct {
		Properties map[string]struct {
			Type        any
			Description string
			MaxLength   int
			Enum        []any
		}
		Required []string
	}
	if err := json.Unmarshal(tool.Schema, &schema); err != nil {
		return offer{}, err
	}
	o := offer{name: tool.Name, reads: tool.Reads, prior: 1, says: map[string]float64{}}
	o.add(tool.Description, 1)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
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
	return o, nil
}

// foundPrior is the factor of the first operation of an answer: any model reads that an answer is in the
// order of fit.
const foundPrior = 1.8

// priorOf returns the factor of the operation at a place in an answer.
func priorOf(at int) float64 { return 1 + (foundPrior-1)/float64(at+1) }

// listedMark ends the row of a tool of the list.
const listedMark = " itself, a tool of this list"

// shownOnly is a note of an answer that has only shown a change, with the call that makes it.
var shownOnly = lazyregexp.New(`The call that makes the change: (\{.*\})`)

// takenStart is the start of an argument in a list on one line.
var takenStart = lazyregexp.New(`\w+\*? \(`)

// foundOffers reads the answer of find_operation, whose operations are rows or blocks of lines. Some are tools of the
// list.
func foundOffers(answer string) (found []offer) {
	var o *offer
	begin := func(name string) {
		found = append(found, offer{name: name, prior: priorOf(len(found)), says: map[string]float64{}})
		o = &found[len(found)-1]
	}
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(line)
		cells := strings.Split(line, " | ")
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case len(cells) >= 3 && (slices.Contains(cells[2:], readTool) || slices.Contains(cells[2:], changeTool)):
			begin(cells[0])
			o.door = changeTool
			if o.reads = slices.Contains(cells[2:], readTool); o.reads {
				o.door = readTool
			}
			o.add(cells[1]+" "+cells[2], 1) // it does, and is asked as
		case len(cells) >= 2 && strings.HasSuffix(line, listedMark):
			begin(cells[0])
		case key == "operation":
			begin(value)
		case o == nil:
		case key == "does", key == "asked_as":
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
	return found
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

// needsID reports whether a tool requires an id. The doors take names for ids, and say so.
func (o offer) needsID() bool {
	return o.door == "" && slices.ContainsFunc(o.fields, func(a argument) bool { return a.required && takesID(a.name) })
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
		list[stem.Of("en", w)] = true
	}
	return list
}

// sure is the share of a request's words that a tool must have so that no other is looked for.
const sure = 0.5

// maxReadings is the number of tools that the picker reads by for a question: reading is harmless,
// and it cannot judge an answer.
const maxReadings = 3

// Solve works on a task until a call changes something, or enough is read, or the calls are used up.
func (p *Picker) Solve(task Task) {
	q := requestOf(task)
	rest := slices.DeleteFunc(slices.Clone(p.offers), func(o offer) bool {
		return o.name == findTool || o.name == readTool || o.name == changeTool || q.asks && !o.reads
	})
	found := q.rank(slices.Clone(p.offers)) < sure
	if found {
		rest = p.findOperations(q, rest)
	}
	for readings := 0; len(rest) > 0 && p.Calls < maxPickerCalls && readings < maxReadings; rest = rest[1:] {
		q.rank(rest)
		if p.attempt(rest[0], q) {
			if !rest[0].reads {
				return
			}
			readings++
		} else if !found { // the tools of the list were a wrong guess
			rest, found = append(rest[:1], p.findOperations(q, rest[1:])...), true
		}
	}
}

// findOperations looks for operations that fit a request, and adds them to offers.
func (p *Picker) findOperations(q request, offers []offer) []offer {
	answer, _ := p.call(offer{name: findTool}, map[string]any{"words": q.purpose[:min(len(q.purpose), 300)]})
	for _, o := range foundOffers(answer) {
		at := slices.IndexFunc(offers, func(tool offer) bool { return tool.name == o.name })
		switch {
		case at >= 0:
			offers[at].prior = o.prior
		case (o.door == readTool || o.door == changeTool) && (o.reads || !q.asks):
			offers = append(offers, o)
		}
	}
	return offers
}

// attempt calls a tool, and once more with the help of the error's words. An answer without content
// is a failure.
func (p *Picker) attempt(o offer, q request) bool {
	in, ok := q.fill(o, nil)
	if !ok {
		return false
	}
	answer, failed := p.call(o, in)
	if !failed {
		p.carryOut(answer)
		p.cite(o, q, in, answer)
		return true
	}
	for w := range stemsOf(answer) {
		q.words[w] = max(q.words[w], errorWeight)
	}
	again, ok := q.fill(o, stemsOf(answer))
	if !ok || p.Calls >= maxPickerCalls {
		return false
	}
	if marshal(again) == marshal(in) && !p.findIDs(again) || p.Calls >= maxPickerCalls {
		return false
	}
	_, failed = p.call(o, again)
	return !failed
}

// carryOut makes the change that an answer has only shown.
func (p *Picker) carryOut(answer string) {
	var next struct {
		Tool      string
		Arguments map[string]any
	}
	if found := shownOnly.FindStringSubmatch(answer); found == nil || json.Unmarshal([]byte(found[1]), &next) != nil {
		return
	}
	p.call(offer{name: next.Tool}, next.Arguments)
}

// reference is the argument by which a call names what was read before.
const reference = "contextRef"

var someReference = lazyregexp.New(reference + `[\\": ]+([\w-]+)`)

// cite repeats a call whose answer asks for a reference, with that of the tool that says that it gives
// one.
func (p *Picker) cite(o offer, q request, in map[string]any, answer string) {
	takes := slices.ContainsFunc(o.fields, func(a argument) bool { return a.name == reference })
	if !takes || in[reference] != nil || !strings.Contains(answer, reference) {
		return
	}
	for _, giver := range p.offers {
		if !giver.reads || len(stemsOf(reference)) != countCommon(stemsOf(reference), keysOf(giver.says)) {
			continue
		}
		names := q
		names.keys = slices.DeleteFunc(slices.Clone(q.keys), func(key string) bool {
			s, _ := q.given[key].(string)
			return isLong(s)
		})
		about, _ := names.fill(giver, nil)
		shown, _ := p.call(giver, about)
		if found := someReference.FindStringSubmatch(shown); found != nil {
			in = maps.Clone(in)
			in[reference] = strings.Trim(found[1], `",`)
			p.call(o, in)
		}
		return
	}
}

func keysOf(weights map[string]float64) map[string]bool {
	keys := map[string]bool{}
	for w := range weights {
		keys[w] = true
	}
	return keys
}

// errorWeight is the weight of an error's words in the choice of the next tool.
const errorWeight = 0.4

var someID = lazyregexp.New(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// findIDs puts ids in the place of names where an argument takes an id: it searches for the name with
// the tool whose texts fit that best, and takes the first id of the answer.
func (p *Picker) findIDs(in map[string]any) (changed bool) {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		text, isText := in[name].(string)
		if !isText || !takesID(name) || someID.MatchString(text) || p.Calls >= maxPickerCalls {
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

// call makes a call, directly or through a door, and keeps the answer.
func (p *Picker) call(o offer, in map[string]any) (answer string, failed bool) {
	key := o.name + marshal(in)
	if slices.Contains(p.made, key) {
		return "", true
	}
	p.made = append(p.made, key)
	p.Calls++
	name, arguments := o.name, in
	if o.door != "" {
		name, arguments = o.door, map[string]any{"operation": o.name, "arguments": in}
	}
	answer, failed = p.do(name, arguments)
	p.shown.WriteString(answer + "\n")
	head, _, _ := strings.Cut(answer, ":")
	empty := slices.Contains([]string{"null", "nothing", "0", "{}", "[]"}, strings.TrimSpace(head))
	return answer, failed || empty || strings.Contains(answer, "status: rejected")
}

var somePlan = lazyregexp.New(`plan_id\W+(` + someID.String() + `)`)

// planID returns the last plan_id of answers.
func planID(answers string) string {
	all := somePlan.FindAllStringSubmatch(answers, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}
