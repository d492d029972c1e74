package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"loregate/internal/disk"
	"loregate/internal/store/postgres"
)

// Pool is how a database is used.
type Pool struct {
	Connections      int           `yaml:"connections" default:"16" doc:"Connections that each process opens to the database at most, besides one to listen: at least 4. All processes together must stay below the server's max_connections."`
	StatementTimeout time.Duration `yaml:"statement_timeout" default:"30s" doc:"How long one statement may take; the server ends it then."`
	WriteWait        time.Duration `yaml:"write_wait" default:"30s" doc:"How long a write waits for those of other processes, before its caller is told to repeat it."`
}

func (p Pool) check() error {
	switch {
	case p.Connections != 0 && p.Connections < 4:
		return errors.New("pool.connections: at least 4")
	case p.StatementTimeout < 0 || p.WriteWait < 0:
		return errors.New("pool: times are above 0s")
	}
	return nil
}

func (c Config) postgres() postgres.Config {
	return postgres.Config{URL: c.Database, Conns: c.Pool.Connections, Timeout: c.Pool.StatementTimeout, Wait: c.Pool.WriteWait, Search: filepath.Join(c.Data, "search")}
}

// leastFree is how much room a disk should have, in bytes: a store that cannot write is
// one that cannot be served.
const leastFree = 1 << 30

// inspected is a store that can say how its server is.
type inspected interface {
	Inspect(ctx context.Context, now func() time.Time) ([]postgres.Finding, postgres.Place, error)
}

// places looks at the database's server, where there is one, and at the disks.
func (d *doctor) places(ctx context.Context, a *App) {
	d.room("disk of the data", a.Config.Data)
	s, ok := a.store.(inspected)
	if !ok {
		return
	}
	found, place, err := s.Inspect(ctx, time.Now)
	for _, f := range found {
		var problem error
		if f.Problem != "" {
			problem = errors.New(f.Problem)
		}
		d.say(f.What, problem, "%s", f.Detail)
	}
	if err != nil {
		d.say("database", err, "")
		return
	}
	if place == "" {
		d.say("disk of the database", nil, "cannot be seen from here; watch it on its own machine")
		return
	}
	d.room("disk of the database", string(place))
}

// room says how much there is on the disk of a folder.
func (d *doctor) room(what, dir string) {
	free, total, err := disk.Free(dir)
	if err != nil {
		d.say(what, nil, "cannot be seen: %v", err)
		return
	}
	switch {
	case free < disk.LeastRoom:
		err = disk.Full(dir, errors.New("writes are refused"))
	case free < leastFree:
		err = fmt.Errorf("%d MB of %d MB are free in %s: make room before it is full; writes are refused then, and nothing is lost", free>>20, total>>20, filepath.Clean(dir))
	}
	d.say(what, err, "%d MB of %d MB free", free>>20, total>>20)
}

// opening explains why a store does not open.
func opening(err error) error {
	if remedy := postgres.Remedy(err); err != nil && remedy != "" {
		return fmt.Errorf("%s (%w)", remedy, err)
	}
	return err
}
