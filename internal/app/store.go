package app

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/job"
	"loregate/internal/store/postgres"
	"loregate/internal/store/sqlite"
)

// StoreFile is the store's file in a data folder.
const StoreFile = "loregate.db"

// store is what keeps all that the product knows, wherever that is.
type store interface {
	canon.Store
	job.Store
	job.Deliveries
	access.SegmentStore
	Identity() identity.Store
	// Secret gives random bytes that every process on the store shares, by name.
	Secret(ctx context.Context, name string, fresh []byte) ([]byte, error)
	Backup(ctx context.Context, path string) error
	// Verify gives every fault that the engine finds in itself; none is soundness.
	Verify(ctx context.Context) (faults []string, err error)
	// Check reads the store in parts, beside what is served, and gives every fault found.
	Check(ctx context.Context, rest func(took time.Duration)) (faults []string, err error)
	// MarkDamaged has the store refuse writes, for a fault that was found.
	MarkDamaged(found string)
	// Writable tells why writes are refused; nil where they are taken.
	Writable(ctx context.Context) error
	// Size says in words how much is kept.
	Size(ctx context.Context) (string, error)
}

// openStore opens the database that is configured, or the store in the data folder.
func openStore(ctx context.Context, c Config) (store, error) {
	if c.Database == "" {
		if err := errRepairing(c.Data); err != nil {
			return nil, err
		}
		s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(c.Data, StoreFile), CacheKiB: c.caches()})
		if err != nil {
			return nil, err
		}
		return embedded{s}, nil
	}
	s, err := postgres.Open(ctx, c.postgres())
	if err != nil {
		return nil, err
	}
	return shared{s}, nil
}

// Where is where a configuration's store is, for people: without a password.
func (c Config) Where() string {
	if c.Database == "" {
		return c.Data
	}
	return redacted(c.Database)
}

func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" && u.Path == "" && u.Opaque == "" || !isDatabase(address) {
		return "a PostgreSQL database"
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// isDatabase tells the address of a database from a folder.
func isDatabase(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// embedded is the store in a data folder.
type embedded struct{ *sqlite.Store }

func (e embedded) Size(ctx context.Context) (string, error) {
	s, err := e.Stats(ctx)
	return fmt.Sprintf("%d MB, %d MB of it free, %d MB in the log; %d MB of access records", s.FileBytes>>20, s.FreeBytes>>20, s.WALBytes>>20, s.RecordBytes>>20), err
}

// shared is the store that several processes share.
type shared struct{ *postgres.Store }

func (s shared) Size(ctx context.Context) (string, error) {
	st, err := s.Stats(ctx)
	return fmt.Sprintf("%d MB, %d connections of this process", st.Bytes>>20, st.Conns), err
}
