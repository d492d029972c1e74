package scaletest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/op"
	"loregate/internal/waittest"
)

// patience bounds the waits for another process.
const patience = waittest.Patience

func TestTwoProcessesAreOneInstance(t *testing.T) {
	at := database(t)
	here := serve(t, openApp(t, at, app.Options{}))
	if err := here.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	there := serve(t, openApp(t, at, app.Options{}))
	key, id := here.key("keeper", access.RoleGM)

	changed := there.app.Canon.Changed()
	status, made := here.call(key, "POST", "/api/mcp/cards", map[string]any{"name": "Lantern", "content": "lit"},
		"Idempotency-Key", "k1")
	if status != http.StatusCreated && status != http.StatusOK {
		t.Fatalf("made here: %d %s", status, made)
	}
	waittest.Receive(t, changed, "a write here wakes a waiter there")
	if status, body := there.call(key, "GET", "/api/mcp/cards/Lantern", nil); status != http.StatusOK ||
		!strings.Contains(body, "lit") {
		t.Errorf("read there: %d %s", status, body)
	}
	again, body := there.call(key, "POST", "/api/mcp/cards", map[string]any{"name": "Lantern", "content": "lit"},
		"Idempotency-Key", "k1")
	if again != status && again != http.StatusCreated || cardID(t, body) != cardID(t, made) {
		t.Errorf("repeated there: %d %s; made %s", again, body, made)
	}
	if err := here.app.Identity.RevokeKey(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; {
		if status, _ := there.call(key, "GET", "/api/mcp/cards/Lantern", nil); status == http.StatusUnauthorized {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a key revoked here goes on working there")
		}
	}
	if report, err := there.app.Verify(t.Context(), ""); err != nil {
		t.Errorf("%s, %v", report, err)
	}
}

func cardID(t *testing.T, body string) string {
	t.Helper()
	var card struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(body), &card); err != nil || card.ID == "" {
		t.Errorf("no card: %s", body)
	}
	return card.ID
}

// twin is one of two products that get the same calls.
type twin struct {
	t   *testing.T
	app *app.App
	src *idClock
}

func newTwin(t *testing.T, at string) *twin {
	src := newIDClock()
	w := &twin{t, openApp(t, at, app.Options{Now: src.Now, NewID: src.NewID, Secrets: func(b []byte) { clear(b) }}), src}
	if err := w.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// ask calls an operation of the archive and returns the answer as it would be sent.
func (w *twin) ask(role access.Role, operation string, input map[string]any) string {
	w.t.Helper()
	w.src.advance()
	b, err := json.Marshal(input)
	if err != nil {
		w.t.Fatal(err)
	}
	who := access.Caller{Subject: access.Subject(role.String()), Actor: access.Person, EveryRole: role, Unlimited: true}
	answer, err := w.app.Ops.Invoke(context.Background(), who,
		op.Request{Surface: "archive", Operation: operation, World: app.FirstWorld, Input: b, Correlation: "c"})
	if err != nil {
		return "error " + err.Error()
	}
	out, err := json.Marshal(answer.Output)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(out)
}

// TestBothStoresAnswerTheSameBytes makes the same 500 or so calls, writes and reads, on the
// embedded store and on PostgreSQL, and compares the answers byte by byte.
func TestBothStoresAnswerTheSameBytes(t *testing.T) {
	a, b := newTwin(t, ""), newTwin(t, database(t))
	asked, refused := 0, 0
	both := func(role access.Role, operation string, input map[string]any) {
		t.Helper()
		asked++
		x, y := a.ask(role, operation, input), b.ask(role, operation, input)
		if strings.HasPrefix(x, "error ") {
			refused++
		}
		if x != y {
			t.Errorf("%s as %s of %v:\n   one answers %.900s\n other answers %.900s", operation, role, input, x, y)
		}
	}
	tellStory(both)
	roles := []access.Role{access.RoleUser, access.RoleGM, access.RoleAdmin}
	for _, role := range roles {
		for i := range places {
			both(role, "get_card", map[string]any{"name": placeName(i), "with_children": i%2 == 0, "rendered": i%3 == 0})
			both(role, "list_children", map[string]any{"name": placeName(i), "depth": 1 + i%3})
			both(role, "get_card_history", map[string]any{"name": placeName(i)})
		}
		for _, q := range []map[string]any{
			{"sort": "updated_at"}, {"sort": "created_at", "limit": 7, "offset": 5}, {"sort": "name", "prefix": placeName(1)},
			{"type": "Lore", "sort": "name"},
			{"tag": "harbour", "sort": "name"}, {"q": "place", "search_in": "name", "sort": "name"},
			{"q": "lantern", "search_in": "content", "sort": "updated_at"},
			{"q": "été", "sort": "name"}, {"q": "lan", "search_in": "both", "match_mode": "substring", "sort": "name"},
			{"q": "mist lantern", "search_in": "both", "match_mode": "whole_word", "sort": "name", "limit": 3, "offset": 3},
		} {
			both(role, "search_cards", q)
		}
		for i := range 20 {
			both(role, "get_relationships", map[string]any{"name": placeName(i)})
		}
		both(role, "list_types", map[string]any{})
		both(role, "recent_changes", map[string]any{"limit": 30})
		both(role, "get_card", map[string]any{"name": "Nowhere"})
	}
	if asked < 500 || refused > asked/5 {
		t.Errorf("%d calls, of which %d were refused", asked, refused)
	}
}

// places is the number of places that tellStory creates.
const places = 40

func placeName(i int) string { return fmt.Sprintf("Place %d", i) }

func tellStory(both func(access.Role, string, map[string]any)) {
	for i := range places {
		role, name := access.RoleGM, placeName(i)
		both(role, "create_card", map[string]any{"name": name, "type": []string{"RichText", "Lore", "Faction"}[i%3],
			"content": fmt.Sprintf("<p>The lantern of [[%s]] in the mist, été %d.</p>", placeName((i+7)%places), i)})
		if i%4 == 0 {
			both(role, "create_card", map[string]any{"name": name + "+tags", "type": "Pointer",
				"content": "[[harbour]]\n[[old]]"})
		}
		if i%5 == 0 {
			both(role, "create_card", map[string]any{"name": name + "+GM", "content": "hidden lantern"})
		}
		if i%3 == 0 {
			both(role, "update_card", map[string]any{"name": name,
				"content": fmt.Sprintf("changed, see [[%s]]", placeName(i/2))})
		}
		if i%11 == 10 {
			both(access.RoleAdmin, "rename_card", map[string]any{"name": name, "new_name": fmt.Sprintf("Renamed %d", i)})
		}
		if i%13 == 12 {
			both(access.RoleAdmin, "delete_card", map[string]any{"name": name})
		}
	}
	both(access.RoleUser, "create_card", map[string]any{"name": "Place 1", "content": "taken"})
}
