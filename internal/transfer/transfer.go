package transfer

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/job"
	"loregate/internal/op"
)

// Surface is the name of the surface.
const Surface = "transfer"

// Choices are a person's decisions about an import.
type Choices struct {
	Format    string   `json:"format,omitzero"` // "" recognizes it
	Level     string   `json:"level,omitzero"`  // lowest level of the cards; "" is user
	Open      []string `json:"open,omitzero"`
	Confirm   []string `json:"confirm,omitzero"`
	HideLinks bool     `json:"hide_links,omitzero"`
	Links     []string `json:"links,omitzero"` // of links that fit several notes, as TARGET=NOTE
}

// World reads and writes the formats of package exchange.
type World interface {
	// ImportFile imports the file or archive at path into the grant's world. A grant of a dry run changes nothing.
	ImportFile(ctx context.Context, g access.Grant, path string, c Choices, progress func(done, total int)) (
		exchange.Summary, error)
	// ExportFiles writes the cards that the grant sees, as a role, to a new file or folder at path.
	ExportFiles(ctx context.Context, g access.Grant, format string, role access.Role, path string) error
}

// Config has the parts that the operations work on. All are needed.
type Config struct {
	World   World
	Jobs    *job.Runner
	Folder  string            // where sources wait
	Exports map[string]string // formats that can be exported, with the endings of those that are one file
	Now     func() time.Time
}

type deps struct {
	Config
	staging  staging
	progress progressTable
	sources  *access.Slots // one call works on a source
	exports  chan struct{} // a place for each export that may run
	worlds   *access.Slots // of exports; no world has all places
}

// New returns the surface.
func New(c Config) op.Surface {
	d := &deps{Config: c, staging: staging{folder: c.Folder, now: c.Now}, exports: make(chan struct{}, maxExports),
		sources: access.NewSlots(1), worlds: access.NewSlots(maxExports - 1)}
	s := op.Surface{Name: Surface, Title: "Import and export",
		Doc: "What would these files become, and who would see it? What does the world look like as files?"}
	s.Operations = append(importOps(d), exportOps(d)...)
	return s
}
