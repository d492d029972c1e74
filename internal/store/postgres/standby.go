package postgres

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/store/sqlstore"
	"loregate/internal/wait"
)

// standby is the connection to a standby for long reads, which would take the primary's time.
//
// Its invariant: a standby serves a read only after it has replayed all that the primary had written
// when the read began. A reader therefore finds its own writes, and nothing that was hidden since.
type standby struct {
	mu     sync.Mutex // guards all below, and is held during a read
	conn   *pgx.Conn  // nil if there is none
	server int        // index of the server
	shun   time.Time  // until then the primary is read, since a read of a standby failed
}

const (
	// replayWithin is the time in which a standby must have replayed the primary's log.
	replayWithin = 2 * time.Second
	// shunFor is the time for which no standby is read after a failure. A read that takes longer
	// than the standby's patience with its snapshot would otherwise fail each time.
	shunFor = time.Minute
)

// errNoStandby means that the primary is to be read.
var errNoStandby = errors.New("no standby is up to date")

// readLong is read for a long read that may wait: it uses a standby if one is up to date.
func (s *Store) readLong(ctx context.Context, f func(*conn) error) error {
	if s.cfg.Standbys && s.failover.several() {
		if err := s.readStandby(ctx, f); !errors.Is(err, errNoStandby) {
			return err
		}
	}
	return s.read(ctx, f)
}

// readStandby runs f on a snapshot of a standby. It returns errNoStandby if f did not run.
func (s *Store) readStandby(ctx context.Context, f func(*conn) error) error {
	var position, file string
	err := s.read(ctx, func(c *conn) error {
		_, err := sqlstore.One(ctx, c, func(r sqlstore.Row) error {
			position, file = r.Text(0), r.Text(1)
			return nil
		}, "SELECT pg_current_wal_lsn()::text, "+lineSQL)
		return err
	})
	if err != nil {
		return err
	}
	b := &s.standby
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.shun) || !s.awaitReplay(ctx, position, timelineOf(file)) {
		return errNoStandby
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	socket := b.conn.PgConn().Conn()
	watching.Go(func() { s.failover.endSilent(ctx, b.server, socket) })
	defer watching.Wait()
	defer cancel()
	c := &conn{raw: b.conn}
	c.enqueue(beginRead)
	if err = f(c); err == nil {
		_, err = b.conn.Exec(ctx, "COMMIT")
	}
	if err != nil {
		b.close()
		b.shun = time.Now().Add(shunFor)
	}
	return toFault(err)
}

// awaitReplay connects to a standby if necessary, and reports whether it has replayed the log of a
// timeline up to a position, or does so in time. A standby that follows another timeline may have
// another log up to that position.
func (s *Store) awaitReplay(ctx context.Context, position string, timeline uint32) bool {
	ctx, cancel := context.WithTimeout(ctx, replayWithin)
	defer cancel()
	b := &s.standby
	if b.conn == nil {
		var config *pgx.ConnConfig
		if b.server, config = s.failover.standbyConfig(); config == nil {
			return false
		}
		var err error
		if b.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
			b.conn = nil
			return false
		}
	}
	for {
		replayed := false
		err := b.conn.QueryRow(ctx, `SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $1::text::pg_lsn AND EXISTS (
			SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming' AND received_tli = $2)`, position,
			int32(timeline)).Scan(&replayed) //nolint:gosec // the server's type of timelines here
		if err == nil && replayed {
			return true
		}
		if err != nil || !wait.For(ctx, 5*time.Millisecond) {
			b.close() // perhaps another one is up to date at the next read
			return false
		}
	}
}

// close closes the connection. The caller holds mu.
func (b *standby) close() {
	if b.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
		_ = b.conn.Close(ctx)
		cancel()
		b.conn = nil
	}
}

// standbyConfig returns a server that is a standby, and the configuration of connections to it; nil
// if there is none.
func (f *failover) standbyConfig() (int, *pgx.ConnConfig) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, st := range f.states {
		if st.answers && st.timeline == 0 {
			c := f.servers[i].Copy()
			c.ValidateConnect = nil // it is no primary
			return i, c
		}
	}
	return 0, nil
}

// endSilent closes the socket of a connection to a server if it does not answer any more, until ctx
// is done: a read there would wait for as long as the server hangs.
func (f *failover) endSilent(ctx context.Context, server int, socket net.Conn) {
	for wait.For(ctx, f.poll) {
		f.mu.Lock()
		answers := f.states[server].answers
		f.mu.Unlock()
		if !answers {
			_ = socket.Close()
			return
		}
	}
}
