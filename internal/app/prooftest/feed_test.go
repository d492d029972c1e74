package prooftest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"loregate/internal/canon"
)

// feed is a stream of events, with what makes a last message come on it.
type feed struct {
	name, path, until string
	opening           int // messages that it always begins with
	act               func(s *story)
}

// feeds are all that can be followed of what is in sight. While somebody follows, more
// happens out of sight than in it.
func (s *story) feeds(turn int) []feed {
	said := fmt.Sprintf("The lantern is out, %d.", turn)
	mira, game := s.ids["mira"], s.ids["game"]
	return []feed{
		{"player", "/api/players/" + mira + "/stream", `"type":"Player.Look"`, 1, func(s *story) {
			s.aside(func() {
				for _, l := range s.hidden {
					for _, scope := range []string{"loc:" + s.ids["harbour"], "player:" + mira, "global:world"} {
						s.happen(canon.Event{Type: "NPC.Tick", Scope: scope, Version: 1, Label: l, Payload: object(`{"text":"` + s.known.guesses[turn] + `"}`)})
					}
				}
			})
			s.do(s.who, "send_command", map[string]any{"id": mira, "text": "look"})
		}},
		{"game", "/api/games/" + game + "/stream", said, 3, func(s *story) {
			s.aside(func() {
				s.chat("p2", game, map[string]any{"channel": "aligned", "text": s.known.guesses[turn]})
			})
			s.chat("p2", game, map[string]any{"text": said})
		}},
		{"run", "/api/studio/runs/" + s.ids["run"] + "/stream", "event: ended", 1, func(*story) {}},
	}
}

// followWait bounds how long a feed may keep silent where something must come.
const followWait = 20 * time.Second

// follow reads a feed as somebody from its opening to the message that f makes come, or
// to its end. What is refused is told like any other answer.
func (s *story) follow(who string, f feed) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), followWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+f.path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("X-Correlation-Id", "proof-feed")
	req.Header.Set("Authorization", "Bearer "+s.keys[who])
	res, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	var got strings.Builder
	fmt.Fprintln(&got, res.StatusCode, res.Header.Get("Content-Type"))
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	begun, opened, last := 0, false, false
	for lines.Scan() {
		line := lines.Text()
		got.WriteString(line + "\n")
		if last = last || opened && strings.Contains(line, f.until); last && line == "" {
			return got.String()
		}
		if line == "" && !opened && res.StatusCode == http.StatusOK {
			if begun++; begun == f.opening {
				opened = true // how it begins shows nothing of what happens then
				f.act(s)
			}
		}
	}
	if ctx.Err() != nil {
		s.t.Errorf("%s follows the feed of a %s and is not told of %q: %s", who, f.name, f.until, got.String())
	}
	return got.String()
}

// follow holds the feeds of both stages against each other.
func (tw *twins) follow(more func(same bool) bool) {
	tw.t.Helper()
	turn := 0
	for _, who := range []string{tw.audience.who, "mira", "p1"} {
		for i := range tw.alone.feeds(0) {
			turn++
			tw.alone.src.pass(time.Second)
			tw.full.src.pass(time.Second)
			a, b := tw.alone.feeds(turn)[i], tw.full.feeds(turn)[i]
			x, y := fixed(tw.alone.follow(who, a)), fixed(tw.full.follow(who, b))
			tw.asked++
			if x != y {
				tw.t.Errorf("what is hidden shows to %s on the feed of a %s\nwithout it: %s\n   with it: %s", who, a.name, x, y)
			}
			if !more(x == y) {
				return
			}
		}
	}
}

// followAll follows what there is as everybody, and what is hidden as those who may not.
func (o *oracle) followAll() {
	o.t.Helper()
	turn := 0
	for _, who := range append([]string{"mira", "p1"}, callers...) {
		for i := range o.feeds(0) {
			turn++
			f := o.feeds(turn)[i]
			o.src.pass(time.Second)
			o.watch(who, request{operation: "feed", path: f.path}, o.follow(who, f))
		}
	}
	for i, id := range o.decoys.ids { // those of the story alone: not what the user has made since
		if i%(2*stride()) > 0 || o.inSight(id) {
			continue
		}
		for _, path := range []string{"/api/players/" + id + "/stream", "/api/games/" + id + "/stream", "/api/studio/runs/" + id + "/stream"} {
			if got := o.call("user", request{operation: "feed", method: "GET", path: path}); got.status != http.StatusNotFound {
				o.t.Errorf("user may follow %s: %s", path, got)
			}
		}
	}
}

// inSight reports whether an id is of what the story tells everybody.
func (s *story) inSight(id string) bool {
	for _, own := range s.ids {
		if own == id {
			return true
		}
	}
	return false
}

// seated are calls of what is open to those who play, as they: operations of the audience play,
// and the resource of a game, which is all that a client at its table can do.
func seated(s *story) (list []request, as []string) {
	add := func(who string, r request) { list, as = append(list, r), append(as, who) }
	for _, who := range []string{"mira", "p1", "p6"} {
		for _, id := range []string{s.ids["mira"], s.ids["game"], s.ids["lobby"], s.known.ids[len(s.known.ids)-1]} {
			for _, path := range []string{"/api/players/" + id, "/api/games/" + id, "/api/games/" + id + "/replay", "/api/games", "/api/mcp/cards/Lendwater", "/api/world/exits"} {
				add(who, request{operation: "as-" + who, method: "GET", path: path})
			}
			add(who, request{operation: "as-" + who, method: "POST", path: "/api/players/" + id + "/commands", body: `{"text": "go down then take the purse"}`})
			read := overMCP("resources/read", map[string]any{"uri": "game://alignment/" + id})
			read.path = "/mcp/alignment"
			add(who, read)
		}
		own := overMCP("resources/list", nil)
		own.path = "/mcp/alignment"
		add(who, own)
		add(who, overMCP("tools/list", nil))
	}
	return list, as
}

// aboutPlay are ways to ask of what stands on the surfaces beside the wiki: resources,
// prompts and completions, a third of them by turns.
func aboutPlay(id string, turn int) []request {
	read := func(uri string) request { return overMCP("resources/read", map[string]any{"uri": uri}) }
	prompt := func(name string, args map[string]any) request {
		return overMCP("prompts/get", map[string]any{"name": name, "arguments": args})
	}
	complete := func(uri, argument, value string) request {
		return overMCP("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/resource", "uri": uri}, "argument": map[string]any{"name": argument, "value": value}})
	}
	return [][]request{{
		read("world://location/" + id), prompt("narrate-location", map[string]any{"location": id}), read("imagineer://campaigns/lendwater/entities/" + id),
	}, {
		read("world://fact/" + id), prompt("what-do-players-know", map[string]any{"entity": id}), complete("world://location/{id}", "id", id[:min(4, len(id))]),
	}, {
		read("game://alignment/" + id), prompt("recap-session", map[string]any{"session": "1"}), prompt("prepare-session", map[string]any{}),
		complete("imagineer://campaigns/{id}/entities/{entity_id}", "entity_id", id[:min(3, len(id))]), complete("game://alignment/{game_id}", "game_id", "g-"),
	}}[turn%3]
}

// lists are resources that list what there is.
var lists = []string{"imagineer://campaigns/lendwater/entities", "imagineer://campaigns/lendwater/timeline", "imagineer://campaigns/lendwater/sessions", "imagineer://campaigns/otherland/entities"}
