package player

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Simulation describes the games to simulate.
type Simulation struct {
	Players int // 6 to 10
	AI      int // number of them played by the program, the first seats; the others send Script's commands
	Seed    uint64
	Games   int
	Workers int // 0 is 1
	// Watch, if not nil, receives every step of every game, from several goroutines at once if
	// there are several workers.
	Watch func(before, after *rule.State, events []rule.Event)
	// Script, if not nil, returns the commands of the people at the table when a phase begins. It
	// may be called concurrently, like Watch. Without it they do nothing.
	Script func(*rule.State) []rule.Command
}

// Outcome is the result of a simulation.
type Outcome struct {
	Games  int
	Won    map[rule.Side]int
	Days   []int // games that ended on day 1, 2, …
	Steps  int   // number of commands decided
	Broken []string
	Digest [sha256.Size]byte // of all transcripts: the same for the same seed
}

// Simulate plays whole games in this process, without real waiting. The same Simulation has the
// same Outcome for any number of workers.
func Simulate(ctx context.Context, c Simulation) (Outcome, error) {
	if c.Players < rule.MinSeats || c.Players > rule.MaxSeats || c.AI < 0 || c.AI > c.Players || c.Games < 1 {
		return Outcome{}, errors.New("a game has 6 to 10 players, no more AI players than that, and there is at least one game")
	}
	played := make([]match, c.Games)
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range max(c.Workers, 1) {
		g.Go(func() error {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= c.Games {
					return nil
				}
				played[i].playGame(&c, i)
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return Outcome{}, err
	}
	return totalOf(played), nil
}

func totalOf(played []match) Outcome {
	o := Outcome{Games: len(played), Won: map[rule.Side]int{}, Days: make([]int, 10)}
	h := sha256.New()
	for i := range played {
		m := &played[i]
		o.Won[m.state.Public.Winner]++
		o.Days[max(m.state.Public.Day, 1)-1]++
		o.Steps += m.steps
		if m.broken != nil {
			o.Broken = append(o.Broken, fmt.Sprintf("game %d: %v", i, m.broken))
		}
		h.Write(m.digest.Sum(nil))
	}
	h.Sum(o.Digest[:0])
	return o
}

func (o Outcome) String() string {
	var b strings.Builder
	share := func(n int) float64 { return 100 * float64(n) / float64(o.Games) }
	fmt.Fprintf(&b, "games    %d\n", o.Games)
	for _, side := range []rule.Side{rule.Humans, rule.Machine, rule.Draw} {
		fmt.Fprintf(&b, "%-8s %d (%.1f%%)\n", map[rule.Side]string{rule.Humans: "humans", rule.Machine: "ai",
			rule.Draw: "draw"}[side], o.Won[side], share(o.Won[side]))
	}
	b.WriteString("ended on day")
	for i, n := range o.Days {
		if n > 0 {
			fmt.Fprintf(&b, " %d: %d;", i+1, n)
		}
	}
	fmt.Fprintf(&b, "\nbroken   %d\n", len(o.Broken))
	for _, s := range o.Broken {
		b.WriteString("  " + s + "\n")
	}
	fmt.Fprintf(&b, "digest   %x\n", o.Digest[:12])
	return b.String()
}

// match is one simulated game.
type match struct {
	cfg    *Simulation
	state  rule.State
	now    rule.Millis
	cores  []*Core
	seed   rule.Seed
	digest hash.Hash
	broken error
	steps  int
}

// maxSteps is more commands than a game can take; a game that reaches it does not end.
const maxSteps = 20000

func (m *match) playGame(c *Simulation, number int) {
	m.cfg, m.digest, m.now = c, sha256.New(), 1_700_000_000_000
	m.seed = sha256.Sum256(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, c.Seed), uint64(number)))
	m.doCommand(rule.Create{ID: fmt.Sprintf("g-%d", number), Seed: m.seed})
	for i := range c.Players {
		played := rule.ByPerson
		if i < c.AI {
			played = rule.ByProgram
			m.cores = append(m.cores, NewCore(m.seed, rule.Seat(i+1)))
		}
		m.doCommand(rule.Join{Name: Name(m.seed, i), Played: played})
	}
	m.doCommand(rule.Start{})
	for m.state.Public.Phase != rule.Over && m.steps < maxSteps && m.broken == nil {
		m.playPhase()
	}
	if m.state.Public.Phase != rule.Over && m.broken == nil {
		m.broken = errors.New("the game does not end")
	}
}

