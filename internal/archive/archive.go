package archive

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"loregate/internal/canon"
	"loregate/internal/job"
	"loregate/internal/op"
	"loregate/internal/outbound"
	"loregate/internal/surface"
)

// Surface is the name of this surface.
const Surface = "archive"

// Config configures the surface. Canon is required. Without Jobs there is no spoiler scan and no
// backup; without Backup and Data there is no backup. Logger is slog.Default when nil.
type Config struct {
	Canon  *canon.Canon
	Jobs   *job.Runner
	Backup Backuper
	// Instance is checked for its operator; nil for none.
	Instance Instance
	Data     string           // folder of the instance; backups are written to its folder "backups"
	Tags     op.ReadTags      // tags of cards and files that were read; processes on one store share their key
	Fetch    []string         // hosts that files are fetched from; none by default
	Outbound *outbound.Client // fetches them
	Logger   *slog.Logger
	// IsMemory reports whether a card holds the memory of an import; nil: none does.
	IsMemory func(canon.Card) bool
	// Memories reads the memories of imports; nil: there are none.
	Memories func(context.Context, *canon.Snapshot) (ImportMemory, error)
	// HoldsMarks reports whether a file of text holds marks of secrets; nil: none is asked about.
	HoldsMarks func(name string, data []byte) bool
}

// deps holds the dependencies of the operations.
type deps struct {
	surface.Kit
	jobs   *job.Runner // nil: no jobs
	backup Backuper    // nil: no backups
	data   string
	tags   op.ReadTags

	instance Instance // nil: no health
	logger   *slog.Logger
	isMemory func(canon.Card) bool
	memories func(context.Context, *canon.Snapshot) (ImportMemory, error)
	marked   func(name string, data []byte) bool
	fetcher  *fetcher
	forms    *formCache
	sizes    *sizeCache
}

// New returns the surface.
func New(c Config) (op.Surface, error) {
	if c.Canon == nil {
		return op.Surface{}, errors.New("archive: a Canon is needed")
	}
	forms, err := newFormCache()
	if err != nil {
		return op.Surface{}, err
	}
	sizes, err := newSizeCache()
	if err != nil {
		return op.Surface{}, err
	}
	d := &deps{Kit: surface.Kit{Name: Surface, Canon: c.Canon}, jobs: c.Jobs, backup: c.Backup, data: c.Data, tags: c.Tags,
		logger: cmp.Or(c.Logger, slog.Default()), fetcher: &fetcher{c.Fetch, c.Outbound}, forms: forms,
		instance: c.Instance, sizes: sizes, isMemory: c.IsMemory, memories: c.Memories, marked: c.HoldsMarks}
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
		queryReads, renderReads, typeReads, fileReads, connectorReads, statsReads, stepReads,
	} {
		all = append(all, area(d)...)
	}
	return all
}
