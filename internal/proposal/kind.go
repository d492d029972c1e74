package proposal

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// Policy says what happens to a proposal that passed the gates.
type Policy string

// The policies.
const (
	Auto   Policy = "auto"   // it is accepted at once
	Review Policy = "review" // it waits for a person
)

// Kind is a kind of proposal, as its surface registers it with Define.
type Kind struct {
	Name    string // snake_case; with Version it names the schema: "ambience/1"
	Version int    // of the payload's schema
	Purpose Purpose
	Policy  Policy
	Tool    Tool
	Tokens  int  // most tokens that its texts may hold; 0 is no such budget
	Repeats bool // what was accepted may be proposed again: an act can be done twice
	Event   bool // its result says accepted besides, as events do
	// Refs are the members of a payload, such as "seedSpec.giverId", that hold an id or a
	// codename. What is judged and kept has the id.
	Refs []string
	// Fallbacks are sentences that fit the story whatever was refused; one is needed.
	Fallbacks []string

	schema *jsonschema.Schema
	decode func(payload json.RawMessage) (Draft, error)
}

// Tool is how a kind is proposed over MCP and REST.
type Tool struct {
	Name     string // "propose-ambience"
	ID       string // "WorldMutation-proposeAmbience", kept in _meta
	Title    string
	Doc      string
	Surfaces []string
	Examples []op.Example
}

// Draft is a decoded payload.
type Draft interface {
	// Scope is what it is about. Near duplicates are looked for within it.
	Scope() string
	// Player is whose budget it counts on: the id of a player, or "".
	Player() string
	// Texts are all texts that a reader might come to see.
	Texts() []Text
	// Check says what is wrong with it in a world. What is hidden from the state's view is
	// to be found wrong in the very words that absent things are.
	Check(ctx context.Context, s State) (Finding, error)
	// Plan plans what it does to the world, where its check has just found nothing wrong, and
	// gives the event of it. label is the finding's. Key, Version and, where it is not said,
	// Actor are filled in by the Service.
	Plan(ctx context.Context, p *canon.Plan, label access.Label) (canon.Event, error)
}

// Text is one text of a payload.
type Text struct {
	Field string
	Text  string
	Max   int // most characters; 0 is no such bound
}

// Finding is what a check found.
type Finding struct {
	Issues []Issue      // none: it holds
	Label  access.Label // who will see what comes of it
	Review string       // why a person must look at it whatever its policy; "" for no reason
}

// Sanitizer is a Draft whose one text is kept in another form than it came.
type Sanitizer interface{ Sanitized() string }

// Drafter is a Draft whose result shows a draft of a quest.
type Drafter interface{ QuestDraft() json.RawMessage }

// State is the world as a check sees it: as it is, or as it stood just after a commit.
type State struct {
	*canon.Snapshot
	At canon.Seq // 0 is now
}

// Thing is a card as a state shows it.
type Thing struct {
	ID     canon.CardID
	Name   string
	Type   string
	Fields json.RawMessage
	Label  access.Label
}

// Card finds a card by id.
func (s State) Card(ctx context.Context, id canon.CardID) (Thing, bool, error) {
	if s.At == 0 {
		c, ok, err := s.Snapshot.ByID(ctx, id)
		return Thing{c.ID, c.Name, c.Type, c.Fields, c.Label}, ok, err
	}
	v, ok, err := s.Snapshot.CardAt(ctx, id, s.At)
	return Thing{v.Card, v.Name, v.Type, v.Fields, v.Label}, ok, err
}

// Coded finds a card by codename. Codenames are looked up as they are today, and the card
// as the state shows it.
func (s State) Coded(ctx context.Context, codename string) (Thing, bool, error) {
	c, ok, err := s.Snapshot.Exists(ctx, ":"+codename)
	if err != nil || !ok {
		return Thing{}, false, err
	}
	return s.Card(ctx, c.ID)
}

// Links lists links of the state.
func (s State) Links(ctx context.Context, q canon.LinkQuery) ([]canon.Link, error) {
	q.AsOf = s.At
	if q.Page.Limit == 0 {
		q.Page.Limit = 500
	}
	list, _, err := s.Snapshot.Links(ctx, q)
	return list, err
}

// Define makes a Kind of a payload's type, whose tags are its schema (see op.Define).
// It panics where they are wrong, which a test that builds the kinds shows.
func Define[P Draft](k Kind) *Kind {
	return DefineWith(k, func(p P) Draft { return p })
}

// DefineWith is Define for a payload that becomes a Draft with what its surface adds.
func DefineWith[P any](k Kind, draft func(P) Draft) *Kind {
	shape, err := op.ShapeOf[P]()
	if err != nil {
		panic("proposal: kind " + k.Name + ": " + err.Error())
	}
	if k.schema, err = op.InputOf[P](); err != nil {
		panic("proposal: kind " + k.Name + ": " + err.Error())
	}
	k.decode = func(payload json.RawMessage) (Draft, error) {
		var p P
		if err := shape.Decode(payload, &p); err != nil {
			return nil, err
		}
		return draft(p), nil
	}
	return &k
}

// Schema names the version of the payload's schema: "ambience/1".
func (k *Kind) Schema() string { return k.Name + "/" + strconv.Itoa(k.Version) }

// policy is the policy in force for a kind.
func (s *Service) policy(k *Kind) Policy {
	if p, ok := s.cfg.Policies[k.Name]; ok {
		return p
	}
	return k.Policy
}