// doCommand decides one command. It ignores refusals: a core may request a move that has become
// illegal in the meantime.
func (m *match) doCommand(c rule.Command) {
	m.steps++
	before := m.state
	after, events, err := rule.Step(before, c, m.now, before.Dice())
	if err != nil {
		return
	}
	m.state = after
	if err := rule.Check(&before, &after, events); err != nil && m.broken == nil {
		m.broken = err
	}
	for _, e := range events {
		name, payload, err := rule.Encode(e)
		if err != nil {
			m.broken = err
		}
		m.digest.Write([]byte(name))
		m.digest.Write(payload)
	}
	if m.cfg.Watch != nil {
		m.cfg.Watch(&before, &after, events)
	}
}

// playPhase plays one phase to its end: all speak at their cues and move, then move again in view
// of the votes, and time passes.
func (m *match) playPhase() {
	began, ends := m.now, m.state.Public.Ends
	if m.cfg.Script != nil {
		for _, c := range m.cfg.Script(&m.state) {
			m.doCommand(c)
		}
	}
	if m.state.Public.Phase == rule.PulseCheck {
		m.answerPulse()
	}
	for range 2 {
		for _, s := range m.dueSpeeches(ends - began) {
			m.now = max(m.now, began+rule.Millis(s.After.Milliseconds()))
			m.saySpeech(s)
		}
		for _, c := range m.cores {
			v := view.BriefOf(&m.state, c.seat)
			for _, move := range c.Moves(&v) {
				m.doCommand(move)
			}
		}
	}
	m.now = ends
	m.doCommand(rule.Tick{})
}

// speech is a cue and its seat.
type speech struct {
	Cue
	seat rule.Seat
}

func (m *match) dueSpeeches(length rule.Millis) []speech {
	var all []speech
	p := &m.state.Public
	for _, c := range m.cores {
		v := view.BriefOf(&m.state, c.seat)
		c.Listen(&v.Table, p)
		for _, cue := range c.Cues(&v, p.Extended, time.Duration(length)*time.Millisecond) {
			if cue.Number > m.state.Secret.Seats.Of(c.seat).Cue {
				all = append(all, speech{cue, c.seat})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b speech) int { return cmp.Compare(a.After, b.After) })
	return all
}

func (m *match) saySpeech(s speech) {
	if !m.state.MaySpeak(s.seat) {
		return
	}
	t := view.TableOf(m.state.ID, &m.state.Public, s.seat)
	m.doCommand(rule.Chat{From: s.seat, Text: Phrase(SeedOf(m.seed, s.seat), &t, s.Cue), Cue: s.Number})
}

func (m *match) answerPulse() {
	for _, c := range m.cores {
		if m.state.Public.Alive(c.seat) {
			v := view.BriefOf(&m.state, c.seat)
			c.Listen(&v.Table, &m.state.Public)
			m.doCommand(rule.AnswerPulse{Seat: c.seat, Text: Answer(&v.Table, c.PulseClaim(&v))})
		}
	}
}

// names are names of AI players, enough that no two at a table of ten are the same.
var names = []string{"Ines", "Tobias", "Marguerite", "Ravi", "Odile", "Hannes", "Yuki", "Petra", "Samuel", "Aroha",
	"Bruno", "Leyla", "Casper", "Noor", "Viktor", "Maeve", "Idris", "Greta", "Pavel", "Solange"}

// Name returns the name of the nth AI player of a game.
func Name(seed rule.Seed, n int) string {
	start := int(foldSeed(seed) % uint64(len(names)))
	return names[(start+n*7)%len(names)] // 7 and 20 have no common divisor
}
