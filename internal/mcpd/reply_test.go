package mcpd

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func TestLoneResponse(t *testing.T) {
	rows := map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                              true,
		`{"jsonrpc":"2.0","id":"a,\"b\"","error":{"code":1,"message":"x"}}`: true,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                          false,
		`{"jsonrpc":"2.0","method":"notifications/progress"}`:               false,
		`{"jsonrpc":"2.0","id":1}`:                                          false,
	}
	for data, want := range rows {
		got, one := loneResponse([]byte("event: message\ndata: " + data + "\n\n"))
		if one != want || want && string(got) != data {
			t.Errorf("%s: %v, %s", data, one, got)
		}
	}
	if _, one := loneResponse([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)); one {
		t.Error("what is no event is taken for one")
	}
}

func TestSilentStreamGetsComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		began := 0
		r := newReply(w, false, time.Second, func(http.Header) {}, func() { began++ })
		r.Header().Set("Content-Type", "text/event-stream")
		write := func(event string) {
			if _, err := r.Write([]byte(event)); err != nil {
				t.Fatal(err)
			}
		}
		write("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n\n")
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		write("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
		r.endReply()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := strings.Count(w.Body.String(), ": keep-alive"); got != 2 || began != 1 {
			t.Errorf("%d comments, begun %d times:\n%s", got, began, w.Body)
		}
		if !strings.HasSuffix(w.Body.String(), "\"result\":{}}\n\n") {
			t.Errorf("a stream ends with %s", w.Body)
		}
	})
}

func TestBatchStaysAStream(t *testing.T) {
	w := httptest.NewRecorder()
	r := newReply(w, true, time.Hour, func(http.Header) {}, nil)
	defer r.endReply()
	r.Header().Set("Content-Type", "text/event-stream")
	event := "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
	for range 2 {
		if _, err := r.Write([]byte(event)); err != nil {
			t.Fatal(err)
		}
	}
	if w.Body.String() != event+event || w.Header().Get("X-Accel-Buffering") != "no" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
}

func TestCursorsAreBoundAndExpire(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := newSealer([32]byte{1}, func(b []byte) { clear(b) }, func() time.Time { return now })
	c := s.sealCursor("tools/list", "key-1", 7)
	if got, err := s.openCursor("tools/list", "key-1", c); got != 7 || err != nil {
		t.Fatal(got, err)
	}
	for _, bad := range [][3]string{{"prompts/list", "key-1", c}, {"tools/list", "key-2", c},
		{"tools/list", "key-1", c[:len(c)-2] + "AA"}, {"tools/list", "key-1", "x"}} {
		if _, err := s.openCursor(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	now = now.Add(2 * time.Hour)
	if _, err := s.openCursor("tools/list", "key-1", c); err == nil {
		t.Error("an expired cursor is taken")
	}
}

func TestEras(t *testing.T) {
	rows := []struct {
		header, body string
		want         bool
	}{
		{"", `{"method":"initialize","params":{"protocolVersion":"2026-07-28"}}`, false},
		{"", `{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, true},
		{"", `{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}}`, false},
		{"", `{"params":{"arguments":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}`, false},
		{"", `{"params":{"arguments":"io.modelcontextprotocol/protocolVersion 2026-07-28"}}`, false},
		{"2025-06-18", `{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, false},
		{"2026-07-28", `{}`, true},
		{"2027-01-01", `{}`, true},
	}
	for _, r := range rows {
		if got := isModern(http.Header{"Mcp-Protocol-Version": {r.header}}, []byte(r.body)); got != r.want {
			t.Errorf("%q %s: %v", r.header, r.body, got)
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{`{"a":[{}]}`, `{"a":"\""}`, `[`, "\"\\", `{"jsonrpc":"2.0","id":1,"result":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := checkJSON(b)
		if err == nil && !jsontext.Value(b).IsValid() {
			t.Errorf("%q is taken", b)
		}
		isModern(http.Header{}, b)
		isBatch(b)
		loneResponse(append(append(append([]byte(nil), eventHead...), b...), eventTail...))
	})
}
