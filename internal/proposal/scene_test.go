package proposal_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/prompt"
	"loregate/internal/proposal"
	"loregate/internal/proposal/kind"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/play"
)

// scene is a world with callers who propose changes to it. Its clock moves only by later.
type scene struct {
	t       testing.TB
	canon   *canon.Canon
	guard   *access.Guard
	store   *fragile
	service *proposal.Service
	ops     *op.Local
	world   access.WorldID
	prompts *prompt.Registry
	authors map[access.Subject]access.Caller

	open bool // worlds are created without the hidden cards

	mu  sync.Mutex // guards now
	now time.Time
}

// fragile is a store whose writes fail while broken is set, from the n-th write on, or at the n-th
// write only.
type fragile struct {
	canon.Store
	broken atomic.Bool
	after  atomic.Int64 // writes left before it breaks; 0 for never
	alone  atomic.Int64 // writes left until the one that fails; 0 for never
}

var errBroken = errors.New("the disk is gone")

func (f *fragile) Write(ctx context.Context, do func(canon.Tx) error) error {
	if f.broken.Load() || f.alone.Load() > 0 && f.alone.Add(-1) == 0 {
		return errBroken
	}
	if f.after.Load() > 0 && f.after.Add(-1) == 0 {
		f.broken.Store(true)
	}
	return f.Store.Write(ctx, do)
}

type option func(*proposal.Config)

func withLimits(l proposal.Limits) option { return func(c *proposal.Config) { c.Limits = l } }

func newScene(t testing.TB, profile string, options ...option) *scene {
	t.Helper()
	s := newSceneOn(t, sqlitetest.Open(t), options...)
	s.settle("main", profile)
	return s
}

