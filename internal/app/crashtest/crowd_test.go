package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/game/rule"
	"loregate/internal/programtest"
	"loregate/internal/raceenabled"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/wait"
)

// TestCrashThreeProcesses lets a crowd of writers write to three processes on one database. One
// process after the other is killed or stopped, and started again. A writer that gets no answer
// repeats the call, with its key, at any of the processes. Each acknowledged write must be
// there once, and so must the effects of each job, each handled event and each step of a game.
// CRASH_WRITES sets the number of writes.
func TestCrashThreeProcesses(t *testing.T) {
	programtest.Long(t)
	c := newCrowd(t, countFromEnv("CRASH_WRITES", max(raceenabled.Share(400, 8), 40)))
	game := c.startGame()
	var all sync.WaitGroup
	for i := range crowdSize {
		all.Go(func() { c.writeUntilDone(i) })
	}
	ended := make(chan struct{})
	go func() { defer close(ended); all.Wait() }()
	c.restartServers(ended)
	c.wantOnce()
	c.wantHandled()
	c.wantJobs()
	c.wantSteps(game)
	if out := mustRun(t, c.at, "rebuild"); !strings.Contains(out, "identical") {
		t.Errorf("rebuild says: %s", out)
	}
	t.Logf("%d writes acknowledged by three processes, after %d kills and %d stops; %d calls had no answer, %d were repeated at another process; steps of a game: %d",
		c.acked.Load(), c.kills, c.stops, c.unanswered.Load(), c.repeated.Load(), c.steps)
}

// crowdSize is the number of concurrent writers.
const crowdSize = 8

// crowd is a number of writers, and three processes that are restarted.
type crowd struct {
	t       *testing.T
	at, key string
	total   int64
	in      appClient // in this process, on the same database

	mu      sync.Mutex
	servers [3]*server // guarded by mu

	enough                            atomic.Bool // enough restarts were made
	next, acked, unanswered, repeated atomic.Int64
	creates, updates, scans, exits    atomic.Int64
	kills, stops, steps               int
	places                            [2]string // ids
	client                            http.Client
}

func newCrowd(t *testing.T, total int) *crowd {
	t.Helper()
	c := &crowd{t: t, at: pgtest.Empty(t), total: int64(total)}
	mustRun(t, c.at, "world", "create", "main")
	c.key, _, _ = strings.Cut(mustRun(t, c.at, "key", "create", "crowd", "--role", "admin"), "\t")
	for i := range c.servers {
		c.servers[i] = startServer(t, c.at, c.key)
	}
	var err error
	if c.in, err = openApp(t.Context(), c.at); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.in.close)
	c.must("create_card", "terms", map[string]any{"name": "Terms", "content": "dragon"})
	for i := range c.places {
		a := c.must("create_card", fmt.Sprint("place-", i),
			map[string]any{"name": fmt.Sprint("Place ", i), "type": "Location", "content": "<p>Here.</p>"})
		c.places[i] = idIn(t, a.body)
	}
	c.creates.Add(3)
	apptest.Eventually(t, "the handlers of events have begun", maxWait, func() bool {
		var begun int
		c.queryRow("SELECT count(*) FROM delivery_cursors WHERE handler = 'exits'", &begun)
		return begun > 0
	})
	return c
}

func idIn(t *testing.T, body string) string {
	var card struct{ ID string }
	if err := json.Unmarshal([]byte(body), &card); err != nil || card.ID == "" {
		t.Errorf("an answer without an id: %s", body)
	}
	return card.ID
}

// randomServer returns one of the processes.
func (c *crowd) randomServer(r *rand.Rand) *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers[r.IntN(len(c.servers))]
}

// callUntilAcked repeats a call until it is acknowledged, each time at a random process.
func (c *crowd) callUntilAcked(r *rand.Rand, operation, key string, in map[string]any) answer {
	end := time.Now().Add(2 * maxWait)
	for time.Now().Before(end) {
		a, err := c.callAny(r, operation, key, in)
		switch {
		case err != nil || a.status == 503:
			c.unanswered.Add(1)
			wait.For(c.t.Context(), time.Duration(10+r.IntN(40))*time.Millisecond)
			continue
		case a.status >= 300:
			c.t.Errorf("%s %s answers %d %s", operation, key, a.status, a.body)
		default:
			c.acked.Add(1)
		}
		return a
	}
	c.t.Errorf("%s %s is never acknowledged", operation, key)
	return answer{}
}

func (c *crowd) callAny(r *rand.Rand, operation, key string, in map[string]any) (answer, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), maxWait)
	defer cancel()
	return c.randomServer(r).call(ctx, operation, key, in)
}

func (c *crowd) must(operation, key string, in map[string]any) answer {
	c.t.Helper()
	return c.callUntilAcked(rand.New(rand.NewPCG(1, 1)), operation, key, in)
}

