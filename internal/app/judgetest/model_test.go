package judgetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"loregate/internal/agent"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/model/modeltest"
	"loregate/internal/world/command"
)

// A scriptedModel is an endpoint that knows the right answers to cases and to trials. It gives them, or wrong answers
// in the right form.
type scriptedModel struct {
	t      *testing.T
	lies   bool
	server *modeltest.Server

	mu    sync.Mutex
	gold  map[string]string // guarded by mu: answers by template and text
	wrong map[string]string // guarded by mu
	asked map[string]bool   // guarded by mu: the texts of cases that it was asked for
}

// The rows of figures with a model. The best model knows the answers, the hostile one gives wrong ones.
var scripts = []struct {
	name string
	lies bool
}{{"with the best model", false}, {"with a hostile model", true}}

func serveScript(t *testing.T, lies bool) *scriptedModel {
	t.Helper()
	m := &scriptedModel{t: t, lies: lies, gold: map[string]string{}, wrong: map[string]string{},
		asked: map[string]bool{}}
	m.server = modeltest.Serve(t, m.answer)
	return m
}

// configure gives a configuration the model in every use; none if m is nil.
func (m *scriptedModel) configure(c *app.Config) {
	if m == nil {
		return
	}
	c.Model.Provider, c.Model.URL, c.Model.Name = "compatible", m.server.URL, "scripted-1"
	c.Model.KeyFile = m.server.KeyFile
	c.Model.Uses, c.Model.Retries = []string{"intents", "commands", "moderation", "claims", "repeats", "plans"}, 0
}

// know teaches the model the right answer to a text, and a wrong one.
func (m *scriptedModel) know(template, text, right, wrong string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gold[template+"\x00"+text], m.wrong[template+"\x00"+text] = right, wrong
}

// templates maps the member of a question's data to the question's template.
var templates = map[string]string{"command": "command", "utterance": "intent", "text": "moderation",
	"said": "claim", "proposed": "repeat", "intent": "studio-plan"}

// noAnswers are answers of the right form that no product can use.
var noAnswers = map[string]string{"command": `{"acts":[{"verb":"","direction":"","object":"","targets":[]}],"unclear":""}`,
	"intent":     `{"intent":"unknown","confidence":0}`,
	"claim":      `{"denied":0,"because":0}`,
	"repeat":     `{"same":[]}`,
	"moderation": `{"categories":[]}`, "studio-plan": `{"name":"Nothing","calls":[]}`}

