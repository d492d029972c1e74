package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/fault"
)

// keepPlayer is how long a browser remembers its player.
const keepPlayer = 365 * 24 * time.Hour

var errNoPlayer = fault.New(fault.NotFound, "there is no such player in this world; begin as a new one")

// playing holds the data of a player's page.
type playing struct {
	Player    thing   `json:"player"`
	Location  place   `json:"location"`
	Inventory []thing `json:"inventory"`
	NPCs      []thing `json:"npcs"`
	Items     []thing `json:"items"`
	Exits     []exit  `json:"-"`
	Others    []thing `json:"-"` // players who are at the same place
	Map       drawing `json:"-"`
	Turn      *turn   `json:"-"` // the command that was just carried out; nil when the page is opened
}

type thing struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type place struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

type exit struct {
	Direction string `json:"direction"`
}

// turn is a player's text and the world's answer.
type turn struct {
	Text      string `json:"-"`
	Narration string `json:"narration"`
}

// suggestions are texts that the player could type here.
func (p playing) suggestions() []string {
	list := []string{"look", "inventory"}
	for _, x := range p.Exits {
		list = append(list, "go "+x.Direction)
	}
	for _, x := range p.NPCs {
		list = append(list, "talk to "+x.Name, "examine "+x.Name)
	}
	for _, x := range p.Items {
		list = append(list, "take "+x.Name, "examine "+x.Name)
	}
	for _, x := range p.Inventory {
		list = append(list, "drop "+x.Name)
	}
	return list
}

// playerCookie remembers the player of a world, so that a person comes back to it.
const playerCookie = "loregate-player"

func playAddress(world string, rest ...string) string {
	return addressOf("play", "world", slices.Concat([]string{world}, rest)...)
}

// showPlay asks for the name of a new player, or goes on with the one that this browser played last.
func (s *server) showPlay(v *visit) error {
	if c, err := v.r.Cookie(playerCookie); err == nil {
		if _, err := v.readPlaying(c.Value); err == nil {
			return v.redirect(playAddress(v.world, c.Value))
		}
	}
	return v.write(http.StatusOK, startPage(v.frame("Play"), draft{Once: uuid.NewString()}))
}

func (s *server) createPlayer(v *visit) error {
	name := v.r.PostFormValue("name")
	made, err := call[struct {
		Player thing `json:"player"`
	}](v, "create_player", fields{"name": name})
	if problem, list := problemOf(err); problem != "" {
		return v.write(http.StatusBadRequest, startPage(v.frame("Play"),
			draft{Name: name, Problem: problem, Problems: list, Once: uuid.NewString()}))
	}
	if err != nil {
		return err
	}
	http.SetCookie(v.w, &http.Cookie{Name: playerCookie, Value: made.Player.ID, Path: playAddress(v.world),
		MaxAge: int(keepPlayer.Seconds()), HttpOnly: true, Secure: isHTTPS(v.r), SameSite: http.SameSiteLaxMode})
	return v.redirect(playAddress(v.world, made.Player.ID))
}

// readPlaying reads a player's place, the people and things there, and the ways out.
func (v *visit) readPlaying(id string) (p playing, err error) {
	context, err := call[struct {
		Item *playing `json:"item"`
	}](v, "get-player-context", fields{"playerId": id, "maxChars": 2000})
	if err != nil {
		return p, err
	}
	if context.Item == nil {
		return p, errNoPlayer
	}
	p = *context.Item
	exits, err := call[struct {
		Exits []exit `json:"exits"`
	}](v, "list-exits", fields{"locationId": p.Location.ID})
	if p.Exits = exits.Exits; err != nil {
		return p, err
	}
	m, err := call[pinMap](v, "get-map", nil)
	if err != nil {
		return p, err
	}
	for _, x := range m.Players {
		if x.LocationID == p.Location.ID && x.ID != p.Player.ID {
			p.Others = append(p.Others, thing{x.ID, x.Name})
		}
	}
	p.Map, err = v.drawAround(p, m)
	return p, err
}

// nearSteps is how many steps around a player the map shows places that the player never visited.
const nearSteps = 2

// drawAround draws the places around a player, which a click walks to: those that are near, those that the player
// has visited, and the ways there.
func (v *visit) drawAround(p playing, m pinMap) (drawing, error) {
	around, err := call[only[surroundings]](v, "get-spatial-context", fields{"depth": 5, "locationId": p.Location.ID})
	if err != nil || around.Item == nil {
		return drawing{}, err
	}
	visited, err := v.readVisited(p)
	if err != nil {
		return drawing{}, err
	}
	shown := map[string]bool{} // paths
	for _, n := range around.Item.Neighbors {
		for steps := len(n.Path); visited[n.ID] && steps > 0; steps-- {
			shown[strings.Join(n.Path[:steps], "/")] = true
		}
	}
	around.Item.Neighbors = slices.DeleteFunc(around.Item.Neighbors, func(n near) bool {
		return len(n.Path) > nearSteps && !shown[strings.Join(n.Path, "/")]
	})
	d := drawMap(v.frame(""), p.Location.ID, p.Location.Name, *around.Item, m.playersByPlace())
	for i := range d.Marks {
		if mark := &d.Marks[i]; !visited[mark.ID] {
			mark.Class += " unvisited"
			mark.Title += ", not visited yet"
		}
	}
	return d, nil
}

// readVisited returns the places that a player has visited, by their ids, as far as the latest events tell.
func (v *visit) readVisited(p playing) (map[string]bool, error) {
	events, err := call[struct {
		Items []struct {
			Type    string          `json:"eventType"`
			Payload json.RawMessage `json:"payload"` // nil if the player does not see a card in it
		} `json:"items"`
	}](v, "get-recent-events", fields{"scope": "player", "scopeId": p.Player.ID, "limit": 100})
	visited := map[string]bool{p.Location.ID: true}
	for _, e := range events.Items {
		var move struct {
			PlayerID string `json:"playerId"`
			From     string `json:"fromLocationId"`
			To       string `json:"toLocationId"`
		}
		if e.Type == "Player.Move" && json.Unmarshal(e.Payload, &move) == nil && move.PlayerID == p.Player.ID {
			visited[move.From], visited[move.To] = true, true
		}
	}
	return visited, err
}

func (s *server) showPlayer(v *visit) error {
	p, err := v.readPlaying(v.r.PathValue("id"))
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, playPage(v.frame(p.Player.Name), p))
}

// sendCommand carries out a player's text. The answer is the page with the turn in its log; htmx takes
// the turn from it, and the column beside the log.
func (s *server) sendCommand(v *visit) error {
	id, text := v.r.PathValue("id"), v.r.PostFormValue("text")
	done, err := call[turn](v, "send_command", fields{"id": id, "text": text})
	if problem, _ := problemOf(err); problem != "" {
		done, err = turn{Narration: problem}, nil
	}
	if err != nil {
		return err
	}
	p, err := v.readPlaying(id)
	if err != nil {
		return err
	}
	done.Text = text
	p.Turn = &done
	return v.write(http.StatusOK, playPage(v.frame(p.Player.Name), p))
}
