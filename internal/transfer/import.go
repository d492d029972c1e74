package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/op"
)

func importOps(d *deps) []*op.Operation {
	declare := func(s op.Spec) op.Spec {
		s.Surfaces, s.NoTool, s.People, s.MinRole = []string{Surface}, true, true, access.RoleGM
		return s
	}
	return []*op.Operation{
		op.Define(declare(op.Spec{
			Name: "check_import", Title: "Check an import", Effect: access.Write,
			Route: "POST /api/imports", Status: 202, BodyLimit: maxSource, Spooled: true,
			Doc: "Send a file or an archive of at most 64 MiB, or choose differently about one that you sent, and learn " +
				"what an import would change. Nothing changes in the world. The files wait for a day; each person has " +
				"one source in each world.",
			Examples: []op.Example{{Title: "A table with one card",
				Input: `{"filename": "inns.csv", "data": "bmFtZSx0ZXh0ClRoZSBGbG9hdCxBbiBpbm4gb24gYSBiYXJnZS4K"}`}},
		}), d.checkImport),
		op.Define(declare(op.Spec{
			Name: "get_import", Title: "Get an import", Effect: access.Read, Route: "GET /api/imports/{id}",
			Doc: "Get the state, progress and report of an import or of its check.",
		}), d.getImport),
		op.Define(declare(op.Spec{
			Name: "carry_out_import", Title: "Carry out a checked import", Effect: access.Write,
			Route: "POST /api/imports/{id}", Status: 202,
			Doc: "Import the files of a check, with its choices. If the check would now give another report, " +
				"nothing is changed.",
		}), d.carryOut),
	}
}

// Kinds of jobs.
const (
	checkKind  = "check_import"
	importKind = "import"
)

// patience is the time for which a call waits for its job: small sources are done by then.
const patience = 2 * time.Second

type checkIn struct {
	Data      []byte   `json:"data,omitzero" jsonschema:"The file, as base64; a zip for a folder. Leave it out to choose differently about the files that you sent."`
	FileName  string   `json:"filename,omitzero" maxlen:"255" jsonschema:"Name of the file; formats are recognized by its ending."`
	Format    string   `json:"format,omitzero" maxlen:"40" jsonschema:"Format; without it, it is recognized."`
	Level     string   `json:"level,omitzero" enum:"user,gm,admin" jsonschema:"Lowest level of the cards; default user, and each card that the files hide stays hidden."`
	Open      []string `json:"open,omitzero" maxitems:"2000" maxlen:"1000" jsonschema:"Suspicions that players may see."`
	Confirm   []string `json:"confirm,omitzero" maxitems:"2000" maxlen:"1000" jsonschema:"Suspicions that are secrets."`
	Links     []string `json:"links,omitzero" maxitems:"2000" maxlen:"2000" jsonschema:"The notes that links mean which fit several, each as TARGET=NOTE."`
	HideLinks bool     `json:"hide_links,omitzero" jsonschema:"Turn links to hidden cards in texts for players into plain words."`
}

type idIn struct {
	ID string `json:"id" minlen:"1" maxlen:"64" jsonschema:"Id of the check or import."`
}

type importOut struct {
	ID      string  `json:"id"`
	Kind    string  `json:"kind" enum:"check_import,import"`
	Status  string  `json:"status" enum:"queued,running,completed,failed,cancelled"`
	Done    int     `json:"done" jsonschema:"Steps that are done; 0 on another process than the job's."`
	Total   int     `json:"total" jsonschema:"Steps in all; 0 if that is unknown."`
	Message string  `json:"message,omitzero" jsonschema:"Why it failed or was cancelled."`
	File    string  `json:"file,omitzero" jsonschema:"Name of the file."`
	Choices Choices `json:"choices" jsonschema:"The choices that it was made with."`
	Report  *report `json:"report,omitzero" jsonschema:"If it failed: the report of the check before it, to choose again."`
}

// outcome is the result of a job.
type outcome struct {
	Source  string  `json:"source"` // SHA-256 of the file
	File    string  `json:"file"`
	Choices Choices `json:"choices"`
	Report  report  `json:"report"`
}

