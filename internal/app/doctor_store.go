package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"loregate/internal/disk"
	"loregate/internal/store/placed"
	"loregate/internal/store/postgres"
)

// Pool holds the settings of connections to a PostgreSQL database.
type Pool struct {
	Connections      int           `yaml:"connections" default:"16" doc:"Highest number of connections from each process to the database, without the one that listens: at least 4. All processes together must stay below the server's max_connections."`
	StatementTimeout time.Duration `yaml:"statement_timeout" default:"30s" doc:"Time limit of one statement, after which the server cancels it."`
	WriteWait        time.Duration `yaml:"write_wait" default:"30s" doc:"Time that a write waits for writes of other processes, before it is refused and can be repeated."`
}

func (p Pool) validate() error {
	switch {
	case p.Connections != 0 && p.Connections < 4:
		return errors.New("pool.connections: set at least 4")
	case p.StatementTimeout < 0 || p.WriteWait < 0:
		return errors.New("pool: set statement_timeout and write_wait to more than 0s")
	}
	return nil
}

func (c Config) postgresConfig() postgres.Config {
	return postgres.Config{URL: c.Database, Direct: c.Direct, Standbys: c.Standbys, Conns: c.Pool.Connections,
		Timeout: c.Pool.StatementTimeout, Wait: c.Pool.WriteWait, Search: filepath.Join(c.Data, "search")}
}

// minFreeDisk is the free space that a disk should have, in bytes. A store that cannot write cannot
// be served.
const minFreeDisk = 1 << 30

// checkDatabaseAndDisks checks the servers of all databases, if the store is in any, and the free space
// of the disks.
func (d *doctor) checkDatabaseAndDisks(ctx context.Context, a *App) {
	d.checkDisk("disk of the data", a.Config.Data)
	d.checkDatabases(ctx, a)
	switch s := a.store.(type) {
	case shared:
		d.checkServers(ctx, "", s.Store)
	case placedStore:
		_ = s.worlds.Each(ctx, func(name string, db placed.Database) error { // never fails
			d.checkServers(ctx, name+": ", db.(*postgres.Store)) // openPlaced opened all
			return nil
		})
	}
}

// checkServers checks the servers of one database. title begins the lines about it.
func (d *doctor) checkServers(ctx context.Context, title string, s *postgres.Store) {
	found, place, err := s.Inspect(ctx, time.Now)
	for _, f := range found {
		var problem error
		if f.Problem != "" {
			problem = errors.New(f.Problem)
		}
		d.printCheck(title+f.What, problem, "%s", f.Detail)
	}
	if err != nil {
		d.printCheck(title+"database", err, "")
		return
	}
	if place == "" {
		d.printCheck(title+"disk of the database", nil, "cannot be measured from here; watch it on its own machine")
		return
	}
	d.checkDisk(title+"disk of the database", string(place))
}

// checkDisk reports the free space on the disk of a folder.
func (d *doctor) checkDisk(title, dir string) {
	free, total, err := disk.Free(dir)
	if err != nil {
		d.printCheck(title, nil, "cannot be measured: %v", err)
		return
	}
	switch {
	case free < disk.LeastRoom:
		err = disk.Full(dir, errors.New("writes are refused"))
	case free < minFreeDisk:
		err = fmt.Errorf("%d MB of %d MB are free in %s: make room before it is full; writes are refused then, and "+
			"nothing is lost", free>>20, total>>20, filepath.Clean(dir))
	}
	d.printCheck(title, err, "%d MB of %d MB free", free>>20, total>>20)
}

// Remedy returns what an operator can do about an error of a database; "" if nothing is known.
func Remedy(err error) string { return postgres.Remedy(err) }

// explainOpenError adds a remedy to the error of a store that does not open.
func explainOpenError(err error) error {
	if remedy := Remedy(err); err != nil && remedy != "" {
		return fmt.Errorf("%s (%w)", remedy, err)
	}
	return err
}
