package mcpd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool and a resource that do not page by themselves are cut too, and following next returns the
// whole.
func TestUnpagedResultsAreCut(t *testing.T) {
	s := open(t)
	whole := strings.Repeat("Lamps \"burn\" over Rent Quay.\n", 6000)
	s.book.mu.Lock()
	s.book.pages["long"] = page{text: whole, level: s.book.pages["mill"].level}
	s.book.mu.Unlock()
	cs := s.connect(t, modern, "user", "/mcp", nil)

	var got strings.Builder
	call := &mcp.CallToolParams{Name: "get_page", Arguments: map[string]any{"name": "long"}}
	for range 20 {
		res, err := cs.CallTool(t.Context(), call)
		if err != nil || res.IsError {
			t.Fatalf("%v %s", err, text(t, res))
		}
		var out struct {
			Text      string
			Truncated bool
			Next      struct {
				Tool      string
				Arguments map[string]any
			}
		}
		last, shown := "", 0
		for _, c := range res.Content {
			last = c.(*mcp.TextContent).Text
			shown += len(last)
		}
		if err := json.Unmarshal([]byte(last), &out); err != nil {
			t.Fatal(err)
		}
		if shown > 32<<10+600 { // including the notice that it is cut
			t.Fatalf("a part has %d bytes", shown)
		}
		if out.Truncated != (len(res.Content) == 2) {
			t.Errorf("cut: %v, and %d contents", out.Truncated, len(res.Content))
		}
		if got.WriteString(out.Text); !out.Truncated {
			break
		}
		if !strings.HasSuffix(out.Text, "\n") {
			t.Errorf("a part ends within a line: …%q", out.Text[len(out.Text)-20:])
		}
		call = &mcp.CallToolParams{Name: out.Next.Tool, Arguments: out.Next.Arguments}
	}
	if got.String() != whole {
		t.Errorf("the parts of the tool's result have %d bytes of %d", got.Len(), len(whole))
	}

	got.Reset()
	uri := "book://page/long"
	for range 20 {
		res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		c := res.Contents[0]
		if len(c.Text) > 32<<10 {
			t.Fatalf("a part has %d bytes", len(c.Text))
		}
		part, _, _ := strings.Cut(c.Text, "\n\n[Shortened here.")
		got.WriteString(part)
		next, more := c.Meta["next"].(map[string]any)
		if !more {
			break
		}
		uri = next["uri"].(string)
	}
	if got.String() != whole {
		t.Errorf("the parts of the resource have %d bytes of %d", got.Len(), len(whole))
	}
}
