// Package benchtest measures the product as it is served: over loopback sockets, with
// authentication, limits, access records and metrics on, and with the clients in the same process.
// It asserts no time. scripts/bench.sh runs it and makes a table of its reports; without BENCH=1
// everything is skipped.
package benchtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/identity"
)

// noLimit is a rate that no load reaches: calls are counted but never limited.
const noLimit = 1_000_000_000

const worldName = "bench"

// stage is the served product with one world.
type stage struct {
	b      *testing.B
	app    *app.App
	server *httptest.Server
	world  access.WorldID
	token  string
	p      *prose
}

func requireBench(b *testing.B) {
	b.Helper()
	if os.Getenv("BENCH") != "1" {
		b.Skip("BENCH is not 1")
	}
}

// folder returns the folder of stores that take long to create: BENCH_DIR, or a folder in the
// system's temporary directory.
func folder() string {
	if dir := os.Getenv("BENCH_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "loregate-benchtest")
}

// worldFolder returns the data folder of a world of n cards, and creates it if it does not exist.
func worldFolder(b *testing.B, n int) string {
	b.Helper()
	dir := filepath.Join(folder(), strconv.Itoa(n))
	if database(b, dir) != "" {
		dir += ".postgres"
	}
	if _, err := os.Stat(dir); err == nil && (database(b, dir) == "" || hasDatabase(b, dir)) {
		return dir
	}
	made := dir + ".new"
	stale := []string{dir}
	if database(b, dir) != "" {
		stale = append(stale, made) // a store in a folder is continued
	}
	for _, old := range stale {
		dropDatabase(b, old)
		if err := os.RemoveAll(old); err != nil {
			b.Fatal(err)
		}
	}
	if database(b, dir) != "" && n > maxWritten {
		multiplyCards(b, worldFolder(b, maxWritten), made, n)
		if err := os.Mkdir(made, 0o700); err != nil {
			b.Fatal(err)
		}
	} else {
		a := openApp(b, made)
		w, found, err := a.Canon.WorldBySlug(b.Context(), worldName)
		if err != nil {
			b.Fatal(err)
		}
		if !found {
			w.ID = makeWorld(b, a)
		}
		fill(b, a, w.ID, newProse(1), n)
		a.Close(context.WithoutCancel(b.Context()))
	}
	renameDatabase(b, made, dir)
	if err := os.Rename(made, dir); err != nil {
		b.Fatal(err)
	}
	return dir
}

// openApp opens the product on the store in a folder, or on the database that replaces it.
func openApp(b *testing.B, dir string) *app.App {
	b.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		b.Fatal(err)
	}
	c.Data, c.Database = dir, readyDatabase(b, dir)
	c.Limits = app.Limits{Calls: noLimit, CallsBurst: noLimit, Resources: noLimit, Lists: noLimit, ListPages: noLimit,
		ToolLists: noLimit, Writes: noLimit, Auth: noLimit, Commands: noLimit}
	c.Proposals.PlayerMinute, c.Proposals.PlayerHour, c.Proposals.KeyMinute, c.Proposals.WorldMinute,
		c.Proposals.TokensDay = noLimit, noLimit, noLimit, noLimit, noLimit
	a, err := app.Open(b.Context(), c, app.Options{Version: "1.0.0", Logger: slog.New(slog.DiscardHandler),
		NoAnswerCache: os.Getenv("BENCH_FRESH") == "1"})
	if err != nil {
		b.Fatal(err)
	}
	return a
}

func makeWorld(b *testing.B, a *app.App) access.WorldID {
	b.Helper()
	w, err := a.CreateWorld(b.Context(), canon.NewWorld{Slug: worldName, Title: "Bench"})
	if err != nil {
		b.Fatal(err)
	}
	return w.ID
}

