package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"loregate/internal/app"
	"loregate/internal/op"
)

type proposalsCmd struct {
	List    proposalsListCmd    `cmd:"" help:"List proposals, latest first."`
	Show    proposalsShowCmd    `cmd:"" help:"Show a proposal: its changes, and the verdict of every gate."`
	Approve proposalsApproveCmd `cmd:"" help:"Accept a pending proposal. With --hash, only if it is still as shown."`
	Reject  proposalsRejectCmd  `cmd:"" help:"Reject a pending proposal."`

	Standing proposalsStandingCmd `cmd:"" help:"Manage standing approvals: proposals of one kind that are accepted without asking you."`
}

// proposalsCommon holds the flags of all proposals commands.
type proposalsCommon struct {
	common
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: all worlds." placeholder:"WORLD"`
}

// callIn calls an operation in one world as the operator, who may approve proposals.
func (c proposalsCommon) callIn(ctx context.Context, a *app.App, world, operation string,
	input map[string]any) (json.RawMessage, error) {
	b, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	answer, err := a.Ops.Invoke(ctx, app.Operator(), op.Request{Operation: operation, Input: b, World: world,
		Correlation: uuid.NewString(), Transport: "cli"})
	if err != nil {
		return nil, err
	}
	return answer.Output, nil
}

// withGiven adds the flags that have a value to an operation's input.
func withGiven(input map[string]any, flags map[string]string) map[string]any {
	for name, value := range flags {
		if value != "" {
			input[name] = value
		}
	}
	return input
}

type proposalsListCmd struct {
	proposalsCommon
	listing
	Status string `help:"Only proposals with this status: pending_review, accepted, rejected, withdrawn, outdated or expired." placeholder:"STATUS"`
	Kind   string `help:"Only proposals of this kind." placeholder:"KIND"`
	Limit  int    `help:"Highest number of proposals to list, 1 to 100." default:"50"`
	Before string `help:"Only proposals older than this one. Use it to continue a list." placeholder:"ID"`
}

func (p proposalsListCmd) Run(ctx context.Context, out io.Writer) error {
	return p.withApp(ctx, func(a *app.App) error {
		raw, err := p.callAnyWorld(ctx, a, "list-proposals", withGiven(map[string]any{"limit": p.Limit},
			map[string]string{"status": p.Status, "kind": p.Kind, "before": p.Before}))
		if err != nil {
			return err
		}
		return p.print(out, raw)
	})
}

// proposalRow is one proposal of a list.
type proposalRow struct {
	ProposalID, Kind, Status, Author, World, What, Change string
	CreatedUtc                                            time.Time
}

var proposalTable = table[proposalRow]{"PROPOSAL KIND STATUS AUTHOR CREATED SUMMARY CHANGE",
	func(p proposalRow) []string {
		return []string{p.ProposalID, p.Kind, p.Status, p.Author, formatMinute(p.CreatedUtc), cellText(p.What),
			cellText(p.Change)}
	}}

// cellText prepares a text of another author for one cell of a table: on one line, without control
// characters; "-" for an empty text.
func cellText(text string) string {
	return cmp.Or(strings.Join(strings.Fields(replaceControls(text)), " "), "-")
}

// proposalsTable lists proposals of several worlds.
var proposalsTable = table[proposalRow]{"WORLD " + proposalTable.columns, func(p proposalRow) []string {
	return append([]string{p.World}, proposalTable.cells(p)...)
}}

// print prints the answer of list-proposals, which is JSON.
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
	shown := proposalTable
	if slices.ContainsFunc(list.Proposals, func(p proposalRow) bool { return p.World != "" }) {
		shown = proposalsTable
	}
	if err := shown.print(out, p.listing, list.Proposals); err != nil {
		return err
	}
	if list.Next != "" {
		_, err := fmt.Fprintln(out, "There are more proposals; list them with --before "+list.Next)
		return err
	}
	return nil
}

type proposalsShowCmd struct {
	proposalsCommon
	listing
	ID string `arg:"" help:"Proposal."`
}

// shownProposal is the data that a person needs to decide on a proposal.
type shownProposal struct {
	ProposalID, Kind, Status, Author, Actor, ExpectedHash string
	What, Change                                          string
	CreatedUtc, ExpiresUtc                                time.Time
	Payload                                               json.RawMessage
	Preview                                               []shownChange
	Issues                                                []struct{ Field, Error string }
	Conflicts                                             []struct{ Error string }
	MayRepeat                                             []struct{ Name, Text string }
	Verdicts                                              []struct {
		Gate   string
		Passed bool
	}
	Decision *struct{ Status, By, Note string }
}

// shownChange is one part of a proposed change.
type shownChange struct {
	Act, What, Type, Level, Diff, Text string

	Was    *struct{ Name, Type, Level string }
	Fields []struct {
		Name          string
		Before, After json.RawMessage
	}
}

