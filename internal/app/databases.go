package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
	"loregate/internal/slicesx"
	"loregate/internal/store/placed"
	"loregate/internal/store/postgres"
)

// databaseNameForm is the format of the name of a database in the settings databases and worlds.
var databaseNameForm = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,30}$`)

// validateDatabases checks the settings databases and worlds.
func (c Config) validateDatabases() error {
	names := []string{placed.Home}
	for _, entry := range c.Databases {
		name, address, _ := strings.Cut(entry, "=")
		switch {
		case c.Database == "":
			return errors.New("databases: set database too; it is the home database")
		case !databaseNameForm.MatchString(name) || !isDatabase(address):
			return errors.New("databases: write each as name=postgres://user@host:5432/name, with a name of a-z, 0-9 and '-'; " +
				"addresses with a comma belong in the configuration file")
		case slices.Contains(names, name):
			return fmt.Errorf("databases: the name %s is taken; choose another", name)
		}
		names = append(names, name)
	}
	for i, entry := range c.DirectTo {
		name, address, _ := strings.Cut(entry, "=")
		switch {
		case !slices.Contains(names[1:], name):
			return fmt.Errorf("databases_direct: %q names no database; name one of databases", name)
		case !isDatabase(address):
			return fmt.Errorf("databases_direct: write %s=postgres://user@host:5432/name", name)
		case slices.ContainsFunc(c.DirectTo[:i], func(e string) bool { return strings.HasPrefix(e, name+"=") }):
			return fmt.Errorf("databases_direct: %s has two addresses; write one", name)
		}
	}
	for _, entry := range c.Worlds {
		pattern, name, _ := strings.Cut(entry, "=")
		if _, err := path.Match(pattern, ""); pattern == "" || err != nil {
			return fmt.Errorf("worlds: %q does not begin with a pattern; write campaign-*=name", entry)
		}
		if !slices.Contains(names, name) {
			return fmt.Errorf("worlds: %q names no database; name one of %s", entry, strings.Join(names, ", "))
		}
	}
	return nil
}

// namedDatabases returns the configurations of the databases beside the home database, by name.
func (c Config) namedDatabases() (names []string, list []postgres.Config) {
	for _, entry := range c.Databases {
		name, address, _ := strings.Cut(entry, "=")
		p := c.postgresConfig()
		p.URL, p.Direct, p.Search = address, "", filepath.Join(p.Search, name)
		for _, direct := range c.DirectTo {
			if of, address, _ := strings.Cut(direct, "="); of == name {
				p.Direct = address
			}
		}
		names, list = append(names, name), append(list, p)
	}
	return names, list
}

// placedStore is the store of an instance with several databases. What is not about worlds is in the home
// database, which it embeds.
type placedStore struct {
	store
	worlds *placed.Store
}

var _ canon.Placer = placedStore{}

// homeOf returns the store of the home database; s itself if there are no others.
func homeOf(s store) store {
	if p, ok := s.(placedStore); ok {
		return p.store
	}
	return s
}

// eachDatabase calls f with every open database of an instance; with none if it is a data folder.
func eachDatabase(s store, f func(*postgres.Store)) {
	switch s := s.(type) {
	case shared:
		f(s.Store)
	case placedStore:
		_, _ = s.each(context.Background(), func(s *postgres.Store) ([]string, error) { // never fails
			f(s)
			return nil, nil
		})
	}
}

// databaseWait is the time that a command waits for a database of worlds that it needs. It is longer than the
// time that opening a database waits for a primary.
const databaseWait = time.Minute

// openPlaced opens the databases beside the home database.
func openPlaced(ctx context.Context, c Config, home *postgres.Store, o Options) (store, error) {
	cfg := placed.Config{Home: home, Now: o.Now, Log: o.Logger}
	if o.Command {
		cfg.Wait = databaseWait
	}
	names, configs := c.namedDatabases()
	claims, err := newClaims(ctx, home, names)
	if err != nil {
		return nil, errors.Join(err, home.Close())
	}
	for i, p := range configs {
		p.Log = o.Logger
		cfg.Others = append(cfg.Others, placed.Named{Name: names[i], Open: func(ctx context.Context) (placed.Database, error) {
			db, err := postgres.Open(ctx, p)
			if err != nil {
				return nil, err
			}
			if err := claims.claim(ctx, names[i], db); err != nil {
				return nil, errors.Join(err, db.Close())
			}
			return db, nil
		}})
	}
	for _, entry := range c.Worlds {
		pattern, name, _ := strings.Cut(entry, "=")
		cfg.Patterns = append(cfg.Patterns, placed.Pattern{Slug: pattern, Database: name})
	}
	s, err := placed.Open(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, home.Close())
	}
	return placedStore{shared{home}, s}, nil
}

// claimSecret names the secret by which each database of an instance knows its place: a random one in the home
// database, and what claims.of returns in the others.
const claimSecret = "database"

// claims keeps apart the databases of an instance: each has one name, and belongs to no other instance.
type claims struct {
	home   *postgres.Store
	secret []byte
	names  []string
}

func newClaims(ctx context.Context, home *postgres.Store, names []string) (claims, error) {
	fresh := make([]byte, sha256.Size)
	_, _ = rand.Read(fresh) // it never fails
	kept, err := home.Secret(ctx, claimSecret, fresh)
	return claims{home, kept, names}, err
}

func (c claims) of(name string) []byte {
	h := hmac.New(sha256.New, c.secret)
	_, _ = h.Write([]byte(name)) // it never fails
	return h.Sum(nil)
}

// claim makes a database one of this instance under a name. Its error is of the kind fault.Invalid if the database
// has another name already, or belongs to another instance.
func (c claims) claim(ctx context.Context, name string, db *postgres.Store) error {
	if foreign, err := c.hasForeignWorlds(ctx, db); err != nil || foreign {
		return cmp.Or(err, error(errForeign(name)))
	}
	kept, err := db.Secret(ctx, claimSecret, c.of(name))
	switch {
	case err != nil, bytes.Equal(kept, c.of(name)):
		return err
	case bytes.Equal(kept, c.secret):
		return fault.New(fault.Invalid, "databases: %s is the home database itself, or a copy of it; name an empty database", name)
	}
	for _, other := range c.names {
		if bytes.Equal(kept, c.of(other)) {
			return fault.New(fault.Invalid, "databases: the address of %s is that of the database %s; correct it", name, other)
		}
	}
	return errForeign(name)
}

func errForeign(name string) *fault.Error {
	return fault.New(fault.Invalid, "databases: the address of %s leads to a database of another instance, or of another "+
		"name; correct it, or name an empty database", name)
}

// hasForeignWorlds reports whether a database has worlds, and none that this instance knows.
func (c claims) hasForeignWorlds(ctx context.Context, db *postgres.Store) (bool, error) {
	found, err := worldIDs(ctx, db)
	if err != nil || len(found) == 0 {
		return false, err
	}
	known, err := worldIDs(ctx, c.home)
	if err != nil {
		return false, err
	}
	list, err := c.home.Placements(ctx)
	for _, p := range list {
		known = append(known, p.World)
	}
	return !slices.ContainsFunc(found, func(w access.WorldID) bool { return slices.Contains(known, w) }), err
}

func worldIDs(ctx context.Context, s canon.Store) (ids []access.WorldID, err error) {
	err = s.Read(ctx, func(r canon.Reader) error {
		list, err := r.Worlds(ctx, canon.WorldQuery{All: true})
		ids = slicesx.Map(list, func(w canon.World) access.WorldID { return w.ID })
		return err
	})
	return ids, err
}

// errPlaced is returned for a home database whose settings lack the others: its worlds would seem lost.
var errPlaced = fault.New(fault.Invalid,
	"some worlds of this database were placed in other databases: set databases as for the other processes")

// checkAllHere refuses a database with worlds that were placed elsewhere.
func checkAllHere(ctx context.Context, s *postgres.Store) error {
	list, err := s.Placements(ctx)
	for _, p := range list {
		if err == nil && p.Database != "" {
			err = errPlaced
		}
	}
	return err
}

func (p placedStore) Read(ctx context.Context, f func(canon.Reader) error) error {
	return p.worlds.Read(ctx, f)
}

func (p placedStore) Write(ctx context.Context, f func(canon.Tx) error) error {
	return p.worlds.Write(ctx, f)
}

// WriteTo implements canon.Placer.
func (p placedStore) WriteTo(ctx context.Context, w access.WorldID, f func(canon.Tx) error) error {
	return p.worlds.WriteTo(ctx, w, f)
}

// Place implements canon.Placer.
func (p placedStore) Place(ctx context.Context, w access.WorldID, slug string) error {
	return p.worlds.Place(ctx, w, slug)
}

func (p placedStore) Changed() <-chan struct{} { return p.worlds.Changed() }

func (p placedStore) Close() error { return errors.Join(p.worlds.Close(), p.store.Close()) }

// each calls f with every open database as a store, and adds its name to faults and errors.
func (p placedStore) each(ctx context.Context,
	f func(s *postgres.Store) ([]string, error)) (faults []string, err error) {
	err = p.worlds.Each(ctx, func(name string, db placed.Database) error {
		found, err := f(db.(*postgres.Store)) // openPlaced opened all
		for _, text := range found {
			faults = append(faults, "database "+name+": "+text)
		}
		if err != nil {
			err = fmt.Errorf("database %s: %w", name, err)
		}
		return err
	})
	return faults, err
}

func (p placedStore) Verify(ctx context.Context) ([]string, error) {
	return p.each(ctx, func(s *postgres.Store) ([]string, error) { return s.Verify(ctx) })
}

func (p placedStore) Check(ctx context.Context, rest func(time.Duration)) ([]string, error) {
	return p.each(ctx, func(s *postgres.Store) ([]string, error) { return s.Check(ctx, rest) })
}

func (p placedStore) MarkDamaged(found string) {
	eachDatabase(p, func(s *postgres.Store) { s.MarkDamaged(found) })
}

func (p placedStore) Size(ctx context.Context) (text string, err error) {
	sizes, err := p.each(ctx, func(s *postgres.Store) ([]string, error) {
		size, err := shared{s}.Size(ctx)
		return []string{size}, err
	})
	return strings.Join(sizes, "; "), err
}

// checkDatabases checks each database if there are several.
func (d *doctor) checkDatabases(ctx context.Context, a *App) {
	p, ok := a.store.(placedStore)
	if !ok {
		return
	}
	for _, st := range p.worlds.States(ctx) {
		err := st.Problem
		if err != nil {
			err = fmt.Errorf("does not answer, and its %d worlds are not served: %w", st.Worlds, err)
		} else if len(st.Missing) > 0 {
			err = fmt.Errorf("lacks %d of its %d worlds (%s): restore its backup, or correct its address in databases; a name "+
				"whose creation was cut off can be created again", len(st.Missing), st.Worlds, strings.Join(st.Missing, ", "))
		}
		d.printCheck("database "+st.Name, err, "answers, %d worlds", st.Worlds)
	}
}

// MoveWorld moves a world to another database while it is served.
func (a *App) MoveWorld(ctx context.Context, name, database string, out io.Writer) error {
	p, ok := a.store.(placedStore)
	if !ok {
		return fault.New(fault.Invalid, "there is only one database; name others with the setting databases")
	}
	w, err := a.resolveWorld(ctx, name)
	if err != nil {
		return err
	}
	return a.runAsOperator(ctx, w, "move_world", access.Write, func(access.Grant) error {
		return p.worlds.Move(ctx, w, database, func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) })
	})
}
