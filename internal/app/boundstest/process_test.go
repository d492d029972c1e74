package boundstest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/waittest"
)

// maxWait bounds the time that a test waits for something that should come soon.
const maxWait = time.Minute

// scratchDir is the folder of this run. It has the program's binary and the data folders.
var scratchDir string

func TestMain(m *testing.M) {
	var err error
	if scratchDir, err = os.MkdirTemp("", "loregate-bounds"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pgtest.Main(m, func() { _ = os.RemoveAll(scratchDir) })
}

// onEachStore starts the program on an empty folder and on an empty database.
func onEachStore(t *testing.T, attack func(t *testing.T, p *program)) {
	t.Run("sqlite", func(t *testing.T) { attack(t, startProgram(t, "")) })
	t.Run("postgres", func(t *testing.T) { attack(t, startProgram(t, pgtest.Empty(t))) })
}

var binary = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", scratchDir,
		"loregate/cmd/loregate").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(scratchDir, "loregate"), nil
})

// program is a running serve within the service's limits.
type program struct {
	t    testing.TB
	url  string // http://host:port
	data string // its folder
	cmd  *exec.Cmd
	said *apptest.Tail
	dead chan struct{}
	in   *cgroup // nil if none can be made
	env  []string

	onPostgres bool

	admin, gm, player string // keys for the world main
}

// startProgram creates the world main and keys for it, and serves it from a folder, or from a database if database is
// not "".
func startProgram(t testing.TB, database string) *program {
	t.Helper()
	limits := serviceLimits(t)
	p := &program{t: t, data: t.TempDir(), said: &apptest.Tail{}, dead: make(chan struct{}), onPostgres: database != ""}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "LOREGATE_") || strings.HasPrefix(v, "GOMEMLIMIT=")
	})
	env = append(env, limits.environment...)
	env = append(env, "LOREGATE_DATA="+p.data, "LOREGATE_DATABASE="+database, "LOREGATE_LOG_LEVEL=warn")
	p.env = env
	p.run(env, "world", "create", "main")
	for _, key := range []struct {
		role string
		into *string
	}{{"admin", &p.admin}, {"gm", &p.gm}, {"user", &p.player}} {
		*key.into = p.createKey(env, key.role)
	}
	p.in = newCgroup(t, limits.memory)
	p.serve(env)
	return p
}

// createKey creates a key with a role in all worlds.
func (p *program) createKey(env []string, role string) string {
	p.t.Helper()
	key, _, _ := strings.Cut(p.run(env, "key", "create", "of-"+role, "--role", role, "--actor", "person"), "\t")
	return key
}

// run runs a command of the program to its end, and returns its output.
func (p *program) run(env []string, args ...string) string {
	p.t.Helper()
	file, err := binary()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(p.t.Context(), file, args...)
	cmd.Env = env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("loregate %s: %v\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return string(out)
}

// serve starts the server in its cgroup and waits until it listens.
func (p *program) serve(env []string) {
	p.t.Helper()
	file, err := binary()
	if err != nil {
		p.t.Fatal(err)
	}
	args := []string{file, "serve", "--addr", "127.0.0.1:0"}
	if p.in != nil {
		args = append([]string{"/bin/sh", "-c", `echo $$ > "$0" && exec "$@"`, p.in.members()}, args...)
	}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Env = env
	dieWithParent(p.cmd)
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	listens := make(chan string, 1)
	go func() {
		defer close(p.dead)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			p.said.Add(lines.Text())
			if rest, ok := strings.CutPrefix(lines.Text(), "Loregate serves "); ok {
				listens <- strings.Fields(rest)[0]
			}
		}
		_ = p.cmd.Wait() // isAlive tells that it ended
	}()
	p.t.Cleanup(p.kill)
	select {
	case p.url = <-listens:
	case <-p.dead:
		p.t.Fatalf("the server ended: %s", p.said)
	case <-waittest.Context(p.t).Done():
		p.t.Fatalf("the server does not listen: %s", p.said)
	}
}

// kill ends the process.
func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	<-p.dead
	if p.t.Failed() {
		p.t.Logf("the server said:\n%s", p.said)
	}
}

// checkAlive fails the test if the process has ended.
func (p *program) checkAlive() {
	p.t.Helper()
	select {
	case <-p.dead:
		p.t.Fatalf("the server was brought down: %v\n%s", p.cmd.ProcessState, p.said)
	default:
	}
}

// host returns the address to dial.
func (p *program) host() string { return strings.TrimPrefix(p.url, "http://") }

// maxGrowth is the greatest growth of the process's memory under an attack, in MiB.
const maxGrowth = 256

// attack runs an attack and compares the peak of the process's memory with the memory before. The log has both.
func (p *program) attack(name string, shoot func()) {
	p.t.Helper()
	p.attackWithin(name, maxGrowth, shoot)
}

// attackWithin is attack with another greatest growth, in MiB.
func (p *program) attackWithin(name string, most int64, shoot func()) {
	p.t.Helper()
	before := p.resetPeak()
	shoot()
	p.checkAlive()
	peak := p.peak()
	p.t.Logf("%s, %s: %d MiB before, %d at the peak, %s", path.Base(p.t.Name()), name, before, peak, p.in)
	if peak > before+most {
		p.t.Errorf("%s: the process grew by %d MiB, more than %d", name, peak-before, most)
	}
}
