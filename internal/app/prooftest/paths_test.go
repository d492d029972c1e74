package prooftest

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	"loregate/internal/app"
)

// TestNoAnswerShowsAPathOfTheServer sends single and broken files of each format, and calls everything else that takes
// or names files, and looks for the server's data folder and its folder of temporary files in the answers.
func TestNoAnswerShowsAPathOfTheServer(t *testing.T) {
	onEachStore(t, func(t *testing.T, on string) {
		t.Parallel()
		mint := newMint(47)
		whole := newMarkedFiles(mint)
		o := newImportOracle(t, on, mint)
		o.giveOperatorKey()
		check := func(who string, r request) reply {
			got := o.send(who, r)
			for _, path := range []string{o.app.Config.Data, os.TempDir() + "/", t.TempDir()} {
				if strings.Contains(got.String(), path) {
					t.Errorf("%s as %s shows %s: %.600s", r, who, path, got)
				}
			}
			return got
		}
		send := func(name string, data []byte, format string) {
			in := fields{"filename": name, "data": base64.StdEncoding.EncodeToString(data)}
			if format != "" {
				in["format"] = format
			}
			body, _ := json.Marshal(in)
			r := request{operation: "check_import", method: "POST", path: "/api/imports", body: string(body)}
			for range 200 {
				var job struct{ ID, Status string }
				got := check("gm", r)
				if json.Unmarshal([]byte(got.body), &job) != nil || job.ID == "" {
					return
				}
				if job.Status == "completed" || job.Status == "failed" {
					check("gm", request{operation: "carry_out_import", method: "POST", path: "/api/imports/" + job.ID, body: "{}"})
					check("gm", request{operation: "get_job", method: "GET", path: "/api/mcp/jobs/" + job.ID})
					check("gm", pageRequest("/import/"+job.ID))
					return
				}
				r = request{operation: "get_import", method: "GET", path: "/api/imports/" + url.PathEscape(job.ID)}
			}
		}
		for _, f := range whole { // with a part of the bytes, and with the name of a single file
			data := f.data(t)
			send(f.name, data[:len(data)/2], "")
			send("single.md", data, "")
		}
		for _, format := range app.FormatNames() {
			send("broken.bin", []byte("\x00\x01 no such thing"), format)
			send("text.txt", []byte("A line of text.\n"), format)
			send("note.md", []byte("# Note\n\nText.\n"), format)
		}
		for _, name := range []string{"note.md", "a.zip", "a.tar.gz", "a.tgz", "a.bz2", "a.7z", "a.json", "a.jsonl", "a.csv", "a.xml",
			"a.lk", "a.map", "a.png", "a.lore", "a.twee", "a.py", "a.wld", "a.db", "noending", "../../etc/passwd", `C:\x\y.md`} {
			for _, data := range []string{"x", "PK\x03\x04broken", "\x1f\x8bbroken", "BZh9broken", "7z\xbc\xaf\x27\x1cbroken", "{", "[", "<a"} {
				send(name, []byte(data), "")
			}
		}
		o.sendOtherFiles(check)
	})
}

// sendOtherFiles calls the operations other than imports that take or name files.
func (o *oracle) sendOtherFiles(check func(who string, r request) reply) {
	o.t.Helper()
	names := []string{"../x", "/etc/passwd", "loregate-0123456789abcdef.db", "a/b", "nul\x00", strings.Repeat("x", 300), ""}
	for _, of := range o.app.Ops.All() {
		for _, field := range []string{"filename", "path", "file", "manifest", "asset", "name", "data", "url", "id", "artifact_id", "backup"} {
			if of.InputSchema().Properties[field] == nil {
				continue
			}
			for _, name := range names {
				in := fields{field: name}
				if of.InputSchema().Properties["data"] != nil && field != "data" {
					in["data"] = "AAEC"
				}
				if of.InputSchema().Properties["name"] != nil && field != "name" {
					in["name"] = "Card of a file"
				}
				if of.Route != "" {
					check("operator", viaREST(of, in))
				}
				check("admin", toolRequest(of, in))
			}
		}
	}
	for _, path := range []string{"/import", "/export", "/w/lendwater", "/no/such/page", "/attach", "/assets/../x"} {
		check("gm", pageRequest(path))
	}
}
