package worldtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
)

// One key plays for several players, each of whom has the limits of a player. Reading for a player counts for the player,
// too. What the key may do for all of them together bounds a key that names players at random.
func TestLimitsOfOneKeyThatPlaysForMany(t *testing.T) {
	dir := t.TempDir()
	key := ""
	for _, k := range apptest.Sample(t, dir).Keys {
		if k.Role == access.RoleUser {
			key = k.Secret
		}
	}
	c := apptest.Config(t, dir)
	c.Limits.Calls, c.Limits.Commands, c.Limits.Players = 9, 4, 3000
	a, _ := apptest.Open(t, c, app.Options{})
	at, _ := apptest.Serve(t, a, "127.0.0.1:0")

	send := func(method, path, body string) (int, string) {
		status, answer := apptest.Send(t, method, "http://"+at+path, key, body)
		return status, string(answer)
	}
	command := func(player string) (int, string) {
		return send(http.MethodPost, "/api/players/"+player+"/commands", `{"text":"say good evening"}`)
	}
	var players []string
	for n := range 7 {
		status, answer := send(http.MethodPost, "/api/players", fmt.Sprintf(`{"name":"Guest %d"}`, n))
		var made struct{ Player struct{ ID string } }
		if json.Unmarshal([]byte(answer), &made) != nil || status != http.StatusCreated {
			t.Fatal(status, answer)
		}
		players = append(players, made.Player.ID)
	}
	for _, id := range players {
		for range c.Limits.Commands {
			if status, answer := command(id); status != http.StatusOK {
				t.Fatalf("a command within the player's limit: %d %s", status, answer)
			}
		}
		if status, answer := send(http.MethodGet, "/api/world/narration-context?playerId="+id, ""); status != http.StatusOK {
			t.Errorf("a read for a player: %d %s", status, answer)
		}
	}
	for _, id := range []string{players[0], strings.ToUpper(players[0]), "urn:uuid:" + players[0]} {
		status, answer := command(id)
		if status != http.StatusTooManyRequests || !strings.Contains(answer, "too many commands") {
			t.Errorf("a command beyond the limit of %s: %d %s", id, status, answer)
		}
	}
	for n := 0; ; n++ {
		status, answer := command(uuid.NewString())
		if status == http.StatusTooManyRequests && strings.Contains(answer, "too many calls for players") {
			break
		}
		if status != http.StatusNotFound || n > c.Limits.Players {
			t.Fatalf("command %d for nobody: %d %s", n, status, answer)
		}
	}
	if status, answer := send(http.MethodGet, "/api/world/location-context", ""); status != http.StatusOK {
		t.Errorf("a call for no player: %d %s", status, answer)
	}
}