// Every scanEvery-th write starts a job, and every exitEvery-th write emits an event that has a
// handler.
const (
	scanEvery = 97
	exitEvery = 31
)

// writeUntilDone writes until all writes are done and there were enough restarts.
func (c *crowd) writeUntilDone(who int) {
	r := rand.New(rand.NewPCG(uint64(countFromEnv("SEED", 1)), uint64(who)))
	last := ""
	for !c.t.Failed() {
		n := c.next.Add(1)
		if n > c.total && c.enough.Load() {
			return
		}
		switch {
		case n%scanEvery == 0 && n <= 20*scanEvery:
			c.scans.Add(1)
			c.callUntilAcked(r, "spoiler_scan", fmt.Sprint("scan-", n),
				map[string]any{"terms_card": "Terms", "results_card": fmt.Sprintf("Results %d+GM", n), "scope": "player"})
		case n%exitEvery == 0 && n <= 50*exitEvery:
			c.exits.Add(1)
			c.emitEvent()
		case n%5 == 4 && last != "":
			c.updates.Add(1)
			c.callUntilAcked(r, "update_card", fmt.Sprint("update-", n),
				map[string]any{"name": last, "content": fmt.Sprintf("<p>Changed by %d.</p>", n)})
		default:
			c.creates.Add(1)
			last = fmt.Sprint("Entry ", n)
			c.createEntry(r, n, last)
		}
	}
}

// createEntry creates a card, and one time in four repeats the call.
func (c *crowd) createEntry(r *rand.Rand, n int64, name string) {
	key, in := fmt.Sprint("create-", n), map[string]any{"name": name, "content": fmt.Sprintf("<p>Written as %d.</p>", n)}
	a := c.callUntilAcked(r, "create_card", key, in)
	if r.IntN(4) > 0 || a.status == 0 {
		return
	}
	again, err := c.callAny(r, "create_card", key, in)
	if err != nil || again.status == 503 {
		return
	}
	c.repeated.Add(1)
	if again.status != a.status || !again.replayed || again.body != a.body {
		c.t.Errorf("%s answered\n%d %s\nand repeated answers\n%d %s", key, a.status, a.body, again.status, again.body)
	}
}

// emitEvent emits an event that has a handler.
func (c *crowd) emitEvent() {
	worlds, err := c.in.app.Canon.Worlds(c.t.Context())
	if err != nil {
		c.t.Error(err)
		return
	}
	payload := fmt.Sprintf(`{"fromId":%q,"toId":%q,"direction":"north"}`, c.places[0], c.places[1])
	err = c.in.app.WithGrant(c.t.Context(), app.Operator(), access.Request{Operation: "tell", Effect: access.Write,
		World: worlds[0].ID}, func(g access.Grant) error {
		_, err := c.in.app.Canon.Update(c.t.Context(), g, func(p *canon.Plan) error {
			return p.Event(canon.Event{Type: "World.Exit.Created", Scope: "global:world", Payload: []byte(payload), Version: 1})
		})
		return err
	})
	if err != nil {
		c.t.Error(err)
	}
}

// minRestarts is the least number of times that a process ends.
const minRestarts = 4

// restartServers ends processes and starts them again until all is written. Two in three are
// killed, the others are told to stop.
func (c *crowd) restartServers(ended <-chan struct{}) {
	r := rand.New(rand.NewPCG(uint64(countFromEnv("SEED", 1)), 99))
	for {
		wait.Or(c.t.Context(), time.Duration(200+r.IntN(800))*time.Millisecond, ended)
		select {
		case <-ended:
			return
		default:
		}
		if c.kills+c.stops >= minRestarts && c.next.Load() > c.total {
			c.enough.Store(true)
			continue
		}
		i := r.IntN(len(c.servers))
		if r.IntN(3) > 0 {
			c.kills++
			c.servers[i].kill()
		} else {
			c.stops++
			_ = c.servers[i].cmd.Process.Signal(syscall.SIGTERM)
			<-c.servers[i].dead
		}
		s := startServer(c.t, c.at, c.key)
		c.mu.Lock()
		c.servers[i] = s
		c.mu.Unlock()
	}
}

// queryRow scans the row that a query of the database returns.
func (c *crowd) queryRow(sql string, into ...any) {
	c.t.Helper()
	db, err := pgx.Connect(c.t.Context(), c.at)
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close(c.t.Context())
	if err := db.QueryRow(c.t.Context(), sql).Scan(into...); err != nil {
		c.t.Fatal(err)
	}
}

