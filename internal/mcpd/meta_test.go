package mcpd

import (
	"encoding/json"
	"testing"
	"time"

	"loregate/internal/op"
)

func TestReplyMetaIsInResultMeta(t *testing.T) {
	s := &Server{modernTail: modernTail("complete", "1")}
	a := &op.Answer{Output: []byte(`{"items":[{"a":"}}"}]}`), Reply: op.Reply{
		Meta:   map[string]any{"toolId": "X", "at": time.Unix(0, 0).UTC()},
		Images: []op.File{{Type: "image/png", Data: []byte("png")}},
	}}
	for _, modern := range []bool{false, true} {
		r := s.withMeta(s.newResult(s.toolContent(a.Output, a), modern, uncached), a.Reply.Meta)
		var got struct {
			Content           []struct{ Type, Text, Data, MimeType string }
			StructuredContent json.RawMessage
			Meta              map[string]any `json:"_meta"`
		}
		if err := json.Unmarshal(r.raw, &got); err != nil {
			t.Fatalf("modern %t: %v in %s", modern, err, r.raw)
		}
		if got.Meta["toolId"] != "X" || (len(got.Meta) == 3) != modern {
			t.Errorf("modern %t: _meta is %v", modern, got.Meta)
		}
		if len(got.Content) != 2 || got.Content[1].Data != "cG5n" || got.Content[1].MimeType != "image/png" {
			t.Errorf("modern %t: content is %v", modern, got.Content)
		}
	}
}
