package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"loregate/internal/app"
	"loregate/internal/op"
)

type proposalsCmd struct {
	List    proposalsListCmd    `cmd:"" help:"List proposals, latest first."`
	Show    proposalsShowCmd    `cmd:"" help:"Show a proposal: what it would change, and every gate's verdict."`
	Approve proposalsApproveCmd `cmd:"" help:"Accept a proposal that waits, exactly as it is shown."`
	Reject  proposalsRejectCmd  `cmd:"" help:"Refuse a proposal that waits."`
}

// proposalsOf is what these commands take.
type proposalsOf struct {
	common
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID; default the only one." placeholder:"WORLD"`
}

// call calls an operation in the name of whoever runs the program, who may approve.
func (c proposalsOf) call(ctx context.Context, a *app.App, operation string, input map[string]any) (json.RawMessage, error) {
	b, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	answer, err := a.Ops.Invoke(ctx, app.Operator(), op.Request{Operation: operation, Input: b, World: c.World, Correlation: uuid.NewString(), Transport: "cli"})
	if err != nil {
		return nil, err
	}
	return answer.Output, nil
}

type proposalsListCmd struct {
	proposalsOf
	listing
	Status string `help:"Only those of a status: pending_review, accepted, rejected, withdrawn, outdated or expired." placeholder:"STATUS"`
	Kind   string `help:"Only those of a kind." placeholder:"KIND"`
	Limit  int    `help:"Most to list: 1 to 100." default:"50"`
	Before string `help:"Only those before a proposal, to go on after a list." placeholder:"ID"`
}

func (p proposalsListCmd) Run(ctx context.Context, out io.Writer) error {
	return p.with(ctx, func(a *app.App) error {
		input := map[string]any{"limit": p.Limit}
		if p.Status != "" {
			input["status"] = p.Status
		}
		if p.Kind != "" {
			input["kind"] = p.Kind
		}
		if p.Before != "" {
			input["before"] = p.Before
		}
		raw, err := p.call(ctx, a, "list-proposals", input)
		if err != nil {
			return err
		}
		return p.print(out, raw)
	})
}

// proposalRow is what a list tells of a proposal.
type proposalRow struct {
	ProposalID, Kind, Status, Author string
	CreatedUtc                       time.Time
}

var proposalTable = table[proposalRow]{"PROPOSAL KIND STATUS AUTHOR CREATED", func(p proposalRow) []string {
	return []string{p.ProposalID, p.Kind, p.Status, p.Author, day(p.CreatedUtc)}
}}

// print shows an answer of list-proposals, which is JSON already.
func (p proposalsListCmd) print(out io.Writer, raw json.RawMessage) error {
	if p.JSON {
		return printJSON(out, raw)
	}
	var list struct {
		Proposals []proposalRow
		Next      string
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if err := proposalTable.print(out, p.listing, list.Proposals); err != nil {
		return err
	}
	if list.Next != "" {
		_, err := fmt.Fprintln(out, "There are more; go on with --before "+list.Next)
		return err
	}
	return nil
}

type proposalsShowCmd struct {
	proposalsOf
	listing
	ID string `arg:"" help:"Proposal."`
}

// shownProposal is what a person decides by.
type shownProposal struct {
	ProposalID, Kind, Status, Author, Actor, ExpectedHash string
	CreatedUtc, ExpiresUtc                                time.Time
	Payload                                               json.RawMessage
	Preview                                               []struct{ Act, What, Type, Level, Diff string }
	Issues                                                []struct{ Field, Error string }
	Verdicts                                              []struct {
		Gate   string
		Passed bool
	}
}

func (p proposalsShowCmd) Run(ctx context.Context, out io.Writer) error {
	return p.with(ctx, func(a *app.App) error {
		raw, err := p.call(ctx, a, "get-proposal", map[string]any{"proposalId": p.ID})
		if err != nil {
			return err
		}
		if p.JSON {
			return printJSON(out, raw)
		}
		var shown shownProposal
		if err := json.Unmarshal(raw, &shown); err != nil {
			return err
		}
		return shown.print(out)
	})
}

func (s shownProposal) print(out io.Writer) error {
	fmt.Fprintf(out, "%s of %s (%s), %s: %s\n", s.Kind, s.Author, s.Actor, day(s.CreatedUtc), s.Status)
	for _, i := range s.Issues {
		fmt.Fprintf(out, "  %s\n", plain(strings.TrimPrefix(i.Field+": "+i.Error, ": ")))
	}
	fmt.Fprint(out, "\nProposed:\n")
	var payload strings.Builder
	if err := printJSON(&payload, s.Payload); err != nil {
		return err
	}
	fmt.Fprint(out, plain(payload.String()))
	if len(s.Preview) > 0 {
		fmt.Fprint(out, "\nWould change:\n")
	}
	for _, c := range s.Preview {
		fmt.Fprintf(out, "%s %s, %s, level %s\n%s", c.Act, plain(c.What), plain(c.Type), c.Level, plain(c.Diff))
	}
	gates := make([]string, len(s.Verdicts))
	for i, v := range s.Verdicts {
		gates[i] = v.Gate + " passed"
		if !v.Passed {
			gates[i] = v.Gate + " REFUSED"
		}
	}
	fmt.Fprintf(out, "\nGates: %s\n", strings.Join(gates, ", "))
	if s.Status != "pending_review" {
		return nil
	}
	_, err := fmt.Fprintf(out, "\nUntil %s UTC, decide with:\n  loregate proposals approve %s --hash %s\n  loregate proposals reject %s --note …\n", day(s.ExpiresUtc), s.ProposalID, s.ExpectedHash, s.ProposalID)
	return err
}

// plain is a text of somebody else for a terminal: what would move the cursor, colour or
// turn what a person reads shows as a mark. JSON does so by itself.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if commands(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

type proposalsApproveCmd struct {
	proposalsOf
	ID   string `arg:"" help:"Proposal."`
	Hash string `help:"The expectedHash that you saw; default the one in force, which is printed first with what it stands for." placeholder:"HASH"`
	Note string `help:"A word to the author."`
}

func (p proposalsApproveCmd) Run(ctx context.Context, out io.Writer) error {
	return p.with(ctx, func(a *app.App) error {
		if p.Hash == "" {
			raw, err := p.call(ctx, a, "get-proposal", map[string]any{"proposalId": p.ID})
			if err != nil {
				return err
			}
			var shown struct {
				ExpectedHash string
				Preview      json.RawMessage
			}
			if err := json.Unmarshal(raw, &shown); err != nil {
				return err
			}
			if shown.Preview != nil {
				if err := printJSON(out, shown.Preview); err != nil {
					return err
				}
			}
			p.Hash = shown.ExpectedHash
		}
		raw, err := p.call(ctx, a, "approve-proposal", map[string]any{"proposalId": p.ID, "expectedHash": p.Hash, "note": p.Note})
		if err != nil {
			return err
		}
		return printJSON(out, raw)
	})
}

type proposalsRejectCmd struct {
	proposalsOf
	ID   string `arg:"" help:"Proposal."`
	Note string `help:"Why, for the author."`
}

func (p proposalsRejectCmd) Run(ctx context.Context, out io.Writer) error {
	return p.with(ctx, func(a *app.App) error {
		raw, err := p.call(ctx, a, "reject-proposal", map[string]any{"proposalId": p.ID, "note": p.Note})
		if err != nil {
			return err
		}
		return printJSON(out, raw)
	})
}
