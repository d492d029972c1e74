package loadtest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"loregate/internal/wait"
)

// driver is a run under way.
type driver struct {
	c    Config
	p    *plan
	s    *sender
	m    *measure
	run  string // tells the run's keys from those of others
	left atomic.Int64
}

func newDriver(c Config, p *plan) *driver {
	return &driver{c: c, p: p, s: newSender(c), run: strconv.FormatInt(time.Now().UnixNano(), 36)}
}

func (d *driver) close() { d.s.client.CloseIdleConnections() }

func (d *driver) logIn(ctx context.Context) error {
	if _, err := d.s.bearer(ctx, 0); err != nil {
		return fmt.Errorf("the key is exchanged for a token of role %s in world %s: %w", d.c.Role, d.c.World, err)
	}
	return nil
}

// want makes a call that must come to something.
func (d *driver) want(ctx context.Context, at int, c call) error {
	if o := d.s.send(ctx, at, c); o.code != "" {
		return fmt.Errorf("%s %s: %w", c.method, c.path, o.err())
	}
	return nil
}

func (d *driver) has(ctx context.Context, name string) (bool, error) {
	o := d.s.send(ctx, 0, call{method: http.MethodGet, path: cardPath(name)})
	if o.status == http.StatusNotFound {
		return false, nil
	}
	return o.code == "", o.err()
}

// fillers is how many batches are written at once.
const fillers = 4

// fill writes the cards that the load is about, where they are not there from a run with
// the same seed and as many cards.
func (d *driver) fill(ctx context.Context) error {
	there, err := d.has(ctx, d.p.marker())
	if err != nil {
		return err
	}
	if there {
		d.c.Say("The %d cards below %q are in world %s already.", d.c.Cards, d.p.root, d.c.World)
		return nil
	}
	d.c.Say("Writing %d cards below %q into world %s.", d.c.Cards, d.p.root, d.c.World)
	groups := make(chan int)
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	for i := range fillers {
		all.Go(func() {
			for g := range groups {
				if err := d.writeGroup(ctx, i, g); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	for g := range (d.c.Cards + groupSize - 1) / groupSize {
		if failed.Load() != nil || ctx.Err() != nil {
			break
		}
		groups <- g
	}
	close(groups)
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.want(ctx, 0, call{kind: Write, method: http.MethodPost, path: "/api/mcp/cards", key: d.run + "-marker", body: mustJSON(map[string]any{"name": d.p.marker(), "content": "All are there."})})
}

// marker is the card that is written last.
func (p *plan) marker() string { return fmt.Sprintf("%s+%d cards", p.root, p.cards) }

// writeGroup writes one group of cards, all at once where none of them is there from a run
// that was broken off; such are left as they are.
func (d *driver) writeGroup(ctx context.Context, at, g int) error {
	o := d.s.send(ctx, at, d.p.batch(g, d.run, "transactional"))
	if o.code == "" {
		return nil
	}
	return d.want(ctx, at, d.p.batch(g, d.run, "per_item"))
}

func (p *plan) batch(g int, run, mode string) call {
	var ops []any
	for i := g * groupSize; i < min((g+1)*groupSize, p.cards); i++ {
		ops = append(ops, map[string]any{"action": "create", "name": p.card(i), "content": p.text(i)})
	}
	return call{kind: Write, method: http.MethodPost, path: "/api/mcp/cards/batch", key: fmt.Sprintf("%s-fill-%d-%s", run, g, mode),
		body: mustJSON(map[string]any{"mode": mode, "ops": ops})}
}

// drive runs the load and measures.
func (d *driver) drive(ctx context.Context) (*Report, error) {
	ctx, stop := context.WithTimeout(ctx, d.c.Duration)
	defer stop()
	var watching sync.WaitGroup
	watchers, err := d.subscribe(ctx)
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	d.c.Say("Driving %d server(s) with %d clients for %s.", len(d.c.URLs), d.c.Clients, d.c.Duration)
	cpu := meterServers(d.c.URLs)
	d.m = newMeasure(d.c.Duration)
	d.left.Store(int64(d.c.Calls))
	for _, w := range watchers {
		watching.Go(func() { w.work(ctx) })
	}
	var clients sync.WaitGroup
	for me := range d.c.Clients {
		clients.Go(func() { d.client(ctx, me) })
	}
	clients.Wait()
	took := time.Since(d.m.began)
	stop()
	watching.Wait()
	for _, w := range watchers {
		w.close()
	}
	r := d.m.report(d.c, took)
	r.CPU = cpu.read(r.Calls)
	return r, nil
}

// client makes calls until the time or their number is up. At a fixed rate a call's time
// begins when it was due, whether the one before was answered or not.
func (d *driver) client(ctx context.Context, me int) {
	s := d.p.script(me, d.run)
	var step time.Duration
	if d.c.Rate > 0 {
		step = time.Duration(float64(time.Second) / d.c.Rate)
	}
	for i := me; ctx.Err() == nil && d.take(); i += d.c.Clients {
		c, late := s.next(), time.Duration(0)
		if step > 0 {
			due := d.m.began.Add(time.Duration(i) * step)
			if early := time.Until(due); early > 0 && !wait.For(ctx, early) {
				return
			}
			late = time.Since(due)
		}
		o := d.s.send(ctx, me, c)
		if ctx.Err() != nil {
			d.m.cut(o)
			return
		}
		d.m.add(c.kind, o, late)
	}
}

// take takes one of the calls that are left, where their number is bounded.
func (d *driver) take() bool { return d.c.Calls == 0 || d.left.Add(-1) >= 0 }

// clean puts what was written into the trash, part by part.
func (d *driver) clean(ctx context.Context) error {
	d.c.Say("Putting the cards below %q into the trash of world %s.", d.p.root, d.c.World)
	trash := func(name string) error {
		o := d.s.send(ctx, 0, call{method: http.MethodDelete, path: cardPath(name), key: d.run + "-clean-" + name,
			body: mustJSON(map[string]any{"confirm": name})})
		if o.status == http.StatusNotFound {
			return nil
		}
		return o.err()
	}
	for g := range (d.c.Cards + groupSize - 1) / groupSize {
		if err := trash(d.p.group(g * groupSize)); err != nil {
			return err
		}
	}
	return trash(d.p.root)
}
