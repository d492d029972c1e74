package proposal_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/prompt"
	"loregate/internal/proposal"
	"loregate/internal/store/memory"
)

// rumour is the payload of a kind of proposal: something that people say about a card.
type rumour struct {
	About string `json:"about" minlen:"1" jsonschema:"Name of the card."`
	Text  string `json:"text" minlen:"1" jsonschema:"What people say."`
}

func (r rumour) Scope() string  { return "rumour:" + r.About }
func (r rumour) Player() string { return "" }

func (r rumour) Texts() []proposal.Text {
	return []proposal.Text{{Field: "text", Text: r.Text, Max: 40}}
}

func (r rumour) Check(ctx context.Context, s proposal.State) (proposal.Finding, error) {
	card, ok, err := s.Exists(ctx, r.About)
	if !ok {
		return proposal.Finding{Issues: []proposal.Issue{{Field: "about", Error: "there is no such card"}}}, err
	}
	return proposal.Finding{Label: card.Label}, err
}

func (r rumour) Plan(_ context.Context, _ *canon.Plan, label access.Label) (canon.Event, error) {
	b, err := json.Marshal(r)
	return canon.Event{Type: "Rumour.Heard", Scope: r.Scope(), Label: label, Payload: b}, err
}

// A proposal passes the gates one after the other. The verdicts are recorded in the world's ledger.
func Example() {
	ctx := context.Background()
	lore, guard, world := worldWithQuay(ctx)
	prompts, err := prompt.Open("")
	if err != nil {
		log.Fatal(err)
	}
	gates, err := proposal.New(proposal.Config{Canon: lore, Guard: guard, Prompts: prompts, Kinds: []*proposal.Kind{
		proposal.Define[rumour](proposal.Kind{Name: "rumour", Version: 1, Policy: proposal.Auto})}})
	if err != nil {
		log.Fatal(err)
	}
	g := admitAnn(ctx, guard, access.Propose, world)
	for _, payload := range []string{
		`{"about": "Rent Quay", "text": "The tide was early twice."}`,
		`{"about": "Rent Quay", "text": "The tide was early, twice!"}`,
		`{"about": "Salt Gate", "text": "It is never locked."}`,
	} {
		result, err := gates.Submit(ctx, g, proposal.Submission{Kind: "rumour", Payload: json.RawMessage(payload)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Status)
	}
	for rec, err := range lore.Records(ctx, g, canon.LedgerStream(proposal.LedgerKind, world.String()), 1) {
		var judged struct{ Verdicts []proposal.Verdict }
		if err != nil || json.Unmarshal(rec.Event.Payload, &judged) != nil {
			log.Fatal("the ledger cannot be read: ", err)
		}
		var verdicts []string
		for _, v := range judged.Verdicts {
			verdicts = append(verdicts, fmt.Sprintf("%s %s", v.Gate, cmp.Or(v.Code, "passed")))
		}
		fmt.Println(strings.Join(verdicts, ", "))
	}
	// Output:
	// accepted
	// rejected
	// rejected
	// schema passed, safety passed, invariant passed, duplication passed, replay passed, rate passed, audit passed
	// schema passed, safety passed, invariant passed, duplication NEAR_DUPLICATE
	// schema passed, safety passed, invariant INVARIANT_BROKEN
}

// worldWithQuay returns the canon of a new world with one card.
func worldWithQuay(ctx context.Context) (*canon.Canon, *access.Guard, access.WorldID) {
	lore := canon.New(canon.Config{Store: memory.New(), Ledgers: map[string][]string{proposal.LedgerKind: {canon.AnySurface}}})
	guard := access.NewGuard(access.Config{})
	world, err := lore.CreateWorld(ctx, admitAnn(ctx, guard, access.Write, access.WorldID{}), canon.NewWorld{Slug: "main"})
	if err != nil {
		log.Fatal(err)
	}
	_, err = lore.Update(ctx, admitAnn(ctx, guard, access.Write, world.ID), func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Rent Quay"})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	return lore, guard, world.ID
}

func admitAnn(ctx context.Context, guard *access.Guard, e access.Effect, world access.WorldID) access.Grant {
	a, err := guard.Admit(ctx, access.Caller{Subject: "ann", Actor: access.Person, EveryRole: access.RoleAdmin,
		Operator: true}, access.Request{Effect: e, World: world})
	if err != nil {
		log.Fatal(err)
	}
	return a.Grant
}