// wantOnce compares the whole chain with the acknowledged calls: it must have as many commits
// of each operation, and as many cards.
func (c *crowd) wantOnce() {
	countCommits(c.t, c.at) // checks the chains
	for operation, want := range map[string]int64{"create_card": c.creates.Load(), "update_card": c.updates.Load(),
		"spoiler_scan": c.scans.Load(), "tell": c.exits.Load()} {
		var commits int64
		c.queryRow("SELECT count(*) FROM commits WHERE op = '"+operation+"'", &commits)
		if commits != want {
			c.t.Errorf("%d commits of %s, want %d", commits, operation, want)
		}
	}
	var entries, names int64
	c.queryRow("SELECT count(*), count(DISTINCT key) FROM cards WHERE trashed = 0 AND name LIKE 'Entry %'",
		&entries, &names)
	if want := c.creates.Load() - 3; entries != want || names != want {
		c.t.Errorf("%d entries under %d names, want %d", entries, names, want)
	}
}

// wantHandled waits until the handlers have handled all events, and counts their effects.
func (c *crowd) wantHandled() {
	apptest.Eventually(c.t, "all events are handled", 3*maxWait, func() bool {
		var handled int64
		c.queryRow("SELECT count(*) FROM deliveries WHERE handler = 'exits' AND state = 1", &handled)
		return handled >= c.exits.Load()
	})
	var handled, commits, events, exits int64
	c.queryRow("SELECT count(*), count(DISTINCT event) FROM deliveries WHERE handler = 'exits'", &handled, &events)
	c.queryRow("SELECT count(*) FROM commits WHERE op = 'handle_event'", &commits)
	c.queryRow("SELECT count(*) FROM links WHERE kind = 'exit' AND until = 0", &exits)
	if handled != c.exits.Load() || events != handled || commits > handled || exits > 1 {
		c.t.Errorf("%d events were told; %d were handled, with %d commits and %d exits of one", c.exits.Load(), handled,
			commits, exits)
	}
}

// wantJobs checks that no job stays queued or running. A killed process is only noticed after
// half a minute, so that this runs with CRASH_WRITES only.
func (c *crowd) wantJobs() {
	if os.Getenv("CRASH_WRITES") == "" {
		return
	}
	apptest.Eventually(c.t, "no job is unfinished", 4*maxWait, func() bool {
		var open int64
		c.queryRow("SELECT count(*) FROM jobs WHERE state IN ('queued', 'running')", &open)
		return open == 0
	})
}

// startGame starts a game of AI players. Its phases are so short that each process ends many of
// them.
func (c *crowd) startGame() string {
	c.t.Helper()
	seconds := map[string]any{}
	for _, phase := range []string{"sitrep", "pulse_check", "discussion", "extension", "overtime", "nomination", "trial",
		"verdict", "night"} {
		seconds[phase] = 0.4
	}
	var made struct {
		ID string `json:"game_id"`
	}
	c.post("/api/games", map[string]any{"seconds": seconds, "ai_players": 7}, &made)
	c.post("/api/games/"+made.ID+"/start", map[string]any{}, nil)
	return made.ID
}

func (c *crowd) post(path string, in map[string]any, out any) {
	c.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.servers[0].url+path,
		strings.NewReader(string(b)))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Content-Type", "application/json")
	res, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		c.t.Fatalf("%s answers %d %s, %v", path, res.StatusCode, body, err)
	}
	if out != nil {
		if err := json.Unmarshal(body, out); err != nil {
			c.t.Fatal(err)
		}
	}
}

// wantSteps reads a game's ledger: the days begin in order, and each day has at most one sitrep
// and one night.
func (c *crowd) wantSteps(game string) {
	began := map[string]int{}
	day := 0
	worlds, err := c.in.app.Canon.Worlds(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	err = c.in.app.WithGrant(c.t.Context(), app.Operator(), access.Request{Operation: "audit", Surface: "alignment",
		Effect: access.Read, World: worlds[0].ID}, func(g access.Grant) error {
		for rec, err := range c.in.app.Canon.Records(c.t.Context(), g, canon.LedgerStream("game", game), 1) {
			if err != nil {
				return err
			}
			e, err := rule.Decode(rec.Event.Type, rec.Event.Payload)
			if err != nil {
				return err
			}
			p, ok := e.(*rule.PhaseBegan)
			if !ok {
				continue
			}
			c.steps++
			if began[fmt.Sprint(p.Day, p.Phase)]++; p.Phase == rule.Sitrep {
				if day++; p.Day != day {
					c.t.Errorf("day %d follows day %d", p.Day, day-1)
				}
			}
		}
		return nil
	})
	if err != nil {
		c.t.Error(err)
	}
	for d := range day {
		for _, phase := range []rule.Phase{rule.Sitrep, rule.Night} {
			if n := began[fmt.Sprint(d+1, phase)]; n > 1 {
				c.t.Errorf("%s of day %d began %d times", phase, d+1, n)
			}
		}
	}
	if c.steps < 3 {
		c.t.Errorf("a game had only %d steps", c.steps)
	}
}
