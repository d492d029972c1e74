package storytest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/fault"
	"loregate/internal/model/modeltest"
	"loregate/internal/op"
	"loregate/internal/world"
)

// stage is a world that is played in. Its clock moves by a few seconds a command.
type stage struct {
	t     *testing.T
	app   *app.App
	id    access.WorldID
	clock clock
	dead  []world.Card
	begin
}

// begin has the things of the world before the play, by the card and how many there are.
type begin map[canon.CardID]int64

// tale is a world to play in.
type tale struct {
	format, folder, file string // of an import; no format: the sample world
}

// tales are the sample world and two worlds of others.
var tales = map[string]tale{
	"sample":  {},
	"light":   {"light", "light-worlds", "complex_world.json"},
	"ranvier": {"ranvier", "ranvier-areas", ""},
}

// turnsOf returns the number of turns of each player. STORY_TURNS sets it.
func turnsOf() int {
	if n, err := strconv.Atoi(os.Getenv("STORY_TURNS")); err == nil {
		return n
	}
	return 12
}

// TestStories plays each world with players of all wishes, without a model and with a scripted one. STORY_TURNS
// sets the turns of each player, STORY_SEED repeats a story.
func TestStories(t *testing.T) {
	seed := uint64(7)
	if n, err := strconv.ParseUint(os.Getenv("STORY_SEED"), 10, 64); err == nil {
		seed = n
	}
	for name, from := range tales {
		for _, modelled := range []bool{false, true} {
			if modelled && name == "ranvier" && os.Getenv("STORY_TURNS") == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s/model %t", name, modelled), func(t *testing.T) { play(t, from, modelled, seed) })
		}
	}
}

func play(t *testing.T, from tale, modelled bool, seed uint64) {
	s := open(t, from, modelled, seed)
	var players []*player
	for _, w := range wishes {
		players = append(players, s.join(w, seed))
	}
	turns := turnsOf()
	for n := range turns {
		for _, p := range players {
			p.turn(n)
		}
	}
	c := checker{stage: s}
	for _, p := range players {
		c.checkPlayer(p)
	}
	c.checkRecord()
	t.Logf(
		"%d turns, %d of %d free acts changed a state, a cost or an attitude, %d lines, %d narrated by a model, seed %d",
		turns*len(players),
		c.changed,
		c.free,
		c.lines,
		c.modelled,
		seed,
	)
	if c.free > 0 && c.changed*10 < c.free*7 {
		t.Errorf("only %d of %d free acts changed anything", c.changed, c.free)
	}
	for what, n := range c.found {
		t.Errorf("%d times: %s", n, what)
	}
}