func (d *deps) checkImport(ctx context.Context, c *op.Call, in checkIn) (importOut, error) {
	source := sourceOf(c.Grant)
	last, release, err := d.takeSource(ctx, c.Grant)
	if err != nil {
		return importOut{}, err
	}
	defer release()
	sent := c.Upload != nil && c.Upload.Size() > 0
	if sent {
		name, err := cleanName(in.FileName)
		if err != nil {
			return importOut{}, err
		}
		if err := d.staging.put(source, name, c.Upload.Open()); err != nil {
			return importOut{}, err
		}
	}
	_, sum, err := d.staging.findFile(source)
	if err != nil {
		return importOut{}, err
	}
	// An empty list is no choice, like none.
	choices := Choices{in.Format, in.Level, append([]string(nil), in.Open...), append([]string(nil), in.Confirm...),
		in.HideLinks, append([]string(nil), in.Links...)}
	if !sent && last != nil && last.Kind == checkKind && last.State == job.Completed {
		// The same files with the same choices: the answer stands until an import finds that it does not.
		if done, err := decodeOutcome(*last); err != nil || done.Source == sum && sameJSON(done.Choices, choices) {
			return d.replyWith(c, *last, err)
		}
	}
	before := lastReport(last, sum)
	return d.start(ctx, c, checkKind, func(ctx context.Context) (any, error) {
		out, err := d.dryRun(ctx, c.Grant, choices)
		if err != nil { // the choices are kept, and the questions that they answer
			out.Report = before
			return job.Kept{Result: out}, err
		}
		return out, nil
	})
}

// lastReport returns the report of the caller's last check or import, if it was of the same file.
func lastReport(last *job.Job, sum string) report {
	if last == nil || len(last.Result) == 0 {
		return report{}
	}
	if done, err := decodeOutcome(*last); err == nil && done.Source == sum {
		return done.Report
	}
	return report{}
}

// cleanName returns a file's name without its folders.
func cleanName(name string) (string, error) {
	name = filepath.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == ".." || name == "/" || strings.ContainsFunc(name, unicode.IsControl) {
		return "", fault.BadField("filename", "must be the name of the file, such as notes.zip")
	}
	return name, nil
}

// start starts a job of a kind on the caller's source.
func (d *deps) start(ctx context.Context, c *op.Call, kind string, work job.Work) (importOut, error) {
	source := sourceOf(c.Grant)
	j, err := d.Jobs.Start(ctx, c.Grant, kind, patience, func(ctx context.Context) (any, error) {
		defer d.progress.removeSteps(source)
		out, err := work(ctx)
		if errors.Is(err, fault.TooLarge) {
			// To try again would be as much work; the files are sent again in parts.
			err = errors.Join(err, d.staging.removeSource(source))
		}
		return out, err
	})
	return d.replyWith(c, j, err)
}

// replyWith answers a call with a job.
func (d *deps) replyWith(c *op.Call, j job.Job, err error) (importOut, error) {
	if err != nil {
		return importOut{}, err
	}
	c.Reply.Location = "/api/imports/" + j.ID.String()
	return d.showJob(c.Grant, j)
}

