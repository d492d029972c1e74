package op_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

var (
	worldA = access.WorldID(uuid.MustParse("00000000-0000-7000-8000-00000000000a"))
	worldB = access.WorldID(uuid.MustParse("00000000-0000-7000-8000-00000000000b"))
)

type echoIn struct {
	Name    string            `json:"name" jsonschema:"Name of the card." minlen:"1" maxlen:"20"`
	Limit   int               `json:"limit,omitzero" jsonschema:"Most results." default:"50" min:"1" max:"100"`
	Sort    string            `json:"sort,omitzero" jsonschema:"Order of results." enum:"name,updated" default:"name"`
	Depth   int               `json:"depth,omitzero" jsonschema:"How deep." numeric:"string"`
	Full    bool              `json:"full,omitzero" jsonschema:"Everything."`
	Since   time.Time         `json:"updated_since,omitzero" jsonschema:"Inclusive."`
	Tags    []string          `json:"tags,omitzero" jsonschema:"All must match." maxlen:"5" maxitems:"3"`
	Fields  map[string]any    `json:"fields,omitzero" jsonschema:"Values by name."`
	Ops     []echoOp          `json:"ops,omitzero" jsonschema:"Steps."`
	Args    map[string]string `json:"args,omitzero" jsonschema:"Placeholders." query:"rest"`
	DryRun  bool              `json:"dry_run,omitzero" jsonschema:"Only plan."`
	IfMatch string            `json:"if_match,omitzero" jsonschema:"Version expected."`
}

type echoOp struct {
	Name     string   `json:"name" pattern:"^[a-z]+$"`
	Count    *int     `json:"count,omitempty" min:"0"`
	Children []echoOp `json:"children,omitempty"`
}

type echoOut struct {
	Seen  echoIn   `json:"seen"`
	Lines []string `json:"lines"`
	Next  *int     `json:"next_offset"`
	Role  string   `json:"role,omitempty"`
}

type longOut struct {
	Text string `json:"text"`
	From int    `json:"from"`
}

func (l longOut) Cut(budget int) (any, map[string]any, bool) {
	if len(l.Text) <= budget {
		return l, nil, false
	}
	return longOut{l.Text[:budget], l.From}, map[string]any{"offset": l.From + budget}, true
}

type longIn struct {
	Offset int `json:"offset,omitzero" jsonschema:"Where to start."`
}

type fileIn struct {
	Name     string `json:"name" jsonschema:"Card."`
	Filename string `json:"filename,omitzero" jsonschema:"Name of the file."`
	Data     []byte `json:"data" jsonschema:"The file."`
}

type fileOut struct {
	Size int    `json:"size"`
	Name string `json:"filename"`
}

func echo(_ context.Context, c *op.Call, in echoIn) (echoOut, error) {
	switch in.Name {
	case "panic":
		panic("a secret in a panic")
	case "broken":
		return echoOut{}, errors.New("secret detail")
	case "absent":
		return echoOut{}, fault.New(fault.NotFound, "no card %q", in.Name)
	}
	c.Reply.ETag = "7"
	return echoOut{Seen: in, Role: c.Grant.Role().String()}, nil
}

func spec(name string, effect access.Effect, minRole access.Role) op.Spec {
	return op.Spec{Name: name, Title: "Title of " + name, Doc: "Use it to test " + name + ".",
		Surfaces: []string{"archive"}, Effect: effect, MinRole: minRole}
}

