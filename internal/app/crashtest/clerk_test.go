// Package crashtest proves the fourth law: acknowledged writes are kept, and no write is
// applied in part. Its tests kill the shipped binary, cut the power of a simulated disk, repeat
// calls, start and stop several processes on one store, take the database or the connection to
// it away, and fail each step of a commit.
//
// Clerks are the witnesses. Each clerk has cards of its own, makes one call after the other,
// and knows the expected state after every call. After a crash a clerk must find either the
// state after its last acknowledged call, or the state after the call in flight.
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

// countFromEnv returns the positive number in an environment variable, or fallback.
func countFromEnv(variable string, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n > 0 {
		return n
	}
	return fallback
}

// answer is the answer to a call.
type answer struct {
	status   int
	body     string
	replayed bool
}

// opClient calls operations. An error means that no answer came.
type opClient interface {
	call(ctx context.Context, operation, key string, in map[string]any) (answer, error)
}

// slots is the number of cards of a clerk.
const slots = 5

// slot is the state of one card: absent, live or trashed, under one of two names. text and note
// are the numbers of the writes that set its text and its note; note is 0 if there is none.
type slot struct {
	live, trashed, moved bool
	text, note           int
}

type state [slots]slot

// visible returns the readable part of a state: trashed cards are absent.
func (s state) visible() state {
	for i := range s {
		if s[i].trashed {
			s[i] = slot{}
		}
	}
	return s
}

// plannedCall is a call, and the state after each commit that it makes.
type plannedCall struct {
	operation, key string
	in             map[string]any
	after          []state
	refusal        string // the answer that refused it, if one came
}

func (m *plannedCall) finalState() state { return m.after[len(m.after)-1] }

// clerk makes calls one after the other.
type clerk struct {
	t       testing.TB
	tag     string
	rnd     *rand.Rand
	n       int          // number of the last write
	state   state        // after the last acknowledged call
	commits int          // made by acknowledged calls
	calls   int          // acknowledged calls
	last    *plannedCall // the last acknowledged call
	said    answer       // the answer to last
	open    *plannedCall // the call in flight
	opened  int          // calls that were in flight at a crash
	found   int          // opened calls that had an effect
	apart   bool         // items of a per-item batch may fail one by one; if false, the first failure ends the batch
}

func newClerk(t testing.TB, tag string, seed uint64) *clerk {
	return &clerk{t: t, tag: tag, rnd: rand.New(rand.NewPCG(seed, uint64(len(tag))+uint64(tag[len(tag)-1])))}
}

func (c *clerk) cardName(i int, moved bool) string {
	if moved {
		return fmt.Sprintf("Shelf %s %d", c.tag, i)
	}
	return fmt.Sprintf("Ledger %s %d", c.tag, i)
}

// writeText returns the content of write n. Its length depends on n.
func (c *clerk) writeText(n int) string {
	return fmt.Sprintf("<p>Write %d of clerk %s, filed in [[Archive Hall]].%s</p>", n, c.tag,
		strings.Repeat(" Entry after entry after entry.", n*7%60))
}

// nextCall picks a random call that can succeed in the current state.
func (c *clerk) nextCall() *plannedCall {
	c.n++
	m := &plannedCall{key: fmt.Sprintf("%s-%d", c.tag, c.n)}
	i := c.rnd.IntN(slots)
	s := c.state[i]
	pick := c.rnd.IntN(10)
	switch {
	case pick < 2 && c.planBatch(m, []string{"transactional", "per_item"}[pick]):
		return m
	case s.trashed:
		m.operation, m.in = "restore_card", map[string]any{"name": c.cardName(i, s.moved)}
		s.live, s.trashed = true, false
	case !s.live:
		m.operation = "create_card"
		m.in = map[string]any{"name": c.cardName(i, false), "content": c.writeText(c.n), "children": []any{
			map[string]any{"name": "+note", "content": c.writeText(c.n + 1)}}}
		s = slot{live: true, text: c.n, note: c.n + 1}
	case pick < 6:
		m.operation, m.in = "update_card", map[string]any{"name": c.cardName(i, s.moved), "content": c.writeText(c.n)}
		s.text = c.n
	case pick < 8:
		m.operation, m.in = "rename_card", map[string]any{"name": c.cardName(i, s.moved), "new_name": c.cardName(i, !s.moved)}
		s.moved = !s.moved
	default:
		m.operation, m.in = "delete_card", map[string]any{"name": c.cardName(i, s.moved), "confirm": c.cardName(i, s.moved)}
		s.live, s.trashed = false, true
	}
	after := c.state
	after[i] = s
	m.after = []state{after}
	return m
}

