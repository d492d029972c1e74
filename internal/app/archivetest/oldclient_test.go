// Package archivetest sends the served product the requests of the card wiki's own client.
package archivetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
)

// exchange is one request of the client, and the fields that it read from the answer, with
// their JSON types. scripts/old-client.rb records it.
type exchange struct {
	Role   string            `json:"role"`
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Query  map[string]string `json:"query"`
	Body   json.RawMessage   `json:"body"`
	Status int               `json:"status"`
	Reads  map[string]string `json:"reads"`
}

// stage is the served sample world, and the values that the client has learned.
type stage struct {
	t      *testing.T
	url    string
	keys   map[string]string // by role in the recording
	tokens map[string]string
	backup string
}

// TestTheOldClientsRequestsAreAnswered makes every recorded request of the card wiki's Ruby client. Each
// field that the client read must have the same name and JSON type.
func TestTheOldClientsRequestsAreAnswered(t *testing.T) {
	recording, err := os.ReadFile("testdata/old-client.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []exchange
	if err := json.Unmarshal(recording, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("the recording has %d requests", len(all))
	}
	s := open(t)
	for i, x := range all {
		status, answer := s.send(x)
		if status != x.Status {
			t.Fatalf("%d: %s %s %v as %s answered %d, not %d: %s", i, x.Method, x.Path, x.Query, x.Role, status, x.Status,
				clip(answer))
		}
		for path, want := range x.Reads {
			if want == "null" {
				continue // the client does not need the field
			}
			if got := typesAt(answer, strings.Split(path, ".")); !slices.Contains(got, want) {
				t.Errorf("%d: %s %s as %s: the client reads %s as %s, and got %v in %s", i, x.Method, x.Path, x.Role, path, want,
					got, clip(answer))
			}
		}
		s.learn(x, answer)
	}
}

func open(t *testing.T) *stage {
	c := apptest.Config(t, t.TempDir())
	made := apptest.Sample(t, c.Data)
	a, _ := apptest.Open(t, c, apptest.Quiet())
	addr, _ := apptest.Serve(t, a, "")
	s := &stage{t: t, url: "http://" + addr + "/api/mcp", keys: map[string]string{}, tokens: map[string]string{}}
	for _, k := range made.Keys {
		s.keys[k.Role.String()] = k.Secret
	}
	s.keys["named"] = s.keys["user"]
	s.keys["admin"] = operator(t, a)
	return s
}

// operator creates a key that may do everything in the sample world.
func operator(t *testing.T, a *app.App) string {
	secret, _, err := a.CreateKey(t.Context(), identity.KeySpec{Name: "admin", Subject: "admin", Actor: access.Person,
		MaxRole: access.RoleAdmin, Operator: true},
		[]string{app.SampleWorld})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

var nowWords = regexp.MustCompile(`\{\{now([+-]\d+)\}\}`)

// fillIn replaces the placeholders of the recording by the times, keys and names of this run.
func (s *stage) fillIn(role, text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, `"KEY"`, `"`+s.keys[role]+`"`), "{{backup}}", s.backup)
	return nowWords.ReplaceAllStringFunc(text, func(word string) string {
		n, _ := strconv.Atoi(nowWords.FindStringSubmatch(word)[1]) // the pattern has digits
		return time.Now().Add(time.Duration(n)*time.Second + time.Minute).UTC().Format(time.RFC3339)
	})
}

func (s *stage) send(x exchange) (int, []byte) {
	query := url.Values{}
	for name, value := range x.Query {
		query.Set(name, s.fillIn(x.Role, value))
	}
	at := s.url + s.fillIn(x.Role, x.Path)
	if len(query) > 0 {
		at += "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
	}
	r, err := http.NewRequestWithContext(s.t.Context(), x.Method, at, strings.NewReader(s.fillIn(x.Role, string(x.Body))))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token := s.tokens[x.Role]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, answer
}

// learn keeps the values that later requests need.
func (s *stage) learn(x exchange, answer []byte) {
	var a struct {
		Token   string `json:"token"`
		Backups []struct {
			Name string `json:"filename"`
		} `json:"backups"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return // the answer is a file
	}
	if a.Token != "" {
		s.tokens[x.Role] = a.Token
	}
	if len(a.Backups) > 0 {
		s.backup = a.Backups[0].Name
	}
}

// typesAt returns the JSON types of the values at a path, in which "[]" is any item of a list;
// "absent" if there is no value.
func typesAt(b []byte, path []string) (types []string) {
	if len(path) == 0 {
		return []string{typeOf(b)}
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	var object map[string]json.RawMessage
	if json.Unmarshal(b, &object) != nil || object[name] == nil {
		return []string{"absent"}
	}
	if !isList {
		return typesAt(object[name], path[1:])
	}
	var items []json.RawMessage
	if json.Unmarshal(object[name], &items) != nil {
		return []string{"no list"}
	}
	for _, item := range items {
		types = append(types, typesAt(item, path[1:])...)
	}
	return types
}

func typeOf(b []byte) string {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0:
		return "absent"
	case b[0] == '"':
		return "string"
	case b[0] == '{':
		return "object"
	case b[0] == '[':
		return "array"
	case b[0] == 'n':
		return "null"
	case b[0] == 't' || b[0] == 'f':
		return "boolean"
	case bytes.ContainsAny(b, ".eE"):
		return "number"
	}
	return "integer"
}

func clip(b []byte) string { return string(b[:min(len(b), 400)]) }

// TestQueriesOfTheSampleRun runs the sample world's own named queries.
func TestQueriesOfTheSampleRun(t *testing.T) {
	s := open(t)
	for path, args := range map[string]map[string]string{
		"/queries/recent_changes": {"since": "2020-01-01"}, "/queries/faction_cards": nil,
	} {
		r := exchange{Role: "user", Method: "GET", Path: path, Query: args}
		s.tokens["user"] = s.keys["user"]
		status, answer := s.send(r)
		var found struct {
			Total int `json:"total"`
		}
		if err := json.Unmarshal(answer, &found); err != nil || status != http.StatusOK || found.Total == 0 {
			t.Errorf("%s: %d, %v, %s", path, status, err, clip(answer))
		}
	}
}

// TestErrorsAreInWords makes wrong requests, and checks the texts of the errors.
func TestErrorsAreInWords(t *testing.T) {
	s := open(t)
	s.tokens["user"] = s.keys["user"]
	for _, tc := range []struct {
		x    exchange
		want string
	}{
		{exchange{Method: "GET", Path: "/cards", Query: map[string]string{"q": "rent", "sort": "updated"}},
			`did you mean \"updated_at\"?`},
		{exchange{Method: "GET", Path: "/cards", Query: map[string]string{"serch_in": "name"}},
			`did you mean \"search_in\"?`},
		{exchange{Method: "GET", Path: "/cards", Query: map[string]string{"serch_in": "name"}},
			`for example {\"q\": \"who owns the quay\"}`},
		{exchange{Method: "POST", Path: "/run_query", Body: json.RawMessage(`{"name":"a","limit":1e999}`)},
			`the number 1e999 is out of range`},
		{exchange{Method: "POST", Path: "/cards", Body: json.RawMessage(`{"name":"A","fields":{"x":-1e999}}`)}, `fields.x`},
	} {
		tc.x.Role = "user"
		status, answer := s.send(tc.x)
		if status != http.StatusBadRequest || !strings.Contains(string(answer), tc.want) {
			t.Errorf("%s %s %v %s: %d %s, want %s", tc.x.Method, tc.x.Path, tc.x.Query, tc.x.Body, status, answer, tc.want)
		}
	}
}
