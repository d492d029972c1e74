package prooftest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// feed is a stream of events, with an action that makes its last message come.
type feed struct {
	name, path, until string
	opening           int // messages that it always begins with
	act               func(s *story)
}

// feeds returns all feeds of the story that the audience may follow. While somebody follows,
// more happens hidden than visible.
func (s *story) feeds(turn int) []feed {
	said := fmt.Sprintf("The lantern is out, %d.", turn)
	mira, game := s.ids["mira"], s.ids["game"]
	return []feed{
		{"player", "/api/players/" + mira + "/stream", "event: narration.done", 1, func(s *story) {
			s.tellHiddenNow(func() {
				for _, l := range s.hidden {
					for _, scope := range []string{"loc:" + s.ids["harbour"], "player:" + mira, "global:world"} {
						s.recordEvent(canon.Event{Type: "NPC.Tick", Scope: scope, Version: 1, Label: l,
							Payload: rawJSON(`{"text":"` + s.known.guesses[turn] + `"}`)})
					}
				}
			})
			s.do(s.who, "send_command", map[string]any{"id": mira, "text": "look"})
		}},
		{"world", "/api/world/feed?world=lendwater", fmt.Sprintf("tick-%d.", turn), 1, func(s *story) {
			tick := func(text string, l access.Label) {
				s.recordEvent(canon.Event{Type: "NPC.Tick", Scope: "global:world", Version: 1, Label: l,
					Payload: rawJSON(`{"text":"` + text + `"}`)})
			}
			s.tellHiddenNow(func() {
				for _, l := range s.hidden {
					if len(l.Subjects) == 0 { // somebody who is named would rightly be told
						tick(s.known.guesses[turn], l)
					}
				}
			})
			tick(fmt.Sprintf("tick-%d.", turn), everybody)
		}},
		{"map", "/api/world/map/stream?world=lendwater", "event: players", 2, func(s *story) {
			s.tellHiddenNow(func() {
				for _, l := range s.hidden {
					if len(l.Subjects) == 0 {
						s.shades++
						s.putPlayer(fmt.Sprintf("Shade %d %s", s.shades, s.known.guesses[turn]), l)
					}
				}
			})
			way := "go north"
			if s.benAway = !s.benAway; !s.benAway {
				way = "go south"
			}
			s.do(newAuthor("bob", access.RoleUser), "send_command", map[string]any{"id": s.ids["ben"], "text": way})
		}},
		{"proposals", "/api/world/proposals/stream?world=lendwater", "event: proposals", 2, func(s *story) {
			change := func(name string) map[string]any {
				return map[string]any{"op": map[string]any{"name": "create_card",
					"arguments": map[string]any{"name": name, "content": "<p>A shed.</p>"}}, "reason": "It is missing."}
			}
			s.tellHiddenNow(func() { s.do(carol, "propose-canon-change", change("Shed of "+s.known.guesses[turn])) })
			s.do(s.who, "propose-canon-change", change(fmt.Sprintf("Shed %d", turn)))
		}},
		{"game", "/api/games/" + game + "/stream", said, 3, func(s *story) {
			s.tellHiddenNow(func() {
				s.chat("p2", game, map[string]any{"channel": "aligned", "text": s.known.guesses[turn]})
			})
			s.chat("p2", game, map[string]any{"text": said})
		}},
		{"runs", "/api/studio/runs/stream?world=lendwater", "event: runs", 1, func(s *story) {
			s.tellHiddenNow(func() {
				for _, l := range s.hidden {
					if l.Level == access.LevelGM && len(l.Subjects) == 0 { // game masters see such a run
						s.tryScene("gm", turn)
					}
				}
			})
		}},
		{"run", "/api/studio/runs/" + s.ids["run"] + "/stream", "event: ended", 1, func(*story) {}},
	}
}

// tryScene makes a run of the studio, which fails because no program is there.
func (s *story) tryScene(audience string, seed int) {
	s.t.Helper()
	_, err := s.tryDo(keeper, "generate_scene", map[string]any{"card": "Harbour", "audience": audience, "seed": seed,
		"target": "blender"})
	if err == nil {
		s.t.Fatal("the studio built a scene without a program")
	}
}

// putPlayer puts a player at the harbour.
func (s *story) putPlayer(name string, l access.Label) {
	s.t.Helper()
	s.commitPlan(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: name, Type: "Player", Label: &l})
		return err
	})
	s.linkCards("at", name, "Harbour", "{}", l)
}

// followWait bounds the time that a feed may be silent while a message must come.
const followWait = 20 * time.Second

// followFeed reads a feed as somebody, from its opening to the message that f makes come, or to
// its end. It returns refusals like any other answer.
func (s *story) followFeed(who string, f feed) string {
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
	defer func() { _ = res.Body.Close() }() // the body was only read
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
				opened = true // the opening does not show later events
				f.act(s)
			}
		}
	}
	if ctx.Err() != nil {
		s.t.Errorf("%s follows the feed of a %s and is not told of %q: %s", who, f.name, f.until, got.String())
	}
	return got.String()
}