// clock is the time of a story. Background work of the product reads it, too.
type clock struct {
	mu sync.Mutex
	at time.Time // guarded by mu
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func open(t *testing.T, from tale, modelled bool, seed uint64) *stage {
	t.Helper()
	s := &stage{t: t}
	s.clock.at = time.Date(2026, 4, 1, 8, 0, 0, 0, time.UTC)
	c := apptest.Config(t, t.TempDir())
	if modelled {
		fake := modeltest.Serve(t, newScript(seed))
		c.Model.Provider, c.Model.URL, c.Model.Name, c.Model.KeyFile = "compatible", fake.URL, "scripted-1", fake.KeyFile
		c.Model.Trial, c.Model.Retries, c.Model.PromptPrice, c.Model.CompletionPrice = false, 0, 1, 2
		c.Model.Uses = []string{"narration"}
	}
	slug := app.SampleWorld
	if from.format == "" {
		apptest.Sample(t, c.Data)
	}
	chance := rand.New(rand.NewPCG(seed, 5))
	o := apptest.Quiet()
	o.Now = s.clock.now
	var drawing sync.Mutex
	o.Random = func(b []byte) {
		drawing.Lock()
		defer drawing.Unlock()
		for i := range b {
			b[i] = byte(chance.Uint32())
		}
	}
	s.app, _ = apptest.Open(t, c, o)
	if from.format != "" {
		slug = "tale"
		if _, err := s.app.CreateWorld(t.Context(), canon.NewWorld{Slug: slug}); err != nil {
			t.Fatal(err)
		}
		path := exchangetest.RealData(t, from.folder)
		if from.file != "" {
			path += "/" + from.file
		}
		if _, err := s.app.Import(t.Context(), from.format, slug, path, app.ImportOptions{Level: access.LevelUser}); err != nil {
			t.Fatal(err)
		}
	}
	worlds, err := s.app.Canon.Worlds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.id = worlds[slices.IndexFunc(worlds, func(w canon.World) bool { return w.Slug == slug })].ID
	s.kill()
	s.read(func(snap *canon.Snapshot) { s.begin = s.countThings(snap) })
	return s
}

// write commits a plan as the operator.
func (s *stage) write(plan func(*canon.Plan) error) {
	s.t.Helper()
	err := s.app.WithGrant(
		s.t.Context(),
		app.Operator(),
		access.Request{Operation: "story", Effect: access.Write, World: s.id},
		func(g access.Grant) error {
			_, err := s.app.Canon.Update(s.t.Context(), g, plan)
			return err
		},
	)
	if err != nil {
		s.t.Fatal(err)
	}
}

// read reads as the operator.
func (s *stage) read(f func(*canon.Snapshot)) {
	s.t.Helper()
	err := s.app.WithGrant(
		s.t.Context(),
		app.Operator(),
		access.Request{Operation: "story", Effect: access.Read, World: s.id},
		func(g access.Grant) error {
			return s.app.Canon.Read(s.t.Context(), g, func(snap *canon.Snapshot) error { f(snap); return nil })
		},
	)
	if err != nil {
		s.t.Fatal(err)
	}
}

// kill has a dead character lie where players begin.
func (s *stage) kill() {
	var at canon.CardID
	s.read(func(snap *canon.Snapshot) {
		start, ok, err := (*world.World)(nil).Current(snap).FindPlace(s.t.Context(), "")
		if err != nil || !ok {
			s.t.Fatal("no place to begin", err)
		}
		at = start.ID
	})
	s.write(func(p *canon.Plan) error {
		c, err := p.Create(canon.NewCard{Name: "Ebba Coldharbour", Type: "Character", Content: "<p>Her eyes are shut.</p>",
			Fields: json.RawMessage(`{"status":"dead","says":["I am not dead at all."]}`)})
		if err != nil {
			return err
		}
		s.dead = append(s.dead, world.CardOf(c))
		_, err = p.Link(canon.Link{Kind: world.LinkAt, From: c.ID, To: at})
		return err
	})
}

// countThings returns how many there are of each thing that lies or is held somewhere.
func (s *stage) countThings(snap *canon.Snapshot) begin {
	got := begin{}
	m := (*world.World)(nil).Current(snap)
	links, err := canon.Collect(
		snap.AllLinks(s.t.Context(), canon.LinkQuery{Kinds: []string{world.LinkAt, world.LinkHolds}}),
	)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, l := range links {
		id := l.To
		if l.Kind == world.LinkAt {
			id = l.From
		}
		c, ok, err := m.CardByID(s.t.Context(), id)
		if err != nil {
			s.t.Fatal(err)
		}
		if ok && !world.IsAlive(c) {
			got[id] += world.QuantityOf(l)
		}
	}
	return got
}

// player is a scripted person who plays.
type player struct {
	*stage
	wish
	*rand.Rand
	name  string
	id    canon.CardID
	me    access.Caller
	turns []turn
	seen  view
	last  string // the previous command
}

// turn is a command with its answer.
type turn struct {
	Text    string `json:"-"`
	Free    bool   `json:"-"` // nothing that the grammar knows
	Results []struct {
		Verb, Outcome, Reason, Text string
		EventID                     *uuid.UUID
	}
	Events    []struct{ Payload cost }
	Narration string
}

// cost is the part of an event's payload that tells what an act cost.
type cost struct{ DurationMs, CutMs int64 }

// view is the part of a player's surroundings that its script uses.
type view struct {
	Location  struct{ ID, Name, Description string }
	NPCs      []struct{ Name string }
	Items     []struct{ Name string }
	Inventory []struct{ Name string }
	exits     []string
	people    []string
	things    []string
	own       []string
	words     []string
}

func (s *stage) call(by access.Caller, operation string, in, out any) error {
	s.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	got, err := s.app.Ops.Invoke(context.WithoutCancel(s.t.Context()), by, op.Request{Operation: operation, Input: b,
		World: s.id.String(), Transport: "rest"})
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(got.Output), out)
}

