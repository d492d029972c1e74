// Package archive is the card wiki: reading, searching, listing, history, rendering and
// queries of cards, and the operations that write them.
//
// Its invariant: everything is read through one canon.Snapshot of the call's grant, so that
// what a caller may not see is absent from every answer, count, order and rendering; the
// one exception is a name that the world's name rules give away by itself (see gate).
// Who may see what is the canon's matter, text is markup's, and how calls travel is the
// transports'.
package archive

import (
	"context"
	"errors"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/job"
	"loregate/internal/op"
)

// Surface is the surface's name.
const Surface = "archive"

// Config is what the surface is made of. Canon is needed. Without Jobs there is no
// spoiler scan and no backup, without Backup and Data no backup.
type Config struct {
	Canon  *canon.Canon
	Jobs   *job.Runner
	Backup Backuper
	Data   string      // folder of the instance; backups are put into its folder "backups"
	Tags   op.ReadTags // of what was read; processes on one store share their key
	Fetch  []string    // hosts that files are fetched from; none by default
}

// deps is what operations work with.
type deps struct {
	canon  *canon.Canon
	jobs   *job.Runner // nil: none
	backup Backuper    // nil: none
	data   string
	tags   op.ReadTags

	fetcher *fetcher
}

// New makes the surface.
func New(c Config) (op.Surface, error) {
	if c.Canon == nil {
		return op.Surface{}, errors.New("archive: a Canon is needed")
	}
	d := &deps{canon: c.Canon, jobs: c.Jobs, backup: c.Backup, data: c.Data, tags: c.Tags, fetcher: newFetcher(c.Fetch)}
	return op.Surface{
		Name:       Surface,
		Title:      "Archive",
		Doc:        "The card wiki: find, read, write, query and render cards, with their history.",
		Operations: append(reads(d), writes(d)...),
		Resources:  resources(d),
		Prompts:    prompts(d),
	}, nil
}

// reads are the operations that change nothing.
func reads(d *deps) []*op.Operation {
	var all []*op.Operation
	for _, area := range []func(*deps) []*op.Operation{
		cardReads, searchReads, childReads, textReads, historyReads, feedReads, relationReads, tagReads,
		queryReads, renderReads, typeReads, fileReads, connectorReads, statsReads,
	} {
		all = append(all, area(d)...)
	}
	return all
}

// read declares an operation that changes nothing. Its handler is given a snapshot of
// the call's world, seen as the caller may see it. Least is the user role unless s says
// otherwise.
func read[In, Out any](d *deps, s op.Spec, handle func(ctx context.Context, l *canon.Snapshot, c *op.Call, in In) (Out, error)) *op.Operation {
	s.Surfaces = []string{Surface}
	s.Effect = access.Read
	s.MinRole = max(s.MinRole, access.RoleUser)
	return op.Define(s, func(ctx context.Context, c *op.Call, in In) (out Out, err error) {
		err = d.canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
			out, err = handle(ctx, l, c, in)
			return err
		})
		return out, err
	})
}
