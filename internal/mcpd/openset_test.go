package mcpd_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/mcpd"
	"loregate/internal/op"
)

// withSets serves a default set, which has a tool that opens another set.
func withSets(t *testing.T) option {
	spec := func(name, surface string) op.Spec {
		return op.Spec{Name: name, Title: name, Doc: "Use it to " + name + ".", Surfaces: []string{surface},
			Effect:  access.Read,
			NoWorld: true}
	}
	opens := spec("open", "default")
	opens.NeedsList, opens.TextOnly = true, true
	surfaces := []op.Surface{
		{Name: "default", Title: "Default", Doc: "a few", Operations: []*op.Operation{
			op.Define(opens, func(_ context.Context, c *op.Call, _ nothingIn) (textOut, error) {
				c.Reply.Opens = "more"
				return textOut{"opened"}, nil
			}),
			op.Define(spec("peek", "default"), func(context.Context, *op.Call, nothingIn) (textOut, error) {
				return textOut{"seen"}, nil
			}),
		}},
		{Name: "more", Title: "More", Doc: "the rest", Operations: []*op.Operation{
			op.Define(spec("dig", "more"), func(context.Context, *op.Call, nothingIn) (textOut, error) {
				return textOut{"found"}, nil
			}),
		}},
	}
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: surfaces, Worlds: oneWorld{}})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *mcpd.Config) {
		c.Engine, c.DefaultSet, c.Surfaces = engine, "default", nil
		for i := range surfaces {
			c.Surfaces = append(c.Surfaces, &surfaces[i])
		}
	}
}

// namesOf returns the names of the listed tools.
func namesOf(t *testing.T, cs *mcp.ClientSession) (names []string) {
	t.Helper()
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestASessionsListGrows(t *testing.T) {
	for _, way := range []string{"http", "stdio"} {
		t.Run(way, func(t *testing.T) {
			s := open(t, withSets(t))
			changed := make(chan struct{}, 1)
			client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
			transport := s.transport("user", "/mcp")
			if way == "stdio" {
				transport = s.pipe(t)
			}
			cs, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: older})
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			if got := namesOf(t, cs); !slices.Equal(got, []string{"open", "peek"}) {
				t.Errorf("at first %v", got)
			}
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "open"})
			if err != nil || res.StructuredContent != nil || res.Content[0].(*mcp.TextContent).Text != "opened" {
				t.Fatal(res, err)
			}
			<-changed
			if got := namesOf(t, cs); !slices.Equal(got, []string{"open", "peek", "dig"}) {
				t.Errorf("then %v", got)
			}
		})
	}
}

// pipe returns the transport of a client of ServePipe.
func (s *stage) pipe(t *testing.T) mcp.Transport {
	fromClient, toServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromServer, toClient, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.server.ServePipe(t.Context(), caller("user", access.RoleUser), nil, fromClient, toClient)
		_ = toClient.Close()
	}()
	return &mcp.IOTransport{Reader: fromServer, Writer: toServer}
}

// In the modern era there is no session whose list could grow.
func TestTheModernEraListsNoOpener(t *testing.T) {
	cs := open(t, withSets(t)).connect(t, modern, "user", "/mcp", nil)
	if got := namesOf(t, cs); !slices.Equal(got, []string{"peek"}) {
		t.Errorf("%v", got)
	}
	if tools := cs.InitializeResult().Capabilities.Tools; tools == nil || tools.ListChanged {
		t.Errorf("capabilities %+v", tools)
	}
}

func TestOutputSchemasAreSentToThoseWhoAsk(t *testing.T) {
	s := open(t, withSets(t))
	for _, row := range []struct {
		path string
		meta mcp.Meta
		want bool
	}{
		{"/mcp", nil, false}, {"/mcp/more", nil, false}, {"/mcp/all", nil, true}, {"/mcp/more",
			mcp.Meta{"outputSchemas": true}, true},
	} {
		list, err := s.connect(t, older, "user", row.path, nil).ListTools(t.Context(), &mcp.ListToolsParams{Meta: row.meta})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if shown := tool.OutputSchema != nil; shown != (row.want && tool.Name != "open") {
				t.Errorf("%s %v: the output schema of %s is sent: %v", row.path, row.meta, tool.Name, shown)
			}
		}
	}
}
