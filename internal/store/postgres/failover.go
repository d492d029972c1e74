package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"loregate/internal/fault"
	"loregate/internal/wait"
)

// failover follows the primary of a database that several servers hold: one primary and its
// standbys. If the address names one server, it does nothing.
//
// Its invariant: a call is let through only while the primary of the newest known timeline has
// answered within lease, and after all of that server's log, as of the time when it was found, is
// where the server's synchronous standbys keep it.
//
// A server gets a new timeline when it is promoted. A server on an older timeline than another one
// was the primary before; what it commits is lost.
type failover struct {
	config  *pgx.ConnConfig // of all servers, without a pooler between
	servers []*pgx.ConnConfig
	poll    time.Duration
	changed func(line bool) // called when a primary was found; line: on another timeline
	log     *slog.Logger

	began  time.Time
	until  atomic.Int64  // time since began until which calls are let through
	newest atomic.Uint32 // highest timeline that a server has reported

	mu        sync.Mutex // guards all below
	states    []serverState
	primary   int  // index of the primary; -1 if there is none
	confirmed bool // the primary's log is where its standbys keep it
	line      uint32
	conns     map[*trackedConn]struct{}

	ctx  context.Context // done when the store is closed
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// serverState is a server's last answer.
type serverState struct {
	answers  bool
	err      error  // why the server was not reached
	timeline uint32 // 0 for a standby
	asked    time.Time
}

const (
	// answerWithin is the time in which a server must answer; with Config.Poll, a primary that
	// hangs is found out in 1.5 s.
	answerWithin = time.Second
	// connectWithin is the time in which a server must accept a connection.
	connectWithin = 2 * time.Second
	// lease is the time for which an answer of the primary lets calls through. It matters to a
	// process that itself was stopped: its first calls must not be served by an old primary.
	lease = 3 * time.Second
	// barrierWithin is the time in which the standbys must confirm the log.
	barrierWithin = 5 * time.Second
	// openWithin is the time in which Open must find a primary: a failover takes that long.
	openWithin = 30 * time.Second
	// reportAfter is the time after which a server that does not answer is logged: a restart takes less.
	reportAfter = 10 * time.Second
)

// lineSQL gives the name of the log file that the server writes; "" on a standby. It begins with
// the timeline. The control file would name the timeline of the last checkpoint.
const lineSQL = "CASE WHEN pg_is_in_recovery() THEN '' ELSE pg_walfile_name(pg_current_wal_lsn()) END"

// barrierSQL writes to the log. Its commit returns when the synchronous standbys have the log up to
// it, and with it everything that can be read from the server.
const barrierSQL = "SELECT pg_logical_emit_message(true, 'loregate', '')"

// timelineOf returns the timeline in the name of a log file; 0 for none.
func timelineOf(file string) uint32 {
	n, _ := strconv.ParseUint(file[:min(len(file), 8)], 16, 32) // 0 for ""
	return uint32(n)
}

var errNoPrimary = &fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second,
	Message: "the database has no primary at the moment; another server takes over; try again"}

var errStale = &fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second,
	Message: "the database's primary was replaced; nothing is written to the old one; try again"}

// newFailover returns a failover for the servers of a configuration. start starts it.
func newFailover(config *pgx.ConnConfig, c Config, changed func(line bool)) *failover {
	f := &failover{config: config.Copy(), servers: splitServers(config), poll: c.Poll, changed: changed, log: c.Log,
		began: time.Now(), primary: -1, conns: map[*trackedConn]struct{}{}}
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.states = make([]serverState, len(f.servers))
	return f
}

// start begins to watch the servers, if there are several.
func (f *failover) start() {
	if !f.several() {
		return
	}
	for i := range f.servers {
		f.wg.Go(func() { f.watchServer(i) })
	}
}

// boundConnect limits the configured time for connecting to a server; 0 means that there is none.
func boundConnect(d time.Duration) time.Duration {
	if d == 0 {
		return connectWithin
	}
	return min(d, connectWithin)
}

// several reports whether the database is on several servers.
func (f *failover) several() bool { return len(f.servers) > 1 }

