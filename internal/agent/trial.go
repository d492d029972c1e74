package agent

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"loregate/internal/fault"
	"loregate/internal/usage"
)

// A model may be worse than the rules that it is asked to help, or may lie. So it has to pass a trial before its
// answers to a template are used: questions whose answers are known, in the same form as all others. While it is used,
// one question of the trial goes out now and then, and a wrong answer is followed by a whole trial.

// Numbers of a trial.
const (
	trialQuestions = 8
	trialRight     = 7                // the least number of right answers
	trialEvery     = 40               // answers until the next question of the trial
	trialTimeout   = 2 * time.Minute  // of a whole trial
	trialPause     = 30 * time.Minute // until a model that failed is tried again
)

//go:embed trials/*.jsonl
var trialFiles embed.FS

// Trial is a question with known answers.
type Trial struct {
	Values map[string]json.RawMessage `json:"values"` // of the template's variables, in place of the caller's
	// Want lists the right answers. An answer is right if it has all members of one of them; lists must be equal in
	// length and order. "*" stands for any value.
	Want []json.RawMessage `json:"want"`
}

// Trials returns the questions of the trial for a template; none if its answers need no trial.
func Trials(template string) ([]Trial, error) {
	all, err := readTrials()
	return all[template], err
}

// readTrials reads the questions of all trials once.
var readTrials = sync.OnceValues(func() (map[string][]Trial, error) {
	all := map[string][]Trial{}
	files, err := trialFiles.ReadDir("trials")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		b, err := trialFiles.ReadFile("trials/" + f.Name())
		if err != nil {
			return nil, err
		}
		template := strings.TrimSuffix(f.Name(), ".jsonl")
		for d := json.NewDecoder(bytes.NewReader(b)); d.More(); {
			var t Trial
			if err := d.Decode(&t); err != nil {
				return nil, fault.New(fault.Internal, "agent: the trial of %s: %v", template, err)
			}
			all[template] = append(all[template], t)
		}
	}
	return all, nil
})

// anyValue stands for any value in a wanted answer.
const anyValue = "*"

// isRight reports whether an answer is right.
func (t Trial) isRight(answer string) bool {
	var got any
	if json.Unmarshal([]byte(answer), &got) != nil {
		return false
	}
	for _, text := range t.Want {
		var want any
		if json.Unmarshal(text, &want) == nil && hasAll(want, got) {
			return true
		}
	}
	return false
}

// hasAll reports whether a JSON value has all members of another.
func hasAll(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		for name, value := range want {
			ok = ok && hasAll(value, members[name])
		}
		return ok
	case []any:
		items, ok := got.([]any)
		ok = ok && len(items) == len(want)
		for i := 0; ok && i < len(want); i++ {
			ok = hasAll(want[i], items[i])
		}
		return ok
	case string:
		text, ok := got.(string)
		return ok && strings.EqualFold(want, text) || want == anyValue && got != nil
	}
	return want == got
}

// errUnfit is the error of a question to a model that failed its trial.
var errUnfit error = fault.New(fault.Unavailable,
	"the model answered too many trial questions wrongly; rules are used instead")

// trialOf is the state of a template's trial.
type trialOf struct {
	running chan struct{} // closed at the end of the trial that runs; nil if none does
	passed  bool
	err     error     // the reason why the last trial was not passed
	failed  time.Time // when the model was found unfit
	answers int       // since the last question of the trial
}

// trials holds the states of all trials, by template.
type trials struct {
	mu   sync.Mutex // guards the map and the states in it
	of   map[string]*trialOf
	work sync.WaitGroup
	stop context.Context
	end  context.CancelFunc
}

func newTrials() *trials {
	t := &trials{of: map[string]*trialOf{}}
	t.stop, t.end = context.WithCancel(context.Background())
	return t
}

// Close ends running trials.
func (a *Agents) Close() {
	a.trials.end()
	a.trials.work.Wait()
}