// surfaces declares the operations, resources and prompts of the tests.
func surfaces() []op.Surface {
	read := spec("get_card", access.Read, access.RoleUser)
	read.Route, read.Target = "GET /api/mcp/cards/{name}", "name"
	read.Examples = []op.Example{{Title: "By name", Input: `{"name":"Rivers"}`}}
	read.Surfaces = []string{"archive", "world"}
	write := spec("create_card", access.Write, access.RoleUser)
	write.Route, write.Status = "POST /api/mcp/cards", 201
	destroy := spec("delete_card", access.Destroy, access.RoleAdmin)
	destroy.Route = "DELETE /api/mcp/cards/{name}"
	operator := spec("create_backup", access.Write, access.RoleNone)
	operator.Operator, operator.NoWorld, operator.Route = true, true, "POST /api/mcp/admin/backup"
	long := spec("read_long", access.Read, access.RoleUser)
	long.Route = "GET /api/mcp/long"
	slow := spec("read_slow", access.Read, access.RoleUser)
	slow.Timeout = time.Millisecond
	upload := spec("upload_attachment", access.Write, access.RoleUser)
	upload.Route, upload.BodyLimit = "POST /api/mcp/cards/{name}/file", 25<<20
	shared := op.Define(read, echo)
	return []op.Surface{{
		Name: "archive", Title: "Archive", Doc: "The wiki.",
		Operations: []*op.Operation{
			shared, op.Define(write, echo), op.Define(destroy, echo), op.Define(operator, echo),
			op.Define(long, func(_ context.Context, _ *op.Call, in longIn) (longOut, error) {
				return longOut{strings.Repeat("x", 5000), in.Offset}, nil
			}),
			op.Define(slow, func(ctx context.Context, _ *op.Call, _ longIn) (longOut, error) {
				<-ctx.Done()
				return longOut{}, fmt.Errorf("store: %w", ctx.Err())
			}),
			op.Define(upload, func(_ context.Context, _ *op.Call, in fileIn) (fileOut, error) {
				return fileOut{len(in.Data), in.Filename}, nil
			}),
		},
		Resources: []*op.Resource{{
			Template: "archive://card/{name}", Name: "card", Title: "Card", Doc: "A card.", MIME: "text/markdown",
			Surfaces: []string{"archive"}, MinRole: access.RoleUser, Read: readCard, List: listCards, Complete: completeCards,
		}, {
			Template: "archive://secrets", Name: "secrets", Title: "Secrets", Doc: "The GM's.", MIME: "text/plain",
			Surfaces: []string{"archive"}, MinRole: access.RoleGM, Read: readCard, List: listSecrets,
		}},
		Prompts: []*op.Prompt{{
			Name: "summarize-card", Title: "Summarize", Doc: "Sums a card up.", Surfaces: []string{"archive"},
			MinRole: access.RoleUser,
			Args:    []op.PromptArg{{Name: "name", Doc: "The card.", Required: true}},
			Render: func(_ context.Context, _ *op.Call, args map[string]string) (string, error) {
				return "Sum up " + args["name"], nil
			},
		}},
	}, {Name: "world", Title: "World", Doc: "Places.", Operations: []*op.Operation{shared}}}
}

func readCard(_ context.Context, _ *op.Call, vars map[string]string) (op.Content, error) {
	switch vars["name"] {
	case "absent":
		return op.Content{}, fault.New(fault.NotFound, "gone for reason one")
	case "hidden":
		return op.Content{}, fault.New(fault.Denied, "hidden for reason two")
	}
	return op.Content{Text: "# " + vars["name"]}, nil
}

func listCards(context.Context, *op.Call) ([]op.Listed, error) {
	return []op.Listed{{URI: "archive://card/B", Name: "B", Thing: "b", Recent: true},
		{URI: "archive://card/A", Name: "A"}}, nil
}

// listSecrets lists a card that listCards lists as recent, and more entries than a list may have.
func listSecrets(context.Context, *op.Call) ([]op.Listed, error) {
	all := []op.Listed{{URI: "archive://secrets", Name: "S", Thing: "b"}, {URI: "archive://card/A", Name: "A"}}
	for i := range 60 {
		all = append(all, op.Listed{URI: fmt.Sprint("archive://more/", i), Name: "more", Recent: true})
	}
	return all, nil
}

func completeCards(_ context.Context, _ *op.Call, _, prefix string) ([]string, error) {
	return make([]string, 150), nil
}

// twoWorlds knows worlds "a" and "b", and records look-ups.
type twoWorlds struct{ lookups []string }

func (t *twoWorlds) Resolve(_ context.Context, c access.Caller, name string) (access.WorldID, error) {
	t.lookups = append(t.lookups, name)
	w := map[string]access.WorldID{"a": worldA, "b": worldB, worldA.String(): worldA}[name]
	if c.Role(w) == access.RoleNone || w.IsZero() {
		return access.WorldID{}, fault.New(fault.NotFound, "no world %q", name)
	}
	return w, nil
}

func (t *twoWorlds) Names(_ context.Context, c access.Caller) ([]string, error) {
	var names []string
	for _, w := range []struct {
		slug string
		id   access.WorldID
	}{{"a", worldA}, {"b", worldB}} {
		if c.Role(w.id) != access.RoleNone {
			names = append(names, w.slug)
		}
	}
	return names, nil
}

// journal keeps access records.
type journal struct{ records []access.Record }

func (j *journal) Reserve() error         { return nil }
func (j *journal) Record(r access.Record) { j.records = append(j.records, r) }

type bench struct {
	*op.Local
	worlds  *twoWorlds
	journal *journal
}

func newBench(t testing.TB, change func(*op.Config)) bench {
	t.Helper()
	b := bench{worlds: &twoWorlds{}, journal: &journal{}}
	c := op.Config{Guard: access.NewGuard(access.Config{Recorder: b.journal}), Surfaces: surfaces(), Worlds: b.worlds}
	if change != nil {
		change(&c)
	}
	var err error
	if b.Local, err = op.NewLocal(c); err != nil {
		t.Fatal(err)
	}
	return b
}

func as(role access.Role) access.Caller {
	return access.Caller{Subject: "tester", Key: "k1", Roles: map[access.WorldID]access.Role{worldA: role}}
}

func (b bench) call(c access.Caller, name, input string) (*op.Answer, error) {
	return b.Invoke(context.Background(), c, op.Request{Operation: name, Input: []byte(input), Transport: "rest",
		Correlation: "c-1"})
}