func (p proposalsShowCmd) Run(ctx context.Context, out io.Writer) error {
	return p.withApp(ctx, func(a *app.App) error {
		raw, err := p.callAnyWorld(ctx, a, "get-proposal", map[string]any{"proposalId": p.ID})
		if err != nil {
			return err
		}
		if p.JSON {
			return printJSON(out, raw)
		}
		shown, err := readProposal(raw)
		if err != nil {
			return err
		}
		return shown.print(out)
	})
}

func readProposal(raw json.RawMessage) (s shownProposal, err error) {
	err = json.Unmarshal(raw, &s)
	return s, err
}

func (s shownProposal) print(out io.Writer) error {
	fmt.Fprintf(out, "%s of %s (%s), %s: %s\n", s.Kind, s.Author, s.Actor, formatMinute(s.CreatedUtc), s.Status)
	if s.What != "" {
		fmt.Fprintf(out, "%s: %s\n", cellText(s.What), cellText(s.Change))
	}
	if reason := s.statedReason(); reason != "" {
		fmt.Fprintf(out, "Why: %s\n", cellText(reason))
	}
	for _, i := range s.Issues {
		fmt.Fprintf(out, "Note: %s\n", replaceControls(strings.TrimPrefix(i.Field+": "+i.Error, ": ")))
	}
	for _, i := range s.Conflicts {
		fmt.Fprintf(out, "Hidden canon denies it: %s\n", replaceControls(i.Error))
	}
	for _, r := range s.MayRepeat {
		fmt.Fprintf(out, "May repeat: %s: %s\n", cellText(r.Name), cellText(r.Text))
	}
	for _, c := range s.Preview {
		c.print(out)
	}
	if len(s.Preview) == 0 {
		var payload strings.Builder
		if err := printJSON(&payload, s.Payload); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nProposed:\n%s", replaceControls(payload.String()))
	}
	var refused []string
	for _, v := range s.Verdicts {
		if !v.Passed {
			refused = append(refused, v.Gate)
		}
	}
	if len(refused) > 0 {
		fmt.Fprintf(out, "\nRefused by: %s\n", strings.Join(refused, ", "))
	}
	if d := s.Decision; d != nil {
		fmt.Fprintf(out, "\n%s by %s. %s\n", d.Status, d.By, cellText(d.Note))
	}
	if s.Status != "pending_review" {
		return nil
	}
	_, err := fmt.Fprintf(out,
		"\nUntil %s UTC, decide with:\n  loregate proposals approve %s --hash %s\n  loregate proposals reject %s --note "+
			"\u2026\n", formatMinute(s.ExpiresUtc), s.ProposalID, s.ExpectedHash, s.ProposalID)
	return err
}

// statedReason returns the reason that the author gave; "" for none.
func (s shownProposal) statedReason() string {
	var p struct{ Reason string }
	_ = json.Unmarshal(s.Payload, &p) // a payload of another form has no reason
	return p.Reason
}

// print prints one part of the change: its target, then old and new values. For a renamed card, the
// head shows the old and the new name.
func (c shownChange) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s %s", c.Act, cellText(c.What))
	if c.Type != "" {
		fmt.Fprintf(out, ", %s", cellText(c.Type))
	}
	if c.Level != "" {
		fmt.Fprintf(out, ", level %s", c.Level)
	}
	fmt.Fprintln(out)
	if w := c.Was; w != nil {
		for _, row := range [][3]string{{"type", w.Type, c.Type}, {"level", w.Level, c.Level}} {
			if row[1] != "" {
				fmt.Fprintf(out, "  %s: %s -> %s\n", row[0], cellText(row[1]), cellText(row[2]))
			}
		}
	}
	for _, f := range c.Fields {
		fmt.Fprintf(out, "  field %s: %s -> %s\n", cellText(f.Name), fieldValue(f.Before), fieldValue(f.After))
	}
	diff := c.Text
	if diff == "" && c.Was == nil && len(c.Fields) == 0 {
		diff = c.Diff // the diff of a change that is not of a card
	}
	fmt.Fprint(out, replaceControls(diff))
	if diff != "" && !strings.HasSuffix(diff, "\n") {
		fmt.Fprintln(out)
	}
}

// fieldValue returns a field's value on one line; "none" if it has no value.
func fieldValue(v json.RawMessage) string {
	if len(v) == 0 || string(v) == "null" {
		return "none"
	}
	return cellText(string(v))
}

