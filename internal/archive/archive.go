package archive

import (
	"context"
	"errors"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/job"
	"loregate/internal/op"
)

// Surface is the name of this surface.
const Surface = "archive"

// Config configures the surface. Canon is required. Without Jobs there is no spoiler scan and no
// backup; without Backup and Data there is no backup.
type Config struct {
	Canon  *canon.Canon
	Jobs   *job.Runner
	Backup Backuper
	Data   string      // folder of the instance; backups are written to its folder "backups"
	Tags   op.ReadTags // tags of cards and files that were read; processes on one store share their key
	Fetch  []string    // hosts that files are fetched from; none by default
}

// deps holds the dependencies of the operations.
type deps struct {
	canon  *canon.Canon
	jobs   *job.Runner // nil: no jobs
	backup Backuper    // nil: no backups
	data   string
	tags   op.ReadTags

	fetcher *fetcher
}

// New returns the surface.
func New(c Config) (op.Surface, error) {
	if c.Canon == nil {
		return op.Surface{}, errors.New("archive: a Canon is needed")
	}
	d := &deps{canon: c.Canon, jobs: c.Jobs, backup: c.Backup, data: c.Data, tags: c.Tags, fetcher: newFetcher(c.Fetch)}
	return op.Surface{
		Name:       Surface,
		Title:      "Archive",
		Doc:        "The card wiki: find, read, write, query and render cards, with their history.",
		Operations: append(readOperations(d), writeOperations(d)...),
		Resources:  newResources(d),
		Prompts:    newPrompts(d),
	}, nil
}

// readOperations returns the operations that change nothing.
func readOperations(d *deps) []*op.Operation {
	var all []*op.Operation
	for _, area := range []func(*deps) []*op.Operation{
		cardReads, searchReads, childReads, textReads, historyReads, feedReads, relationReads, tagReads,
		queryReads, renderReads, typeReads, fileReads, connectorReads, statsReads,
	} {
		all = append(all, area(d)...)
	}
	return all
}

// defineRead declares an operation that changes nothing. Its handler gets a snapshot of the call's
// world that shows only the cards visible to the caller. MinRole is the user role unless s has a
// higher one.
func defineRead[In, Out any](d *deps, s op.Spec,
	handle func(ctx context.Context, l *canon.Snapshot, c *op.Call, in In) (Out, error)) *op.Operation {
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
