package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/slicesx"
)

// loadCard loads the card named by a call as the audience may read it, and adds it to the run's
// sources.
func (x *executor) loadCard(ctx context.Context, w *Work) error {
	in, err := readRaw[struct {
		Card string `json:"card"`
	}](w.Input)
	if err != nil || in.Card == "" {
		return err
	}
	return x.canon.Read(ctx, x.reader, func(snap *canon.Snapshot) error {
		c, err := findBuildable(ctx, snap, in.Card)
		if err != nil {
			return err
		}
		content, err := snap.Content(ctx, c)
		if err != nil {
			return err
		}
		var fields struct {
			Terrain string `json:"terrain"`
		}
		if c.Fields != nil {
			_ = json.Unmarshal(c.Fields, &fields) // a terrain that is not a string is ignored
		}
		w.Card = &Card{ID: c.ID.String(), Name: c.Name, Type: c.Type, Text: canon.PlainText(c.TextKind(), content), Terrain: fields.Terrain,
			Version: c.Version(snap.View())}
		w.run.Sources = append(w.run.Sources, Source{Card: w.Card.ID, Name: c.Name, Version: w.Card.Version})
		return nil
	})
}

// reference matches a call's reference to a result of an earlier step: $2.manifest, or
// $last.manifest for the step just before.
var reference = lazyregexp.New(`^\$(last|[1-9][0-9]?)\.([a-z_]+)$`)

// resolveRefs replaces references by the results of earlier steps.
func (x *executor) resolveRefs(input raw) (raw, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil {
		return nil, Fail(Validation, "the input is not an object")
	}
	found := false
	for name, v := range fields {
		var text string
		if json.Unmarshal(v, &text) != nil {
			continue
		}
		m := reference.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		value, err := x.stepResult(m[1], m[2])
		if err != nil {
			return nil, Fail(Validation, "%s: %s: %v", name, text, err)
		}
		fields[name], found = value, true
	}
	if !found {
		return input, nil
	}
	return json.Marshal(fields)
}

func (x *executor) stepResult(step, field string) (json.RawMessage, error) {
	n := len(x.run.Steps)
	if step != "last" {
		n, _ = strconv.Atoi(step) // the pattern matches only digits
	}
	if n < 1 || n > len(x.run.Steps) {
		return nil, fmt.Errorf("there is no step %s before this one", step)
	}
	var result map[string]json.RawMessage
	if err := json.Unmarshal(x.run.Steps[n-1].Result, &result); err != nil || result[field] == nil {
		return nil, fmt.Errorf("step %d gave no %s", n, field)
	}
	return result[field], nil
}

// undoOnTargets undoes a run on every target that it changed.
func (x *executor) undoOnTargets(ctx context.Context) error {
	for _, name := range x.order {
		txn := x.txns[name]
		before, err := txn.Digest(ctx)
		if err != nil {
			return err
		}
		x.run.Steps = append(x.run.Steps, Step{Tool: "undo_run", Version: "1.0.0", Target: txn.Info(), Before: before,
			Made: []string{}})
		if err := txn.Undo(ctx, x.run.Undoes); err != nil {
			return err
		}
		if x.run.Steps[len(x.run.Steps)-1].After, err = txn.Digest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// optionFields are the input fields that control the call and do not describe its content.
var optionFields = []string{"dry_run", "request_id", "timeout_s", "protocol_version", "confirm", "idempotency_key",
	"world"}

// canonicalInput returns an input without its option fields as canonical JSON, and the hash of the
// tool's name and that JSON.
func canonicalInput(tool string, input []byte) (raw, blob.Sum, error) {
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(string(input)))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, blob.Sum{}, Fail(Validation, "the input is not an object")
	}
	for _, name := range optionFields {
		delete(fields, name)
	}
	b, err := json.Marshal(fields) // sorts the names
	return b, blob.SumOf(fmt.Appendf(nil, "%s\x00%s", tool, b)), err
}

// Stale is a run that was built from a card that has changed since.
type Stale struct {
	Run       string   `json:"run_id"`
	Tool      string   `json:"tool_name"`
	Card      string   `json:"card"`
	Was       uint32   `json:"built_from_version"`
	Is        uint32   `json:"current_version" jsonschema:"0: the card was deleted, or the audience cannot see it."`
	Artifacts []string `json:"artifacts" jsonschema:"Artifacts of the run, as name and id."`
}

// findStale compares the cards that runs were built from with their current versions, each as the
// run's audience reads it. Undone runs are left out.
func (s *Studio) findStale(ctx context.Context, g access.Grant) ([]Stale, error) {
	b, err := s.lockBook(ctx, g)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, id := range b.order {
		e := b.runs[id]
		if e.run.Status == "ok" && len(e.run.Sources) > 0 && e.audience <= g.View().Level && b.undone[id.String()] == "" {
			runs = append(runs, e.run)
		}
	}
	b.mu.Unlock()
	list := []Stale{}
	err = s.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		for _, run := range runs {
			level, _ := access.ParseLevel(run.Audience)
			for _, src := range run.Sources {
				now, err := currentVersion(ctx, snap.As(level), src)
				if err != nil {
					return err
				}
				if now != src.Version {
					list = append(list, Stale{Run: run.ID.String(), Tool: run.Tool, Card: src.Name, Was: src.Version, Is: now,
						Artifacts: artifactNames(run)})
				}
			}
		}
		return nil
	})
	return list, err
}

func currentVersion(ctx context.Context, snap *canon.Snapshot, src Source) (uint32, error) {
	c, ok, err := snap.Exists(ctx, "~"+src.Card)
	if err != nil || !ok {
		return 0, err
	}
	return c.Version(snap.View()), nil
}

func artifactNames(run Run) []string {
	return slicesx.Map(run.Artifacts, func(a Artifact) string { return a.Name + " " + a.ID })
}
