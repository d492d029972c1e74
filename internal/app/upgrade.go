package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"loregate/internal/fault"
	"loregate/internal/store/postgres"
	"loregate/internal/store/sqlite"
)

// Upgrade upgrades a store to this program's format. A store in a data folder is backed up first,
// as at any start with a newer program. A store in PostgreSQL can be backed up only by its
// operator; confirmed must be true to state that this was done.
func Upgrade(ctx context.Context, c Config, confirmed bool, out io.Writer) (err error) {
	format := sqlite.Format
	if c.Database != "" {
		if !confirmed {
			return fault.New(fault.Invalid,
				"back the database up with pg_dump --exclude-table-data=signing_keys, then run loregate upgrade --yes; "+
					"afterwards running processes of the older version refuse writes until you restart them with this version")
		}
		_, others := c.namedDatabases()
		for _, p := range append(others, c.postgresConfig()) {
			p.Upgrade = true
			s, err := postgres.Open(ctx, p)
			if err != nil {
				return err
			}
			if err := s.Close(); err != nil {
				return err
			}
		}
		format = postgres.Format
	} else {
		s, err := openStore(ctx, c, Options{Command: true, Existing: true})
		if err != nil {
			return err
		}
		if err := errors.Join(s.Close()); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "%s has format %d\n", c.Where(), format)
	return err
}
