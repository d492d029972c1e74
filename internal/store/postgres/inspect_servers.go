package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// serverReport is one server's state for an operator. Positions are bytes of the log.
type serverReport struct {
	name     string
	timeline uint32 // 0 for a standby
	received int64  // up to which the server has the log
	replayed int64  // up to which its data can be read
	err      error
}

// inspectServers reports the role, the timeline and the lag of each server, and what a failure of
// the primary would lose now. It returns nothing if there is one server.
func (s *Store) inspectServers(ctx context.Context) []Finding {
	if !s.failover.several() {
		return nil
	}
	var primary, best *serverReport
	list := make([]serverReport, len(s.failover.servers))
	for i, config := range s.failover.servers {
		list[i] = askServer(ctx, config)
		r := &list[i]
		switch {
		case r.err != nil:
		case r.timeline != 0 && (primary == nil || r.timeline > primary.timeline):
			primary = r
		case r.timeline == 0 && (best == nil || r.received > best.received):
			best = r
		}
	}
	var all []Finding
	for i := range list {
		all = append(all, list[i].describeRole(primary))
		if r := &list[i]; s.cfg.Standbys && primary != nil && r.err == nil && r.timeline == 0 {
			all = append(all, r.describeReplay(ctx, s.failover.servers[i], primary))
		}
	}
	if primary == nil {
		return append(all, Finding{What: "failover", Problem: "no server is the primary; look at patronictl list"})
	}
	return append(all, s.inspectLoss(ctx, primary, best))
}

const serverSQL = "SELECT " + lineSQL + `, pg_wal_lsn_diff(received, '0/0')::bigint, pg_wal_lsn_diff(replayed, '0/0')::bigint
	FROM (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_flush_lsn() END,
		CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END) AS log (received, replayed)`

func askServer(ctx context.Context, config *pgx.ConnConfig) (r serverReport) {
	r.name = serverName(config)
	ctx, cancel := context.WithTimeout(ctx, 2*connectWithin)
	defer cancel()
	config = config.Copy()
	config.ValidateConnect = nil // a standby is asked too
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		r.err = err
		return r
	}
	defer c.Close(context.WithoutCancel(ctx))
	var file string
	var received, replayed *int64 // NULL for a standby that has received nothing
	r.err = c.QueryRow(ctx, serverSQL).Scan(&file, &received, &replayed)
	r.timeline = timelineOf(file)
	if received != nil {
		r.received = *received
	}
	if replayed != nil {
		r.replayed = *replayed
	}
	return r
}

func (r *serverReport) describeRole(primary *serverReport) Finding {
	f := Finding{What: "server " + r.name}
	switch {
	case r.err != nil:
		f.Problem = fmt.Sprintf("%s does not answer (%v); look at its machine, and at patronictl list", r.name, r.err)
	case r == primary:
		f.Detail = fmt.Sprintf("primary, timeline %d", r.timeline)
	case r.timeline != 0:
		f.Problem = fmt.Sprintf("%s was the primary up to timeline %d and still takes itself for it; stop it: "+
			"Patroni makes it a standby when it starts", r.name, r.timeline)
	case primary == nil:
		f.Detail = "standby"
	default:
		f.Detail = fmt.Sprintf("standby, %d KB of the log behind, %d KB more to be replayed",
			max(primary.received-r.received, 0)>>10, max(r.received-r.replayed, 0)>>10)
	}
	return f
}

// describeReplay reports how long a read at a standby waits now, until it has what the primary has.
func (r *serverReport) describeReplay(ctx context.Context, config *pgx.ConnConfig, primary *serverReport) Finding {
	f := Finding{What: "reads at " + r.name}
	ctx, cancel := context.WithTimeout(ctx, replayWithin)
	defer cancel()
	config = config.Copy()
	config.ValidateConnect = nil // it is no primary
	c, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		defer c.Close(context.WithoutCancel(ctx))
		began := time.Now()
		if awaitReplay(ctx, c, fmt.Sprintf("%X/%X", primary.received>>32, uint32(primary.received)), primary.timeline) {
			f.Detail = fmt.Sprintf("exports and index building find all that was written, after %s",
				time.Since(began).Round(100*time.Microsecond))
			return f
		}
	}
	f.Problem = fmt.Sprintf("%s does not replay the primary's log within %s: exports and index building read the primary; "+
		"look at its disk, at long queries there, and at pg_wal_replay_pause, and GRANT pg_monitor to the user of database",
		r.name, replayWithin)
	return f
}

// inspectLoss reports the writes that a failure of the primary would lose.
func (s *Store) inspectLoss(ctx context.Context, primary, best *serverReport) Finding {
	f := Finding{What: "failover"}
	var names string
	var synchronous, hidden int
	err := s.pool.QueryRow(ctx, `SELECT current_setting('synchronous_standby_names'),
		count(*) FILTER (WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')),
		count(*) FILTER (WHERE state IS NULL)
		FROM pg_stat_replication`).Scan(&names, &synchronous, &hidden)
	switch {
	case err != nil:
		f.Problem = "the primary does not tell its standbys: " + err.Error()
	case names == "" && best == nil:
		f.Problem = "no standby answers: a failure of the primary loses everything that is not in a backup"
	case names == "":
		f.Problem = fmt.Sprintf("replication is not synchronous: a failure of the primary loses acknowledged writes, "+
			"now %d KB of the log; set synchronous_mode: true with patronictl edit-config", max(primary.received-best.received, 0)>>10)
	case hidden > 0:
		f.Problem = "this user may not see the standbys; run: GRANT pg_monitor TO " + s.pool.Config().ConnConfig.User
	case synchronous == 0:
		f.Problem = "no synchronous standby is connected: writes wait for one; nothing acknowledged is lost"
	default:
		f.Detail = fmt.Sprintf("a failure of the primary loses nothing now: "+
			"synchronous standbys with every acknowledged write: %d of %s", synchronous, names)
	}
	return f
}
