package judgetest

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/app/tasktest"
	"loregate/internal/world/command"
)

// intentCase is an utterance with the intents that a referee would accept.
type intentCase struct {
	ID     string   `json:"id"`
	Text   string   `json:"text"`
	Kind   string   `json:"kind"`
	Source string   `json:"source"`
	Want   []string `json:"want"` // verbs of commands, or unknown
}

// unknownIntent is the intent of an utterance that asks for no act.
const unknownIntent = "unknown"

// house is the served sample world without limits and without a model.
type house struct{ *tasktest.World }

// serve serves the sample world until the end of the test, with a model if m is not nil.
func serve(t *testing.T, m *scriptedModel) *house {
	t.Helper()
	return &house{tasktest.Serve(t, m.configure)}
}

// post calls an operation of the sample world, and returns the status and the answer.
func (h *house) post(t *testing.T, role access.Role, path string, in any) (int, []byte) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return apptest.Send(t, http.MethodPost, h.URL+path+"?world="+app.SampleWorld, h.Keys[role.String()], string(body))
}

func TestIntents(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			cases := loadCases[intentCase](t, half, "intents.jsonl")
			for _, c := range cases {
				c.check(t)
			}
			cases = sample(cases, sampleSize)
			withModels(t, half, "intents", len(cases), func(m *scriptedModel) {
				for _, c := range cases {
					wrong := slices.IndexFunc(command.Verbs, func(v command.Verb) bool { return !slices.Contains(c.Want, string(v)) })
					m.know("intent", c.Text, marshal(map[string]any{"intent": c.Want[0], "confidence": 1}),
						marshal(map[string]any{"intent": command.Verbs[wrong], "confidence": 1}))
				}
			}, func(m *scriptedModel, row string) float64 { return measureIntents(t, half, row, cases, serve(t, m)) })
		})
	}
}

func (c intentCase) check(t *testing.T) {
	t.Helper()
	for _, w := range c.Want {
		if w != unknownIntent && !slices.Contains(command.Verbs, command.Verb(w)) {
			t.Errorf("case %s is malformed", c.ID)
		}
	}
}

func measureIntents(t *testing.T, half, row string, cases []intentCase, h *house) float64 {
	t.Helper()
	var all, sure ratio // sure: answers with a confidence of at least one half
	kinds := map[string]*ratio{}
	for _, c := range cases {
		status, answer := h.post(t, access.RoleUser, "/api/classification/intent", map[string]string{"utterance": c.Text})
		var got struct {
			Intent     string
			Confidence float64
		}
		if err := json.Unmarshal(answer, &got); err != nil || status != http.StatusOK {
			t.Fatalf("case %s: status %d, %v", c.ID, status, err)
		}
		right := slices.Contains(c.Want, got.Intent)
		all.add(right)
		if got.Confidence >= 0.5 && got.Intent != unknownIntent {
			sure.add(right)
		}
		countKind(kinds, c.Kind).add(right)
		if !right {
			logMiss(t, half, "%s %s %q: got %s (%.2f), want %v", c.ID, c.Kind, c.Text, got.Intent,
				got.Confidence, c.Want)
		}
	}
	report(t, half, row, "right", all.value(), all.all)
	if row == "intents" {
		report(t, half, row, "right where it is sure", sure.value(), sure.all)
		reportKinds(t, half, row, "right", kinds)
	}
	return all.value()
}
