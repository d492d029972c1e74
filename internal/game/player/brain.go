package player

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/markup"
	"loregate/internal/wait"
)

// Reader reads the public table as the seat sees it. Over MCP it is a client of the surface's only
// resource.
type Reader interface {
	Read(ctx context.Context) (view.Table, error)
}

// Model writes lines. Its output is as untrusted as a stranger's text.
type Model interface {
	// Generate returns a line; "" is silence. The error is ErrSpent if the model may not be called
	// now; the Brain then uses a phrase.
	Generate(ctx context.Context, a Ask) (string, error)
}

// Ask is the complete input of a model. All of it follows from the public table.
type Ask struct {
	Game  string // the game's id, for the accounting of costs
	Table string // the public table as the seat reads it: JSON without angle brackets
	Task  string // the task of the line: one of a few sentences of this package
	Voice string // the manner of the line: another of them
}

// ErrSpent is a Model's error when it may not be called: its budget is used up.
var ErrSpent = errors.New("player: the model's budget is used up")

// Moderator reports whether a text may be said; nil allows all texts.
type Moderator func(text string) bool

// Brain is the language of one seat. It is safe for concurrent use.
type Brain struct {
	Reader   Reader
	Model    Model     // nil: phrases
	Moderate Moderator // may be nil
	Seed     uint64
	Now      func() time.Time
	// Patience is the longest time that a model may take; 0 is 20 s.
	Patience time.Duration

	breaker wait.Breaker
}

// SeedOf returns the seed of a seat's phrases.
func SeedOf(seed rule.Seed, seat rule.Seat) uint64 { return mix(foldSeed(seed), 1000+uint64(seat)) }

// Speak returns a text for a cue; "" is silence. A failure to read or to think is silence too, and
// the third in a row keeps the Brain silent for a minute.
func (b *Brain) Speak(ctx context.Context, cue Cue) string {
	return b.sayText(ctx, cue.Claim, func(t *view.Table) string { return taskFor(t, cue) },
		func(t *view.Table) string { return Phrase(b.Seed, t, cue) })
}

// Answer returns an answer to the question of the day, which names the player that the claim is
// about, if any; see Speak.
func (b *Brain) Answer(ctx context.Context, c Claim) string {
	return b.sayText(ctx, c, func(t *view.Table) string {
		task := "Answer the question in pulse_check.prompt in one short sentence."
		if c.About != 0 {
			task += " Your answer is " + t.Players[c.About.String()].Name + "."
		}
		return task
	}, func(t *view.Table) string { return Answer(t, c) })
}

func (b *Brain) sayText(ctx context.Context, c Claim, task, phrase func(*view.Table) string) string {
	if b.breaker.Left(b.Now()) > 0 {
		return ""
	}
	text, err := b.thinkText(ctx, c, task, phrase)
	b.breaker.Note(b.Now(), err != nil, time.Minute)
	if err != nil {
		return ""
	}
	text = trimText(text)
	if b.Moderate != nil && !b.Moderate(text) {
		return ""
	}
	return text
}

func (b *Brain) thinkText(ctx context.Context, c Claim, task, phrase func(*view.Table) string) (string, error) {
	patience := cmp.Or(b.Patience, 20*time.Second)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t, err := b.Reader.Read(ctx)
	if err != nil {
		return "", err
	}
	if b.Model == nil {
		return phrase(&t), nil
	}
	text, err := b.Model.Generate(ctx, Ask{Game: t.GameID, Table: tableText(t), Task: task(&t), Voice: Voice(&t)})
	if errors.Is(err, ErrSpent) || err == nil && !keepsTo(&t, c, trimText(text)) {
		return phrase(&t), nil
	}
	return text, err
}

// keepsTo reports whether a text makes no accusation and tells of no night, but as its claim says:
// the seat's votes and its next words will be held to it.
func keepsTo(t *view.Table, c Claim, text string) bool {
	for _, said := range ReadClaims(t, view.Message{Player: &t.You, Text: text}) {
		if (said.Kind == Accuse || said.Kind == Defend || said.Kind.isNight()) && (said.Kind != c.Kind || said.About != c.About) {
			return false
		}
	}
	return true
}

// trimText turns a model's output into one line of at most rule.MaxText characters.
func trimText(text string) string {
	text = markup.OneLine(text)
	text = strings.Trim(text, `"`)
	if utf8.RuneCountInString(text) > rule.MaxText {
		text = string([]rune(text)[:rule.MaxText])
	}
	return strings.TrimSpace(text)
}

// tasks tells a model what to say. Its line may use other words.
var tasks = map[Kind]string{
	Question: "Ask {other} what they did last night.",
	Accuse:   "Say that you suspect {other}.",
	Defend:   "Say that you trust {other}.",
	Deny:     "You were accused. Answer, and accuse nobody.",
	Mined:    "Tell the others that you mined for {other} last night.",
	NoSlot:   "Tell the others that you mined for {other} last night and found no free slot.",
	Worked:   "Tell the others that you worked on your project last night.",
	Blocked:  "Tell the others that you could not act last night.",
	Acted:    "Tell the others that you used your ability last night.",
}

// grounds tells a model what an accusation rests on.
var grounds = map[Basis]string{
	ByTokens:     " They hold {tokens} tokens, the most of all.",
	ByMining:     " They claim to have mined for {third}, who gained less than was claimed.",
	ByMilestones: " They claim more work on their project than it has milestones.",
	ByPush:       " They accused {third}, who was human.",
	ByDefence:    " They defended {third}, who was not human.",
	ByVote:       " They voted to keep {third}, who was not human.",
}

func taskFor(t *view.Table, cue Cue) string {
	switch c := cue.Claim; {
	case c.Kind == Deny && rule.Phase(t.Phase) == rule.Trial:
		return "You are on trial. Speak for yourself, and accuse nobody."
	case c.Kind != Remark:
		return fillLine(tasks[c.Kind]+grounds[c.Basis], t, c)
	case cue.Answer:
		return "Somebody spoke of you. Answer, and accuse nobody."
	}
	return "A phase has begun. Say something useful that accuses nobody, or nothing."
}

// maxData bounds the table in a model's input, in bytes: small enough for a model that runs on a
// personal computer.
const maxData = 16 << 10

// tableText encodes a table for a model: JSON in whose strings angle brackets are escaped, so that
// it cannot contain a tag. If it is too long, the oldest messages are left out.
func tableText(t view.Table) string {
	for {
		b, err := json.Marshal(t, json.Deterministic(true))
		if err != nil {
			panic("player: " + err.Error()) // plain values of our own
		}
		if text := brackets.Replace(string(b)); len(text) <= maxData || len(t.ChatLog) == 0 {
			return text
		}
		t.ChatLog = t.ChatLog[(len(t.ChatLog)+1)/2:]
	}
}

var brackets = strings.NewReplacer("<", `\u003c`, ">", `\u003e`)
