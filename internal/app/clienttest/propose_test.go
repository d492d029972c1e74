package clienttest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/wait"
)

// findText returns the text at the end of a path of members, anywhere in the JSON objects of a
// result, or "" if there is none. Clients add words of their own around the objects.
func findText(result string, path ...string) string {
	for rest := result; ; {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			return ""
		}
		rest = rest[at:]
		var v any
		d := json.NewDecoder(strings.NewReader(rest))
		if d.Decode(&v) != nil {
			rest = rest[1:]
			continue
		}
		if text := findIn(v, path); text != "" {
			return text
		}
		rest = rest[d.InputOffset():]
	}
}

func findIn(v any, path []string) string {
	if len(path) == 0 {
		text, _ := v.(string)
		return text
	}
	switch v := v.(type) {
	case map[string]any:
		if text := findIn(v[path[0]], path[1:]); text != "" {
			return text
		}
		for _, inner := range v {
			if text := findIn(inner, path); text != "" {
				return text
			}
		}
	case []any:
		for _, inner := range v {
			if text := findIn(inner, path); text != "" {
				return text
			}
		}
	}
	return ""
}

// pace is the time between proposals of one purpose: six a minute are allowed.
const pace = 11 * time.Second

// Moods and lines that differ enough not to be taken for duplicates.
var (
	moods = []string{"Somewhere a rope creaks and stops.", "Somebody has left a lamp in the third window.",
		"The tar smells warm at this hour.",
		"Under the planks the water counts.", "Gulls argue over a rope's frayed end.",
		"A shutter knocks twice and thinks better of it.",
		"Salt dries white along every railing.", "The bell rope swings with nobody near.",
		"Eels turn silver below the steps.", "Smoke lies flat on the harbour tonight."}
	lines = []string{"Rent is due before the tide.", "Mind the third plank, it counts you.", "Ask me after the bell.",
		"Nobody sails on a borrowed knot.",
		"You smell of the other bank.", "Keep your boots off my ledger.", "I sold that story twice already.",
		"The water was here first.", "Bring bread next time.", "Two coins, or a better question."}
)

// TestClientsPropose runs a model that knows only the results it is shown. It proposes a mood,
// a line and a change of a card in every client, ten times, on default limits.
func TestClientsPropose(t *testing.T) {
	programs(t)
	talks, cards := min(number("CLIENT_STARTS", 10), len(moods)), number("CLIENT_CARDS", 20_000)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			at := serve(t, access.RoleUser, cards)
			makePlayer(t, at, "Wim")
			at.url += "/all" // the model calls the surfaces' tools by name
			last := time.Time{}
			for i := range talks {
				m := newModel(t, proposing(t.Context(), i, &last))
				said := converse(t, c, at, m, "Set a mood, say a line, and suggest a change.")
				seen, _ := m.last()
				got := strings.Join(seen.results[min(3, len(seen.results)):], "\n---\n")
				if len(seen.results) != 7 || strings.Count(got, `"accepted"`) < 2 || !strings.Contains(got, `"pending_review"`) {
					t.Errorf("talk %d: the client said %.300s; the model was shown %.4000s", i+1, said,
						strings.Join(seen.results, "\n---\n"))
				}
			}
			t.Logf("%s: %d talks, each with a mood, a line and a change, %d cards", c.name, talks, cards)
		})
	}
}

// TestTheLinesGoLive proposes the lines without a client, each to a player of its own: six a minute are allowed for
// one.
func TestTheLinesGoLive(t *testing.T) {
	at := serveWith(t, access.RoleUser, 0, app.Options{Profile: access.ProfileNone})
	api := strings.TrimSuffix(at.url, "/mcp") + "/api/"
	_, here := apptest.Send(t, "GET", api+"world/location-context?world="+app.SampleWorld, at.key, "")
	for i, line := range lines {
		in, err := json.Marshal(object{"npcId": findText(string(here), "npcs", "id"),
			"playerId": makePlayer(t, at, fmt.Sprintf("Wim %d", i)), "draftText": line,
			"contextRef": findText(string(here), "contextRef")})
		if err != nil {
			t.Fatal(err)
		}
		_, answer := apptest.Send(t, "POST", api+"proposals/npc-dialogue?world="+app.SampleWorld, at.key, string(in))
		if findText(string(answer), "status") != "accepted" {
			t.Errorf("%q: %s", line, answer)
		}
	}
}

// makePlayer makes a player and returns its id.
func makePlayer(t testing.TB, at server, name string) string {
	t.Helper()
	url := strings.TrimSuffix(at.url, "/mcp") + "/api/players?world=" + app.SampleWorld
	status, answer := apptest.Send(t, "POST", url, at.key, fmt.Sprintf(`{"name":%q}`, name))
	id := findText(string(answer), "player", "id")
	if status != http.StatusCreated && status != http.StatusOK || id == "" {
		t.Fatalf("no player: %d %s", status, answer)
	}
	return id
}

// proposing returns the script of one talk. It takes ids and references from earlier results.
func proposing(ctx context.Context, n int, last *time.Time) script {
	return func(t talk) step {
		result := func(i int) string { return t.results[i] }
		switch len(t.results) {
		case 0:
			return step{tool: "get-location-context", args: object{}}
		case 1:
			return step{tool: "search_cards", args: object{"type": "Location", "limit": 1}}
		case 2:
			return step{tool: "search_cards", args: object{"type": "Player", "limit": 1}}
		case 3:
			wait.For(ctx, time.Until(last.Add(pace)))
			*last = time.Now()
			return step{tool: "propose-ambience", args: object{"locationId": findText(result(0), "location", "id"),
				"layerType": "ambient", "text": moods[n], "contextRef": findText(result(0), "contextRef")}}
		case 4:
			return step{tool: "propose-npc-dialogue", args: object{"npcId": findText(result(0), "npcs", "id"),
				"playerId":  findText(result(2), "cards", "id"),
				"draftText": lines[n], "contextRef": findText(result(0), "contextRef")}}
		case 5:
			return step{tool: "get_card", args: object{"name": "Rent Quay"}}
		case 6:
			return step{tool: "propose-canon-change", args: object{"reason": "It rained.",
				"op": object{"name": "update_card", "arguments": object{
					"name": findText(result(5), "name"), "content": fmt.Sprintf("<p>Wet, for the %d. time.</p>", n+1),
					"if_match": findText(result(5), "etag")}}}}
		}
		return step{say: "done"}
	}
}

// offered returns a tool's name as the client offers it: one of the clients writes hyphens as
// underscores.
func (t talk) offered(tool string) string {
	plain := strings.ReplaceAll(tool, "-", "_")
	i := slices.IndexFunc(t.tools, func(name string) bool { return strings.ReplaceAll(name, "-", "_") == plain })
	if i < 0 {
		return tool
	}
	return t.tools[i]
}
