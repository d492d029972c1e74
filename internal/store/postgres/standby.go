package postgres

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"loregate/internal/fault"
	"loregate/internal/store/sqlstore"
	"loregate/internal/wait"
)

// standbys are the connections to standbys for long reads, which would take the primary's time.
//
// Its invariant: a standby serves a read only after it has replayed all that the primary had written
// when the read began. A reader therefore finds its own writes, and nothing that was hidden since.
type standbys struct {
	mu    sync.Mutex // guards all below
	idle  []*standbyConn
	busy  int               // connections in use
	shun  map[int]time.Time // by index of the server: until then it is not read
	reads LongReads
	ended bool // the store is closed
}

// standbyConn is a connection to a standby.
type standbyConn struct {
	raw    *pgx.Conn
	server int // index of the server
}

// LongReads counts the reads that may be made at a standby.
type LongReads struct {
	AtStandby, AtPrimary int64
	Waited               time.Duration // for standbys to replay the primary's log, in all
}

const (
	// replayWithin is the time in which a standby must have replayed the primary's log.
	replayWithin = 2 * time.Second
	// shunLate is the time for which a standby is not read after it was late.
	shunLate = 10 * time.Second
	// shunFailed is the time for which a standby is not read after it failed in a read. A read that
	// takes longer than the standby's patience with its snapshot would otherwise fail each time.
	shunFailed = time.Minute
	// maxStandbyConns is the highest number of long reads at standbys at once; others are made at the
	// primary.
	maxStandbyConns = 4
)

// errNoStandby means that the primary is to be read.
var errNoStandby = errors.New("no standby is up to date")

var errStandbyFailed = &fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second,
	Message: "the server that was read failed; the next try reads another one; try again"}

// readLong is read for a long read that may wait: it uses a standby if one is up to date. The caches are
// those to read through: rows of a standby do not belong in the store's, since the primary that follows may not
// have them.
func (s *Store) readLong(ctx context.Context, f func(*conn, *sqlstore.Caches) error) error {
	if s.cfg.Standbys && s.failover.several() {
		err := s.readStandby(ctx, func(c *conn) error { return f(c, &sqlstore.Caches{}) })
		s.standbys.count(err)
		if !errors.Is(err, errNoStandby) {
			return err
		}
	}
	return s.read(ctx, func(c *conn) error { return f(c, &s.caches) })
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
	b := s.takeStandby(ctx, position, timelineOf(file))
	if b == nil {
		return errNoStandby
	}
	if err = s.calls.Begin(); err != nil {
		s.standbys.drop(b, 0)
		return err
	}
	defer s.calls.End()
	err = s.runAtStandby(ctx, b, f)
	var refused *pgconn.PgError
	switch failed := errors.As(err, &refused) || b.raw.IsClosed(); {
	case err == nil:
		s.standbys.put(b)
		return nil
	case failed && ctx.Err() == nil:
		s.standbys.drop(b, shunFailed)
		return errStandbyFailed.Because(err)
	default: // an error of f, which leaves a transaction open
		s.standbys.drop(b, 0)
		return toFault(err)
	}
}

// runAtStandby runs f in a transaction. If the server does not answer any more, the connection ends.
func (s *Store) runAtStandby(ctx context.Context, b *standbyConn, f func(*conn) error) error {
	watched, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	socket := b.raw.PgConn().Conn()
	watching.Go(func() { s.failover.endSilent(watched, b.server, socket) })
	defer watching.Wait()
	defer cancel()
	c := &conn{raw: b.raw}
	c.enqueue(beginRead)
	err := f(c)
	if err == nil {
		_, err = b.raw.Exec(ctx, "COMMIT")
	}
	return err
}

