package archtest

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/archive"
	"loregate/internal/canon"
	"loregate/internal/mcpd"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
)

// TestArchitectureNamesExistingDeclarations checks that ARCHITECTURE.md names only functions, types
// and fields that the code declares.
func TestArchitectureNamesExistingDeclarations(t *testing.T) {
	tour, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	each(t, "../..", func(path string) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				declared[n.Name.Name] = true
			case *ast.TypeSpec:
				declared[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range n.Names {
					declared[name.Name] = true
				}
			case *ast.Field:
				for _, name := range n.Names {
					declared[name.Name] = true
				}
			}
			return true
		})
		declared[f.Name.Name] = true
	})
	for _, found := range goName.FindAllStringSubmatch(string(tour), -1) {
		if strings.HasSuffix(found[1], ".go") || !strings.ContainsAny(found[1], ".ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			continue
		}
		for part := range strings.SplitSeq(found[1], ".") {
			if !declared[part] {
				t.Errorf("ARCHITECTURE.md names %s, but nothing declares %s", found[1], part)
			}
		}
	}
}

var goName = regexp.MustCompile("`([A-Za-z][A-Za-z0-9_.]*)`")

// TestRequestTakesTheDocumentedSteps calls get_card over MCP and compares the functions that run
// when the store is asked with the steps in ARCHITECTURE.md, "One request".
func TestRequestTakesTheDocumentedSteps(t *testing.T) {
	tour, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(tour), "## One request")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for _, row := range stepRow.FindAllStringSubmatch(section, -1) {
		for _, file := range quoted.FindAllStringSubmatch(row[1], -1) {
			if strings.HasSuffix(file[1], ".go") {
				documented = append(documented, file[1])
			}
		}
	}
	running := traceGetCard(t)
	// Other documented files have returned by the time that the store is asked, or run later.
	last := -1
	for _, file := range []string{"mcpd/front.go", "mcpd/direct.go", "op/invoke.go", "archive/card.go",
		"canon/snapshot.go"} {
		if !slices.Contains(documented, file) {
			t.Errorf("no step names %s", file)
		}
		at := slices.Index(running, file)
		if at <= last {
			t.Errorf("%s does not run at its step; these run, from the outermost: %v", file, running)
		}
		last = at
	}
	for _, file := range documented {
		if at := slices.Index(running, file); at >= 0 && at > slices.Index(running, "canon/snapshot.go") {
			t.Errorf("%s runs below canon/snapshot.go", file)
		}
	}
}

var stepRow = regexp.MustCompile(`(?m)^\| \d+ \| ([^|]*) \|`)

// traceGetCard returns the files of the functions that run when get_card asks the store for a card,
// the outermost first.
func traceGetCard(t *testing.T) []string {
	ctx := t.Context()
	store := &tracedStore{Store: memory.New()}
	c := canon.New(canon.Config{Store: store})
	guard := access.NewGuard(access.Config{})
	admission, err := guard.Admit(ctx, admin{}.caller(), access.Request{Operation: "create_world",
		Effect: access.Write})
	if err != nil {
		t.Fatal(err)
	}
	world, err := c.CreateWorld(ctx, admission.Grant, canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	surface, err := archive.New(archive.Config{Canon: c})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{surface},
		Worlds: optest.SoleWorld(world.ID)})
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcpd.New(ctx, mcpd.Config{Engine: engine, Auth: admin{}, Surfaces: []*op.Surface{&surface}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_card","arguments":{"name":"Mill"},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", "tools/call")
	r.Header.Set("Mcp-Name", "get_card")
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, r)
	if len(store.files) == 0 {
		t.Fatalf("get_card did not ask the store: %s", answer.Body)
	}
	return store.files
}

// admin takes every caller for an administrator.
type admin struct{ mcpd.Authenticator }

func (admin) caller() access.Caller {
	return access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
}

func (a admin) Authenticate(context.Context, *http.Request) (access.Caller, error) {
	return a.caller(), nil
}

// tracedStore notes the functions that run when a card is asked for by name.
type tracedStore struct {
	canon.Store
	mu    sync.Mutex
	files []string
}

func (s *tracedStore) Read(ctx context.Context, f func(canon.Reader) error) error {
	return s.Store.Read(ctx, func(r canon.Reader) error { return f(tracedReader{r, s}) })
}

type tracedReader struct {
	canon.Reader
	store *tracedStore
}

func (r tracedReader) FindCards(ctx context.Context, v canon.Visibility, q canon.CardQuery) ([]canon.Card, error) {
	r.store.trace()
	return r.Reader.FindCards(ctx, v, q)
}

// trace notes the files of the running functions.
func (s *tracedStore) trace() {
	pcs := make([]uintptr, 200)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var files []string
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if _, file, ok := strings.Cut(filepath.ToSlash(frame.File), "/internal/"); ok {
			files = append(files, file)
		}
	}
	slices.Reverse(files)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = files
}
