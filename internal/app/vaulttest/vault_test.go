// Package vaulttest sends a vault through the product as it is served and back into git.
package vaulttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/identity"
	"loregate/internal/programtest"
)

const worldName = "main"

// git runs git in a folder.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", append([]string{"-c", "core.quotePath=false", "-c", "core.autocrlf=false",
		"-c", "user.name=owner", "-c", "user.email=owner@localhost", "-C", dir}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestAVaultComesBackIntoGit imports vaults, edits them by an agent's accepted proposal and by their owner,
// and exports them into a checkout. git diff shows the edits and nothing else, and the export for
// players has no hidden line. REAL_VAULTS adds vaults of others: folders, separated as in PATH. LARGE_VAULTS
// is the number of them that must have more than 1,000 notes.
func TestAVaultComesBackIntoGit(t *testing.T) {
	programtest.Find(t, "git")
	t.Run("sample", func(t *testing.T) {
		for seed := range uint64(2) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 15))
				checkVault(t, r, writeSample(t, r), true)
			})
		}
	})
	for _, name := range []string{"obsi-forge-apedia", "thellade-slice"} {
		t.Run(name, func(t *testing.T) {
			checkVault(t, rand.New(rand.NewPCG(1, 15)), exchangetest.RealData(t, name), false)
		})
	}
	large := 0
	for _, dir := range filepath.SplitList(os.Getenv("REAL_VAULTS")) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			if checkVault(t, rand.New(rand.NewPCG(1, 15)), dir, false) > 1000 {
				large++
			}
		})
	}
	if want := os.Getenv("LARGE_VAULTS"); want != "" && want != fmt.Sprint(large) {
		t.Errorf("%d vaults of REAL_VAULTS have more than 1,000 notes, want %s", large, want)
	}
}

// checkVault sends a vault through the product. In a sample nothing may be hidden that its reader shows;
// the vaults of others have marks that the reader does not know. It returns the number of notes.
func checkVault(t *testing.T, r *rand.Rand, source string, isSample bool) (notes int) {
	checkout := t.TempDir()
	if err := os.CopyFS(checkout, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(checkout, ".git")); err != nil {
		t.Fatal(err)
	}
	git(t, checkout, "init", "-q")
	git(t, checkout, "add", "-A", "-f")
	git(t, checkout, "commit", "-q", "-m", "The vault")

	c := apptest.Config(t, t.TempDir())
	a, _ := apptest.Open(t, c, apptest.Quiet())
	sum, err := a.Import(t.Context(), "markdown", "", checkout, app.ImportOptions{Level: access.LevelUser})
	if err != nil {
		t.Fatal(err)
	}
	before := vaultFiles(t, checkout)
	export(t, a, checkout, access.RoleGM)
	checkUntouched(t, checkout, before, sum.Files)
	if t.Failed() {
		return sum.Files
	}
	addr, _ := apptest.Serve(t, a, "")
	o := &owner{t: t, r: r, url: "http://" + addr, key: newKey(t, a, identity.KeySpec{Name: "owner", Actor: access.Person,
		MaxRole: access.RoleAdmin, Approve: true}), dir: checkout, want: map[string]string{}, notes: findNotes(t, checkout)}
	read := readVault(t, checkout)
	o.acceptProposal(newKey(t, a, identity.KeySpec{Name: "scribe", Actor: access.AI, MaxRole: access.RoleGM, Advisory: true}))
	o.editNotes(50)
	export(t, a, checkout, access.RoleGM)
	checkDiff(t, checkout, o.want)
	checkPlayers(t, a, read, vaultFiles(t, checkout), isSample)
	return sum.Files
}