// takeStandby returns a connection to a standby that has replayed the log of a timeline up to a
// position, or does so in time; nil if there is none.
func (s *Store) takeStandby(ctx context.Context, position string, timeline uint32) *standbyConn {
	began := time.Now()
	within, cancel := context.WithTimeout(ctx, replayWithin)
	defer cancel()
	b := s.standbys.reserve(s.failover.isStandby)
	if b == nil {
		return nil
	}
	if b.raw == nil {
		var config *pgx.ConnConfig
		if b.server, config = s.failover.standbyConfig(s.standbys.isShunned); config == nil {
			s.standbys.drop(b, 0)
			return nil
		}
		var err error
		if b.raw, err = pgx.ConnectConfig(within, config); err != nil {
			s.standbys.drop(b, shunLate)
			return nil
		}
	}
	caughtUp := awaitReplay(within, b.raw, position, timeline)
	s.standbys.noteWait(time.Since(began))
	if !caughtUp {
		late := shunLate
		if ctx.Err() != nil { // the caller gave up
			late = 0
		}
		s.standbys.drop(b, late)
		return nil
	}
	return b
}

// awaitReplay reports whether a standby has replayed the log of a timeline up to a position, or does so
// in time. A standby that follows another timeline may have another log up to that position.
func awaitReplay(ctx context.Context, standby *pgx.Conn, position string, timeline uint32) bool {
	for pause := 250 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		replayed := false
		err := standby.QueryRow(ctx, `SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $1::text::pg_lsn AND EXISTS (
			SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming' AND received_tli = $2)`, position,
			int32(timeline)).Scan(&replayed) //nolint:gosec // the server's type of timelines here
		if err == nil && replayed {
			return true
		}
		if err != nil || !wait.For(ctx, pause) {
			return false
		}
	}
}

// reserve returns an idle connection to a server that is a standby, or one that is yet to be made; nil
// if too many are in use.
func (p *standbys) reserve(isStandby func(server int) bool) *standbyConn {
	var unfit []*standbyConn
	defer func() { closeAll(unfit) }() // without the lock
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.busy >= maxStandbyConns {
		return nil
	}
	p.busy++
	for len(p.idle) > 0 {
		b := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if isStandby(b.server) && time.Now().After(p.shun[b.server]) {
			return b
		}
		unfit = append(unfit, b)
	}
	return &standbyConn{}
}

// put ends the use of a connection, which is kept.
func (p *standbys) put(b *standbyConn) {
	p.mu.Lock()
	p.busy--
	ended := p.ended
	if !ended {
		p.idle = append(p.idle, b)
	}
	p.mu.Unlock()
	if ended {
		b.close()
	}
}

// drop ends the use of a connection, which is closed. Its server is not read for a time.
func (p *standbys) drop(b *standbyConn, shun time.Duration) {
	b.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if shun > 0 {
		if p.shun == nil {
			p.shun = map[int]time.Time{}
		}
		p.shun[b.server] = time.Now().Add(shun)
	}
}

func (p *standbys) isShunned(server int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.shun[server])
}

func (p *standbys) noteWait(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads.Waited += took
}

// count counts a read by its result.
func (p *standbys) count(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, errNoStandby) {
		p.reads.AtPrimary++
	} else if err == nil {
		p.reads.AtStandby++
	}
}

// close closes the idle connections, and those in use when their reads end.
func (p *standbys) close() {
	p.mu.Lock()
	idle := p.idle
	p.ended, p.idle = true, nil
	p.mu.Unlock()
	closeAll(idle)
}

func closeAll(list []*standbyConn) {
	for _, b := range list {
		b.close()
	}
}

func (b *standbyConn) close() {
	if b.raw != nil {
		ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
		_ = b.raw.Close(ctx)
		cancel()
	}
}

// LongReads returns the numbers of reads so far that might be made at a standby, and where they were.
func (s *Store) LongReads() LongReads {
	s.standbys.mu.Lock()
	defer s.standbys.mu.Unlock()
	return s.standbys.reads
}

// isStandby reports whether a server answers and is a standby.
func (f *failover) isStandby(server int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.states[server]
	return st.answers && st.timeline == 0
}

// standbyConfig returns a server that is a standby and not shunned, and the configuration of
// connections to it; nil if there is none.
func (f *failover) standbyConfig(shunned func(server int) bool) (int, *pgx.ConnConfig) {
	for i, config := range f.servers {
		if f.isStandby(i) && !shunned(i) {
			c := config.Copy()
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
		if !f.isStandby(server) {
			_ = socket.Close()
			return
		}
	}
}
