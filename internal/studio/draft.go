package studio

import (
	"context"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/op"
	"loregate/internal/telemetry"
)

// draft is a plan in the making, and how it came about.
type draft struct {
	Plan
	open    []question
	asked   op.Outcome // what became of the questions
	skipped string     // why a model's plan does not stand; see createdOut
	fault   string     // what was wrong with it
}

// question is something that a plan needs and the words leave open.
type question struct {
	topic    topic
	text     string   // as it stands in the answer of those who cannot be asked
	options  []string // the only answers there are; nil: any
	optional bool     // may be answered with nothing
}

// topic is what a question's answer is for; it names the blank of the form.
type topic string

const (
	topicIntent      topic = "intent"      // what is wanted at all
	topicDescription topic = "description" // what is to be built
	topicCard        topic = "card"        // the place that is meant; nothing: none
	topicEngine      topic = "engine"      // leaveOut
)

// leaveOutEngine is the answer that does without an engine.
const leaveOutEngine = "leave them out"

func (d *draft) addQuestion(q question) {
	d.open, d.Questions = append(d.open, q), append(d.Questions, q.text)
}

func (d *draft) addAssumption(format string, args ...any) {
	d.Assumed = append(d.Assumed, fmt.Sprintf(format, args...))
}

// planRequest is what a plan is made of: what the caller said, and what was answered since.
type planRequest struct {
	planCreateIn
	noCard   bool // from the words alone
	noEngine bool
}

// maxRounds is how often one plan asks.
const maxRounds = 3

// draftPlan makes a plan: a model's where there is one that gives a good one, else that of
// the rules. What is open is asked of the person behind the call, where that is possible.
// Nothing is recorded here, so that a call that ends with a question leaves nothing.
func (s *Studio) draftPlan(ctx context.Context, c *op.Call, g access.Grant, said planCreateIn) (d draft, err error) {
	ctx, end := telemetry.Start(ctx, "studio.plan")
	defer func() { end(err) }()
	in, asked := planRequest{planCreateIn: said}, op.Unasked
	for round := 1; ; round++ {
		key := fmt.Sprintf("plan-%d", round)
		if d, err = s.proposeByRules(ctx, g, in); err != nil {
			return d, err
		}
		if c.Asked(key) {
			d.skipped = s.skipReasonAfterQuestion()
		} else if d, err = s.suggestPlan(ctx, c.Grant.Role(), g, in, d); err != nil {
			return d, err
		}
		d.asked = asked
		if len(d.open) == 0 || round > maxRounds {
			return d, nil
		}
		r, err := c.Ask(ctx, d.toForm(key))
		if err != nil {
			return d, err
		}
		switch r.Outcome {
		case op.Answered:
			in, asked = in.withAnswers(d.open, r.Values), r.Outcome
		case op.Dismissed:
			return d, Fail(Cancelled, "the question was dismissed, and no plan was made; call again with card, or say more in intent")
		default:
			d.asked = r.Outcome
			return d, nil
		}
	}
}

// toForm puts the open questions to a person.
func (d *draft) toForm(key string) op.Form {
	f := op.Form{Key: key, Message: fmt.Sprintf("To plan %q, something is missing.", clipText(d.Intent, 120))}
	for _, q := range d.open {
		if slices.ContainsFunc(f.Blanks, func(b op.Blank) bool { return b.Name == string(q.topic) }) {
			continue // one answer is enough
		}
		b := op.Blank{Name: string(q.topic), Title: blankTitles[q.topic], Doc: q.text, Options: q.options, MaxLen: maxAnswer, Optional: q.optional}
		f.Blanks = append(f.Blanks, b)
	}
	return f
}

var blankTitles = map[topic]string{topicIntent: "What shall be done", topicDescription: "What shall be built", topicCard: "Place", topicEngine: "Engine"}

// maxAnswer bounds an answer, in characters.
const maxAnswer = 400

// withAnswers is what is wanted after questions were answered.
func (in planRequest) withAnswers(open []question, values map[string]string) planRequest {
	for _, q := range open {
		answer := values[string(q.topic)]
		switch q.topic {
		case topicIntent:
			in.Intent = answer
		case topicDescription:
			in.Intent += ", " + answer
		case topicCard:
			in.Card, in.noCard = answer, answer == ""
		case topicEngine:
			in.noEngine = true
		}
	}
	return in
}
