package benchtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
)

// places is the number of places in the world, each with three exits: BENCH_PLACES, or a hundred
// thousand.
var places = func() int {
	if n, err := strconv.Atoi(os.Getenv("BENCH_PLACES")); err == nil && n > 0 {
		return n
	}
	return 100_000
}()

// placesFolder returns the data folder of a world of places on a grid, a hundred to a ward and a
// hundred wards to a country. It creates the folder if it does not exist.
func placesFolder(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(folder(), "places-"+strconv.Itoa(places))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	made := dir + ".new"
	if err := os.RemoveAll(made); err != nil {
		b.Fatal(err)
	}
	a := openApp(b, made)
	w := makeWorld(b, a)
	fillPlaces(b, a, w, newProse(3))
	a.Close(context.WithoutCancel(b.Context()))
	if err := os.Rename(made, dir); err != nil {
		b.Fatal(err)
	}
	return dir
}

func placeCode(i int) string { return "loc-" + strconv.Itoa(i%places) }

// fillPlaces creates the places with texts of about 600 characters, then their exits, wards and
// layers, and a player at every tenth place.
func fillPlaces(b *testing.B, a *app.App, w access.WorldID, p *prose) {
	b.Helper()
	ids := make([]canon.CardID, places)
	wards := make([]canon.CardID, places/100)
	batch := func(n int, f func(plan *canon.Plan, i int) error) {
		for at := 0; at < n; at += commitCards {
			change(b, a, w, func(plan *canon.Plan) error {
				for i := at; i < min(at+commitCards, n); i++ {
					if err := f(plan, i); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	batch(places, func(plan *canon.Plan, i int) error {
		c, err := plan.Create(canon.NewCard{Name: fmt.Sprintf("%s %d", p.words[i%1000], i), Type: "Location",
			Codename: placeCode(i), Content: p.text(600),
			Fields: json.RawMessage(`{"terrain":"open-plain","tags":["wide"]}`)})
		ids[i] = c.ID
		return err
	})
	batch(len(wards), func(plan *canon.Plan, i int) error {
		scope := "LOCAL"
		if i%100 == 0 {
			scope = "REGIONAL"
		}
		c, err := plan.Create(canon.NewCard{Name: "Ward " + strconv.Itoa(i), Type: "Realm",
			Fields: json.RawMessage(`{"realmType":"political","scope":"` + scope + `","narrativeTags":["tar","rope"]}`)})
		wards[i] = c.ID
		if err != nil {
			return err
		}
		_, err = plan.Layer(canon.Layer{Card: c.ID, Kind: "weather", Text: p.text(80)})
		return err
	})
	link := func(plan *canon.Plan, kind string, from, to canon.CardID, attrs string) error {
		_, err := plan.Link(canon.Link{Kind: kind, From: from, To: to, Attrs: json.RawMessage(attrs),
			Label: access.NewLabel(access.LevelUser)})
		return err
	}
	batch(places, func(plan *canon.Plan, i int) error {
		for direction, to := range map[string]int{"east": i + 1, "south": i + 317, "up": i*7919 + 13} {
			if err := link(plan, "exit", ids[i], ids[to%places], `{"direction":"`+direction+
				`","description":"On."}`); err != nil {
				return err
			}
		}
		return link(plan, "within", ids[i], wards[i/100], "")
	})
	batch(len(wards), func(plan *canon.Plan, i int) error {
		if i%100 == 0 {
			return nil
		}
		return link(plan, "within", wards[i], wards[i/100*100], "")
	})
	batch(places/10, func(plan *canon.Plan, i int) error {
		c, err := plan.Create(canon.NewCard{Name: "Walker " + strconv.Itoa(i), Type: "Player"})
		if err != nil {
			return err
		}
		if err := plan.Event(canon.Event{Type: "Player.Look", Scope: "loc:" + ids[i*10].String(),
			Actor: canon.EventActor{Kind: "player", ID: c.ID.String()}, Version: 1}); err != nil {
			return err
		}
		return link(plan, "at", c.ID, ids[i*10], `{"clock":`+strconv.Itoa(i)+`}`)
	})
}

// BenchmarkLocationContext reads contexts of places all over the world, 500 a second, however long
// the answers take.
func BenchmarkLocationContext(b *testing.B) {
	requireBench(b)
	s := serve(b, placesFolder(b))
	measureSteady(b, s.getTarget(func(n int64) string { return "/api/world/location-context?locationId=" + placeCode(int(n)*7919) }), 500)
}

// BenchmarkSpatialContext reads the surroundings of places all over the world, five steps and up to
// 200 places each, 20 times a second.
func BenchmarkSpatialContext(b *testing.B) {
	requireBench(b)
	s := serve(b, placesFolder(b))
	measureSteady(b, s.getTarget(func(n int64) string { return "/api/world/spatial-context?depth=5&locationId=" + placeCode(int(n)*7919) }), 20)
}

// measureSteady calls a target at a fixed rate, and reports the 50th and 99th percentile of the
// time since each call was due.
func measureSteady(b *testing.B, t *target, rate float64) {
	m := medians{}
	for b.Loop() {
		o := t.openLoop(b, 32, rate, 10*time.Second)
		m.add("p50-ms", ms(o.at(50)))
		m.add("p99-ms", ms(o.at(99)))
		m.add("calls/s", o.rate())
		m.add("cpu-ms", ms(o.cpu)/float64(o.calls))
	}
	m.report(b)
}

// BenchmarkNarrationContext reads all that a narrator needs, of places all over the world, 200 times a second.
func BenchmarkNarrationContext(b *testing.B) {
	requireBench(b)
	s := serve(b, placesFolder(b))
	measureSteady(b, s.getTarget(func(n int64) string {
		return "/api/world/narration-context?locationId=" + placeCode(int(n)*7919)
	}), 200)
}

// turns are the commands of a player, in turn. Each can be done at every place.
var turns = []string{"look", "go east", "go south", "inventory", "say good evening"}

// BenchmarkTurn has 200 players, ten at a place, act once in five seconds each.
func BenchmarkTurn(b *testing.B) {
	requireBench(b)
	const players = 200
	s := serve(b, placesFolder(b))
	var ids, tokens []string
	for n := range players {
		if n%10 == 0 {
			if err := s.app.ConfigureWorld(b.Context(), worldName, func(_ *string, c *canon.Settings) {
				c.Starter = placeCode(n * 997)
			}); err != nil {
				b.Fatal(err)
			}
		}
		var made struct {
			Player struct{ ID string }
			Token  string
		}
		s.call(s.token, "/api/players", map[string]string{"name": fmt.Sprintf("Runner %d %d", n, time.Now().UnixNano())}, &made)
		ids, tokens = append(ids, made.Player.ID), append(tokens, made.Token)
	}
	addr := s.server.Listener.Addr().String()
	measureSteady(b, &target{addr: addr, call: want(200, func(n int64) (string, string) {
		return head("POST /api/players/"+ids[n%players]+"/commands", addr, "Content-Type: application/json",
			"Authorization: Bearer "+tokens[n%players]), fmt.Sprintf(`{"text":%q}`, turns[n/players%int64(len(turns))])
	})}, players/5)
}
