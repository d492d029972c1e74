package capacitytest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/app/apptest"
	"loregate/internal/loadtest"
	"loregate/internal/store/postgres/pgtest"
)

// figures are what was measured. Times are in milliseconds.
type figures struct {
	When  string                 `json:"when"`
	Kinds map[loadtest.Kind]cost `json:"kinds"` // calls of one client, one kind at a time
	Alone writing                `json:"alone"` // writes of one client
	Full  writing                `json:"full"`  // writes of 32 clients
	Plain writing                `json:"plain"` // the same without standby
	// Pauses are the seconds without an acknowledged write after a kill, pause or cut of the primary, in a
	// run of failovertest with all events.
	Pauses []float64 `json:"pauses"`
}

// cost is the cost of one call of a kind. The latency has queues only of the machine itself.
type cost struct {
	Latency  loadtest.Latency `json:"latency"`
	Process  float64          `json:"process"`  // processor time of Loregate
	Database float64          `json:"database"` // processor time of PostgreSQL
}

// writing is a run of writes alone.
type writing struct {
	PerSecond float64          `json:"per_second"`
	Latency   loadtest.Latency `json:"latency"`
	Process   float64          `json:"process"`
	Database  float64          `json:"database"`
	Batch     float64          `json:"batch"` // writes that share a transaction
	Held      float64          `json:"held"`  // time that the writer lock is held, by transaction
}

// stage is a server with a database, for measurements.
type stage struct {
	t        *testing.T
	server   *pgtest.Server
	db       *pgx.Conn // for questions beside the load
	address  string
	data     string
	pid      int
	url, key string
}

// TestMeasure measures the figures, with CAPACITY_MEASURE set: it writes testdata/measured.json. The
// pauses are kept, since another test measures them.
func TestMeasure(t *testing.T) {
	if os.Getenv("CAPACITY_MEASURE") == "" {
		t.Skip("CAPACITY_MEASURE is not set: the figures of testdata are used")
	}
	f := figures{When: time.Now().UTC().Format(time.DateOnly), Kinds: map[loadtest.Kind]cost{}, Pauses: measured(t).Pauses}
	plain := newStage(t, false)
	plain.load(loadtest.Read, 1) // writes the cards
	f.Plain = plain.measureWriting(32)
	s := newStage(t, true)
	for _, kind := range []loadtest.Kind{loadtest.Read, loadtest.Search, loadtest.Propose} {
		before := s.databaseTime()
		r := s.load(kind, 1)
		if kind == loadtest.Read { // it wrote the cards
			before = s.databaseTime()
			r = s.load(kind, 1)
		}
		n := float64(r.Kinds[kind].Calls)
		f.Kinds[kind] = cost{r.Kinds[kind].Latency, (r.CPU.User + r.CPU.System) * 1000 / n, (s.databaseTime() - before) * 1000 / n}
	}
	f.Alone, f.Full = s.measureWriting(1), s.measureWriting(32)
	f.Kinds[loadtest.Write] = cost{f.Alone.Latency, f.Alone.Process, f.Alone.Database}
	text, err := json.MarshalIndent(f, "", "\t")
	if err == nil {
		err = os.WriteFile(measuredFile, append(text, '\n'), 0o644) //nolint:gosec // a file of the sources
	}
	if err != nil {
		t.Fatal(err)
	}
}

const measuredFile = "testdata/measured.json"

func measured(t testing.TB) (f figures) {
	t.Helper()
	text, err := os.ReadFile(measuredFile)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newStage(t *testing.T, standby bool) *stage {
	t.Helper()
	s := &stage{t: t, server: pgtest.Start(t), data: t.TempDir()}
	s.address = s.server.Empty()
	if standby {
		s.server.Standby()
	}
	var err error
	if s.db, err = pgx.Connect(t.Context(), s.address); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "loregate")
	if out, err := exec.Command("go", "build", "-o", program, "loregate/cmd/loregate").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	env := append(os.Environ(), "LOREGATE_DATABASE="+s.address, "LOREGATE_DATA="+s.data, "LOREGATE_ADDR=127.0.0.1:0")
	env = append(env, apptest.Unlimited()...)
	for _, args := range [][]string{{"world", "create", "main"}, {"key", "create", "clients", "--role", "admin"}} {
		cmd := exec.Command(program, args...)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		s.key, _, _ = strings.Cut(string(out), "\t")
	}
	cmd := exec.Command(program, "serve")
	cmd.Env, cmd.SysProcAttr = env, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(stderr)
	for s.url == "" && lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "Loregate serves "); ok {
			s.url = strings.Fields(rest)[0]
		}
	}
	go func() {
		for lines.Scan() { // the pipe must not fill
		}
	}()
	return s
}

// load lets clients make calls of one kind for eight seconds.
func (s *stage) load(kind loadtest.Kind, clients int) *loadtest.Report {
	s.t.Helper()
	r, err := loadtest.Run(s.t.Context(), loadtest.Config{URLs: []string{s.url}, Key: s.key, World: "main", Cards: 5000,
		Clients: clients, Duration: 8 * time.Second, Mix: map[loadtest.Kind]int{kind: 1}, Keep: true})
	if err != nil || r.Failed > 0 {
		s.t.Fatalf("%s: %d failed, %v", kind, r.Failed, err)
	}
	return r
}

// measureWriting lets clients write, and looks 200 times a second whether the writer lock is held.
func (s *stage) measureWriting(clients int) writing {
	s.t.Helper()
	began, before := s.countTransactions(), s.databaseTime()
	done, looked := make(chan struct{}), make(chan float64)
	go func() { looked <- s.watchLock(done) }()
	r := s.load(loadtest.Write, clients)
	close(done)
	held := <-looked
	transactions, n := s.countTransactions()-began, float64(r.Kinds[loadtest.Write].Calls)
	return writing{r.PerSec, r.Kinds[loadtest.Write].Latency, (r.CPU.User + r.CPU.System) * 1000 / n,
		(s.databaseTime() - before) * 1000 / n, n / transactions, held * r.Seconds * 1000 / transactions}
}

// watchLock returns the share of the looks that found the writer lock held.
func (s *stage) watchLock(done chan struct{}) float64 {
	c, err := pgx.Connect(s.t.Context(), s.address)
	if err != nil {
		s.t.Error(err)
		return 0
	}
	defer c.Close(s.t.Context())
	var looks, found float64
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return found / max(looks, 1)
		case <-tick.C:
		}
		var held bool
		if err := c.QueryRow(s.t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'writer'::regclass
			AND mode = 'RowShareLock')`).Scan(&held); err != nil {
			s.t.Error(err)
			return 0
		}
		if looks++; held {
			found++
		}
	}
}

// countTransactions returns the number of transactions of writers.
func (s *stage) countTransactions() (n float64) {
	s.t.Helper()
	if err := s.db.QueryRow(s.t.Context(), "SELECT n FROM writer").Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// databaseTime returns the processor time of the server and its children, in seconds.
func (s *stage) databaseTime() (seconds float64) {
	s.t.Helper()
	pid := s.server.Pid()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, pid := range append(strings.Fields(string(children)), strconv.Itoa(pid)) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil { // it has ended
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")"):]))
		for _, ticks := range fields[12:16] { // of itself and of those that ended
			n, _ := strconv.ParseFloat(ticks, 64) // the kernel writes numbers
			seconds += n / 100
		}
	}
	return seconds
}

func TestMain(m *testing.M) { pgtest.Main(m) }
