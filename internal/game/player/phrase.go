package player

import (
	"slices"
	"strings"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// phrases are what is said without a model, by reason. {other} is a living player,
// {crisis} the day's crisis.
var phrases = map[Reason][]string{
	PhaseBegan: {
		"Morning. Anything odd in the report?",
		"Let us be quick about {crisis}. What do we know?",
		"I worked on my own things. Who mined for whom?",
		"{other}, what is your reading of the numbers?",
		"Nothing to add yet. I would rather hear {other} first.",
		"The tokens tell us more than the talk does.",
	},
	Plan: {
		"I do not trust {other}. Too many tokens, too few words.",
		"We should watch {other} today.",
		"I suspect {other}, and I will say why when asked.",
		"If nobody has a better idea, I nominate {other}.",
		"Something about {other} is suspicious. It is only a feeling.",
		"Before we vote: {other} has been lying low.",
	},
	Mentioned: {
		"I am here. What do you want to know?",
		"Fair question. I did what I said I would do.",
		"I have nothing to hide. Ask {other} instead.",
		"Noted.",
	},
	Accused: {
		"That is not me. Look at {other} before you waste the day.",
		"You have the wrong one. Check who gained last night.",
		"Easy to say. Where is the proof?",
		"I understand the doubt, but you would lose a human.",
	},
	Nominated: {
		"I am human. Deactivate me and you are one vote closer to losing.",
		"Ask yourselves who wanted this vote. I did not.",
		"I mined for others every night. Keep me and see.",
		"Vote as you must. You will be sorry tomorrow.",
	},
}

// answers are what is said to the question of the day.
var answers = []string{
	"Hard to say before lunch.", "{other}, mostly.", "The numbers, always the numbers.", "I keep my own notes.",
	"Ask me after tonight.", "Less talk, more work.", "{other} would know.", "Nothing that I could prove.",
}

// Phrase is what the seat says at a cue, chosen by seed and state.
func Phrase(seed uint64, t *view.Table, cue Cue) string {
	return fill(seed, t, cue.Number, phrases[cue.Reason])
}

// Answer is the answer to the question of the day.
func Answer(seed uint64, t *view.Table) string {
	return fill(seed, t, PulseCue(t.Day), answers)
}

func fill(seed uint64, t *view.Table, number int, from []string) string {
	if len(from) == 0 {
		return ""
	}
	x := mix(seed, uint64(number))
	crisis := "the crisis"
	if t.Crisis != nil {
		crisis = strings.ToLower(t.Crisis.Title[:1]) + t.Crisis.Title[1:]
	}
	words := strings.NewReplacer("{other}", other(mix(x, 1), t), "{crisis}", crisis)
	for i := range from {
		text := words.Replace(from[(x+uint64(i))%uint64(len(from))])
		if !saidToday(t, text) {
			return text
		}
	}
	return "" // all has been said
}

// saidToday reports whether somebody has said a text on this day.
func saidToday(t *view.Table, text string) bool {
	for _, m := range slices.Backward(t.ChatLog) {
		if m.Day != t.Day {
			return false
		}
		if m.Text == text {
			return true
		}
	}
	return false
}

// other is the name of another living player: one who already has votes or many tokens
// rather than any, as people talk of whom all talk of.
func other(x uint64, t *view.Table) string {
	var ids []string
	for s := rule.Seat(1); int(s) <= len(t.Players); s++ {
		if p := t.Players[s.String()]; p.Alive && p.ID != t.You {
			ids = append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return "somebody"
	}
	weight := func(id string) int {
		w := t.Players[id].Tokens
		if t.Vote != nil {
			w += 2 * t.Vote.Totals[id]
		}
		return w
	}
	if x%3 == 0 {
		return t.Players[slices.MaxFunc(ids, func(a, b string) int { return weight(a) - weight(b) })].Name
	}
	return t.Players[ids[x/3%uint64(len(ids))]].Name
}
