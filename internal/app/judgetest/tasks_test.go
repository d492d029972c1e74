package judgetest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"loregate/internal/app/apptest"
)

// taskCase is a task for a model that has the default list of tools on /mcp and the sample world.
// Its words do not occur in the names of operations, so that it is solved by what descriptions say.
type taskCase struct {
	ID    string         `json:"id"`
	Area  string         `json:"area"`
	Key   string         `json:"key"` // user, gm or admin of the sample world; player or keeper of its campaign
	Text  string         `json:"text"`
	Given map[string]any `json:"given"` // the details of the text, for a scripted model that cannot find them itself
	// Setup lists calls before the task. Check succeeds after it, and before it too unless Changes.
	// {plan_id} in its path stands for the plan_id of the last answer that the model got. Answer
	// lists texts that the answers to the model must contain.
	Setup   []taskCall `json:"setup,omitempty"`
	Changes bool       `json:"changes,omitempty"`
	Check   taskCall   `json:"check"`
	Answer  []string   `json:"answer,omitempty"`
}

// taskCall is a REST call. A check succeeds if its answer contains all of Want and none of Lacks.
type taskCall struct {
	Key    string          `json:"key"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"`
	Want   []string        `json:"want,omitempty"`
	Lacks  []string        `json:"lacks,omitempty"`
}

// do makes the call and returns its answer.
func (c taskCall) do(t *testing.T, h *house) (int, []byte) {
	t.Helper()
	return apptest.Send(t, c.Method, h.url+c.Path, h.named[c.Key], string(c.Body))
}

// succeeds makes the call and reports whether its answer is the wanted one.
func (c taskCall) succeeds(t *testing.T, h *house) bool {
	t.Helper()
	status, answer := c.do(t, h)
	if status >= http.StatusMultipleChoices {
		return false
	}
	for _, w := range c.Want {
		if !bytes.Contains(answer, []byte(w)) {
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

// The check of a task that only reads succeeds at the start, so its facts are those of the sample.
// The check of one that changes something fails at the start, so that it cannot be solved by doing
// nothing.
func TestChecksOfTasksFitTheSample(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			tasks := loadCases[taskCase](t, half, "tasks.jsonl")
			h := serve(t)
			for _, task := range tasks {
				for _, c := range task.Setup {
					if status, _ := c.do(t, h); status >= http.StatusMultipleChoices {
						t.Errorf("task %s: the setup has status %d", task.ID, status)
					}
				}
				if strings.Contains(task.Check.Path, "{") {
					continue
				}
				if task.Check.succeeds(t, h) == task.Changes {
					t.Errorf("task %s: at the start its check succeeds: %v", task.ID, !task.Changes)
				}
			}
		})
	}
}

// solved reports whether the picker's work and answers fulfil a task.
func (c taskCase) solved(t *testing.T, h *house, p *picker) bool {
	t.Helper()
	for _, a := range c.Answer {
		if !strings.Contains(p.shown.String(), a) {
			return false
		}
	}
	check := c.Check
	check.Path = strings.ReplaceAll(check.Path, "{plan_id}", p.planID())
	return check.succeeds(t, h)
}

// solvedTasks is the number of tasks of the development half that the picker has solved. The others
// need a second step (the contextRef of a context, nested items) or an operation that no MCP client
// has.
const solvedTasks = 12

// Each task has a world of its own, so that none depends on another.
func TestTasks(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			var solved ratio
			areas := map[string]*ratio{}
			var listed, worked int64
			for _, task := range loadCases[taskCase](t, half, "tasks.jsonl") {
				h := serve(t)
				for _, c := range task.Setup {
					c.do(t, h)
				}
				p := connectPicker(t, h, task.Key, half)
				p.solve(requestOf(task))
				right := task.solved(t, h, p)
				solved.add(right)
				countKind(areas, task.Area).add(right)
				listed += p.listed
				worked += p.wire.bytes.Load() - p.listed
				if !right {
					logMiss(t, half, "%s %q: not solved after %d calls", task.ID, task.Text, p.calls)
				}
			}
			report(t, half, "tasks", "solved", solved.value(), solved.all)
			reportKinds(t, half, "tasks", "solved", areas)
			if half == development && solved.right < solvedTasks {
				t.Errorf("%d tasks are solved, want at least %d", solved.right, solvedTasks)
			}
			n := int64(max(solved.all, 1))
			t.Logf("%s: %d of %d solved; bytes a task: list %d (about %d tokens), calls %d (about %d tokens)", half,
				solved.right, solved.all, listed/n, listed/n/4, worked/n, worked/n/4)
		})
	}
}
