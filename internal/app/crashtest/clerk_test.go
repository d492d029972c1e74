// Package crashtest proves the fourth law, that what was acknowledged stays and nothing is
// done by halves: by killing the shipped binary, by cutting the power of a simulated disk,
// by repeating calls, by several processes on one store that come and go, by taking the
// database and the way to it away, and by failing each step of a commit.
//
// Clerks are the witnesses. Each keeps cards of its own, one call after the other, and
// knows after every one what must be there. After a crash a clerk finds either what was
// there after its last acknowledged call, or what the call in flight makes of it.
package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// count is how many of something a test does: an environment variable, or a few.
func count(variable string, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n > 0 {
		return n
	}
	return fallback
}

// answer is what came of a call that was answered.
type answer struct {
	status   int
	body     string
	replayed bool
}

// door is a way to call operations. An error means that no answer came.
type door interface {
	call(ctx context.Context, operation, key string, in map[string]any) (answer, error)
}

// slots is how many cards a clerk has.
const slots = 5

// slot is the state of one card: absent, live or trashed, under one of two names, with the
// number of the write that its text and its note have; 0 is no note.
type slot struct {
	live, trashed, moved bool
	text, note           int
}

type state [slots]slot

// visible is what of a state can be read.
func (s state) visible() state {
	for i := range s {
		if s[i].trashed {
			s[i] = slot{}
		}
	}
	return s
}

// move is a call, and the state after each commit that it makes.
type move struct {
	operation, key string
	in             map[string]any
	after          []state
}

func (m *move) end() state { return m.after[len(m.after)-1] }

// clerk makes calls one after the other.
type clerk struct {
	t       testing.TB
	tag     string
	rnd     *rand.Rand
	n       int    // writes so far
	state   state  // after the last acknowledged call
	commits int    // of acknowledged calls
	calls   int    // acknowledged
	last    *move  // the last acknowledged call
	said    answer // to the last
	open    *move  // the call in flight
	opened  int    // calls that were in flight at a crash
	found   int    // those of them that had an effect
	apart   bool   // the steps of a batch per item may fail one by one, and not only from one on
}

func newClerk(t testing.TB, tag string, seed uint64) *clerk {
	return &clerk{t: t, tag: tag, rnd: rand.New(rand.NewPCG(seed, uint64(len(tag))+uint64(tag[len(tag)-1])))}
}

func (c *clerk) name(i int, moved bool) string {
	if moved {
		return fmt.Sprintf("Shelf %s %d", c.tag, i)
	}
	return fmt.Sprintf("Ledger %s %d", c.tag, i)
}

// text is the content of a write: of a length that depends on its number.
func (c *clerk) text(n int) string {
	return fmt.Sprintf("<p>Write %d of clerk %s, filed in [[Archive Hall]].%s</p>", n, c.tag, strings.Repeat(" Entry after entry after entry.", n*7%60))
}

// next thinks of a call that can be done.
func (c *clerk) next() *move {
	c.n++
	m := &move{key: fmt.Sprintf("%s-%d", c.tag, c.n)}
	i := c.rnd.IntN(slots)
	s := c.state[i]
	pick := c.rnd.IntN(10)
	switch {
	case pick < 2 && c.batch(m, []string{"transactional", "per_item"}[pick]):
		return m
	case s.trashed:
		m.operation, m.in = "restore_card", map[string]any{"name": c.name(i, s.moved)}
		s.live, s.trashed = true, false
	case !s.live:
		m.operation = "create_card"
		m.in = map[string]any{"name": c.name(i, false), "content": c.text(c.n), "children": []any{
			map[string]any{"name": "+note", "content": c.text(c.n + 1)}}}
		s = slot{live: true, text: c.n, note: c.n + 1}
	case pick < 6:
		m.operation, m.in = "update_card", map[string]any{"name": c.name(i, s.moved), "content": c.text(c.n)}
		s.text = c.n
	case pick < 8:
		m.operation, m.in = "rename_card", map[string]any{"name": c.name(i, s.moved), "new_name": c.name(i, !s.moved)}
		s.moved = !s.moved
	default:
		m.operation, m.in = "delete_card", map[string]any{"name": c.name(i, s.moved), "confirm": c.name(i, s.moved)}
		s.live, s.trashed = false, true
	}
	after := c.state
	after[i] = s
	m.after = []state{after}
	return m
}

// batch writes the cards that are there, and some that are not. It reports whether there
// are any.
func (c *clerk) batch(m *move, mode string) bool {
	var ops []any
	after := c.state
	for i, s := range c.state {
		if s.trashed || !s.live && c.rnd.IntN(4) > 0 {
			continue
		}
		c.n++
		ops = append(ops, map[string]any{"action": "create", "fetch_or_initialize": true, "name": c.name(i, s.moved), "content": c.text(c.n)})
		s.live, s.text = true, c.n
		after[i] = s
		if mode == "per_item" {
			m.after = append(m.after, after)
		}
	}
	if mode == "transactional" {
		m.after = []state{after}
	}
	m.operation, m.in = "batch_cards", map[string]any{"mode": mode, "ops": ops}
	return len(ops) > 0
}