// planBatch plans a batch that writes all live cards and some absent ones. It reports whether
// there are any.
func (c *clerk) planBatch(m *plannedCall, mode string) bool {
	var ops []any
	after := c.state
	for i, s := range c.state {
		if s.trashed || !s.live && c.rnd.IntN(4) > 0 {
			continue
		}
		c.n++
		ops = append(ops, map[string]any{"action": "create", "fetch_or_initialize": true, "name": c.cardName(i, s.moved),
			"content": c.writeText(c.n)})
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

// doNextCall makes one call. It reports whether an answer came.
func (c *clerk) doNextCall(ctx context.Context, d opClient) bool {
	c.open = c.nextCall()
	a, err := d.call(ctx, c.open.operation, c.open.key, c.open.in)
	if err != nil {
		return false
	}
	if err := c.acknowledge(a); err != nil {
		c.t.Error(err)
	}
	return true
}

// acknowledge records that the call in flight was acknowledged. All calls of a clerk must
// succeed.
func (c *clerk) acknowledge(a answer) error {
	m := c.open
	c.state, c.commits, c.calls = m.finalState(), c.commits+len(m.after), c.calls+1
	c.last, c.said, c.open = m, a, nil
	if a.status >= 300 || a.status == 207 {
		return fmt.Errorf("clerk %s: %s %s answers %d %s", c.tag, m.operation, m.key, a.status, a.body)
	}
	return nil
}

// read reads the clerk's cards and returns their state.
func (c *clerk) read(ctx context.Context, d opClient) (got state, err error) {
	for i := range got {
		for _, moved := range []bool{false, true} {
			text, err := c.readWriteNumber(ctx, d, c.cardName(i, moved))
			if err != nil {
				return got, err
			}
			note, err := c.readWriteNumber(ctx, d, c.cardName(i, moved)+"+note")
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

// readWriteNumber returns the number of the write that set a card's content; 0 if there is no
// such card.
func (c *clerk) readWriteNumber(ctx context.Context, d opClient, name string) (int, error) {
	a, err := d.call(ctx, "get_card", "", map[string]any{"name": name, "full": true})
	if err != nil || a.status == 404 {
		return 0, err
	}
	var card struct{ Name, Content string }
	if err := json.Unmarshal([]byte(a.body), &card); err != nil || a.status != 200 {
		return 0, fmt.Errorf("reading %q: %d %s", name, a.status, a.body)
	}
	if card.Name != name {
		return 0, nil // the card was renamed
	}
	n := 0
	if _, err := fmt.Sscanf(card.Content, "<p>Write %d of", &n); err != nil || card.Content != c.writeText(n) {
		return 0, fmt.Errorf("%q holds what nobody wrote: %.80q", name, card.Content)
	}
	return n, nil
}

// allowedStates returns the states that may be found: the last acknowledged one first.
func (c *clerk) allowedStates() []state {
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

// checkAndResume compares the state after a crash with the acknowledged calls. It then repeats
// the last acknowledged call and the call in flight.
func (c *clerk) checkAndResume(ctx context.Context, d opClient) error {
	got, err := c.read(ctx, d)
	if err != nil {
		return err
	}
	allowed := c.allowedStates()
	if !slices.Contains(allowed, got) {
		return fmt.Errorf("clerk %s: after the crash there is\n%+v\nand there may be\n%+v", c.tag, got, allowed)
	}
	if c.last != nil {
		if err := c.repeatCall(ctx, d, c.last, c.said, got == allowed[0]); err != nil {
			return err
		}
	}
	if c.open == nil {
		return nil
	}
	m := c.open
	if c.opened++; got != allowed[0] {
		c.found++
		if m.refusal != "" && len(m.after) == 1 && !strings.Contains(m.refusal, " kept") {
			return fmt.Errorf("clerk %s: %s had been done, and was refused with %s", c.tag, m.operation, m.refusal)
		}
	}
	a, err := d.call(ctx, m.operation, m.key, m.in)
	if err != nil {
		return err
	}
	if err := c.acknowledge(a); err != nil {
		return err
	}
	if a.replayed != (got == m.finalState().visible() && got != allowed[0]) && len(m.after) == 1 {
		return fmt.Errorf("clerk %s: %s %s in flight says replayed = %v", c.tag, m.operation, m.key, a.replayed)
	}
	if err := c.repeatCall(ctx, d, m, a, true); err != nil {
		return err
	}
	if got, err = c.read(ctx, d); err == nil && got != c.state.visible() {
		err = fmt.Errorf("clerk %s: after the repeated call there is\n%+v\nwant\n%+v", c.tag, got, c.state.visible())
	}
	return err
}

// withoutOpens leaves out the list of the data that a change opened, which only its first answer has.
func withoutOpens(body string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(body), &fields) != nil {
		return body
	}
	delete(fields, "opens")
	b, err := json.Marshal(fields)
	if err != nil {
		return body
	}
	return string(b)
}

// repeatCall makes an acknowledged call again. If nothing was written since, the answer must be
// the same as before; otherwise the answer reflects the present state, and may be not_found.
// The callers' checks of the state and of the number of commits show that there is no second
// effect.
func (c *clerk) repeatCall(ctx context.Context, d opClient, m *plannedCall, said answer, same bool) error {
	a, err := d.call(ctx, m.operation, m.key, m.in)
	switch {
	case err != nil:
		return err
	case !a.replayed && (same || a.status != 404):
		return fmt.Errorf("clerk %s: %s %s was acknowledged and has a second effect: %d %s", c.tag, m.operation, m.key,
			a.status, a.body)
	case same && (withoutOpens(a.body) != withoutOpens(said.body) || a.status != said.status):
		return fmt.Errorf("clerk %s: %s %s answered\n%d %s\nand repeated answers\n%d %s", c.tag, m.operation, m.key,
			said.status, said.body, a.status, a.body)
	}
	return nil
}
