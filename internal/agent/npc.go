package agent

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"loregate/internal/fault"
	"loregate/internal/proposal"
)

// lineTemplate is the prompt template for lines of characters.
const lineTemplate = "npc-dialogue"

// maxLine is the most characters of a line that an agent drafts.
const maxLine = 300

// playerContext is the part of get-player-context that the pipeline reads.
type playerContext struct {
	Player   struct{ ID, Name string }
	Location *struct{ ID, Name string }
	NPCs     []struct{ ID, Name, Type string }
}

// dialogueContext is the part of get-narration-context that the pipeline reads.
type dialogueContext struct {
	Entries []struct{ Kind, Name, Text string }
}

// runNPC has a character say a line to a player who is at the same place: about the place and the lore, as players see
// them.
func runNPC(ctx context.Context, t *task, o Order) (out Report, err error) {
	if o.Player == "" {
		return out, fault.BadField("player", "is missing; give the player to whom the character speaks")
	}
	var p *playerContext
	if err := t.readContext(ctx, "get-player-context", map[string]any{"playerId": o.Player}, &p); err != nil {
		return out, err
	}
	if p == nil {
		return out, fault.New(fault.NotFound, "there is no player %q; give its id, as get_player has it", o.Player)
	}
	speaker := chooseSpeaker(*p, o.NPC)
	if speaker.ID == "" {
		return Report{Status: Skipped, Why: "nobody who could speak is with " + p.Player.Name}, nil
	}
	var c *dialogueContext
	if err := t.readContext(ctx, "get-narration-context",
		map[string]any{"playerId": p.Player.ID, "npcId": speaker.ID, "purpose": "dialogue"}, &c); err != nil {
		return out, err
	}
	if c == nil {
		return Report{Status: Skipped, Why: speaker.Name + " cannot speak"}, nil
	}
	for n := 1; ; n++ {
		line, by := t.writeLine(ctx, speaker, *p, *c, n)
		if line == "" {
			return Report{Status: Skipped, Why: speaker.Name + " has nothing to say"}, nil
		}
		r, err := t.submitDraft(ctx, draft{"npc_dialogue", "propose-npc-dialogue",
			map[string]any{"npcId": speaker.ID, "playerId": p.Player.ID, "draftText": line},
			proposal.Provenance{Model: by, ContextRefs: t.refs}})
		if err != nil || r.Rejection == nil || n > maxRetries || r.Rejection.Gate == proposal.GateRate {
			out = t.reportOf(r)
			out.Result = map[string]string{"npcId": speaker.ID, "npc": speaker.Name, "line": line, "by": by}
			return out, err
		}
	}
}

// chooseSpeaker returns the character with an id or a name, or the first character, in the company of a player.
func chooseSpeaker(p playerContext, wanted string) (n named) {
	for _, c := range p.NPCs {
		fits := wanted == c.ID || strings.EqualFold(wanted, c.Name)
		if fits || wanted == "" && !strings.EqualFold(c.Type, "Creature") {
			return named{c.ID, c.Name}
		}
	}
	return n
}

// writeLine writes the n-th draft of a line, from 1: the first by the model if there is one. It also returns the author.
func (t *task) writeLine(ctx context.Context, speaker named, p playerContext, c dialogueContext, n int) (string, string) {
	if t.agents.cfg.AskNPCs && n == 1 {
		line, err := t.askLine(ctx, speaker)
		if err == nil {
			return line, modelFor(t.agents.cfg.Answers, "npc_dialogue")
		}
		t.agents.cfg.Logger.WarnContext(ctx, "the model wrote no line; known facts are told instead", "error",
			err)
	}
	return composeLine(speaker, p, c, n), composerModel
}

func (t *task) askLine(ctx context.Context, speaker named) (string, error) {
	data, err := marshalData(t.answers)
	if err != nil {
		return "", err
	}
	name, err := marshalData(speaker.Name)
	if err != nil {
		return "", err
	}
	return t.agents.Ask(ctx, Question{World: t.world, task: t, Purpose: "npc_dialogue", Template: lineTemplate,
		MaxTokens: 256, Values: map[string]string{"context": data, "speaker": name},
		Accept: func(text string) (string, error) {
			text = strings.Trim(strings.TrimSpace(text), "\"“”")
			if text == "" || utf8.RuneCountInString(text) > maxLine || strings.ContainsAny(text, "\n{}<>") {
				return "", errNoLine
			}
			return text, nil
		}})
}

var errNoLine = fault.New(fault.Rule, "the model did not answer with one line")

// composeLine writes the n-th draft of a line from facts that the speaker knows; "" if the speaker knows nothing. Different
// visits give different lines, as far as there are some.
func composeLine(speaker named, p playerContext, c dialogueContext, n int) string {
	var known []string
	for _, e := range c.Entries {
		if e.Kind != "lore" && e.Kind != "place" || e.Name == "" || e.Name == speaker.Name || e.Name == p.Player.Name {
			continue
		}
		if text := firstSentence(e.Text); text != "" && utf8.RuneCountInString(text) <= maxLine/2 {
			known = append(known, "Of "+e.Name+" they say: "+text)
		}
	}
	if len(known) == 0 {
		return ""
	}
	h := fnv.New64a()
	for _, e := range c.Entries {
		_, _ = h.Write([]byte(e.Text))
	}
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(n)))
	return known[r.IntN(len(known))]
}

// firstSentence returns the first sentence of a text.
func firstSentence(text string) string {
	if end := strings.IndexAny(text, ".!?"); end >= 0 {
		return text[:end+1]
	}
	return text
}
