package httpd_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/httpd"
	"loregate/internal/identity"
	"loregate/internal/op"
	"loregate/internal/wait"
)

var (
	world = access.WorldID(uuid.MustParse("00000000-0000-7000-8000-00000000000a"))
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// people is an Authenticator whose tokens are the names of roles.
type people struct{}

func (people) Authenticate(_ context.Context, bearer, audience string) (access.Caller, error) {
	c := access.Caller{Subject: "tester", Key: bearer, Home: world, TokenExpires: noon.Add(90 * time.Second)}
	refused := func(why error) (access.Caller, error) {
		return access.Caller{}, fault.New(fault.Unauthorized, "get a token").Because(why)
	}
	role, ok := access.ParseRole(bearer)
	switch {
	case bearer == "":
		return refused(identity.ErrMissing)
	case bearer == "expired":
		return refused(identity.ErrExpired)
	case bearer == "operator":
		c.Operator = true
		return c, nil
	case bearer == "broken":
		return c, errors.New("the database says: secret")
	case bearer == "key":
		role, c.TokenExpires = access.RoleUser, time.Time{}
	case strings.HasPrefix(bearer, "lgp_") && audience == identity.AudiencePlay:
		role, c.Audience = access.RoleUser, audience
	case !ok:
		return refused(identity.ErrInvalid)
	}
	c.Roles = map[access.WorldID]access.Role{world: role}
	return c, nil
}

func (people) Exchange(_ context.Context, key string, role access.Role, w string) (identity.Issued, error) {
	if key != "lg_good" {
		return identity.Issued{}, fault.New(fault.Unauthorized, "not a key").Because(identity.ErrInvalid)
	}
	return identity.Issued{Token: "t-" + role.String() + w, TokenType: "Bearer", Subject: "ada", Role: role,
		ExpiresIn: 1800, ExpiresAt: noon.Add(30 * time.Minute)}, nil
}

func (people) Watch(context.Context, string) (<-chan struct{}, func()) { return nil, func() {} }

func (people) JWKS(context.Context) ([]byte, error) { return []byte(`{"keys":[]}`), nil }

type worlds struct{}

func (worlds) Resolve(_ context.Context, c access.Caller, name string) (access.WorldID, error) {
	return world, nil
}
func (worlds) Names(context.Context, access.Caller) ([]string, error) {
	return []string{"main"}, nil
}

type cardIn struct {
	Name     string            `json:"name" jsonschema:"Card."`
	Limit    int               `json:"limit,omitzero" jsonschema:"Most." default:"50" max:"100"`
	Full     bool              `json:"full,omitzero" jsonschema:"All."`
	Ratio    float64           `json:"ratio,omitzero" jsonschema:"A ratio."`
	Tags     []string          `json:"tag,omitzero" jsonschema:"Tags."`
	Versions []int             `json:"versions,omitzero" jsonschema:"Numbers."`
	Content  string            `json:"content,omitzero" jsonschema:"Text."`
	IfMatch  string            `json:"if_match,omitzero" jsonschema:"Version."`
	Args     map[string]string `json:"args,omitzero" jsonschema:"Placeholders."`
}

type cardOut struct {
	Seen cardIn `json:"seen"`
	Key  string `json:"key,omitempty"`
}

func show(ctx context.Context, c *op.Call, in cardIn) (cardOut, error) {
	switch in.Name {
	case "absent":
		return cardOut{}, fault.New(fault.NotFound, "no card %q", in.Name)
	case "stale":
		return cardOut{}, fault.New(fault.Stale, "it is at version 8 now")
	case "broken":
		return cardOut{}, errors.New("the database says: secret")
	case "slow": // longer than a body may take in TestDeadlines
		if !wait.For(ctx, 150*time.Millisecond) {
			return cardOut{}, ctx.Err()
		}
	case "panic":
		panic("secret")
	case "etagged":
		c.Reply.ETag = "7"
	case "mixed":
		c.Reply.Status = http.StatusMultiStatus
	case "again":
		c.Reply.Replayed = true
	case "cited":
		c.Reply.Meta = map[string]any{"contextRef": "sealed"}
	case "new":
		c.Reply.Location = "/api/mcp/cards/new"
	}
	return cardOut{in, c.Grant.Request().IdempotencyKey}, nil
}

type queryIn struct {
	Q    string            `json:"q" jsonschema:"Query."`
	Args map[string]string `json:"args,omitzero" jsonschema:"Placeholders." query:"rest"`
}

type fileIn struct {
	Name     string `json:"name" jsonschema:"Card."`
	Filename string `json:"filename,omitzero" jsonschema:"File."`
	Data     []byte `json:"data" jsonschema:"Bytes."`
}

type fileOut struct {
	Size int    `json:"size"`
	Name string `json:"filename"`
}

func declared() []op.Surface {
	spec := func(name, route string, effect access.Effect, minRole access.Role) op.Spec {
		return op.Spec{Name: name, Title: name, Doc: "Use it in tests.", Surfaces: []string{"archive"}, Effect: effect,
			MinRole: minRole, Route: route}
	}
	upload := spec("upload", "POST /api/mcp/cards/{name}/file", access.Write, access.RoleUser)
	upload.BodyLimit = 1 << 20
	create := spec("create_card", "POST /api/mcp/cards", access.Write, access.RoleUser)
	create.Status = http.StatusCreated
	shouted := spec("shout", "GET /api/campaigns/{name}", access.Read, access.RoleUser)
	shouted.Surfaces = []string{"campaign"}
	return []op.Surface{{Name: "archive", Title: "Archive", Doc: "Wiki.", Operations: []*op.Operation{
		op.Define(spec("get_card", "GET /api/mcp/cards/{name}", access.Read, access.RoleUser), show),
		op.Define(spec("list_children", "GET /api/mcp/cards/{name}/children", access.Read, access.RoleUser), show),
		op.Define(create, show),
		op.Define(spec("batch_cards", "POST /api/mcp/cards/batch", access.Write, access.RoleUser), show),
		op.Define(spec("update_card", "PATCH /api/mcp/cards/{name}", access.Write, access.RoleUser), show),
		op.Define(spec("delete_card", "DELETE /api/mcp/cards/{name}", access.Destroy, access.RoleAdmin), show),
		op.Define(spec("named_query", "GET /api/mcp/queries/{q}", access.Read, access.RoleUser),
			func(_ context.Context, _ *op.Call, in queryIn) (queryIn, error) {
				return in, nil
			}),
		op.Define(upload, func(_ context.Context, _ *op.Call, in fileIn) (fileOut, error) {
			return fileOut{len(in.Data), in.Filename}, nil
		}),
		op.Define(spec("get_file", "GET /api/mcp/cards/{name}/file", access.Read, access.RoleUser),
			func(_ context.Context, c *op.Call, in queryName) (queryName, error) {
				c.Reply.File = &op.File{Name: in.Name + ".svg", Type: "image/svg+xml", Data: []byte("<svg onload=alert(1)>")}
				return in, nil
			}),
	}}, {Name: "campaign", Title: "Campaign", Doc: "Play.", Codes: map[string]string{"not_found": "NOT_FOUND"},
		Operations: []*op.Operation{op.Define(shouted, show)}}}
}

type queryName struct {
	Name string `json:"name" jsonschema:"Card."`
}

// site is a handler under test, and its access records.
type site struct {
	http.Handler
	records *[]access.Record
}

type journal struct{ list *[]access.Record }

func (j journal) Reserve() error         { return nil }
func (j journal) Record(r access.Record) { *j.list = append(*j.list, r) }

func newSite(t testing.TB, change func(*httpd.Config)) site {
	t.Helper()
	var records []access.Record
	guard := access.NewGuard(access.Config{Recorder: journal{&records}})
	l, err := op.NewLocal(op.Config{Guard: guard, Surfaces: declared(), Worlds: worlds{}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	c := httpd.Config{Engine: l, Auth: people{}, Guard: guard, Version: "1.0", Now: func() time.Time { return noon },
		NewID: func() string { n++; return "id-" + strconv.Itoa(n) }, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if change != nil {
		change(&c)
	}
	h, err := httpd.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return site{h, &records}
}

// ask sends "METHOD target" as a player, with a body and headers "Name: value".
func (s site) ask(line, body string, headers ...string) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host, r.RemoteAddr = "localhost:8420", "127.0.0.1:5000"
	r.Header.Set("Authorization", "Bearer user")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case name == "Peer":
			r.RemoteAddr = value
		case value == "-":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}
