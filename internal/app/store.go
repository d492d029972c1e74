package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/job"
	"loregate/internal/store/postgres"
	"loregate/internal/store/sqlite"
)

// StoreFile is the store's file in a data folder.
const StoreFile = "loregate.db"

// store is the storage of the whole product, in a data folder or in a database.
type store interface {
	canon.Store
	job.Store
	job.Deliveries
	access.SegmentStore
	access.SeenStore
	Identity() identity.Store
	// Secret returns the random bytes of that name, which all processes on the store share. The
	// first call stores fresh.
	Secret(ctx context.Context, name string, fresh []byte) ([]byte, error)
	Backup(ctx context.Context, path string) error
	// Verify returns every fault that the storage engine finds in its data; none if it is sound.
	Verify(ctx context.Context) (faults []string, err error)
	// Check reads the store in parts, while it is served, and returns every fault found. It calls
	// rest between parts.
	Check(ctx context.Context, rest func(took time.Duration)) (faults []string, err error)
	// Confined describes damage of which only some streams are affected: Check leaves it out, and the others can
	// be written. It is "" if there is none.
	Confined() string
	// MarkDamaged makes the store refuse writes because of the fault found.
	MarkDamaged(found string)
	// Writable returns the reason why writes are refused; nil if they are accepted.
	Writable(ctx context.Context) error
	// Size describes the size of the store in words.
	Size(ctx context.Context) (string, error)
}

// openStore opens the configured database, or the store in the data folder. Of the
// options it uses Command, Existing, Damaged and Logger.
func openStore(ctx context.Context, c Config, o Options) (store, error) {
	if c.Database == "" {
		if err := errRepairing(c.Data); err != nil {
			return nil, err
		}
		if o.Existing && !fileExists(filepath.Join(c.Data, StoreFile)) {
			return nil, fault.New(fault.Invalid, "there is no store in %s: name its folder with --data or LOREGATE_DATA, or its "+
				"database with LOREGATE_DATABASE; loregate serve makes a new store", c.Data)
		}
		settings := sqlite.Config{Path: filepath.Join(c.Data, StoreFile), CacheKiB: c.pageCacheKiB(), Log: o.Logger}
		if o.Damaged {
			settings.Check = -1
		}
		s, err := sqlite.Open(ctx, settings)
		if errors.Is(err, canon.ErrDamaged) && !o.Damaged {
			return nil, nameLostWorlds(ctx, c, err)
		}
		if err != nil {
			return nil, err
		}
		return embedded{s}, nil
	}
	p := c.postgresConfig()
	p.Log, p.Existing = o.Logger, o.Existing
	s, err := postgres.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(c.Databases) > 0 {
		return openPlaced(ctx, c, s, o)
	}
	if err := checkAllHere(ctx, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return shared{s}, nil
}

// Where returns the location of the store for people, without a password.
func (c Config) Where() string {
	if c.Database == "" {
		return c.Data
	}
	return maskAddress(c.Database)
}

// isDatabase reports whether address is the address of a database and not a folder.
func isDatabase(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// embedded is the store in a data folder.
type embedded struct{ *sqlite.Store }

func (e embedded) Size(ctx context.Context) (string, error) {
	s, err := e.Stats(ctx)
	return fmt.Sprintf("%d MB, %d MB of it free, %d MB in the log; %d MB of access records", s.FileBytes>>20,
		s.FreeBytes>>20, s.WALBytes>>20, s.RecordBytes>>20), err
}

// shared is the store in PostgreSQL, which several processes share.
type shared struct{ *postgres.Store }

func (s shared) Size(ctx context.Context) (string, error) {
	st, err := s.Stats(ctx)
	return fmt.Sprintf("%d MB, %d connections of this process", st.Bytes>>20, st.Conns), err
}