// splitServers returns a configuration for each server. A server has several entries if its
// connections may be with and without TLS.
func splitServers(all *pgx.ConnConfig) (list []*pgx.ConnConfig) {
	first := &pgconn.FallbackConfig{Host: all.Host, Port: all.Port, TLSConfig: all.TLSConfig}
	entries := append([]*pgconn.FallbackConfig{first}, all.Fallbacks...)
	for len(entries) > 0 {
		first = entries[0]
		one := all.Copy()
		one.ConnectTimeout = boundConnect(one.ConnectTimeout)
		one.Host, one.Port, one.TLSConfig, one.Fallbacks = first.Host, first.Port, first.TLSConfig, nil
		entries = slices.DeleteFunc(entries[1:], func(e *pgconn.FallbackConfig) bool {
			same := e.Host == first.Host && e.Port == first.Port
			if same {
				one.Fallbacks = append(one.Fallbacks, e)
			}
			return same
		})
		list = append(list, one)
	}
	return list
}

// watchServer asks one server for its state until the store is closed.
func (f *failover) watchServer(i int) {
	config := f.servers[i].Copy()
	config.ValidateConnect = nil // a standby is watched too
	var down time.Time           // since when the server has not answered; zero while it does
	reported := false
	for f.ctx.Err() == nil {
		c, err := pgx.ConnectConfig(f.ctx, config)
		if err == nil {
			if reported {
				f.log.Info("a server of the database answers again", "server", serverName(config),
					"after", time.Since(down).Round(time.Second))
			}
			down, reported = time.Time{}, false
			f.followServer(i, c)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), answerWithin)
			_ = c.Close(ctx)
			cancel()
		}
		f.noteState(i, serverState{err: err})
		if down.IsZero() {
			down = time.Now()
		}
		if !reported && err != nil && f.ctx.Err() == nil && time.Since(down) > reportAfter {
			reported = true
			f.log.Warn("a server of the database does not answer, and cannot take over", "server", serverName(config), "error", err)
		}
		wait.For(f.ctx, f.poll)
	}
}

// followServer asks a server for its state until it fails to answer. Between two questions it waits
// on the connection, and so finds out at once if the server closes it.
func (f *failover) followServer(i int, c *pgx.Conn) {
	for f.ctx.Err() == nil && !c.IsClosed() {
		asked := time.Now()
		file := ""
		ctx, cancel := context.WithTimeout(f.ctx, answerWithin)
		err := c.QueryRow(ctx, "SELECT "+lineSQL).Scan(&file)
		cancel()
		if err != nil {
			return
		}
		if f.noteState(i, serverState{answers: true, timeline: timelineOf(file), asked: asked}) {
			ctx, cancel := context.WithTimeout(f.ctx, barrierWithin)
			_, err := c.Exec(ctx, barrierSQL)
			cancel()
			if err != nil {
				return
			}
			f.confirmPrimary(i)
			continue
		}
		ctx, cancel = context.WithTimeout(f.ctx, f.poll)
		_, _ = c.WaitForNotification(ctx) // none is sent; it returns when the connection is lost
		cancel()
	}
}

// noteState takes in a server's answer and reports whether it is the primary and its log is to be
// confirmed. If the primary changes or fails, all connections are closed: those to a server that
// hangs would hang too.
func (f *failover) noteState(i int, st serverState) (unconfirmed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[i] = st
	if st.timeline > f.newest.Load() {
		f.newest.Store(st.timeline)
	}
	primary := slices.IndexFunc(f.states, func(st serverState) bool {
		return st.timeline != 0 && st.timeline == f.newest.Load()
	})
	if primary != f.primary {
		f.primary, f.confirmed = primary, false
		f.until.Store(0)
		for c := range f.conns {
			_ = c.Conn.Close()
		}
	}
	if i == f.primary && f.confirmed {
		f.until.Store(int64(st.asked.Add(lease).Sub(f.began)))
	}
	return i == f.primary && !f.confirmed
}

// confirmPrimary lets calls through to a server.
func (f *failover) confirmPrimary(i int) {
	f.mu.Lock()
	is := i == f.primary
	timeline := f.states[i].timeline
	line := is && f.line != 0 && f.line != timeline
	if is {
		f.line = timeline
	}
	f.mu.Unlock()
	if !is {
		return
	}
	if line {
		f.log.Info("another server of the database has become the primary", "server", serverName(f.servers[i]),
			"timeline", timeline)
	}
	f.changed(line) // before the first call
	f.mu.Lock()
	defer f.mu.Unlock()
	f.confirmed = i == f.primary
}