// serve serves the world in a data folder, and creates the world if the folder is empty.
func serve(b *testing.B, dir string) *stage {
	b.Helper()
	s := &stage{b: b, app: openApp(b, dir), p: newProse(2)}
	w, found, err := s.app.Canon.WorldBySlug(b.Context(), worldName)
	if err != nil {
		b.Fatal(err)
	}
	if s.world = w.ID; !found {
		s.world = makeWorld(b, s.app)
	}
	h, stop, err := s.app.Handler(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	s.server = httptest.NewServer(h)
	b.Cleanup(func() {
		stop()
		s.server.CloseClientConnections()
		s.server.Close()
		s.app.Close(context.WithoutCancel(b.Context()))
	})
	s.logIn()
	return s
}

// logIn exchanges an admin's key for a token.
func (s *stage) logIn() {
	s.b.Helper()
	secret, _, err := s.app.CreateKey(s.b.Context(), identity.KeySpec{Name: "bench", Subject: "bench",
		MaxRole: access.RoleAdmin}, []string{worldName})
	if err != nil {
		s.b.Fatal(err)
	}
	var out struct{ Token string }
	if err := json.Unmarshal(s.post("/api/mcp/auth", map[string]any{"api_key": secret, "role": "admin"}),
		&out); err != nil {
		s.b.Fatal(err)
	}
	s.token = out.Token
}

// post makes a call outside the measured time.
func (s *stage) post(path string, in any) []byte {
	s.b.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		s.b.Fatal(err)
	}
	res, err := http.Post(s.server.URL+path, "application/json", bytes.NewReader(body))
	if err != nil {
		s.b.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		s.b.Fatal(res.StatusCode, string(out), err)
	}
	return out
}

// author is the caller that fills worlds.
var author = access.Caller{Subject: "bench", Actor: access.Person, EveryRole: access.RoleAdmin, Unlimited: true}

// commitCards is the number of cards in one commit of a bulk load.
const commitCards = 500

// fill creates n cards of about 1 KB, seven in ten for users: every tenth is a root, with nine
// cards below it. It continues an interrupted fill.
func fill(b *testing.B, a *app.App, w access.WorldID, p *prose, n int) {
	b.Helper()
	there := commitCards * sort.Search(n/commitCards,
		func(k int) bool { return !hasCard(b, a, w, cardName(p, k*commitCards)) })
	for range there {
		p.text(1000) // advance the random text, so that the remaining cards are the same
	}
	for at := there; at < n; at += commitCards {
		change(b, a, w, func(plan *canon.Plan) error {
			for i := at; i < min(at+commitCards, n); i++ {
				if err := create(plan, cardName(p, i), level(i), p.text(1000)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func hasCard(b *testing.B, a *app.App, w access.WorldID, name string) (found bool) {
	b.Helper()
	err := a.WithGrant(b.Context(), author, access.Request{Operation: "fill", World: w}, func(g access.Grant) error {
		return a.Canon.Read(b.Context(), g, func(s *canon.Snapshot) (err error) {
			_, found, err = s.Exists(b.Context(), name)
			return err
		})
	})
	if err != nil {
		b.Fatal(err)
	}
	return found
}

func level(i int) access.Level {
	if i%10 >= 7 {
		return access.LevelGM
	}
	return access.LevelUser
}

func cardName(p *prose, i int) string {
	root := fmt.Sprintf("%s %s %d", p.words[i/10%1000], p.words[i/10*7919%len(p.words)], i/10)
	if i%10 == 0 {
		return root
	}
	return root + "+" + p.words[i%10*31]
}

func create(plan *canon.Plan, name string, l access.Level, text string) error {
	label := access.NewLabel(l)
	_, err := plan.Create(canon.NewCard{Name: name, Label: &label, Content: text})
	return err
}

func change(b *testing.B, a *app.App, w access.WorldID, f func(*canon.Plan) error) {
	b.Helper()
	r := access.Request{Operation: "fill", Effect: access.Write, World: w}
	err := a.WithGrant(b.Context(), author, r, func(g access.Grant) error {
		_, err := a.Canon.Update(b.Context(), g, f)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// sizes returns the numbers of cards in the worlds that are measured. BENCH_CARDS adds one, and
// BENCH_SIZE is the only one.
func sizes(b *testing.B) []int {
	list := []int{1_000, 100_000}
	if n, err := strconv.Atoi(os.Getenv("BENCH_SIZE")); err == nil {
		list = []int{n}
	}
	if v := os.Getenv("BENCH_CARDS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			b.Fatal(errors.New("BENCH_CARDS is not a number"))
		}
		list = append(list, n)
	}
	return list
}