func (s *stage) join(w wish, seed uint64) *player {
	s.t.Helper()
	host := access.Caller{Subject: "host", EveryRole: access.RoleUser, Actor: access.Person, Unlimited: true}
	p := &player{stage: s, wish: w, name: "The " + w.name, Rand: rand.New(rand.NewPCG(seed, uint64(len(w.name))))}
	var made struct{ Player struct{ ID canon.CardID } }
	if err := s.call(host, "create_player", map[string]any{"name": p.name}, &made); err != nil {
		s.t.Fatal(err)
	}
	p.id, p.me = made.Player.ID, host
	p.me.Subject, p.me.Player, p.me.Audience = world.SubjectOf(p.id), uuid.UUID(p.id), "play"
	p.me.EveryRole, p.me.Roles = access.RoleNone, map[access.WorldID]access.Role{s.id: access.RoleUser}
	return p
}

// look reads the player's surroundings, as the key that created it sees them.
func (p *player) look() {
	p.t.Helper()
	host := p.me
	host.Player, host.Audience = uuid.Nil, ""
	var got struct{ Item view }
	if err := p.call(host, "get-player-context", map[string]any{"playerId": p.id, "maxChars": 600}, &got); err != nil {
		p.t.Fatal(err)
	}
	p.seen = got.Item
	var ways struct {
		Exits []struct{ Direction, Availability string }
	}
	if err := p.call(host, "list-exits", map[string]any{"locationId": p.seen.Location.ID}, &ways); err != nil {
		p.t.Fatal(err)
	}
	for _, e := range ways.Exits {
		p.seen.exits = append(p.seen.exits, e.Direction)
	}
	for _, n := range p.seen.NPCs {
		if !slices.ContainsFunc(p.dead, func(t world.Card) bool { return t.Name == n.Name }) {
			p.seen.people = append(p.seen.people, n.Name)
		}
	}
	for _, n := range p.seen.Items {
		p.seen.things = append(p.seen.things, n.Name)
	}
	for _, n := range p.seen.Inventory {
		p.seen.own = append(p.seen.own, n.Name)
	}
	for w := range strings.FieldsSeq(p.seen.Location.Description) {
		if w = strings.ToLower(strings.Trim(w, ".,;:!?“”\"'()")); len(w) > 4 && !slices.Contains(noNouns, w) {
			p.seen.words = append(p.seen.words, w)
		}
	}
}

// noNouns are words of texts that nobody takes for a thing.
var noNouns = strings.Fields(
	"there their these those which where while about above after again against along among around before behind " +
		"below beneath beside between beyond every under until other others through without within would could should being still during",
)

// turn sends the next command.
func (p *player) turn(n int) {
	p.t.Helper()
	p.clock.pass(3 * time.Second)
	if n%25 == 24 {
		p.clock.pass(40 * time.Minute)
	}
	p.look()
	text, free := p.wish.next(p, n)
	one := turn{Text: text, Free: free}
	err := p.call(p.me, "send_command", map[string]any{"id": p.id, "text": text}, &one)
	if fault.KindOf(err) == fault.RateLimited || fault.KindOf(err) == fault.Invalid {
		err = nil
	}
	if err != nil {
		p.t.Fatalf("%s: %q: %v", p.name, text, err)
	}
	p.last = text
	p.turns = append(p.turns, one)
}

// pick returns one of a list, or another word.
func (p *player) pick(list []string, or string) string {
	if len(list) == 0 {
		return or
	}
	return list[p.IntN(len(list))]
}