func newSceneOn(t testing.TB, store canon.Store, options ...option) *scene {
	t.Helper()
	s := &scene{t: t, store: &fragile{Store: store}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		authors: map[access.Subject]access.Caller{}}
	s.canon = canon.New(canon.Config{Store: s.store, Now: s.time,
		Ledgers: map[string][]string{proposal.LedgerKind: {canon.AnySurface}}})
	s.guard = access.NewGuard(access.Config{Now: s.time})
	var err error
	if s.prompts, err = prompt.Open(""); err != nil {
		t.Fatal(err)
	}
	s.service = s.another(options...)
	if s.ops, err = op.NewLocal(op.Config{Guard: s.guard, Worlds: s, Diverter: s.service, Surfaces: []op.Surface{
		{Name: "world", Title: "World", Doc: "The world.", Operations: s.service.Operations()},
		{Name: "archive", Title: "Archive", Doc: "The wiki.", Operations: []*op.Operation{s.writeCard()}},
	}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// another returns the service of another process on the same store.
func (s *scene) another(options ...option) *proposal.Service {
	s.t.Helper()
	c := proposal.Config{
		Canon: s.canon, Guard: s.guard, Prompts: s.prompts, Kinds: append(kind.Kinds(kinds()), play.ActionKind()),
		Contexts: contexts{}, Authors: s,
		Operation: func(name string) (*op.Operation, bool) { return s.ops.Find(name) }, Now: s.time,
	}
	for _, o := range options {
		o(&c)
	}
	service, err := proposal.New(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return service
}

// kinds returns the configuration of the kinds for package world, with its registry of events.
func kinds() kind.Config {
	c := kind.Config{
		Private: func(canon.Card) access.Label { return access.NewLabel(access.LevelUser) },
		Surface: world.Surface, Dialogue: string(world.NPCDialogue), Ambience: string(world.AmbienceMade),
		Quest: string(world.QuestProposed), ExitCreated: string(world.ExitCreated),
		EventType: func(name string) (access.Role, bool) {
			k, ok := world.KindOf(event.Type(name))
			return k.MinRole, ok
		},
	}
	for _, d := range command.Directions {
		c.Directions = append(c.Directions, string(d))
	}
	return c
}

func (s *scene) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *scene) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// Resolve and Names provide the scene's worlds to its callers.
func (s *scene) Resolve(ctx context.Context, _ access.Caller, name string) (access.WorldID, error) {
	w, ok, err := s.canon.WorldBySlug(ctx, name)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "no such world")
	}
	return w.ID, err
}

func (s *scene) Names(ctx context.Context, _ access.Caller) ([]string, error) {
	w, err := s.canon.World(ctx, s.world)
	return []string{w.Slug}, err
}

// Author returns the current caller of an author, or fault.Denied if the caller was removed.
func (s *scene) Author(_ context.Context, subject access.Subject, _ string) (access.Caller, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.authors[subject]
	if !ok {
		return c, fault.New(fault.Denied, "who proposed this has no key any more")
	}
	return c, nil
}

// contexts opens fixed references: one to the quay as a user sees it, one to the market, and one
// with content for game masters only.
type contexts struct{}

const (
	goodRef   = "sealed-context-of-the-quay"
	secretRef = "sealed-context-of-the-cellar"
	marketRef = "sealed-context-of-the-market"
)

var marketAnswer = json.RawMessage(`{"location": {"id":"` + ids["@market"] + `", "name":"Fishgate Market"}}`)

var goodAnswer = json.RawMessage(`{"location": {"name":"Rent Quay", "version":1}, "exits":[]}`)

func (contexts) Reread(_ context.Context, g access.Grant, ref string) (proposal.Reading, error) {
	switch {
	case ref == goodRef:
		return proposal.Reading{Answer: goodAnswer}, nil
	case ref == marketRef:
		return proposal.Reading{Answer: marketAnswer}, nil
	case ref == secretRef && g.View().Level >= access.LevelGM:
		return proposal.Reading{Answer: goodAnswer, Level: access.LevelGM}, nil
	case ref == secretRef:
		return proposal.Reading{}, fault.New(fault.Denied, "this context was read by a higher role")
	}
	return proposal.Reading{}, fault.BadField("contextRef", "is not a reference")
}

// contextHash returns the hash of an answer repeated n times; the quay's answer is the default.
func contextHash(t testing.TB, n int, answer ...json.RawMessage) string {
	t.Helper()
	b, err := proposal.ContextArray(slices.Repeat(append(answer, goodAnswer)[:1], n))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ids of the cards in the test's world, by their names in the labelled set.
var ids = func() map[string]string {
	all := map[string]string{}
	for n, name := range []string{"quay", "market", "tavern", "tower", "cellar", "gudrun", "hob", "nan", "oda", "veil",
		"wren", "tam", "registry", "rakers", "choir",
		"nowhere", "nobody", "noplayer", "nofaction", "ghost"} {
		all["@"+name] = fmt.Sprintf("01900000-0000-7000-8000-%012d", n+1)
	}
	return all
}()

func idOf(name string) canon.CardID { return canon.CardID(uuid.MustParse(ids["@"+name])) }

// settle creates a world and adds the cards that the labelled proposals refer to.
func (s *scene) settle(slug, profile string) {
	s.t.Helper()
	keeper := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	w, err := s.canon.CreateWorld(s.t.Context(), s.grant(keeper,
		access.Request{Operation: "settle", Effect: access.Write}), canon.NewWorld{
		Slug: slug, Title: "Lendwater", Settings: canon.Settings{Extra: map[string]string{proposal.ProfileSetting: profile}}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.world = w.ID
	_, err = s.canon.Update(s.t.Context(), s.grant(keeper,
		access.Request{Operation: "settle", Effect: access.Write, World: w.ID}), s.settlePlan)
	if err != nil {
		s.t.Fatal(err)
	}
}

// allow lets agents propose kinds in the world without a context.
func (s *scene) allow(kinds string) {
	s.t.Helper()
	keeper := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	_, err := s.canon.Update(s.t.Context(), s.grant(keeper,
		access.Request{Operation: "configure", Effect: access.Write, World: s.world}), func(p *canon.Plan) error {
		w := p.World()
		w.Settings.Extra = map[string]string{proposal.UnprovenSetting: kinds}
		return p.Configure(w.Title, w.Settings)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) settlePlan(p *canon.Plan) error {
	gm := access.NewLabel(access.LevelGM)
	for _, c := range []struct {
		key, name, typ, fields string
		label                  *access.Label
	}{
		{"quay", "Rent Quay", "Location", `{"exitAvailability":{"pending":{"west":"Mist.","up":"Sky."}}}`, nil},
		{"market", "Fishgate Market", "Location", "", nil},
		{"tavern", "The Dry Anchor", "Location", "", nil},
		{"tower", "Candle Tower", "Location", "", nil}, {"cellar", "The Drowned Cellar", "Location", "", &gm},
		{"gudrun", "Gudrun", "Character", "", nil}, {"hob", "Hob", "Character", "", nil},
		{"nan", "Nan", "Character", "", nil},
		{"oda", "Oda Tarn", "Character", `{"died": "Y.L. 34"}`, nil},
		{"veil", "Veil", "Character", `{"died": "Y.L. 40"}`, &gm},
		{"wren", "Wren", "Player", "", nil}, {"tam", "Tam", "Player", "", nil},
		{"registry", "The Registry", "Faction", "", nil}, {"rakers", "The Rakers", "Faction", "", nil},
		{"choir", "The Choir", "Faction", "", &gm},
		{"ghost", "Ghost", "Player", "", &gm},
	} {
		if s.open && c.label != nil {
			continue
		}
		code := ""
		if c.typ == "Faction" {
			code = "faction-" + c.key
		}
		if _, err := p.Create(canon.NewCard{ID: idOf(c.key), Name: c.name, Type: c.typ, Codename: code,
			Fields: json.RawMessage(c.fields), Label: c.label}); err != nil {
			return err
		}
	}
	for _, l := range []struct{ kind, from, to, attrs string }{
		{"exit", "quay", "market", `{"direction":"north"}`}, {"exit", "market", "quay", `{"direction":"south"}`},
		{"exit", "quay", "tavern", `{"direction":"in"}`}, {"exit", "tavern", "quay", `{"direction":"out"}`},
		{"exit", "market", "tower", `{"direction":"up"}`}, {"exit", "tower", "market", `{"direction":"down"}`},
		{"at", "gudrun", "quay", ""}, {"at", "hob", "market", ""}, {"at", "nan", "tavern", ""}, {"at", "wren", "quay", ""},
		{"at", "tam", "market", ""},
	} {
		if _, err := p.Link(canon.Link{Kind: l.kind, From: idOf(l.from), To: idOf(l.to), Attrs: json.RawMessage(l.attrs),
			Label: access.NewLabel(access.LevelUser)}); err != nil {
			return err
		}
	}
	return nil
}

type cardIn struct {
	Name    string `json:"name" minlen:"1" jsonschema:"Name of the card."`
	Content string `json:"content" jsonschema:"Its text."`
	DryRun  bool   `json:"dry_run,omitzero" jsonschema:"Change nothing."`
}

type cardOut struct {
	Name string `json:"name"`
}

// writeCard returns a write operation of another surface, as the archive declares them.
func (s *scene) writeCard() *op.Operation {
	return op.Define(op.Spec{Name: "write_card", Title: "Write a card", Doc: "Write a card.",
		Surfaces: []string{"archive"}, Effect: access.Write, MinRole: access.RoleUser,
		Route: "POST /api/mcp/write", Target: "name"}, func(ctx context.Context, c *op.Call, in cardIn) (cardOut, error) {
		_, err := s.canon.Update(ctx, c.Grant, func(p *canon.Plan) error {
			card, ok, err := p.Has(in.Name)
			if err != nil {
				return err
			}
			if !ok {
				_, err = p.Create(canon.NewCard{Name: in.Name, Content: in.Content})
				return err
			}
			_, err = p.Update(card, canon.Edit{Content: &in.Content})
			return err
		})
		return cardOut{in.Name}, err
	})
}

// grant admits a call.
func (s *scene) grant(c access.Caller, r access.Request) access.Grant {
	s.t.Helper()
	a, err := s.guard.Admit(s.t.Context(), c, r)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Grant
}

// actor is a caller of operations.
type actor struct {
	s *scene
	c access.Caller
}

// as returns an actor with a role; names that start with ai- are agents.
func (s *scene) as(name string, role access.Role) actor {
	c := access.Caller{Subject: access.Subject(name), Key: "key-" + name, EveryRole: role, Actor: access.Person}
	if len(name) > 3 && name[:3] == "ai-" {
		c.Actor = access.AI
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.authors[c.Subject] = c
	return actor{s, c}
}

// approver returns an actor who may decide on proposals.
func (s *scene) approver(role access.Role) actor {
	a := s.as("approver-"+role.String(), role)
	a.c.Approve = true
	return a
}

// call calls an operation and decodes its output.
func call[Out any](a actor, name string, input any) (out Out, err error) {
	a.s.t.Helper()
	b, err := json.Marshal(input)
	if err != nil {
		a.s.t.Fatal(err)
	}
	answer, err := a.s.ops.Invoke(a.s.t.Context(), a.c,
		op.Request{Operation: name, Input: b, World: a.s.slug(), Transport: "rest"})
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(answer.Output, &out); err != nil {
		a.s.t.Fatalf("%s: %v", answer.Output, err)
	}
	return out, nil
}

func (s *scene) slug() string {
	w, err := s.canon.World(s.t.Context(), s.world)
	if err != nil {
		s.t.Fatal(err)
	}
	return w.Slug
}

type fields map[string]any

// propose submits a proposal and fails the test on an error.
func (a actor) propose(tool string, input any) proposal.Result {
	a.s.t.Helper()
	r, err := call[proposal.Result](a, tool, input)
	if err != nil {
		a.s.t.Fatalf("%s: %v", tool, err)
	}
	return r
}

func ambience(text string) fields {
	return fields{"locationId": ids["@quay"], "layerType": "ambient", "text": text}
}

// layers returns the texts of a place's layers.
func (s *scene) layers(place string) (texts []string) {
	s.t.Helper()
	g := s.grant(access.Caller{Subject: "reader", EveryRole: access.RoleAdmin},
		access.Request{Operation: "read", Effect: access.Read, World: s.world})
	err := s.canon.Read(s.t.Context(), g, func(l *canon.Snapshot) error {
		list, err := l.Layers(s.t.Context(), canon.LayerQuery{Card: idOf(place)})
		for _, one := range list {
			texts = append(texts, one.Text)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return texts
}

// heads returns the number of commits of the world and of its ledger.
func (s *scene) heads() (world, ledger canon.Seq) {
	s.t.Helper()
	g := s.grant(access.Caller{Subject: "reader", EveryRole: access.RoleAdmin},
		access.Request{Operation: "read", Effect: access.Read, World: s.world})
	h, err := s.canon.Head(s.t.Context(), g, canon.LedgerStream(proposal.LedgerKind, s.world.String()))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.canon.Read(s.t.Context(), g, func(l *canon.Snapshot) error { world = l.Now(); return nil }); err != nil {
		s.t.Fatal(err)
	}
	return world, h.Seq
}

// causeOf returns the cause of an event.
func (s *scene) causeOf(event string) (cause string) {
	s.t.Helper()
	g := s.grant(
		access.Caller{Subject: "reader", EveryRole: access.RoleAdmin},
		access.Request{Operation: "read", Effect: access.Read, World: s.world},
	)
	err := s.canon.Read(s.t.Context(), g, func(l *canon.Snapshot) error {
		list, _, err := l.Events(s.t.Context(), canon.EventQuery{ID: uuid.MustParse(event), Page: canon.Page{Limit: 1}})
		if len(list) == 1 {
			cause = list[0].Causation
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return cause
}

// lastRecord returns the id of the ledger's last record.
func (s *scene) lastRecord() (id string) {
	s.t.Helper()
	g := s.grant(
		access.Caller{Subject: "reader", EveryRole: access.RoleAdmin},
		access.Request{Operation: "read", Effect: access.Read, World: s.world},
	)
	for rec, err := range s.canon.Records(s.t.Context(), g, canon.LedgerStream(proposal.LedgerKind, s.world.String()), 1) {
		if err != nil {
			s.t.Fatal(err)
		}
		id = rec.ID.String()
	}
	return id
}
