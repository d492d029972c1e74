package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/markup"
	"loregate/internal/op"
)

func spoilerWork(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "spoiler_scan",
			Asked: []string{
				"do public pages give away secrets", "leaks of hidden words to players",
				"did we betray a secret anywhere", "check that nothing is spoiled",
				"does anything public tell too much", "secret words in the open",
				"could players read something that they should not", "have I given anything away",
				"check for leaks", "does any public page give a secret away", "hunt for leaks",
				"check that nothing hidden is told in the open", "forbidden words in public pages",
				"did we spill a secret", "does anything that players read use a word of this list",
				"look for the words of a list in all public pages and note the places",
			},
			Title: "Scan for spoilers",
			Doc: "Find out whether cards that players (or players' AIs) can read contain secret terms. Searches the text, fields and names of these cards. Takes the terms from one card and writes the findings, " +
				"grouped by term, to another, which only game masters and up can read. A long scan continues in the background: get_job returns its state.",
			Route: "POST /api/mcp/jobs/spoiler-scan", MinRole: access.RoleGM, Idempotent: true, Target: "terms_card",
			Examples: []op.Example{{Title: "Which secrets can players already read?",
				Input: `{"terms_card": "Spoiler Terms+GM", "results_card": "Spoiler Results+GM", "scope": "player"}`}},
		}, spoilerScan),
	}
}

const (
	spoilerKind     = "spoiler_scan"
	spoilerPatience = 3 * time.Second // how long a caller waits before the answer is to ask again
)

type spoilerIn struct {
	TermsCard   string `json:"terms_card" minlen:"1" maxlen:"1020" jsonschema:"Card that lists the terms: the items of a Pointer or a list, otherwise one term per line."`
	ResultsCard string `json:"results_card" minlen:"1" maxlen:"1020" jsonschema:"Card to write the results to; created if it does not exist."`
	Scope       string `json:"scope" enum:"player,ai" jsonschema:"player: cards that players can read; ai: also the +AI cards below them."`
	Limit       int    `json:"limit,omitzero" default:"500" min:"1" max:"1000" jsonschema:"Maximum number of findings to list."`
}

type spoilerOut struct {
	Status      string `json:"status" enum:"queued,completed"`
	Matches     int    `json:"matches" jsonschema:"Number of places with a term; 0 until completed."`
	ResultsCard string `json:"results_card"`
	JobID       string `json:"job_id"`
	Unclear     int    `json:"unclear,omitzero" jsonschema:"Lines of the terms card that may not have been read as the terms that they were meant to be; the results card quotes them. Nothing is all clear while there are any."`

	scope string
	terms int // number of terms that were searched for
}

// spoilerDone is the stored result of a finished scan.
type spoilerDone struct {
	Matches     int    `json:"matches"`
	Unclear     int    `json:"unclear"`
	ResultsCard string `json:"results_card"`
	Terms       int    `json:"terms"`
}

func spoilerScan(ctx context.Context, d *deps, c *op.Call, in spoilerIn) (spoilerOut, error) {
	if d.jobs == nil {
		return spoilerOut{}, fault.New(fault.Unavailable, "jobs are not configured on this server")
	}
	err := d.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error { return checkScan(ctx, l, in) })
	if err != nil {
		return spoilerOut{}, err
	}
	var failure error
	replayed := false
	g := c.Grant
	j, err := d.jobs.Start(ctx, g, spoilerKind, spoilerPatience, func(ctx context.Context) (any, error) {
		done, again, err := d.runScan(ctx, g, in)
		failure, replayed = err, again
		return done, err
	})
	if err != nil {
		return spoilerOut{}, err
	}
	out := spoilerOut{Status: string(job.Queued), ResultsCard: markup.Clean(in.ResultsCard), JobID: j.ID.String(),
		scope: in.Scope}
	if !j.Done() {
		return out, nil
	}
	if j.State != job.Completed { // the job has ended, so failure is safe to read
		if failure == nil {
			failure = fault.New(fault.Unavailable, "%s", j.Problem)
		}
		return spoilerOut{}, failure
	}
	var done spoilerDone
	if err := json.Unmarshal(j.Result, &done); err != nil {
		return out, fmt.Errorf("archive: result of scan %s: %w", j.ID, err)
	}
	c.Reply.Replayed = replayed
	out.Status, out.Matches, out.Unclear, out.ResultsCard, out.terms = string(job.Completed), done.Matches, done.Unclear,
		done.ResultsCard, done.Terms
	return out, nil
}

// checkScan refuses faulty requests before the job begins.
func checkScan(ctx context.Context, l *canon.Snapshot, in spoilerIn) error {
	if err := checkNames(in.TermsCard, in.ResultsCard)(l); err != nil {
		return err
	}
	terms, err := l.Find(ctx, in.TermsCard)
	if err != nil {
		return err
	}
	results, ok, err := l.Exists(ctx, in.ResultsCard)
	switch {
	case err != nil:
		return err
	case ok && results.ID == terms.ID || !ok && markup.KeyOf(in.ResultsCard) == terms.Key:
		return fault.BadField("results_card", "must not be the card with the terms")
	case ok:
		return checkResultsCard(results, max(access.LevelGM, terms.Label.Level))
	case isHandle(in.ResultsCard):
		_, err := l.Find(ctx, in.ResultsCard)
		return err
	}
	var p problems
	p.checkNewName("results_card", in.ResultsCard)
	return p.Err()
}

// checkResultsCard refuses a card that callers below the level can read, and a card that is not
// RichText.
func checkResultsCard(c canon.Card, level access.Level) error {
	if c.Label.Level < level || len(c.Label.Subjects) > 0 {
		return fault.BrokenRule("results_card",
			"%q can be read by callers below the level %s; choose another card, or raise its level first", c.Name, level)
	}
	if c.Type != canon.TypeRichText {
		return fault.BrokenRule("results_card",
			"%q is of type %s; the results card must be of type RichText", c.Name, c.Type)
	}
	return nil
}

// runScan searches the cards of the scope and writes the results card.
func (d *deps) runScan(ctx context.Context, g access.Grant, in spoilerIn) (done spoilerDone, replayed bool, err error) {
	var found findings
	err = d.Canon.Read(ctx, g, func(l *canon.Snapshot) error {
		found, err = scanForTerms(ctx, l, in)
		return err
	})
	if err != nil {
		return done, false, err
	}
	content := found.resultsPage(in)
	receipt, err := d.Canon.Update(ctx, g, func(p *canon.Plan) error {
		card, err := writeResults(p, in.ResultsCard, content, found.level)
		p.Target(card.ID)
		done.ResultsCard = card.Name
		return err
	})
	done.Terms = len(found.terms)
	if done.Matches, done.Unclear = found.matches, len(found.unread); receipt.Replayed {
		done.ResultsCard = markup.Clean(in.ResultsCard)
	}
	return done, receipt.Replayed, err
}

func writeResults(p *canon.Plan, name, content string, level access.Level) (canon.Card, error) {
	card, ok, err := p.Has(name)
	if err != nil {
		return canon.Card{}, err
	}
	if ok {
		if err := checkResultsCard(card, level); err != nil {
			return canon.Card{}, err
		}
		return p.Update(card, canon.Edit{Content: &content})
	}
	label := access.NewLabel(level)
	return p.Create(canon.NewCard{Name: name, Content: content, Label: &label})
}
