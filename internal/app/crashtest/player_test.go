package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/programtest"
	"loregate/internal/wait"
)

// evening is a number of players who play on a server that is restarted.
type evening struct {
	t   *testing.T
	at  string
	key string

	mu       sync.Mutex
	server   *server         // guarded by mu
	took     []time.Duration // of the turns that were answered at once; guarded by mu
	repeated int             // turns that had to be sent again; guarded by mu
	memory   int             // most megabytes of a process; guarded by mu
}

// playSettings are the limits of play and of memory of a server whose operator set none.
var playSettings = []string{"LOREGATE_LIMITS_COMMANDS=120", "LOREGATE_LIMITS_PLAYERS=6000", "GOMEMLIMIT="}

// TestCrashOfPlayers has players act, each at a steady pace, while the server is killed and stopped in turn. One key plays
// for half of them, and the others have tokens of their own. A turn without an answer is repeated with its idempotency key. Each turn is applied once, and none fails. CRASH_PLAYERS and CRASH_PLAY set
// the number of players and how long they play.
func TestCrashOfPlayers(t *testing.T) {
	programtest.Long(t)
	players, pace := countFromEnv("CRASH_PLAYERS", 10), 500*time.Millisecond
	span, err := time.ParseDuration(os.Getenv("CRASH_PLAY"))
	if err != nil {
		span = 5 * time.Second
	} else {
		pace = 5 * time.Second
	}
	e := &evening{t: t, at: t.TempDir()}
	for _, k := range apptest.Sample(t, e.at).Keys {
		if k.Role == access.RoleUser {
			e.key = k.Secret
		}
	}
	e.server = startServer(t, e.at, e.key, playSettings...)
	ids, tokens := make([]string, players), make([]string, players)
	for n := range ids {
		a := e.callUntilAnswered(rand.New(rand.NewPCG(1, uint64(n))), e.key, "create_player", fmt.Sprint("player-", n),
			map[string]any{"name": fmt.Sprint("Guest ", n)})
		var made struct {
			Player struct{ ID string }
			Token  string
		}
		if json.Unmarshal([]byte(a.body), &made) != nil || made.Player.ID == "" {
			t.Fatalf("a player is not made: %s", a.body)
		}
		if ids[n], tokens[n] = made.Player.ID, made.Token; n%2 == 0 {
			tokens[n] = e.key
		}
	}
	e.took = nil
	turns := int(span / pace)
	var all sync.WaitGroup
	for n, id := range ids {
		all.Go(func() { e.playTurns(n, id, tokens[n], turns, pace) })
	}
	ended := make(chan struct{})
	go func() { defer close(ended); all.Wait() }()
	restarts := e.restartServer(ended, span/4)
	e.noteMemory()
	e.server.kill()
	e.wantOnce(ids, turns)
	slices.Sort(e.took)
	t.Logf("%d turns of %d players through %d restarts, %d of them sent again; p50 %s, p99 %s, %d MB", players*turns, players,
		restarts, e.repeated, e.took[len(e.took)/2].Round(100*time.Microsecond),
		e.took[len(e.took)*99/100].Round(100*time.Microsecond), e.memory)
	if e.memory > 400 {
		t.Errorf("a process took %d MB", e.memory)
	}
}

// playTurns has a player act at a steady pace.
func (e *evening) playTurns(n int, id, token string, turns int, pace time.Duration) {
	r := rand.New(rand.NewPCG(2, uint64(n)))
	wait.For(e.t.Context(), time.Duration(r.Int64N(int64(pace))))
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for turn := range turns {
		a := e.callUntilAnswered(r, token, "send_command", fmt.Sprintf("turn-%d-%d", n, turn), map[string]any{"id": id,
			"text": fmt.Sprintf("say this is turn %d", turn)})
		var done struct{ Results []struct{ Outcome string } }
		if json.Unmarshal([]byte(a.body), &done) != nil || len(done.Results) != 1 || done.Results[0].Outcome != "done" {
			e.t.Errorf("a turn fails: %d %.300s", a.status, a.body)
			return
		}
		<-tick.C
	}
}

// callUntilAnswered makes a call until it is answered.
func (e *evening) callUntilAnswered(r *rand.Rand, bearer, operation, key string, in map[string]any) (a answer) {
	for end := time.Now().Add(2 * maxWait); time.Now().Before(end); {
		e.mu.Lock()
		s := *e.server
		e.mu.Unlock()
		s.key = bearer
		ctx, cancel := context.WithTimeout(e.t.Context(), maxWait)
		began := time.Now()
		got, err := s.call(ctx, operation, key, in)
		took := time.Since(began)
		cancel()
		if a = got; err == nil && a.status != http.StatusServiceUnavailable {
			e.mu.Lock()
			e.took = append(e.took, took)
			e.mu.Unlock()
			return a
		}
		e.mu.Lock()
		e.repeated++
		e.mu.Unlock()
		wait.For(e.t.Context(), time.Duration(20+r.IntN(80))*time.Millisecond)
	}
	e.t.Errorf("%s %s is never answered", operation, key)
	return a
}

// restartServer kills the server and stops it in turn, until the players are done.
func (e *evening) restartServer(ended <-chan struct{}, every time.Duration) (n int) {
	for {
		wait.Or(e.t.Context(), every, ended)
		select {
		case <-ended:
			return n
		default:
		}
		e.noteMemory()
		if n++; n%2 == 1 {
			e.server.kill()
		} else {
			_ = e.server.cmd.Process.Signal(syscall.SIGTERM)
			<-e.server.dead
		}
		s := startServer(e.t, e.at, e.key, playSettings...)
		e.mu.Lock()
		e.server = s
		e.mu.Unlock()
	}
}

var peakMemory = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// noteMemory notes the most memory that the process has had, on Linux.
func (e *evening) noteMemory() {
	if runtime.GOOS != "linux" {
		return
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.server.cmd.Process.Pid))
	if err != nil {
		e.t.Error(err)
		return
	}
	if found := peakMemory.FindSubmatch(b); found != nil {
		kb, _ := strconv.Atoi(string(found[1])) // digits
		e.memory = max(e.memory, kb/1024)
	}
}

// wantOnce counts each player's turns in the record.
func (e *evening) wantOnce(ids []string, turns int) {
	e.t.Helper()
	a, _ := apptest.Open(e.t, apptest.Config(e.t, e.at), apptest.Quiet())
	w, _, err := a.Canon.WorldBySlug(e.t.Context(), app.SampleWorld)
	if err != nil {
		e.t.Fatal(err)
	}
	err = a.WithGrant(e.t.Context(), app.Operator(), access.Request{Operation: "count", Effect: access.Read, World: w.ID},
		func(g access.Grant) error {
			return a.Canon.Read(e.t.Context(), g, func(s *canon.Snapshot) error {
				for _, id := range ids {
					events, _, err := s.Events(e.t.Context(), canon.EventQuery{Actor: uuid.MustParse(id).String(),
						Types: []string{"Player.Act"}, Page: canon.Page{Limit: 10 * turns}})
					if err != nil {
						return err
					}
					if len(events) != turns {
						e.t.Errorf("the record has %d acts of a player; want %d", len(events), turns)
					}
				}
				return nil
			})
		})
	if err != nil {
		e.t.Fatal(err)
	}
}
