package campaign

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite"
)

// slug is the campaign of a scene; another one is there beside it.
const slug = "pass"

// scene is a campaign with people at the table, for tests that read as a story. Its clock
// moves a second with every write.
type scene struct {
	t     testing.TB
	canon *canon.Canon
	ops   *op.Local
	world access.WorldID
	other access.WorldID
	now   time.Time
	ids   uint64
	idMu  sync.Mutex // guards ids, where calls are made at once
}

func newScene(t testing.TB) *scene { return newSceneOn(t, memory.New()) }

// onEachStore plays a scene in memory and in SQLite.
func onEachStore(t *testing.T, play func(s *scene)) {
	t.Run("memory", func(t *testing.T) { play(newScene(t)) })
	t.Run("sqlite", func(t *testing.T) { play(newSceneOn(t, onDisk(t))) })
}

func onDisk(t testing.TB) canon.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "canon.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func newSceneOn(t testing.TB, store canon.Store) *scene {
	t.Helper()
	s := &scene{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.canon = canon.New(canon.Config{Store: store, Now: func() time.Time { return s.now }, NewID: s.id})
	guard := access.NewGuard(access.Config{Now: func() time.Time { return s.now }})
	a, err := guard.Admit(t.Context(), access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}, access.Request{Operation: "scene", Effect: access.Write})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		slug string
		id   *access.WorldID
	}{{slug, &s.world}, {"elsewhere", &s.other}} {
		made, err := s.canon.CreateWorld(t.Context(), a.Grant, canon.NewWorld{Slug: w.slug, Title: "The " + w.slug,
			Settings: canon.Settings{Description: "A campaign.", Extra: map[string]string{settingSystem: "coc-7e"}}})
		if err != nil {
			t.Fatal(err)
		}
		*w.id = made.ID
	}
	surface, err := New(Config{Canon: s.canon})
	if err != nil {
		t.Fatal(err)
	}
	if s.ops, err = op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{surface}, Worlds: worlds{s}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// id gives ids that rise and are the same in every run.
func (s *scene) id() uuid.UUID {
	s.idMu.Lock()
	defer s.idMu.Unlock()
	s.ids++
	var u uuid.UUID
	for i := range 8 {
		u[15-i] = byte(s.ids >> (8 * i))
	}
	u[6], u[8] = 0x70, 0x80
	return u
}

// worlds finds the scene's worlds as the product does.
type worlds struct{ s *scene }

func (w worlds) Resolve(ctx context.Context, c access.Caller, name string) (access.WorldID, error) {
	all, err := w.s.canon.Worlds(ctx)
	for _, o := range all {
		if (o.Slug == name || strings.EqualFold(o.ID.String(), name)) && c.Role(o.ID) > access.RoleNone {
			return o.ID, nil
		}
	}
	if err == nil {
		err = fault.New(fault.NotFound, "no such world for this key; ask for a world that the key opens")
	}
	return access.WorldID{}, err
}

func (w worlds) Names(ctx context.Context, c access.Caller) (names []string, err error) {
	all, err := w.s.canon.Worlds(ctx)
	for _, o := range all {
		if c.Role(o.ID) > access.RoleNone {
			names = append(names, o.Slug)
		}
	}
	return names, err
}

// actor is somebody at the table.
type actor struct {
	s      *scene
	caller access.Caller
}

// As gives the gm, an admin, a stranger (of another campaign) or a player of that name.
func (s *scene) As(who string) actor {
	c := access.Caller{Subject: access.Subject(who), Roles: map[access.WorldID]access.Role{s.world: access.RoleUser}}
	switch who {
	case "gm":
		c.Roles[s.world] = access.RoleGM
	case "admin":
		c.Roles[s.world] = access.RoleAdmin
	case "stranger":
		c.Roles = map[access.WorldID]access.Role{s.other: access.RoleAdmin}
	}
	return actor{s, c}
}

func (a actor) invoke(name, input string, more ...func(*op.Request)) (*op.Answer, error) {
	r := op.Request{Operation: name, Input: json.RawMessage(input), Transport: "mcp"}
	for _, m := range more {
		m(&r)
	}
	if o, ok := a.s.ops.Find(name); ok && o.Writes() {
		a.s.now = a.s.now.Add(time.Second)
	}
	return a.s.ops.Invoke(a.s.t.Context(), a.caller, r)
}

// in puts the campaign into an input.
func in(input string) string {
	sep := ", "
	if strings.TrimSpace(strings.Trim(input, "{}")) == "" {
		sep = ""
	}
	return `{"campaign_id": "` + slug + `"` + sep + strings.TrimPrefix(input, "{")
}

// Call makes a call in the campaign that must succeed, and holds its output against the
// schema.
func (a actor) Call(name, input string, more ...func(*op.Request)) answer {
	a.s.t.Helper()
	got, err := a.invoke(name, in(input), more...)
	if err != nil {
		a.s.t.Fatalf("%s %s as %s: %v", name, input, a.caller.Subject, err)
	}
	o, _ := a.s.ops.Find(name)
	if err := o.CheckOutput(got.Output); err != nil {
		a.s.t.Errorf("%s %s: output departs from its schema: %v\n%s", name, input, err, got.Output)
	}
	return answer{a.s.t, string(got.Output), got.Reply}
}

