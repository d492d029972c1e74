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
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/proposal"
)

// Doctor checks everything that a person could have wrong, says what is in force, and
// ends with an error where something needs mending. url, when not "", is a running server
// to try with the key in LOREGATE_KEY.
func Doctor(ctx context.Context, c Config, version, url string, out io.Writer) error {
	d := &doctor{out: out, advice: repairAdvice(c)}
	d.say("version", nil, "%s", version)
	d.say("address", c.mayListen(), "%s", c.Addr)
	d.settings(c)
	d.model(ctx, c.Model)
	a, err := Open(ctx, c, Options{Version: version})
	d.say("store", opening(err), "%s opens", c.Where())
	if err == nil {
		d.places(ctx, a)
		d.store(ctx, a)
		a.Close(context.WithoutCancel(ctx))
	}
	if url != "" {
		d.server(ctx, url)
	}
	if d.bad > 0 {
		return fmt.Errorf("what is marked BAD needs mending: %d", d.bad)
	}
	return nil
}

type doctor struct {
	out    io.Writer
	bad    int
	advice string // what to do about a damaged store
}

// repairAdvice is what to do about a damaged store.
func repairAdvice(c Config) string {
	if c.Database != "" {
		return "restore a backup"
	}
	return "stop the server and run loregate repair --data " + c.Data + ", which keeps the damaged files, or restore a backup"
}

func (d *doctor) say(what string, err error, format string, args ...any) {
	mark, text := "ok ", fmt.Sprintf(format, args...)
	if err != nil {
		d.bad++
		mark, text = "BAD", strings.Join(strings.Fields(err.Error()), " ")
	}
	fmt.Fprintf(d.out, "%s  %-20s %s\n", mark, what, text)
}

func (d *doctor) settings(c Config) {
	_ = eachSetting(&c, func(s setting) error { // the callback never fails
		value := fmt.Sprint(s.value.Interface())
		if s.path == "database" && value != "" {
			value = redacted(value)
		}
		if strings.HasSuffix(s.path, "_key") && value != "" {
			value = "[set]"
		}
		if value != "" && value != "[]" {
			fmt.Fprintf(d.out, "     %-26s %s\n", s.path, value)
		}
		return nil
	})
}

func (d *doctor) store(ctx context.Context, a *App) {
	faults, err := a.store.Verify(ctx)
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("%d faults, the first: %s; %s", len(faults), faults[0], d.advice)
	}
	d.say("store is sound", err, "no faults")
	report, err := a.Verify(ctx)
	if isBroken(err) {
		err = fmt.Errorf("%w; %s", err, d.advice)
	}
	d.say("chains", err, "whole")
	if err == nil {
		for line := range strings.Lines(report) {
			fmt.Fprint(d.out, "     ", line)
		}
	}
	if size, err := a.store.Size(ctx); err == nil {
		d.say("size", nil, "%s", size)
	}
	worlds, err := a.Canon.Worlds(ctx)
	d.say("worlds", err, "%d", len(worlds))
	for _, w := range worlds {
		d.agents(ctx, a, w)
	}
	keys, err := a.Identity.Keys(ctx)
	good := 0
	for _, k := range keys {
		if k.Good(time.Now()) {
			good++
		}
	}
	d.say("keys", err, "%d good of %d", good, len(keys))
}

// agents says what agents' keys may propose in a world without being asked.
func (d *doctor) agents(ctx context.Context, a *App, w canon.World) {
	without := "waits for a person"
	if kinds := proposal.Unproven(w.Settings); len(kinds) > 0 {
		without += ", but for " + strings.Join(kinds, ", ")
	}
	d.say("agents in "+w.Slug, nil, "what cites a context is judged by the gates; what cites none %s", without)
	err := a.operate(ctx, w.ID, "list_standing", access.Read, func(g access.Grant) error {
		lines, err := a.Proposals.StandingLines(ctx, g)
		for _, line := range lines {
			fmt.Fprintf(d.out, "     standing approval: %s\n", line)
		}
		return err
	})
	if err != nil {
		d.say("standing approvals", err, "")
	}
}

// AskReady asks a running server whether it takes calls.
func AskReady(ctx context.Context, url string) error {
	return (&doctor{out: io.Discard}).get(ctx, strings.TrimSuffix(url, "/")+"/readyz", "")
}

// server tries a running server as a client would.
func (d *doctor) server(ctx context.Context, url string) {
	d.say("server answers", d.get(ctx, url+"/readyz", ""), "%s", url)
	key := os.Getenv("LOREGATE_KEY")
	if key == "" {
		d.say("key", errors.New("LOREGATE_KEY is not set"), "")
		return
	}
	d.say("key", d.get(ctx, url+"/api/mcp/types", key), "is accepted")
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
