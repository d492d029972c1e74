package proposal

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// Kind is a kind of proposal. Its surface registers it with Define.
type Kind struct {
	Name    string // snake_case; with Version it names the schema: "ambience/1"
	Version int    // of the payload's schema
	Purpose Purpose
	Policy  Policy
	Tool    Tool
	Tokens  int  // most tokens that its texts may hold; 0 for no limit
	Repeats bool // an accepted proposal may be proposed again: an act can be done twice
	Event   bool // its result also has the member accepted, as those of events do
	// Live is the extra setting of a world that lets proposals of the kind pass without a person if its value is
	// SettingLive; "" for none. Every gate and every other reason to wait still applies.
	Live string
	// PlayerHour is the most proposals of the kind an hour for one player, or one author without a player; 0 for the
	// limits of all kinds alone.
	PlayerHour int
	// Refs are the members of a payload, such as "seedSpec.giverId", that hold an id or a codename.
	// The judged and stored payload has the id.
	Refs []string
	// Fallbacks are sentences that fit the story regardless of the refused text. At least one is
	// required.
	Fallbacks []string

	schema func() (*jsonschema.Schema, error)
	decode func(payload json.RawMessage) (Draft, error)
}

// SettingLive is the value of a setting that lets proposals pass without a person; see Kind.Live.
const SettingLive = "live"

// Tool describes the operation that proposes a kind over MCP and REST.
type Tool struct {
	Name     string // "propose-ambience"
	ID       string // kept in _meta
	Title    string
	Doc      string
	Asked    []string // as op.Spec's
	Surfaces []string
	Examples []op.Example
}

// Draft is a decoded payload.
type Draft interface {
	// Scope returns the subject of the draft. Near duplicates are searched within a scope.
	Scope() string
	// Player returns the id of the player whose budget the draft counts against, or "".
	Player() string
	// Texts returns all texts that a reader might see.
	Texts() []Text
	// Check checks the draft against a world. A reference to a card that is hidden from the state's
	// view must give exactly the same issue as a reference to a card that does not exist.
	Check(ctx context.Context, s State) (Finding, error)
	// Plan plans the draft's changes to the world and returns its event. It is called right after a
	// check without issues. label is the finding's label. The Service fills in Key and Version, and
	// Actor where it is not set.
	Plan(ctx context.Context, p *canon.Plan, label access.Label) (canon.Event, error)
}

// Text is one text of a payload.
type Text struct {
	Field string
	Text  string
	Max   int // most characters; 0 for no limit
}

// Finding is the result of a check.
type Finding struct {
	Issues []Issue        // empty if the draft is valid
	Label  access.Label   // the label of the result
	Review string         // why a person must look at it regardless of the policy; "" for no reason
	Basis  []canon.CardID // cards that the check found by search, for a replay
	Doubt  func() *Doubt  // claims that the check could not settle, which take long to find; nil, also as a result, for none
}

// Sanitizer is a Draft whose one text is stored in another form than it was sent in.
type Sanitizer interface{ Sanitized() string }

// Drafter is a Draft whose result shows a draft of a quest.
type Drafter interface{ QuestDraft() json.RawMessage }

// State is the world that a check reads: the current one, or the one just after a commit.
type State struct {
	*canon.Snapshot
	At    canon.Seq      // 0 is now
	Basis []canon.CardID // for a replay: the cards that the check found then, since a search only finds those of today
}

// For returns the state as the readers of a result with a label see it. It never shows more than the state itself.
func (s State) For(l access.Label) State {
	s.Snapshot = s.ForReaders(l)
	return s
}

// Card is a card as a State shows it.
type Card struct {
	ID     canon.CardID
	Name   string
	Type   string
	Fields json.RawMessage
	Label  access.Label

	content canon.Hash
	text    canon.TextKind
}

// Card returns a card by id.
func (s State) Card(ctx context.Context, id canon.CardID) (Card, bool, error) {
	if s.At == 0 {
		c, ok, err := s.Snapshot.ByID(ctx, id)
		return Card{c.ID, c.Name, c.Type, c.Fields, c.Label, c.Content, c.TextKind()}, ok, err
	}
	v, ok, err := s.Snapshot.CardAt(ctx, id, s.At)
	return Card{v.Card, v.Name, v.Type, v.Fields, v.Label, v.Content, v.TextKind()}, ok, err
}

// Text returns the text of a card without markup.
func (s State) Text(ctx context.Context, c Card) (string, error) {
	body, err := s.Snapshot.Body(ctx, c.content)
	return canon.PlainText(c.text, body), err
}

// CardByCodename returns a card by codename. The codename is resolved with its current meaning; the
// card is read from the state.
func (s State) CardByCodename(ctx context.Context, codename string) (Card, bool, error) {
	c, ok, err := s.Snapshot.Exists(ctx, ":"+codename)
	if err != nil || !ok {
		return Card{}, false, err
	}
	return s.Card(ctx, c.ID)
}

// Links returns links of the state.
func (s State) Links(ctx context.Context, q canon.LinkQuery) ([]canon.Link, error) {
	q.AsOf = s.At
	q.Page.Limit = cmp.Or(q.Page.Limit, 500)
	list, _, err := s.Snapshot.Links(ctx, q)
	return list, err
}

// Define returns a Kind whose schema comes from the tags of the payload type (see op.Define).
func Define[P Draft](k Kind) *Kind {
	return DefineWith(k, func(p P) Draft { return p })
}

// DefineWith is Define for a payload that the surface's function draft turns into a Draft.
func DefineWith[P any](k Kind, draft func(P) Draft) *Kind {
	return define(k, func(p P) (Draft, error) { return draft(p), nil })
}

func define[P any](k Kind, draft func(P) (Draft, error)) *Kind {
	shape := op.ShapeOf[P]()
	k.schema = op.InputOf[P]
	k.decode = func(payload json.RawMessage) (Draft, error) {
		var p P
		if err := shape.Decode(payload, &p); err != nil {
			return nil, err
		}
		return draft(p)
	}
	return &k
}

// Schema returns the name of the payload's schema with its version: "ambience/1".
func (k *Kind) Schema() string { return k.Name + "/" + strconv.Itoa(k.Version) }