// WantFault makes a call that must fail with a code, and gives what the caller is shown.
func (a actor) WantFault(code, name, input string) string {
	a.s.t.Helper()
	got, err := a.invoke(name, in(input))
	if err == nil {
		a.s.t.Fatalf("%s %s as %s: want %s, got %s", name, input, a.caller.Subject, code, got.Output)
	}
	e := a.s.ops.Show(name, "", err, "c")
	shown, _ := json.Marshal(e)
	if e.Error.Code != code {
		a.s.t.Fatalf("%s %s as %s: want %s, got %s (%v)", name, input, a.caller.Subject, code, shown, err)
	}
	return string(shown)
}

// Make creates an entity and gives its id.
func (a actor) Make(kind, name, more string) string {
	a.s.t.Helper()
	if more != "" {
		more = ", " + more
	}
	return a.Call("entity_create", `{"entity_type": "`+kind+`", "name": "`+name+`", "allow_similar": true`+more+`}`).Text("id")
}

// answer is an output to look at. Paths are such as "entities.0.name"; "entities.#" is a
// length.
type answer struct {
	t     testing.TB
	raw   string
	reply op.Reply
}

func (a answer) at(path string) (v any, ok bool) {
	if err := json.Unmarshal([]byte(a.raw), &v); err != nil {
		a.t.Fatal(err)
	}
	for step := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			if v, ok = at[step]; !ok {
				return nil, false
			}
		case []any:
			if step == "#" {
				v = float64(len(at))
				continue
			}
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(at) {
				return nil, false
			}
			v = at[n]
		default:
			return nil, false
		}
	}
	return v, true
}

// Want holds the value at a path; nil is null.
func (a answer) Want(path string, want any) answer {
	a.t.Helper()
	got, ok := a.at(path)
	if n, isInt := want.(int); isInt {
		want = float64(n)
	}
	if !ok || got != want {
		a.t.Errorf("%s is %v (there: %t), want %v, in %s", path, got, ok, want, a.raw)
	}
	return a
}

func (a answer) WantNo(paths ...string) answer {
	a.t.Helper()
	for _, path := range paths {
		if v, ok := a.at(path); ok {
			a.t.Errorf("%s is there: %v, in %s", path, v, a.raw)
		}
	}
	return a
}

// WantEach holds a member of each entry of a list, in order, apart by ", ".
func (a answer) WantEach(list, member, want string) answer {
	a.t.Helper()
	v, _ := a.at(list)
	rows, ok := v.([]any)
	if !ok {
		a.t.Fatalf("%s is no list in %s", list, a.raw)
	}
	var got []string
	for _, r := range rows {
		text, _ := r.(map[string]any)[member].(string)
		got = append(got, text)
	}
	if strings.Join(got, ", ") != want {
		a.t.Errorf("%s are %q, want %q", list, got, want)
	}
	return a
}

func (a answer) Text(path string) string {
	a.t.Helper()
	v, _ := a.at(path)
	s, ok := v.(string)
	if !ok {
		a.t.Fatalf("%s is no text in %s", path, a.raw)
	}
	return s
}

func (a answer) Has(parts ...string) answer {
	a.t.Helper()
	for _, p := range parts {
		if !strings.Contains(a.raw, p) {
			a.t.Errorf("there is no %q in %s", p, a.raw)
		}
	}
	return a
}

func (a answer) Lacks(parts ...string) answer {
	a.t.Helper()
	for _, p := range parts {
		if strings.Contains(strings.ToLower(a.raw), strings.ToLower(p)) {
			a.t.Errorf("there is %q in %s", p, a.raw)
		}
	}
	return a
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// keep makes a card as the world's admin, past the campaign's operations.
func (s *scene) keep(name, typ, fields string, label ...access.Label) {
	s.t.Helper()
	guard := access.NewGuard(access.Config{})
	a, err := guard.Admit(s.t.Context(), s.As("admin").caller, access.Request{Operation: "scene", Effect: access.Write, World: s.world})
	if err != nil {
		s.t.Fatal(err)
	}
	s.now = s.now.Add(time.Second)
	_, err = s.canon.Change(s.t.Context(), a.Grant, func(p *canon.Plan) error {
		n := canon.NewCard{Name: name, Type: typ, Fields: json.RawMessage(fields)}
		if len(label) > 0 {
			n.Label = &label[0]
		}
		_, err := p.Create(n)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func atMost(n int) func(*op.Request) { return func(r *op.Request) { r.MaxText = n } }

func parsed(raw string) (v any) {
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		panic(err)
	}
	return v
}

// adminAlso is for admins, and for one named.
func adminAlso(who access.Subject) access.Label { return access.NewLabel(access.LevelAdmin, who) }
