// Package modeltest provides a language model for tests: an endpoint on loopback with given answers
// that records its requests.
package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Key is the key of a Server. Tests check that no log, error or body contains it.
const Key = "sk-planted-MODELKEYMARK"

// Server is an endpoint with OpenAI's protocol.
type Server struct {
	URL     string        // base address, with its version
	KeyFile string        // holds Key
	Asked   chan struct{} // receives one signal for each request while there is room

	t      testing.TB
	mu     sync.Mutex
	answer func(prompt string) string // guarded by mu
	asked  []Request                  // guarded by mu
}

// Request is a recorded request.
type Request struct {
	Prompt        string
	Body          string
	Authorization string
}

// Serve starts a model whose answers come from a function; "" gives status 503.
func Serve(t testing.TB, answer func(prompt string) string) *Server {
	t.Helper()
	s := &Server{t: t, answer: answer, Asked: make(chan struct{}, 1024), KeyFile: filepath.Join(t.TempDir(), "key")}
	if err := os.WriteFile(s.KeyFile, []byte(Key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL + "/v1"
	return s
}

// Answer replaces the function for later answers.
func (s *Server) Answer(f func(prompt string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.asked...)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var in struct {
		Messages []struct{ Content string }
	}
	if err != nil || json.Unmarshal(body, &in) != nil || len(in.Messages) == 0 {
		s.t.Errorf("the model is asked %q, %v", body, err)
		return
	}
	one := Request{Body: string(body), Authorization: r.Header.Get("Authorization")}
	for _, m := range in.Messages {
		one.Prompt += m.Content
	}
	s.mu.Lock()
	s.asked = append(s.asked, one)
	text := s.answer(one.Prompt)
	s.mu.Unlock()
	select {
	case s.Asked <- struct{}{}:
	default:
	}
	if text == "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": text},
			"finish_reason": "stop"}},
		"usage": map[string]int{"prompt_tokens": len(one.Prompt) / 4, "completion_tokens": len(text) / 4},
	})
}
