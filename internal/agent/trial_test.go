package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/agent"
)

// student is a model that answers questions of the trial for intents, rightly or not, and everything else with "talk".
type student struct {
	mu      sync.Mutex
	knows   bool          // guarded by mu
	asked   int           // guarded by mu: questions of the trial
	waiting chan struct{} // if not nil, answers come after it is closed
}

func (*student) Model() string { return "student-1" }

func (s *student) Complete(ctx context.Context, r agent.Request) (agent.Completion, error) {
	if s.waiting != nil {
		select {
		case <-s.waiting:
		case <-ctx.Done():
			return agent.Completion{}, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := agent.Trials("intent")
	if err != nil {
		return agent.Completion{}, err
	}
	for _, trial := range list {
		var want struct{ Intent string }
		data, err := json.Marshal(trial.Values["data"])
		if err != nil || !strings.Contains(r.Prompt, string(data)) {
			continue
		}
		s.asked++
		if err := json.Unmarshal(trial.Want[0], &want); err != nil || !s.knows {
			want.Intent = "nothing"
		}
		return agent.Completion{Text: `{"intent":"` + want.Intent + `","confidence":1}`}, err
	}
	return agent.Completion{Text: `{"intent":"talk","confidence":1}`}, nil
}

func (s *student) set(knows bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.knows = knows
}

func (s *student) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func newTrialScene(t *testing.T, m *student) *scene {
	t.Helper()
	s := newScene(t, nil, func(c *agent.Config) {
		c.Answers, c.AskIntents, c.Trial, c.Acts = m, true, true, []string{"move", "look", "talk"}
		c.Intents = func(string) (string, float64, bool) { return "look", 0.3, true }
	})
	t.Cleanup(s.Agents.Close)
	return s
}

// A model's answers are used after it has answered questions with known answers.
func TestModelIsTried(t *testing.T) {
	m := &student{knows: true}
	s := newTrialScene(t, m)
	for range 2 {
		if got := s.classify("classify-intent", "utterance", "a word with you"); got.Intent != "talk" || got.Skipped != "" {
			t.Errorf("%+v", got)
		}
	}
	if m.questions() != 8 {
		t.Errorf("the trial had %d questions", m.questions())
	}
}

// A model that answers wrongly is not used, and not tried again at once.
func TestUnfitModelIsNotUsed(t *testing.T) {
	m := &student{}
	s := newTrialScene(t, m)
	for range 2 {
		got := s.classify("classify-intent", "utterance", "a word with you")
		if got.Intent != "look" || got.Skipped != "unavailable" {
			t.Errorf("%+v", got)
		}
	}
	if m.questions() != 8 {
		t.Errorf("the trial had %d questions", m.questions())
	}
}

// A model that passed is asked a question of the trial now and then. After a wrong answer it has to pass a trial again.
func TestModelIsTriedAgain(t *testing.T) {
	m := &student{knows: true}
	s := newTrialScene(t, m)
	s.classify("classify-intent", "utterance", "a word with you")
	m.set(false)
	deadline := time.Now().Add(time.Minute)
	for n := 0; ; n++ {
		got := s.classify("classify-intent", "utterance", "a word with you, number "+strings.Repeat("i", n%1000+1))
		if got.Intent == "look" && got.Skipped == "unavailable" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the model is still used")
		}
	}
	if m.questions() < 8+1+8 {
		t.Errorf("only %d questions", m.questions())
	}
}

// A call waits for a trial as long as its context allows. The trial goes on.
func TestTrialDoesNotHoldCalls(t *testing.T) {
	m := &student{knows: true, waiting: make(chan struct{})}
	s := newTrialScene(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Agents.Ask(ctx, agent.Question{Template: "intent", Purpose: "classification", Trial: true,
		Values: map[string]string{"data": "{}", "acts": "look"}}); err == nil {
		t.Error("an answer without a trial")
	}
	close(m.waiting)
	if got := s.classify("classify-intent", "utterance", "a word with you"); got.Intent != "talk" {
		t.Errorf("%+v", got)
	}
}

func TestTrialsHaveEnoughQuestions(t *testing.T) {
	for _, template := range []string{"intent", "command", "moderation", "claim", "repeat", "studio-plan"} {
		list, err := agent.Trials(template)
		if err != nil || len(list) < 12 {
			t.Errorf("%s: %d questions, %v", template, len(list), err)
		}
	}
}
