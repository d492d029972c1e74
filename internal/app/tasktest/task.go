package tasktest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
)

// Task is a task for a model that has the default list of tools on /mcp and the sample world. Its
// words do not occur in the names of operations, so that it is solved by what descriptions say.
type Task struct {
	ID    string         `json:"id"`
	Area  string         `json:"area"`
	Key   string         `json:"key"` // user, gm or admin of the sample world; player or keeper of its campaign
	Text  string         `json:"text"`
	Given map[string]any `json:"given"` // the details of the text, for a scripted model that cannot find them itself
	// Setup lists calls before the task. Check succeeds after it, and before it too unless Changes.
	// {plan_id} in its path stands for the plan_id of the last answer that the model got. Answer
	// lists texts that the answers to the model must contain.
	Setup   []Call   `json:"setup,omitempty"`
	Changes bool     `json:"changes,omitempty"`
	Check   Call     `json:"check"`
	Answer  []string `json:"answer,omitempty"`
}

// Uses reports whether the task's text, details or setup name a target of the studio that begins with prefix,
// for example "blender:".
func (t Task) Uses(prefix string) bool {
	given, err := json.Marshal(t.Given)
	uses := err == nil && bytes.Contains(given, []byte(prefix)) || strings.Contains(t.Text, prefix)
	return uses || slices.ContainsFunc(t.Setup, func(c Call) bool { return bytes.Contains(c.Body, []byte(prefix)) })
}

// Call is a REST call. A check succeeds if its answer contains all of Want and none of Lacks.
type Call struct {
	Key    string          `json:"key"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"`
	Want   []string        `json:"want,omitempty"`
	Lacks  []string        `json:"lacks,omitempty"`
}

// World is the served sample world without limits and without a model.
type World struct {
	URL  string
	Keys map[string]string // by the names that tasks use
}

// Serve serves the sample world until the end of the test. Exports may be written below exports/.
func Serve(t testing.TB, change ...func(*app.Config)) *World {
	t.Helper()
	c := apptest.Config(t, t.TempDir())
	c.Studio.Roots = []string{"exports=" + t.TempDir()}
	for _, f := range change {
		f(&c)
	}
	made := apptest.Sample(t, c.Data)
	a, _ := apptest.Open(t, c, apptest.Quiet())
	addr, _ := apptest.Serve(t, a, "")
	w := &World{URL: "http://" + addr, Keys: map[string]string{}}
	for _, k := range made.Keys {
		w.Keys[k.Role.String()] = k.Secret
	}
	for _, k := range made.Campaign {
		name := "player"
		if k.Role == access.RoleGM {
			name = "keeper"
		}
		w.Keys[name] = k.Secret
	}
	return w
}

// Do makes a call and returns its answer.
func (w *World) Do(t testing.TB, c Call) (int, []byte) {
	t.Helper()
	return apptest.Send(t, c.Method, w.URL+c.Path, w.Keys[c.Key], string(c.Body))
}

// Succeeds makes a call and reports whether its answer is the wanted one.
func (w *World) Succeeds(t testing.TB, c Call) bool {
	t.Helper()
	status, answer := w.Do(t, c)
	if status >= http.StatusMultipleChoices {
		return false
	}
	for _, want := range c.Want {
		if !bytes.Contains(answer, []byte(want)) {
			return false
		}
	}
	for _, l := range c.Lacks {
		if bytes.Contains(answer, []byte(l)) {
			return false
		}
	}
	return true
}

// Solved reports whether the answers that a model was shown, and the world, fulfil a task.
func (w *World) Solved(t testing.TB, task Task, shown string) bool {
	t.Helper()
	for _, a := range task.Answer {
		if !strings.Contains(shown, a) {
			return false
		}
	}
	check := task.Check
	check.Path = strings.ReplaceAll(check.Path, "{plan_id}", planID(shown))
	return w.Succeeds(t, check)
}
