package player

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/markup"
)

// Reader gives the public table as the seat reads it. Over MCP it is a client of the one
// resource there is.
type Reader interface {
	Read(ctx context.Context) (view.Table, error)
}

// Model writes lines. What it gives is no more to be trusted than what a stranger writes.
type Model interface {
	// Generate answers; "" is silence. Its error is ErrSpent where it may not be asked now,
	// and phrases do without it.
	Generate(ctx context.Context, a Ask) (string, error)
}

// Ask is what a model is told, and all it is told. It holds nothing that does not follow
// from what the seat reads.
type Ask struct {
	Game  string // its id, for whoever keeps account of it
	Table string // the public table as the seat reads it: JSON without angle brackets
	Task  string // what is to be said: one of a few sentences of this package
	Voice string // the manner to say it in: another of them
}

// ErrSpent is a Model's error where it may not be asked: its budget is used up.
var ErrSpent = errors.New("player: the model's budget is used up")

// Moderator says whether a text may be said; nil lets all through.
type Moderator func(text string) bool

// Brain is the language of one seat. It is safe for concurrent use.
type Brain struct {
	Reader   Reader
	Model    Model     // nil: phrases
	Moderate Moderator // may be nil
	Seed     uint64
	Now      func() time.Time
	// Patience is how long a model may take; 0 is 20 s.
	Patience time.Duration

	breaker breaker
}

// SeedOf is the seed of a seat's phrases.
func SeedOf(seed rule.Seed, seat rule.Seat) uint64 { return mix(fold(seed), 1000+uint64(seat)) }

// Speak gives what to say at a cue; "" is silence. A failure to read or to think is
// silence too, and the third in a row keeps it silent for a minute.
func (b *Brain) Speak(ctx context.Context, cue Cue) string {
	return b.say(ctx, task(cue.Reason), func(t *view.Table) string { return Phrase(b.Seed, t, cue) })
}

// Answer gives an answer to the question of the day; see Speak.
func (b *Brain) Answer(ctx context.Context) string {
	return b.say(ctx, "Answer the question in pulse_check.prompt in one short sentence.", func(t *view.Table) string { return Answer(b.Seed, t) })
}

func (b *Brain) say(ctx context.Context, task string, phrase func(*view.Table) string) string {
	if !b.breaker.closed(b.Now()) {
		return ""
	}
	text, err := b.think(ctx, task, phrase)
	b.breaker.note(b.Now(), err)
	if err != nil {
		return ""
	}
	text = trim(text)
	if b.Moderate != nil && !b.Moderate(text) {
		return ""
	}
	return text
}

func (b *Brain) think(ctx context.Context, task string, phrase func(*view.Table) string) (string, error) {
	patience := b.Patience
	if patience == 0 {
		patience = 20 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t, err := b.Reader.Read(ctx)
	if err != nil {
		return "", err
	}
	if b.Model == nil {
		return phrase(&t), nil
	}
	text, err := b.Model.Generate(ctx, Ask{Game: t.GameID, Table: data(t), Task: task, Voice: Voice(&t)})
	if errors.Is(err, ErrSpent) {
		return phrase(&t), nil
	}
	return text, err
}

// trim makes one line of at most rule.MaxText characters of what a model gave.
func trim(text string) string {
	text = markup.OneLine(text)
	text = strings.Trim(text, `"`)
	if utf8.RuneCountInString(text) > rule.MaxText {
		text = string([]rune(text)[:rule.MaxText])
	}
	return strings.TrimSpace(text)
}

func task(r Reason) string {
	switch r {
	case Mentioned:
		return "Somebody spoke of you. Answer."
	case Accused:
		return "You were accused. Answer."
	case Nominated:
		return "You are on trial. Speak for yourself."
	case Plan:
		return "Say whom the others should look at, and why, from what is public."
	}
	return "A phase has begun. Say something useful, or nothing."
}

// maxData bounds a table as a model is given it, in bytes: small enough for a model that
// runs on somebody's own machine.
const maxData = 16 << 10

// data is a table as a model is given it: JSON in whose strings angle brackets are
// escaped, so that no mark can stand in it. The oldest messages are left out where it
// would be too long.
func data(t view.Table) string {
	for {
		b, err := json.Marshal(t, json.Deterministic(true))
		if err != nil {
			panic("player: " + err.Error()) // plain values of ours
		}
		if text := brackets.Replace(string(b)); len(text) <= maxData || len(t.ChatLog) == 0 {
			return text
		}
		t.ChatLog = t.ChatLog[(len(t.ChatLog)+1)/2:]
	}
}

var brackets = strings.NewReplacer("<", `\u003c`, ">", `\u003e`)

// breaker opens after three failures in a row, for a minute.
type breaker struct {
	mu       sync.Mutex
	failures int       // in a row. Guarded by mu
	until    time.Time // guarded by mu
}

const (
	maxFailures = 3
	silence     = time.Minute
)

func (b *breaker) closed(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !now.Before(b.until)
}

func (b *breaker) note(now time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.failures = 0
		return
	}
	if b.failures++; b.failures >= maxFailures {
		b.failures, b.until = 0, now.Add(silence)
	}
}