func (m *scriptedModel) answer(prompt string) string {
	_, data, _ := strings.Cut(prompt, "<<<DATA>>>")
	data, _, _ = strings.Cut(data, "<<<DATA>>>")
	member, text := readQuestion(m.t, data)
	template := templates[member]
	list, err := agent.Trials(template)
	if err != nil {
		m.t.Error(err)
	}
	for _, trial := range list {
		for _, value := range trial.Values {
			if _, asked := readQuestion(m.t, string(value)); asked == text {
				return m.answerTrial(template, trial)
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[text] = true
	answers := m.gold
	if m.lies {
		answers = m.wrong
	}
	answer := answers[template+"\x00"+text]
	if template == "repeat" && answer != "" {
		return numberRepeats(m.t, data, answer)
	}
	return cmp.Or(answer, noAnswers[template])
}

// numberRepeats names the known sentences of a question that a fact has.
func numberRepeats(t *testing.T, data, fact string) string {
	t.Helper()
	var question struct{ Known []string }
	if err := json.Unmarshal([]byte(data), &question); err != nil {
		t.Error(err)
	}
	same := []int{}
	for i, sentence := range question.Known {
		if strings.Contains(fact, sentence) {
			same = append(same, i+1)
		}
	}
	return marshal(map[string]any{"same": same})
}

// readQuestion returns the text that a question is about, and the name of its member in the question's data.
func readQuestion(t *testing.T, data string) (member, text string) {
	t.Helper()
	var values map[string]any
	if err := json.Unmarshal([]byte(data), &values); err != nil {
		t.Errorf("a question without data: %v", err)
	}
	for member := range templates {
		switch value := values[member].(type) {
		case string:
			return member, value
		case []any: // sentences
			return member, strings.TrimSuffix(fmt.Sprintln(value...), "\n")
		}
	}
	return "", ""
}

// answerTrial answers a question of a trial, with all members that the template asks for.
func (m *scriptedModel) answerTrial(template string, trial agent.Trial) string {
	if m.lies {
		return noAnswers[template]
	}
	var answer map[string]any
	if err := json.Unmarshal(trial.Want[0], &answer); err != nil {
		m.t.Error(err)
	}
	switch template {
	case "intent":
		answer["confidence"] = 1
	case "command":
		var v struct {
			Acts    []command.Act
			Unclear string
		}
		if err := json.Unmarshal(trial.Want[0], &v); err != nil {
			m.t.Error(err)
		}
		return marshalReading(v.Acts, v.Unclear)
	case "studio-plan":
		answer["name"] = "A plan"
		if answer["questions"] != nil {
			answer["questions"] = []string{"What do you mean?"}
		}
	}
	return marshal(answer)
}

func marshalReading(acts []command.Act, unclear string) string {
	for i := range acts {
		if acts[i].Targets == nil {
			acts[i].Targets = []string{}
		}
	}
	if acts == nil {
		acts = []command.Act{}
	}
	return marshal(map[string]any{"acts": acts, "unclear": unclear})
}

// askedOf returns the number of cases that the model was asked for.
func (m *scriptedModel) askedOf() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// reading returns the answer of the best model to a case: a reading that the case accepts, in words of the command.
// It is "" if no reading of that form is accepted.
func (c commandCase) reading() string {
	unclear := ""
	if c.Ask == "must" {
		kinds := append(slices.Clone(c.Asks), "verb")
		i := slices.IndexFunc(kinds, func(k string) bool { return k != "" && slices.Contains(command.Unclear, k) })
		unclear = kinds[i]
	}
	wants := c.Want
	if len(wants) == 0 {
		wants = [][]wantedAct{{}}
	}
	for _, want := range wants {
		var acts []command.Act
		for _, w := range want {
			acts = append(acts, w.act(c.Text))
		}
		p, err := command.ReadAs(c.Text, acts, unclear, "gold")
		if err == nil && c.right(p, wantedAct.fits) {
			return marshalReading(acts, unclear)
		}
	}
	return ""
}

// act returns an act that fits, with names that occur in the text as far as there are any.
func (w wantedAct) act(text string) command.Act {
	words := strings.Fields(text)
	pick := func(want string) string {
		names := strings.Split(want, "|")
		for _, n := range names {
			if said := findName(words, n); said != "" {
				return said
			}
			if command.Mentions(text, n) {
				return n
			}
		}
		if names[0] == "*" && len(words) > 0 {
			return words[len(words)-1]
		}
		return names[0]
	}
	verb, _, _ := strings.Cut(w.Verb, "|")
	a := command.Act{Verb: command.Verb(verb), Direction: command.Direction(strings.TrimSuffix(w.Direction, "?"))}
	if w.Object != "" {
		a.Object = pick(w.Object)
	}
	for _, n := range append(slices.Clone(w.Targets), w.Names...) {
		a.Targets = append(a.Targets, pick(n))
	}
	return a
}

// findName returns the words that are a name but for differences that do not matter: three coins for 3 coins. It
// returns "" if there are none.
func findName(words []string, name string) string {
	for from := range words {
		for to := from + 1; to <= len(words); to++ {
			if said := strings.Join(words[from:to], " "); foldName(said) == foldName(name) {
				return said
			}
		}
	}
	return ""
}

// wrongReading is an answer that no case accepts but one about rest.
func (c commandCase) wrongReading() string {
	verb := command.Rest
	if slices.ContainsFunc(c.Want, func(acts []wantedAct) bool {
		return len(acts) == 1 && strings.Contains(acts[0].Verb, "rest")
	}) {
		verb = command.Flee
	}
	return marshalReading([]command.Act{{Verb: verb}}, "")
}

// withModels measures a row without a model, with the best one and with a hostile one. It reports the share of
// cases that a model was asked for, and the loss by a hostile one. know teaches a model a half's cases. measure
// returns the first figure of the row; its model is nil for none.
func withModels(t *testing.T, half, row string, cases int, know func(m *scriptedModel),
	measure func(m *scriptedModel, row string) float64) {
	t.Helper()
	without := measure(nil, row)
	for _, s := range scripts {
		m := serveScript(t, s.lies)
		know(m)
		name := row + " " + s.name
		figure := measure(m, name)
		if s.lies {
			report(t, half, name, "loss", max(without-figure, 0), cases)
		} else {
			report(t, half, name, "asked", share(m.askedOf(), cases), cases)
		}
	}
}

// openWith opens the product with a model, or without one if m is nil.
func (m *scriptedModel) openWith(t *testing.T) *app.App {
	t.Helper()
	c := apptest.Config(t, t.TempDir())
	m.configure(&c)
	a, _ := apptest.Open(t, c, apptest.Quiet())
	return a
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
