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

// driver is a run in progress.
type driver struct {
	c    Config
	p    *plan
	s    *sender
	m    *measure
	run  string // distinguishes the idempotency keys of this run from those of others
	left atomic.Int64
}

func newDriver(c Config, p *plan) *driver {
	return &driver{c: c, p: p, s: newSender(c), run: strconv.FormatInt(time.Now().UnixNano(), 36)}
}

func (d *driver) close() { d.s.client.CloseIdleConnections() }

func (d *driver) logIn(ctx context.Context) error {
	if _, err := d.s.currentToken(ctx, 0); err != nil {
		return fmt.Errorf("the key is exchanged for a token of role %s in world %s: %w", d.c.Role, d.c.World, err)
	}
	return nil
}

// mustSend makes a call that must succeed.
func (d *driver) mustSend(ctx context.Context, at int, c call) error {
	if o := d.s.sendCall(ctx, at, c); o.code != "" {
		return fmt.Errorf("%s %s: %w", c.method, c.path, o.toError())
	}
	return nil
}

func (d *driver) hasCard(ctx context.Context, name string) (bool, error) {
	o := d.s.sendCall(ctx, 0, call{method: http.MethodGet, path: cardPath(name)})
	if o.status == http.StatusNotFound {
		return false, nil
	}
	return o.code == "", o.toError()
}

// fillers is the number of batches that are written concurrently.
const fillers = 4

// writeCards writes the cards of the load, unless they exist from a run with the same seed and
// number of cards.
func (d *driver) writeCards(ctx context.Context) error {
	there, err := d.hasCard(ctx, d.p.markerName())
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
	return d.mustSend(ctx, 0, call{kind: Write, method: http.MethodPost, path: "/api/mcp/cards", key: d.run + "-marker",
		body: mustJSON(map[string]any{"name": d.p.markerName(), "content": "All are there."})})
}

// markerName returns the name of the card that is written last.
func (p *plan) markerName() string { return fmt.Sprintf("%s+%d cards", p.root, p.cards) }

// writeGroup writes one group of cards: all or nothing if none of them exists, else the missing
// ones of an interrupted run.
func (d *driver) writeGroup(ctx context.Context, at, g int) error {
	o := d.s.sendCall(ctx, at, d.p.batchCall(g, d.run, "transactional"))
	if o.code == "" {
		return nil
	}
	return d.mustSend(ctx, at, d.p.batchCall(g, d.run, "per_item"))
}

func (p *plan) batchCall(g int, run, mode string) call {
	var ops []any
	for i := g * groupSize; i < min((g+1)*groupSize, p.cards); i++ {
		ops = append(ops, map[string]any{"action": "create", "name": p.cardName(i), "content": p.cardText(i)})
	}
	return call{kind: Write, method: http.MethodPost, path: "/api/mcp/cards/batch",
		key:  fmt.Sprintf("%s-fill-%d-%s", run, g, mode),
		body: mustJSON(map[string]any{"mode": mode, "ops": ops})}
}

// runLoad runs the load and measures it.
func (d *driver) runLoad(ctx context.Context) (*Report, error) {
	ctx, stop := context.WithTimeout(ctx, d.c.Duration)
	defer stop()
	var watching sync.WaitGroup
	watchers, err := d.subscribeAll(ctx)
	if err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	d.c.Say("Driving %d server(s) with %d clients for %s.", len(d.c.URLs), d.c.Clients, d.c.Duration)
	cpu := meterServers(d.c.URLs)
	d.m = newMeasure(d.c.Duration)
	d.left.Store(int64(d.c.Calls))
	for _, w := range watchers {
		watching.Go(func() { w.runLoop(ctx) })
	}
	var clients sync.WaitGroup
	for me := range d.c.Clients {
		clients.Go(func() { d.runClient(ctx, me) })
	}
	clients.Wait()
	took := time.Since(d.m.began)
	stop()
	watching.Wait()
	for _, w := range watchers {
		w.close()
	}
	r := d.m.toReport(d.c, took)
	r.CPU = cpu.read(r.Calls)
	return r, nil
}

// runClient makes calls until the time or the number of calls is used up. At a fixed rate a call's
// latency counts from the time when it was due, even if the previous call was answered later.
func (d *driver) runClient(ctx context.Context, me int) {
	s := d.p.newScript(me, d.run)
	var step time.Duration
	if d.c.Rate > 0 {
		step = time.Duration(float64(time.Second) / d.c.Rate)
	}
	for i := me; ctx.Err() == nil && d.takeCall(); i += d.c.Clients {
		c, late := s.next(), time.Duration(0)
		if step > 0 {
			due := d.m.began.Add(time.Duration(i) * step)
			if early := time.Until(due); early > 0 && !wait.For(ctx, early) {
				return
			}
			late = time.Since(due)
		}
		o := d.s.sendCall(ctx, me, c)
		if ctx.Err() != nil {
			d.m.addCut(o)
			return
		}
		d.m.add(c.kind, o, late)
	}
}

// takeCall takes one of the remaining calls, if their number is limited.
func (d *driver) takeCall() bool { return d.c.Calls == 0 || d.left.Add(-1) >= 0 }

// trashCards moves the written cards to the trash, part by part.
func (d *driver) trashCards(ctx context.Context) error {
	d.c.Say("Putting the cards below %q into the trash of world %s.", d.p.root, d.c.World)
	trash := func(name string) error {
		o := d.s.sendCall(ctx, 0, call{method: http.MethodDelete, path: cardPath(name), key: d.run + "-clean-" + name,
			body: mustJSON(map[string]any{"confirm": name})})
		if o.status == http.StatusNotFound {
			return nil
		}
		return o.toError()
	}
	for g := range (d.c.Cards + groupSize - 1) / groupSize {
		if err := trash(d.p.groupName(g * groupSize)); err != nil {
			return err
		}
	}
	return trash(d.p.root)
}
