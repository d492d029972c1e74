package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/archive"
	"loregate/internal/canon"
	"loregate/internal/exchange/native"
	"loregate/internal/fault"
	"loregate/internal/proposal"
	"loregate/internal/sandbox"
	"loregate/internal/usage"
)

// Doctor checks everything that a person could have configured wrong, prints the effective
// settings, and returns an error if something needs mending. url, if not "", is a running server to
// try with the key in LOREGATE_KEY.
func Doctor(ctx context.Context, c Config, version, url string, out io.Writer) error {
	d := &doctor{out: out, advice: repairAdvice(c)}
	d.printCheck("version", nil, "%s", version)
	d.printCheck("address", c.mayListen(), "%s", c.Addr)
	d.printSettings(c)
	d.printCheck("outside programs", nil, "%s", sandbox.Measure())
	d.checkModel(ctx, c.Model)
	a, err := Open(ctx, c, Options{Version: version, Existing: true})
	d.printCheck("store", explainOpenError(err), "%s opens", c.Where())
	if err == nil {
		d.checkDatabaseAndDisks(ctx, a)
		d.checkStore(ctx, a)
		a.Close(context.WithoutCancel(ctx))
	}
	if url != "" {
		d.checkServer(ctx, url)
	}
	if d.bad > 0 {
		return fmt.Errorf("%d checks failed; they are marked BAD", d.bad)
	}
	return nil
}

type doctor struct {
	out    io.Writer
	found  []archive.Finding
	bad    int
	advice string // for a damaged store
}

// repairAdvice returns the advice for a person whose store is damaged.
func repairAdvice(c Config) string {
	if c.Database != "" {
		return "restore a backup"
	}
	return "stop the server and run loregate repair --data " + c.Data +
		", which keeps the damaged files, or restore a backup"
}

func (d *doctor) printCheck(title string, err error, format string, args ...any) {
	mark, text := "ok ", fmt.Sprintf(format, args...)
	if err != nil {
		d.bad++
		mark, text = "BAD", strings.Join(strings.Fields(err.Error()), " ")
	}
	d.found = append(d.found, archive.Finding{Check: title, Good: err == nil, Text: text})
	fmt.Fprintf(d.out, "%s  %-20s %s\n", mark, title, text)
}

func (d *doctor) printSettings(c Config) {
	_ = eachSetting(&c, func(s setting) error { // the callback never fails
		value := mask(s.value.Interface())
		if value != "" {
			fmt.Fprintf(d.out, "     %-26s %s\n", s.path, value)
		}
		return nil
	})
}

func (d *doctor) checkStore(ctx context.Context, a *App) {
	faults, err := a.store.Verify(ctx)
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("%d faults, the first: %s; %s", len(faults), faults[0], d.advice)
	}
	d.printCheck("store is sound", err, "no faults")
	against, err := a.Config.Witness.written()
	if a.Config.Witness.Folder != "" {
		d.printCheck("witness", err, "statements in %s", against)
	}
	report, err := a.Verify(ctx, against)
	if isBroken(err) && len(canon.BrokenIn(err)) == 0 {
		err = fmt.Errorf("%w; %s", err, d.advice)
	}
	d.printCheck("chains", err, "whole")
	for line := range strings.Lines(report) {
		fmt.Fprint(d.out, "     ", line)
	}
	if size, err := a.store.Size(ctx); err == nil {
		d.printCheck("size", nil, "%s", size)
	}
	worlds, err := a.Canon.Worlds(ctx)
	d.printCheck("worlds", err, "%d", len(worlds))
	for _, w := range worlds {
		d.reportAgents(ctx, a, w)
		d.checkMarked(ctx, a, w)
	}
	keys, err := a.Identity.Keys(ctx)
	good := 0
	for _, k := range keys {
		if k.Good(time.Now()) {
			good++
		}
	}
	d.printCheck("keys", err, "%d accepted of %d", good, len(keys))
}