// doubt stops calls until the standbys have confirmed the primary's log again.
func (f *failover) doubt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.confirmed = false
	f.until.Store(0)
}

// check returns an error if there is no primary that calls may use.
func (f *failover) check() error {
	if f.several() && f.until.Load() < int64(time.Since(f.began)) {
		return errNoPrimary
	}
	return nil
}

// checkTimeline refuses a server that is on an older timeline than another one.
func (f *failover) checkTimeline(at uint32) error {
	if f.several() && (at == 0 || at < f.newest.Load()) {
		return errStale
	}
	return f.check()
}

// awaitPrimary waits until calls are let through.
func (f *failover) awaitPrimary(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	for f.check() != nil {
		if f.allRefuse() || !wait.For(ctx, 20*time.Millisecond) {
			return f.explainAbsence()
		}
	}
	return nil
}

// allRefuse reports whether each server refuses the address, so that waiting is of no use.
func (f *failover) allRefuse() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.several() && refusedByAll(f.states)
}

func refusedByAll(states []serverState) bool {
	return !slices.ContainsFunc(states, func(st serverState) bool { return !isRefusal(st.err) && !isPoolers(st.err) })
}

// explainAbsence returns an error that names the state of each server. If all refuse, it wraps the first one's error,
// which has a remedy.
func (f *failover) explainAbsence() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := "no primary was found in time"
	for i, st := range f.states {
		text += fmt.Sprintf("; %s %s", serverName(f.servers[i]), st.describeState(f.newest.Load()))
	}
	if f.primary >= 0 {
		text += "; its synchronous standbys do not confirm its log"
	}
	if refusedByAll(f.states) {
		return toFault(f.states[0].err)
	}
	return errNoPrimary.Because(errors.New(text))
}

func (st serverState) describeState(newest uint32) string {
	switch {
	case isRefusal(st.err):
		e, _ := errors.AsType[*pgconn.PgError](st.err)
		return "refuses this server (" + e.Message + ")"
	case !st.answers:
		return "does not answer"
	case st.timeline == 0:
		return "is a standby"
	case st.timeline < newest:
		return fmt.Sprintf("was the primary up to timeline %d", st.timeline)
	}
	return fmt.Sprintf("is the primary, on timeline %d", st.timeline)
}

func serverName(c *pgx.ConnConfig) string { return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) }

// primaryConfig returns the configuration of connections to the primary, if it is known, and else
// to all servers.
func (f *failover) primaryConfig() *pgx.ConnConfig {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.config.Copy()
	if f.primary >= 0 {
		c = f.servers[f.primary].Copy()
	}
	f.guard(c)
	return c
}

// choosePrimary makes a new connection of the pool try only the primary, if it is known.
func (f *failover) choosePrimary(_ context.Context, c *pgx.ConnConfig) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.primary >= 0 {
		one := f.servers[f.primary]
		c.Host, c.Port, c.TLSConfig, c.Fallbacks = one.Host, one.Port, one.TLSConfig, one.Fallbacks
	}
	return nil
}

// guard makes a configuration refuse standbys and old primaries, and makes its connections end with
// the primary.
func (f *failover) guard(c *pgx.ConnConfig) {
	if !f.several() {
		return
	}
	c.ValidateConnect = func(ctx context.Context, c *pgconn.PgConn) error {
		r := c.ExecParams(ctx, "SELECT "+lineSQL, nil, nil, nil, nil).Read()
		if r.Err != nil {
			return r.Err
		}
		return f.checkTimeline(timelineOf(string(r.Rows[0][0])))
	}
	c.ConnectTimeout = boundConnect(c.ConnectTimeout)
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		raw, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		t := &trackedConn{raw, f}
		f.conns[t] = struct{}{}
		return t, nil
	}
}

// trackedConn is a connection that ends with the primary.
type trackedConn struct {
	net.Conn
	f *failover
}

func (t *trackedConn) Close() error {
	t.f.mu.Lock()
	delete(t.f.conns, t)
	t.f.mu.Unlock()
	return t.Conn.Close()
}

func (f *failover) close() {
	f.stop()
	f.wg.Wait()
}
