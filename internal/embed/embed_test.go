package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"loregate/internal/fault"
)

// endpoint answers with a vector that encodes each text's length, last text first.
func endpoint(t *testing.T, calls *int) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*calls++
		var in struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Model != "small" ||
			r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer sesame" {
			t.Errorf("%s %s %v %v", r.URL.Path, in.Model, r.Header, err)
		}
		var data []string
		for i := len(in.Input) - 1; i >= 0; i-- {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(in.Input[i])))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestVectorsAreInTextOrder(t *testing.T) {
	calls := 0
	c, err := New(Config{URL: endpoint(t, &calls).URL + "/v1/", Model: "small", Key: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 130)
	for i := range texts {
		texts[i] = strings.Repeat("x", i)
	}
	got, err := c.Embed(t.Context(), texts)
	if err != nil || len(got) != 130 || calls != 3 {
		t.Fatalf("%d vectors in %d calls: %v", len(got), calls, err)
	}
	for i, v := range got {
		if v[0] != float32(i) {
			t.Errorf("text %d has %v", i, v)
		}
	}
}

func TestFailingEndpoint(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"refuses":    func(w http.ResponseWriter) { http.Error(w, "the key sesame is wrong", http.StatusUnauthorized) },
		"no JSON":    func(w http.ResponseWriter) { fmt.Fprint(w, "<html>") },
		"leaves one": func(w http.ResponseWriter) { fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]}]}`) },
		"of others":  func(w http.ResponseWriter) { fmt.Fprint(w, `{"data":[{"index":7,"embedding":[1]}]}`) },
		"one twice": func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`)
		},
		"empty vector": func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[1]}]}`)
		},
		"other lengths": func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`)
		},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		c, err := New(Config{URL: s.URL, Model: "small", Key: "sesame"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Embed(t.Context(), []string{"a secret", "b"})
		if fault.KindOf(err) != fault.Unavailable || got != nil || strings.Contains(err.Error(), "sesame") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		s.Close()
	}
}

func TestCanceledCall(t *testing.T) {
	calls := 0
	c, _ := New(Config{URL: endpoint(t, &calls).URL, Model: "small"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Embed(ctx, []string{"a"}); fault.KindOf(err) != fault.Unavailable || calls != 0 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestNewChecksConfig(t *testing.T) {
	for _, bad := range []Config{{}, {URL: "api.example/v1", Model: "m"}, {URL: "file:///etc/passwd", Model: "m"},
		{URL: "http://x"}} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v makes a client", bad)
		}
	}
}

func ExampleClient_Embed() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"index":0,"embedding":[0.5,-0.5]}]}`)
	}))
	defer s.Close()
	c, _ := New(Config{URL: s.URL, Model: "any"})
	vectors, err := c.Embed(context.Background(), []string{"the lamp that is never filled"})
	fmt.Println(vectors, err)
	// Output: [[0.5 -0.5]] <nil>
}