// reportAgents prints the kinds that agents may propose in a world without asking a person, and the
// standing approvals.
func (d *doctor) reportAgents(ctx context.Context, a *App, w canon.World) {
	without := "waits for a person"
	if kinds := proposal.Unproven(w.Settings); len(kinds) > 0 {
		without += ", but for " + strings.Join(kinds, ", ")
	}
	if how := generateOf(w.Settings); how != generateOff {
		without += "; places behind pending exits: " + how
	}
	d.printCheck("agents in "+w.Slug, nil,
		"a proposal that cites a context is judged by the gates; one that cites none %s", without)
	d.reportRecall(ctx, a, w)
	err := a.runAsOperator(ctx, w.ID, "list_standing", access.Read, func(g access.Grant) error {
		lines, err := a.Proposals.StandingLines(ctx, g)
		for _, line := range lines {
			fmt.Fprintf(d.out, "     standing approval: %s\n", line)
		}
		return err
	})
	if err != nil {
		d.printCheck("standing approvals", err, "")
	}
}

// checkMarked reports the number of cards with marked texts that players read, because they were written before marks
// hid.
func (d *doctor) checkMarked(ctx context.Context, a *App, w canon.World) {
	n := 0
	err := a.runAsOperator(ctx, w.ID, canon.OpHideMarked, access.Read, func(g access.Grant) error {
		return a.Canon.Read(ctx, g, func(l *canon.Snapshot) (err error) {
			n, err = archive.CountMarked(ctx, l, readMemories)
			return err
		})
	})
	if err == nil && n > 0 {
		err = fmt.Errorf("%d cards have secrets that were written before marks hid: list them with loregate call "+
			"hide_marked '{\"dry_run\": true}' --world %s, and hide them with loregate call hide_marked --world %s", n, w.Slug,
			w.Slug)
	}
	d.printCheck("marks in "+w.Slug, err, "every mark hides its text")
}

// readMemories reads the memories of imports for the surface archive.
func readMemories(ctx context.Context, l *canon.Snapshot) (archive.ImportMemory, error) {
	return native.ReadFormer(ctx, l)
}

// reportRecall prints the recall of vectors that was sampled while they were made, if there are any.
func (d *doctor) reportRecall(ctx context.Context, a *App, w canon.World) {
	if a.vectors == nil {
		return
	}
	var total usage.Group
	err := a.runAsOperator(ctx, w.ID, "read_usage", access.Read, func(g access.Grant) (err error) {
		total, _, err = a.usage.Aggregate(ctx, g, usage.Query{Purpose: "retrieval"})
		return err
	})
	text := "not sampled yet; serve samples it while it makes vectors"
	if total.RecallSamples > 0 {
		text = fmt.Sprintf("%.1f%% of the ten nearest texts, in %d samples", 100*total.RecallMean, total.RecallSamples)
	}
	d.printCheck("recall in "+w.Slug, err, "%s", text)
}

// AskReady returns an error if a running server does not accept calls.
func AskReady(ctx context.Context, url string) error {
	return (&doctor{out: io.Discard}).get(ctx, strings.TrimSuffix(url, "/")+"/readyz", "")
}

// checkServer tries a running server as a client would.
func (d *doctor) checkServer(ctx context.Context, url string) {
	d.printCheck("server answers", d.get(ctx, url+"/readyz", ""), "%s", url)
	key := os.Getenv("LOREGATE_KEY")
	if key == "" {
		d.printCheck("key", errors.New("LOREGATE_KEY is not set"), "")
		return
	}
	d.printCheck("key", d.get(ctx, url+"/api/mcp/types", key), "is accepted")
}

func (d *doctor) get(ctx context.Context, url, key string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return nil
	}
	var body fault.Envelope
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<16)).Decode(&body); err != nil || body.Error.Message == "" {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	return fmt.Errorf("%s answers %s: %s", url, res.Status, body.Error.Message)
}