// awaitTrial returns nil if the model has passed the trial of a question's template. It starts the trial if it is due,
// and waits for its end as long as ctx allows.
func (a *Agents) awaitTrial(ctx context.Context, q Question) error {
	list, err := Trials(q.Template)
	if len(list) == 0 || err != nil {
		return err
	}
	state, running := a.startTrial(q, list)
	if running != nil {
		select {
		case <-running:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	a.trials.mu.Lock()
	defer a.trials.mu.Unlock()
	if state.passed {
		return nil
	}
	return cmp.Or(state.err, errUnfit)
}

// startTrial returns the state of a template's trial, and the end of the trial that runs. It starts a trial if the
// model has not passed one, unless it was found unfit a short while ago.
func (a *Agents) startTrial(q Question, list []Trial) (state *trialOf, running chan struct{}) {
	a.trials.mu.Lock()
	defer a.trials.mu.Unlock()
	state = a.trials.of[q.Template]
	if state == nil {
		state = &trialOf{}
		a.trials.of[q.Template] = state
	}
	paused := !state.failed.IsZero() && a.cfg.Now().Sub(state.failed) < trialPause
	if !state.passed && !paused && state.running == nil && a.trials.stop.Err() == nil {
		state.running = make(chan struct{})
		a.trials.work.Go(func() { a.runTrial(q, list, state) })
	}
	return state, state.running
}

// runTrial asks some questions of a trial and stores the result.
func (a *Agents) runTrial(q Question, list []Trial, state *trialOf) {
	ctx, cancel := context.WithTimeout(a.trials.stop, trialTimeout)
	defer cancel()
	right, asked := 0, min(trialQuestions, len(list))
	var failure error
	for _, i := range rand.Perm(len(list))[:asked] {
		ok, err := a.askTrial(ctx, q, list[i])
		if err != nil {
			failure = err
			break
		}
		if ok {
			right++
		}
	}
	a.trials.mu.Lock()
	defer a.trials.mu.Unlock()
	close(state.running)
	state.running, state.answers, state.err, state.failed = nil, 0, failure, time.Time{}
	if state.passed = failure == nil && right*trialQuestions >= trialRight*asked; state.passed {
		return
	}
	if failure == nil {
		state.err, state.failed = errUnfit, a.cfg.Now()
	}
	a.cfg.Logger.WarnContext(ctx, "the model did not pass its trial; rules are used instead", "template", q.Template,
		"right", right, "of", asked, "error", state.err)
}

// askTrial asks one question of a trial. Only a model that does not answer at all is an error.
func (a *Agents) askTrial(ctx context.Context, q Question, t Trial) (right bool, err error) {
	template, err := a.cfg.Prompts.Get(q.Template, "")
	if err != nil {
		return false, err
	}
	values := maps.Clone(q.Values)
	for name, value := range t.Values {
		if values[name], err = marshalData(value); err != nil {
			return false, err
		}
	}
	text, err := template.Render(values)
	if err != nil {
		return false, err
	}
	event := usage.Event{Name: usage.ModelCalled, Purpose: q.Purpose, Model: modelFor(a.cfg.Answers, q.Purpose),
		Template: q.Template + "@" + template.Metadata.Version}
	done, refused, err := a.completeInBudget(ctx, a.cfg.Answers, q.World,
		Request{Purpose: q.Purpose, Prompt: text, MaxTokens: q.MaxTokens, Schema: q.Schema}, &event)
	if refused != nil || err != nil {
		return false, cmp.Or(refused, err)
	}
	right = t.isRight(done.Text)
	event.Outcome = usage.Rejected
	if right {
		event.Outcome = usage.Accepted
	}
	a.recordUsage(q.World, event)
	return right, nil
}

// countAnswer counts a used answer. Now and then it asks a question of the trial in the background, and asks for a
// whole trial after a wrong answer.
func (a *Agents) countAnswer(q Question) {
	list, _ := Trials(q.Template) // it was read before the question
	if len(list) == 0 {
		return
	}
	a.trials.mu.Lock()
	defer a.trials.mu.Unlock()
	state := a.trials.of[q.Template]
	state.answers++
	if state.answers < trialEvery || a.trials.stop.Err() != nil {
		return
	}
	state.answers = 0
	a.trials.work.Go(func() {
		ctx, cancel := context.WithTimeout(a.trials.stop, trialTimeout)
		defer cancel()
		if right, err := a.askTrial(ctx, q, list[rand.IntN(len(list))]); err != nil || right {
			return
		}
		a.trials.mu.Lock()
		defer a.trials.mu.Unlock()
		state.passed = false
	})
}
