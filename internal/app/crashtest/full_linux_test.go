package crashtest

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mountSmallDisk mounts a disk of the given size. It skips the test where that is not
// permitted.
func mountSmallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("no disk can be mounted here, as root can:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fillDisk fills a disk with one file. free removes the file.
func fillDisk(t *testing.T, disk string) (free func()) {
	t.Helper()
	path := filepath.Join(disk, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1 << 20; n > 0; n /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, n))
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func getPath(t *testing.T, s *server, path string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// TestCrashFullDisk fills the disk while the shipped program runs. The server and the other
// commands answer and say how to free space; the server recovers by itself when there is room
// again. The log has the times.
func TestCrashFullDisk(t *testing.T) {
	disk := mountSmallDisk(t, "24m")
	at := filepath.Join(disk, "data")
	mustRun(t, at, "world", "create", "main")
	key, _, _ := strings.Cut(mustRun(t, at, "key", "create", "clerk", "--role", "admin"), "\t")
	s := startServer(t, at, key)
	free := fillDisk(t, disk)
	card := map[string]any{"name": "Well", "content": strings.Repeat("deep ", 1000)}
	if a, err := s.call(t.Context(), "create_card", "first", card); err != nil || a.status != 503 ||
		!strings.Contains(a.body, "the disk is full") {
		t.Errorf("a write: %d %s; %v", a.status, a.body, err)
	}
	if status, body := getPath(t, s, "/readyz"); status != 503 || !strings.Contains(body, "the disk is full") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if status, body := getPath(t, s, "/api/mcp/cards?q=well"); status != 200 {
		t.Errorf("a read: %d %s", status, body)
	}
	for _, args := range [][]string{{"doctor"}, {"audit", "verify"}, {"backup", filepath.Join(disk, "backup.db")},
		{"world", "create", "second"}} {
		wantFullDisk(t, at, args...)
	}
	if names, err := filepath.Glob(filepath.Join(disk, "backup.db*")); err != nil || len(names) > 0 {
		t.Errorf("a backup that failed leaves %v; %v", names, err)
	}
	free()
	if status, body := getPath(t, s, "/readyz"); status != 200 {
		t.Errorf("/readyz when there is room: %d %s", status, body)
	}
	if a, err := s.call(t.Context(), "create_card", "first", card); err != nil || a.status != 201 {
		t.Errorf("the write when there is room: %d %s; %v", a.status, a.body, err)
	}
	free = fillDisk(t, disk)
	if a, err := s.call(t.Context(), "create_card", "second",
		map[string]any{"name": "Pond", "content": strings.Repeat("deep ", 1000)}); err != nil || a.status != 503 {
		t.Errorf("a write: %d %s; %v", a.status, a.body, err)
	}
	started := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-s.dead
	t.Logf("the server took %v to stop", time.Since(started))
	// The next starts create these files. SQLite removed them, and there is no room for them
	// now.
	for _, name := range []string{"loregate.db-shm", "loregate.db-access-shm"} {
		_ = os.Remove(filepath.Join(at, name))
	}
	fillDisk(t, disk)
	for _, args := range [][]string{{"serve"}, {"doctor"}, {"world", "list"}} {
		wantFullDisk(t, at, args...)
	}
	free()
	if n := countCommits(t, at); n != 2 {
		t.Errorf("there are %d commits, want 2", n)
	}
}

// wantFullDisk runs a command. It must end, report the full disk and say how to free space.
func wantFullDisk(t *testing.T, at string, args ...string) {
	t.Helper()
	cmd := command(t, at, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	started := time.Now()
	err := cmd.Run()
	t.Logf("%v took %v", args, time.Since(started))
	if args[0] == "audit" && err == nil {
		return // it only reads, and there may have been a little room for its access record
	}
	if err == nil || !strings.Contains(said.String(), "the disk is full") ||
		!strings.Contains(said.String(), "free space on the disk of /") {
		t.Errorf("%v: %v; it says\n%s", args, err, said.String())
	}
}

// TestCrashNoRoomForAnUpgrade opens an old store on a disk that has no room for its backup.
func TestCrashNoRoomForAnUpgrade(t *testing.T) {
	disk := mountSmallDisk(t, "8m")
	at := filepath.Join(disk, "data")
	oldStore(t, at)
	before := readStoreFiles(t, at)
	free := fillDisk(t, disk)
	wantFullDisk(t, at, "upgrade")
	if after := readStoreFiles(t, at); !bytes.Equal(after["loregate.db"], before["loregate.db"]) {
		t.Error("an upgrade that was refused changed the store")
	}
	free()
	if out := mustRun(t, at, "upgrade"); !strings.Contains(out, "has format") {
		t.Errorf("upgrade says %s", out)
	}
}