// replaceControls makes a text of another author safe for a terminal: it replaces the characters
// that move the cursor, change colours or change the direction of text. JSON output escapes them
// already.
func replaceControls(text string) string {
	return strings.Map(func(r rune) rune {
		if isTerminalControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

type proposalsApproveCmd struct {
	proposalsCommon
	listing
	ID   string `arg:"" help:"Proposal."`
	Hash string `help:"The expectedHash that show printed. Default: the current one." placeholder:"HASH"`
	Note string `help:"Note to the author."`
}

func (p proposalsApproveCmd) Run(ctx context.Context, out io.Writer) error {
	return p.withApp(ctx, func(a *app.App) error {
		raw, err := p.callAnyWorld(ctx, a, "get-proposal", map[string]any{"proposalId": p.ID})
		if err != nil {
			return err
		}
		shown, err := readProposal(raw)
		if err != nil {
			return err
		}
		hash := cmp.Or(p.Hash, shown.ExpectedHash, "none")
		if raw, err = p.callAnyWorld(ctx, a, "approve-proposal",
			map[string]any{"proposalId": p.ID, "expectedHash": hash, "note": p.Note}); err != nil {
			return err
		}
		return p.printDecision(out, raw, "approved", shown)
	})
}

// printDecision prints the decision in one line, or with --json the answer itself.
func (l listing) printDecision(out io.Writer, raw json.RawMessage, decided string, s shownProposal) error {
	if l.JSON {
		return printJSON(out, raw)
	}
	_, err := fmt.Fprintf(out, "%s: %s: %s, by %s (%s)\n", decided, cellText(s.What), cellText(s.Change), s.Author,
		s.ProposalID)
	return err
}

type proposalsRejectCmd struct {
	proposalsCommon
	listing
	ID   string `arg:"" help:"Proposal."`
	Note string `help:"The reason, for the author."`
}

func (p proposalsRejectCmd) Run(ctx context.Context, out io.Writer) error {
	return p.withApp(ctx, func(a *app.App) error {
		raw, err := p.callAnyWorld(ctx, a, "reject-proposal", map[string]any{"proposalId": p.ID, "note": p.Note})
		if err != nil {
			return err
		}
		shown, err := readProposal(raw)
		if err != nil {
			return err
		}
		return p.printDecision(out, raw, "rejected", shown)
	})
}

type proposalsStandingCmd struct {
	List standingListCmd `cmd:"" default:"1" help:"List the active standing approvals."`
	Give standingGiveCmd `cmd:"" help:"Accept proposals of one kind without asking, up to a number per hour."`
	End  standingEndCmd  `cmd:"" help:"End one standing approval, or all of a world."`
}

// standingRow is one standing approval of a list.
type standingRow struct {
	ID, Kind, Operation, Under, By string
	PerHour                        int
	AtUtc                          time.Time
}

var standingTable = table[standingRow]{"STANDING KIND OPERATION UNDER PER-HOUR BY SINCE", func(r standingRow) []string {
	return []string{r.ID, r.Kind, cellText(r.Operation), cmp.Or(cellText(r.Under), "anywhere"), fmt.Sprint(r.PerHour),
		r.By, formatMinute(r.AtUtc)}
}}

// callStanding calls an operation on standing approvals, and prints the list of active ones in its
// answer.
func (c proposalsCommon) callStanding(ctx context.Context, out io.Writer, l listing, operation string,
	input map[string]any) error {
	return c.withApp(ctx, func(a *app.App) error {
		raw, err := c.callAnyWorld(ctx, a, operation, input)
		if err != nil {
			return err
		}
		if l.JSON {
			return printJSON(out, raw)
		}
		var list struct{ Standing []standingRow }
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		return standingTable.print(out, l, list.Standing)
	})
}

type standingListCmd struct {
	proposalsCommon
	listing
}

func (s standingListCmd) Run(ctx context.Context, out io.Writer) error {
	return s.callStanding(ctx, out, s.listing, "list-standing-approvals", map[string]any{})
}

type standingGiveCmd struct {
	proposalsCommon
	listing
	Kind      string `arg:"" enum:"canon_change,quest,world_event" help:"Kind of the proposals: canon_change, quest or world_event."`
	PerHour   int    `help:"Highest number of proposals accepted per hour, 1 to 60." required:"" name:"per-hour"`
	Operation string `help:"For canon_change: the only operation that is accepted, such as update_card." placeholder:"NAME"`
	Under     string `help:"Only changes of this card and the cards below it." placeholder:"CARD"`
}

func (s standingGiveCmd) Run(ctx context.Context, out io.Writer) error {
	return s.callStanding(ctx, out, s.listing, "give-standing-approval", withGiven(
		map[string]any{"kind": s.Kind, "perHour": s.PerHour}, map[string]string{"operation": s.Operation, "under": s.Under}))
}

type standingEndCmd struct {
	proposalsCommon
	listing
	ID string `arg:"" optional:"" help:"The standing approval to end. Default: all of the world."`
}

func (s standingEndCmd) Run(ctx context.Context, out io.Writer) error {
	return s.callStanding(ctx, out, s.listing, "end-standing-approvals",
		withGiven(map[string]any{}, map[string]string{"id": s.ID}))
}