// work does one call. It reports whether an answer came.
func (c *clerk) work(ctx context.Context, d door) bool {
	c.open = c.next()
	a, err := d.call(ctx, c.open.operation, c.open.key, c.open.in)
	if err != nil {
		return false
	}
	if err := c.settle(a); err != nil {
		c.t.Error(err)
	}
	return true
}

// settle takes note that the open call was acknowledged. A clerk's calls all succeed.
func (c *clerk) settle(a answer) error {
	m := c.open
	c.state, c.commits, c.calls = m.end(), c.commits+len(m.after), c.calls+1
	c.last, c.said, c.open = m, a, nil
	if a.status >= 300 || a.status == 207 {
		return fmt.Errorf("clerk %s: %s %s answers %d %s", c.tag, m.operation, m.key, a.status, a.body)
	}
	return nil
}

// read finds out what is there.
func (c *clerk) read(ctx context.Context, d door) (got state, err error) {
	for i := range got {
		for _, moved := range []bool{false, true} {
			text, err := c.content(ctx, d, c.name(i, moved))
			if err != nil {
				return got, err
			}
			note, err := c.content(ctx, d, c.name(i, moved)+"+note")
			if err != nil {
				return got, err
			}
			switch {
			case text == 0 && note == 0:
			case text == 0 || got[i].live:
				return got, fmt.Errorf("clerk %s: card %d is there by halves, or twice", c.tag, i)
			default:
				got[i] = slot{live: true, moved: moved, text: text, note: note}
			}
		}
	}
	return got, nil
}

// content is the number of the write that a card has; 0 where there is no such card.
func (c *clerk) content(ctx context.Context, d door, name string) (int, error) {
	a, err := d.call(ctx, "get_card", "", map[string]any{"name": name, "full": true})
	if err != nil || a.status == 404 {
		return 0, err
	}
	var card struct{ Name, Content string }
	if err := json.Unmarshal([]byte(a.body), &card); err != nil || a.status != 200 {
		return 0, fmt.Errorf("reading %q: %d %s", name, a.status, a.body)
	}
	if card.Name != name {
		return 0, nil // it was renamed
	}
	n := 0
	if _, err := fmt.Sscanf(card.Content, "<p>Write %d of", &n); err != nil || card.Content != c.text(n) {
		return 0, fmt.Errorf("%q holds what nobody wrote: %.80q", name, card.Content)
	}
	return n, nil
}

// allowed are the states that may be there: the last acknowledged one first.
func (c *clerk) allowed() []state {
	list := []state{c.state.visible()}
	if c.open == nil {
		return list
	}
	before := c.state
	for _, s := range c.open.after {
		if !c.apart {
			list = append(list, s.visible())
			continue
		}
		for _, l := range slices.Clone(list) {
			for i := range s {
				if s[i] != before[i] {
					l[i] = s.visible()[i]
				}
			}
			list = append(list, l)
		}
		before = s
	}
	return list
}

// resume holds what is there after a crash against what was acknowledged, and goes on: it
// repeats the last acknowledged call and the one in flight.
func (c *clerk) resume(ctx context.Context, d door) error {
	got, err := c.read(ctx, d)
	if err != nil {
		return err
	}
	allowed := c.allowed()
	if !slices.Contains(allowed, got) {
		return fmt.Errorf("clerk %s: after the crash there is\n%+v\nand there may be\n%+v", c.tag, got, allowed)
	}
	if c.last != nil {
		if err := c.repeat(ctx, d, c.last, c.said, got == allowed[0]); err != nil {
			return err
		}
	}
	if c.open == nil {
		return nil
	}
	m := c.open
	if c.opened++; got != allowed[0] {
		c.found++
	}
	a, err := d.call(ctx, m.operation, m.key, m.in)
	if err != nil {
		return err
	}
	if err := c.settle(a); err != nil {
		return err
	}
	if a.replayed != (got == m.end().visible() && got != allowed[0]) && len(m.after) == 1 {
		return fmt.Errorf("clerk %s: %s %s in flight says replayed = %v", c.tag, m.operation, m.key, a.replayed)
	}
	if err := c.repeat(ctx, d, m, a, true); err != nil {
		return err
	}
	if got, err = c.read(ctx, d); err == nil && got != c.state.visible() {
		err = fmt.Errorf("clerk %s: after the repeated call there is\n%+v\nwant\n%+v", c.tag, got, c.state.visible())
	}
	return err
}

// repeat does an acknowledged call again. Its answer must be the one given before, where
// nothing came between; else it is shaped by what there is now, which may be nothing.
// That it has no second effect shows in what is there, and in the count of commits.
func (c *clerk) repeat(ctx context.Context, d door, m *move, said answer, same bool) error {
	a, err := d.call(ctx, m.operation, m.key, m.in)
	switch {
	case err != nil:
		return err
	case !a.replayed && (same || a.status != 404):
		return fmt.Errorf("clerk %s: %s %s was acknowledged and has a second effect: %d %s", c.tag, m.operation, m.key, a.status, a.body)
	case same && (a.body != said.body || a.status != said.status):
		return fmt.Errorf("clerk %s: %s %s answered\n%d %s\nand repeated answers\n%d %s", c.tag, m.operation, m.key, said.status, said.body, a.status, a.body)
	}
	return nil
}