// compareFeeds compares the feeds of both stages.
func (tw *twins) compareFeeds(more func(same bool) bool) {
	tw.t.Helper()
	for _, who := range []string{tw.audience.who, "mira", "p1"} {
		for i := range tw.alone.feeds(0) {
			tw.followed++
			turn := tw.followed // its names are new, also if the feeds are compared again
			tw.alone.src.advance(time.Second)
			tw.full.src.advance(time.Second)
			a, b := tw.alone.feeds(turn)[i], tw.full.feeds(turn)[i]
			x, y := maskRandom(tw.alone.followFeed(who, a)), maskRandom(tw.full.followFeed(who, b))
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

// followAllFeeds follows all feeds as everybody, and the hidden ones as callers who may not.
func (o *oracle) followAllFeeds() {
	o.t.Helper()
	turn := 0
	for _, who := range append([]string{"mira", "p1"}, callers...) {
		for i := range o.feeds(0) {
			turn++
			f := o.feeds(turn)[i]
			if f.name == "proposals" && who != "user" {
				continue // the audience proposes, and nobody else is told of it
			}
			o.src.advance(time.Second)
			o.checkAnswer(who, request{operation: "feed", path: f.path}, o.followFeed(who, f))
		}
	}
	for i, id := range o.decoys.ids { // only ids of the story, not those that the user has made since
		if i%(2*stride()) > 0 || o.isStoryID(id) {
			continue
		}
		for _, path := range []string{"/api/players/" + id + "/stream", "/api/games/" + id + "/stream", "/api/studio/runs/" +
			id + "/stream"} {
			if got := o.call("user", request{operation: "feed", method: "GET", path: path}); got.status != http.StatusNotFound {
				o.t.Errorf("user may follow %s: %s", path, got)
			}
		}
	}
}

// isStoryID reports whether id is noted by the visible part of the story.
func (s *story) isStoryID(id string) bool {
	for _, own := range s.ids {
		if own == id {
			return true
		}
	}
	return false
}

// seatedCalls returns calls that players make: operations of the audience play and the resource
// of a game, which is all that a client at its table can use, and the moves of one that acts. as has
// the caller of each.
func seatedCalls(s *story) (list []request, as []string) {
	add := func(who string, r request) { list, as = append(list, r), append(as, who) }
	for _, who := range []string{"mira", "p1", "p6"} {
		for _, id := range []string{s.ids["mira"], s.ids["game"], s.ids["lobby"], s.known.ids[len(s.known.ids)-1]} {
			for _, path := range []string{"/api/players/" + id, "/api/games/" + id, "/api/games/" + id + "/replay", "/api/games",
				"/api/mcp/cards/Lendwater", "/api/world/exits"} {
				add(who, request{operation: "as-" + who, method: "GET", path: path})
			}
			add(who, request{operation: "as-" + who, method: "POST", path: "/api/players/" + id + "/commands",
				body: `{"text": "go down then take the purse"}`})
			read := mcpRequest("resources/read", map[string]any{"uri": "game://alignment/" + id})
			read.path = "/mcp/alignment"
			add(who, read)
		}
		own := mcpRequest("resources/list", nil)
		own.path = "/mcp/alignment"
		add(who, own)
		add(who, mcpRequest("tools/list", nil))
		for _, path := range []string{"/api/seat", "/api/seat/moves", "/api/seat/changes?seen=m0-00"} {
			add(who, request{operation: "as-" + who, method: "GET", path: path})
		}
		for _, tool := range []string{"read_table", "list_moves", "wait_for_change", "make_move"} {
			call := mcpRequest("tools/call", map[string]any{"name": tool,
				"arguments": map[string]any{"type": "vote", "choice": "p1"}})
			if tool != "make_move" {
				call = mcpRequest("tools/call", map[string]any{"name": tool})
			}
			call.path = "/mcp/alignment-play"
			add(who, call)
		}
	}
	return list, as
}

// playCalls returns calls about an id on the surfaces beside the wiki: resources, prompts and
// completions, a third of them by turns.
func playCalls(id string, turn int) []request {
	read := func(uri string) request { return mcpRequest("resources/read", map[string]any{"uri": uri}) }
	prompt := func(name string, args map[string]any) request {
		return mcpRequest("prompts/get", map[string]any{"name": name, "arguments": args})
	}
	complete := func(uri, argument, value string) request {
		return mcpRequest("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/resource", "uri": uri},
			"argument": map[string]any{"name": argument, "value": value}})
	}
	return [][]request{{
		read("world://location/" + id), prompt("narrate-location", map[string]any{"location": id}),
		read("imagineer://campaigns/lendwater/entities/" + id),
		pageRequest("/play/world/lendwater/" + url.PathEscape(id)),
		pageRequest("/campaign/lendwater/" + url.PathEscape(id)), pageRequest("/graph/lendwater/" + url.PathEscape(id)),
		pageRequest("/places/lendwater?at=" + url.QueryEscape(id)), pageRequest("/run/lendwater/" + url.PathEscape(id)),
		pageRequest("/artifact/lendwater/" + url.PathEscape(id)),
	}, {
		pageRequest("/proposals/lendwater/" + url.PathEscape(id)),
		read("world://fact/" + id), prompt("what-do-players-know", map[string]any{"entity": id}),
		complete("world://location/{id}", "id", id[:min(4, len(id))]),
	}, {
		read("game://alignment/" + id), prompt("recap-session", map[string]any{"session": "1"}),
		prompt("prepare-session", map[string]any{}),
		complete("imagineer://campaigns/{id}/entities/{entity_id}", "entity_id", id[:min(3, len(id))]),
		complete("game://alignment/{game_id}", "game_id", "g-"),
	}}[turn%3]
}

// listURIs are resources that are lists.
var listURIs = []string{"imagineer://campaigns/lendwater/entities", "imagineer://campaigns/lendwater/timeline",
	"imagineer://campaigns/lendwater/sessions", "imagineer://campaigns/otherland/entities", "world://feed"}