func newKey(t *testing.T, a *app.App, spec identity.KeySpec) string {
	t.Helper()
	spec.Subject = access.Subject(spec.Name)
	key, _, err := a.CreateKey(t.Context(), spec, []string{worldName})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func export(t *testing.T, a *app.App, dir string, role access.Role) {
	t.Helper()
	sum, err := a.Export(t.Context(), "markdown", worldName, dir, role, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range sum.Problems {
		t.Logf("export as %s: %s", role, p)
	}
}

// checkUntouched checks that an export changed at most one note in a thousand.
func checkUntouched(t *testing.T, checkout string, before map[string]string, notes int) {
	t.Helper()
	var differ []string
	for p, is := range vaultFiles(t, checkout) {
		if was, ok := before[p]; !ok || was != is {
			differ = append(differ, p)
		}
		delete(before, p)
	}
	for p := range before {
		differ = append(differ, p)
	}
	t.Logf("%d notes, %d files differ after an export of the untouched world", notes, len(differ))
	if 1000*len(differ) > notes {
		t.Errorf("files differ: %.2000q", differ)
	}
}

// acceptProposal lets an agent propose an edit, and accepts it.
func (o *owner) acceptProposal(agent string) {
	o.t.Helper()
	var c change
	var text string
	for ok := false; !ok; {
		c, text, ok = o.drawChange(draw(o.r, o.notes))
	}
	args := c.body()
	args["name"] = c.card
	in, err := json.Marshal(map[string]any{"op": map[string]any{"name": "update_card", "arguments": args}, "reason": "It was heard."})
	if err != nil {
		o.t.Fatal(err)
	}
	var made struct{ ProposalID, ExpectedHash string }
	send := func(method, path, key, body string) {
		o.t.Helper()
		status, answer := apptest.Send(o.t, method, o.url+"/api/proposals"+path, key, body)
		if status/100 != 2 || json.Unmarshal(answer, &made) != nil {
			o.t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
	}
	send(http.MethodPost, "/canon-change", agent, string(in))
	send(http.MethodGet, "/"+made.ProposalID, o.key, "")
	send(http.MethodPost, "/"+made.ProposalID+"/approve", o.key,
		fmt.Sprintf(`{"proposalId":%q,"expectedHash":%q}`, made.ProposalID, made.ExpectedHash))
	o.want[c.file] = c.applyToFile(text)
}

// checkDiff checks that git sees the wanted changes and nothing else.
func checkDiff(t *testing.T, checkout string, want map[string]string) {
	t.Helper()
	for file := range strings.SplitSeq(git(t, checkout, "diff", "--name-only", "-z"), "\x00") {
		if _, ok := want[file]; !ok && file != "" {
			t.Errorf("git diff shows %s:\n%.2000s", file, git(t, checkout, "diff", "--", file))
		}
	}
	for line := range strings.Lines(git(t, checkout, "status", "--porcelain", "--untracked-files=all")) {
		if strings.HasPrefix(line, "?? ") && line != "?? .loregate-export\n" && line != "?? .loregate/vault.json\n" {
			t.Errorf("git status shows %s", line)
		}
	}
	for file, text := range want {
		is, err := os.ReadFile(filepath.Join(checkout, filepath.FromSlash(file)))
		if err != nil || string(is) != text {
			t.Errorf("%s is not as its owner edited it (%v):\n%.3000s", file, err, git(t, checkout, "diff", "--", file))
		}
	}
	t.Logf("%d notes were edited", len(want))
}

// checkPlayers checks that the export for players contains no line that the vault hides and, if exact is
// true, all lines of texts that it shows. files are the vault's files of now.
func checkPlayers(t *testing.T, a *app.App, vault *reading, files map[string]string, exact bool) {
	t.Helper()
	out := t.TempDir()
	export(t, a, out, access.RoleUser)
	seen, now := newHaystack(joinFiles(vaultFiles(t, out))), newHaystack(joinFiles(files))
	hidden, leaks := vault.uniqueHidden(), 0
	for _, line := range hidden {
		if seen.contains(line) {
			if leaks++; leaks < 20 {
				t.Errorf("players read %q", line)
			}
		}
	}
	missing := 0
	for _, line := range vault.texts {
		if isLong(line) && !seen.contains(line) && now.contains(line) {
			if missing++; exact && missing < 20 {
				t.Errorf("players do not read %q", line)
			}
		}
	}
	t.Logf("%d files, %d hidden lines, %d of them leaked, %d of %d open lines are not shown", len(files), len(hidden), leaks,
		missing, len(vault.texts))
}

func joinFiles(files map[string]string) string {
	var b strings.Builder
	for p, text := range files {
		b.WriteString(p + "\n" + text + "\n")
	}
	return b.String()
}
