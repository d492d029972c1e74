package studio

import (
	"context"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/telemetry"
)

// draft is a plan that is being made, with the way it came about.
type draft struct {
	Plan
	open    []question
	asked   op.Outcome // outcome of the questions
	skipped string     // why a model's plan is not used; see createdOut
	fault   string     // the error in the model's plan
	refusal string     // the model's reason why this cannot be planned
	replace bool       // the request says that the scene is replaced
	unsure  bool       // the rules may have misread a part of the request
}

// question is an open question: the plan needs the answer and the intent does not give it.
type question struct {
	topic    topic
	text     string   // shown in the plan's questions if nobody can be asked
	options  []string // the allowed answers; nil allows any
	optional bool     // may be left blank
}

// topic is the part of a plan that a question is about. It is also the name of the form's blank.
type topic string

const (
	topicIntent      topic = "intent"      // the intent itself
	topicDescription topic = "description" // a description of the scene
	topicCard        topic = "card"        // the card of the place; a blank answer means no card
	topicEngine      topic = "engine"      // the only answer is leaveOutEngine
)

// leaveOutEngine is the answer that drops the calls on an engine.
const leaveOutEngine = "leave them out"

func (d *draft) addQuestion(q question) {
	d.open, d.Questions = append(d.open, q), append(d.Questions, q.text)
}

func (d *draft) addAssumption(format string, args ...any) {
	d.Assumed = append(d.Assumed, fmt.Sprintf(format, args...))
}

// planRequest is the caller's request for a plan, with the answers given since.
type planRequest struct {
	planCreateIn
	noCard   bool // build from the intent's words, without a card
	noEngine bool
}

// maxRounds bounds the rounds of questions for one plan.
const maxRounds = 3

// draftPlan makes a plan: the model's if one is configured and its plan is usable, else that of the
// rules. It asks the caller about open questions where the client supports that. It records
// nothing: a call that ends with a question leaves no trace.
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
			return d, Fail(Cancelled,
				"the question was dismissed, so no plan was made; call again with card, or with more detail in intent")
		default:
			d.asked = r.Outcome
			return d, nil
		}
	}
}

// toForm makes a form of the open questions.
func (d *draft) toForm(key string) op.Form {
	f := op.Form{Key: key, Message: fmt.Sprintf("To plan %q, something is missing.", markup.Shorten(d.Intent, 120))}
	for _, q := range d.open {
		if slices.ContainsFunc(f.Blanks, func(b op.Blank) bool { return b.Name == string(q.topic) }) {
			continue // one answer is enough
		}
		b := op.Blank{Name: string(q.topic), Title: blankTitles[q.topic], Doc: q.text, Options: q.options, MaxLen: maxAnswer,
			Optional: q.optional}
		f.Blanks = append(f.Blanks, b)
	}
	return f
}

var blankTitles = map[topic]string{topicIntent: "Task", topicDescription: "Place to build",
	topicCard: "Place", topicEngine: "Engine"}

// maxAnswer bounds an answer, in characters.
const maxAnswer = 400

// withAnswers returns the request with the answers to the open questions filled in.
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
