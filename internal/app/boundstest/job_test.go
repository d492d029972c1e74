package boundstest

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/programtest"
	"loregate/internal/wait"
)

// slowNotes is a zip of n notes that link each other.
func slowNotes(n int) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range n {
		w, _ := z.Create(fmt.Sprintf("n%d/note %d.md", i%100, i))
		fmt.Fprintf(w, "# Note %d\n\nThe mill number %d stands by the weir. See [[note %d]].\n", i, i, (i+1)%n)
	}
	z.Close()
	return b.Bytes()
}

// jobOf is the part of an answer that tells of a job.
type jobOf struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

func (j jobOf) open() bool { return j.Status == "queued" || j.Status == "running" }

// callJob makes a call that is answered with a job.
func (p *program) callJob(key, method, path, body string) (j jobOf) {
	p.t.Helper()
	status, answer := p.callPatiently(key, method, path, body)
	if err := json.Unmarshal(answer, &j); err != nil || status > 299 {
		p.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	return j
}

// callPatiently makes a call, and again while there are too many.
func (p *program) callPatiently(key, method, path, body string) (status int, answer []byte) {
	p.t.Helper()
	for {
		p.checkAlive()
		if status, answer = apptest.Send(p.t, method, p.url+path, key, body); status != http.StatusTooManyRequests {
			return status, answer
		}
		wait.For(p.t.Context(), time.Second)
	}
}

// awaitJob waits until a job that path shows has another state than those of an open job.
func (p *program) awaitJob(key, path string, j jobOf) jobOf {
	p.t.Helper()
	for end := time.Now().Add(3 * maxWait); j.open(); j = p.callJob(key, "GET", path+j.ID, "") {
		if time.Now().After(end) {
			p.t.Fatalf("%s%s does not end: %+v", path, j.ID, j)
		}
		wait.For(p.t.Context(), time.Second)
	}
	return j
}

func fileIn(world, name string, data []byte) string {
	return fmt.Sprintf(`{"world":%q,"filename":%q,"data":%q}`, world, name, base64.StdEncoding.EncodeToString(data))
}

// cardCount returns the number of cards of the world main.
func (p *program) cardCount() (n int) {
	p.t.Helper()
	_, answer := p.callPatiently(p.admin, "GET", "/api/mcp/cards?limit=1", "")
	var out struct{ Total int }
	if err := json.Unmarshal(answer, &out); err != nil {
		p.t.Fatalf("%v: %s", err, answer)
	}
	return out.Total
}

// Slow imports of one world keep neither the import of another world nor a backup waiting, and are cancelled over REST
// and by the command line.
func TestSlowImportsKeepNobodyWaiting(t *testing.T) {
	programtest.Long(t)
	notes := fileIn("main", "notes.zip", slowNotes(20_000))
	onEachStore(t, func(t *testing.T, p *program) {
		key := func(name, world string, more ...string) string {
			args := append([]string{"key", "create", name, "--role", "gm", "--actor", "person", "--world", world}, more...)
			secret, _, _ := strings.Cut(p.run(p.env, args...), "\t")
			return secret
		}
		p.run(p.env, "world", "create", "other")
		other, operator := key("other", "other"), key("operator", "main", "--operator")
		keys, slow := []string{}, []jobOf{}
		for i := range 3 {
			keys = append(keys, key(fmt.Sprint("slow-", i), "main"))
			slow = append(slow, p.callJob(keys[i], "POST", "/api/imports", notes))
		}
		inns := fileIn("other", "inns.csv", []byte("name,text\nThe Float,An inn.\n"))
		quick := p.callJob(other, "POST", "/api/imports", inns)
		if quick = p.awaitJob(other, "/api/imports/", quick); quick.Status != "completed" {
			t.Fatalf("the check of another world: %+v", quick)
		}
		quick = p.callJob(other, "POST", "/api/imports/"+quick.ID, "{}")
		if quick = p.awaitJob(other, "/api/imports/", quick); quick.Status != "completed" {
			t.Errorf("the import of another world: %+v", quick)
		}
		backup := p.callJob(operator, "POST", "/api/mcp/admin/backup", "{}")
		backup = p.awaitJob(operator, "/api/mcp/admin/backup/", backup)
		if backup.Status != "completed" && !p.onPostgres {
			t.Errorf("a backup: %+v", backup)
		}
		open := 0
		for i := range slow {
			if slow[i] = p.callJob(keys[i], "GET", "/api/imports/"+slow[i].ID, ""); slow[i].open() {
				open++
			}
		}
		if open < 2 {
			t.Fatalf("only %d of the slow imports wait or run, so that nothing was shown: %+v", open, slow)
		}

		status, _ := p.callPatiently(other, "POST", "/api/mcp/jobs/"+slow[2].ID+"/cancel", "{}")
		if status != http.StatusNotFound {
			t.Errorf("a game master of another world cancels: %d", status)
		}
		if got := p.callJob(keys[2], "POST", "/api/mcp/jobs/"+slow[2].ID+"/cancel", "{}"); got.Status != "cancelled" {
			t.Errorf("cancelled over REST: %+v", got)
		}
		if list := p.run(p.env, "job", "list"); !strings.Contains(list, slow[1].ID) || strings.Contains(list, slow[2].ID) {
			t.Errorf("the open jobs:\n%s", list)
		}
		for _, j := range slow[:2] {
			said := p.run(p.env, "job", "cancel", j.ID)
			if !strings.Contains(said, "is cancelled") && !strings.Contains(said, "had ended") {
				t.Errorf("by the command line: %s", said)
			}
		}
		if got := p.callJob(keys[1], "GET", "/api/imports/"+slow[1].ID, ""); got.open() {
			t.Errorf("a job that was cancelled: %+v", got)
		}
	})
}

// A cancelled import writes nothing after the call that cancels it is answered.
func TestACancelledImportWritesNothingMore(t *testing.T) {
	onEachStore(t, func(t *testing.T, p *program) {
		n := 8_000
		if p.onPostgres { // which takes longer for each
			n = 1_500
		}
		notes := fileIn("main", "notes.zip", slowNotes(n))
		check := p.awaitJob(p.gm, "/api/imports/", p.callJob(p.gm, "POST", "/api/imports", notes))
		if check.Status != "completed" {
			t.Fatalf("%+v", check)
		}
		before := p.cardCount()
		j := p.callJob(p.gm, "POST", "/api/imports/"+check.ID, "{}")
		for end := time.Now().Add(3 * maxWait); p.cardCount() == before && time.Now().Before(end); {
			wait.For(t.Context(), 250*time.Millisecond)
		}
		got := p.callJob(p.gm, "POST", "/api/mcp/jobs/"+j.ID+"/cancel", "{}")
		written := p.cardCount()
		if got.Status != "cancelled" || !strings.Contains(got.Message, "written before is kept") || written == before ||
			written >= before+n {
			t.Fatalf("%+v after %d of %d cards", got, written-before, n)
		}
		inns := fileIn("main", "inns.csv", []byte("name,text\nThe Float,An inn.\n"))
		check = p.awaitJob(p.gm, "/api/imports/", p.callJob(p.gm, "POST", "/api/imports", inns))
		if after := p.cardCount(); check.Status != "completed" || after != written {
			t.Errorf("%d cards when it was cancelled, %d after another check: %+v", written, after, check)
		}
	})
}