// takeSource takes the caller's source for a call, until release is called. It refuses that while a job or another
// call works on the source; a source is on one process's disk, so no other process can. It returns the latest check
// or import of the caller in the world; nil if there is none.
func (d *deps) takeSource(ctx context.Context, g access.Grant) (last *job.Job, release func(), err error) {
	release, ok := d.sources.Take(sourceOf(g))
	if !ok {
		return nil, nil, fault.New(fault.Conflict, "another call of yours works on your files in this world: wait for "+
			"its answer")
	}
	list, err := d.Jobs.List(ctx, g, job.List{Mine: true, Kinds: []string{checkKind, importKind}, Limit: 1})
	if err == nil && len(list) > 0 {
		if last = &list[0]; !last.Done() {
			err = fault.New(fault.Conflict, "your files in this world are being worked on already (%s, %s): wait for it "+
				"with get_import, or cancel it with cancel_job", last.Kind, last.State).With("job_id", last.ID.String())
		}
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return last, release, nil
}

// dryRun imports the caller's source without a change.
func (d *deps) dryRun(ctx context.Context, g access.Grant, choices Choices) (outcome, error) {
	return d.run(ctx, g.DryRun(), choices)
}

func (d *deps) run(ctx context.Context, g access.Grant, choices Choices) (out outcome, err error) {
	source := sourceOf(g)
	path, sum, err := d.staging.findFile(source)
	if err != nil {
		return out, err
	}
	s, err := d.World.ImportFile(
		ctx,
		g.Unkeyed(),
		path,
		choices,
		func(done, total int) { d.progress.set(source, done, total) },
	)
	return outcome{Source: sum, File: filepath.Base(path), Choices: choices, Report: reportOf(s)}, err
}

func (d *deps) getImport(ctx context.Context, c *op.Call, in idIn) (importOut, error) {
	j, err := d.findJob(ctx, c.Grant, in.ID)
	if err != nil {
		return importOut{}, err
	}
	return d.showJob(c.Grant, j)
}

// findJob returns a job that the caller started.
func (d *deps) findJob(ctx context.Context, g access.Grant, id string) (job.Job, error) {
	j, err := d.Jobs.Find(ctx, g, id)
	own := j.By == g.Caller().Subject && (j.Kind == checkKind || j.Kind == importKind)
	if err == nil && !own || fault.KindOf(err) == fault.NotFound {
		return j, fault.New(fault.NotFound, "you have no such import in this world; make one with check_import")
	}
	return j, err
}

func (d *deps) showJob(g access.Grant, j job.Job) (importOut, error) {
	out := importOut{ID: j.ID.String(), Kind: j.Kind, Status: string(j.State), Message: j.Problem}
	if !j.Done() {
		s := d.progress.get(sourceOf(g))
		out.Done, out.Total = s.Done, s.Total
	}
	if len(j.Result) == 0 {
		return out, nil
	}
	done, err := decodeOutcome(j)
	if out.File, out.Choices = done.File, done.Choices; j.State == job.Completed || done.Report.Files > 0 {
		out.Report = &done.Report
	}
	return out, err
}

func decodeOutcome(j job.Job) (out outcome, err error) {
	if err := json.Unmarshal(j.Result, &out); err != nil {
		return out, fmt.Errorf("transfer: result of job %s: %w", j.ID, err)
	}
	return out, nil
}

func (d *deps) carryOut(ctx context.Context, c *op.Call, in idIn) (importOut, error) {
	j, err := d.findJob(ctx, c.Grant, in.ID)
	if err != nil {
		return importOut{}, err
	}
	if j.Kind != checkKind || j.State != job.Completed {
		return importOut{}, fault.New(fault.Rule,
			"only a check that is complete can be carried out; make one with check_import").With("field", "id")
	}
	checked, err := decodeOutcome(j)
	if err != nil {
		return importOut{}, err
	}
	_, release, err := d.takeSource(ctx, c.Grant)
	if err != nil {
		return importOut{}, err
	}
	defer release()
	return d.start(ctx, c, importKind, func(ctx context.Context) (any, error) {
		out, err := d.importChecked(ctx, c.Grant, checked)
		if err != nil {
			return job.Kept{Result: checked}, err
		}
		return out, nil
	})
}

// importChecked imports a source if its dry run still gives the checked report. The source is removed then.
func (d *deps) importChecked(ctx context.Context, g access.Grant, checked outcome) (outcome, error) {
	now, err := d.dryRun(ctx, g, checked.Choices)
	if err != nil {
		return now, err
	}
	if !sameJSON(now, checked) {
		return now, fault.New(fault.Conflict, "the files or the world have changed since the check, so that other things "+
			"would happen; nothing was changed: check the import again")
	}
	done, err := d.run(ctx, g, checked.Choices)
	if err != nil {
		return done, err
	}
	return done, d.staging.removeSource(sourceOf(g))
}

// sameJSON compares parts of outcomes as they are stored: a job's result has gone through JSON.
func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && bytes.Equal(x, y)
}
