package play

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/proposal/kind"
	"loregate/internal/world"
)

// Narrator puts committed results into words of its own, such as a language model's.
type Narrator interface {
	// Phrase returns texts for a result, one of them of the class kind.Result. After an error, and after a refusal of
	// that text, the template stands.
	Phrase(ctx context.Context, w access.WorldID, r Told) (Phrasing, error)
	// Vet returns an error for a text that the gates refuse.
	Vet(ctx context.Context, g access.Grant, t Text, of Told) error
}

// Told is a committed result in the words of a template, with the context of its narration.
type Told struct {
	Player  canon.CardID    `json:"-"`
	Place   canon.CardID    `json:"-"` // where the player is after the act
	Text    string          `json:"result"`
	Context json.RawMessage `json:"context"`
}

// Phrasing is the answer of a Narrator.
type Phrasing struct {
	Texts        []Text
	By, Template string // name of the model, and the prompt's id and version
}

// Text is a text of a class.
type Text struct {
	Class kind.Class `json:"class"`
	Text  string     `json:"text"`
}

const (
	contextTokens = 800         // of the context of a narration
	maxTexts      = 3           // of a phrasing
	ambientLife   = world.Hour  // of a layer that a narration leaves
	keepTimeout   = time.Second // for keeping a narration whose time is up
)

// tellResults has the narrator phrase the results of a command, one after the other, until its patience is spent. It
// keeps the narration of each as an event in the player's scope. Results are committed before, and stay as they are.
func (h *Host) tellResults(ctx context.Context, c *op.Call, player canon.CardID, out *commandOut) {
	within, cancel := context.WithTimeout(ctx, h.patience)
	defer cancel()
	for i := range out.Results {
		r := &out.Results[i]
		if r.Outcome != "done" || r.EventID == nil {
			continue
		}
		switch {
		case h.narrator != nil:
			r.Text, r.by = h.tellResult(ctx, within, c.Grant, player, *r)
		case !c.Reply.Replayed:
			r.by = world.ByRules
		}
		if r.by != "" && h.told != nil {
			h.told(r.by, r.Text)
		}
	}
}

// tellResult returns the narration of a result, which is the one that is kept, a new one, or the template, and its
// narrator; "" for one that was kept.
func (h *Host) tellResult(
	ctx, within context.Context,
	g access.Grant,
	player canon.CardID,
	r stepResult,
) (text, by string) {
	told := Told{Player: player, Text: r.Text}
	var kept world.Narration
	var known bool
	var npc canon.CardID
	err := h.canon.Read(ctx, g, func(snap *canon.Snapshot) (err error) {
		m := h.world.Current(snap)
		if kept, known, err = m.NarrationOf(ctx, player, *r.EventID); known || err != nil {
			return err
		}
		at, _, err := m.FindAtLink(ctx, player)
		if err != nil {
			return err
		}
		told.Place = at.To
		if npc, err = m.CharacterIn(ctx, *r.EventID); err != nil {
			return err
		}
		told.Context, err = h.world.NarrationEntries(ctx, snap, player, npc, contextTokens)
		return err
	})
	switch {
	case err != nil:
		return r.Text, world.ByRules
	case known:
		return kept.Text, ""
	}
	n := byRules(*r.EventID, r.Text)
	n.PlayerID, n.NPCID = player, npc
	mood := h.phrase(within, g, told, &n)
	if err := h.keepNarration(context.WithoutCancel(ctx), g, n, told.Place, mood); err != nil {
		return r.Text, world.ByRules // what is not kept is not told
	}
	return strings.TrimSpace(n.Text + "\n\n" + n.Hint), n.By
}

// byRules returns the narration of an act by a template.
func byRules(act uuid.UUID, text string) world.Narration {
	return world.Narration{EventID: act, By: world.ByRules, NarrationText: world.NarrationText{Text: text}}
}

// phrase asks the narrator, and puts the texts that the gates let through into n. It returns a text for a layer of
// the place, or "".
func (h *Host) phrase(ctx context.Context, g access.Grant, told Told, n *world.Narration) (mood string) {
	if ctx.Err() != nil {
		return ""
	}
	p, err := h.narrator.Phrase(ctx, g.World(), told)
	if err != nil || ctx.Err() != nil || len(p.Texts) > maxTexts {
		return ""
	}
	byClass := map[kind.Class]string{}
	for _, t := range p.Texts {
		t.Text = markup.OneLine(markup.Clean(t.Text))
		if byClass[t.Class] != "" || t.Text == "" || h.narrator.Vet(ctx, g, t, told) != nil {
			continue
		}
		byClass[t.Class] = t.Text
	}
	if byClass[kind.Result] == "" {
		return ""
	}
	n.By, n.Template, n.Hint = p.By, p.Template, byClass[kind.Hint]
	n.Text = strings.Join(strings.Fields(strings.Join([]string{byClass[kind.Structural], byClass[kind.Result],
		byClass[kind.Flavour]}, " ")), " ")
	return byClass[kind.Ambient]
}

// keepNarration records a narration for its reader, and lays its mood over a place that has none.
func (h *Host) keepNarration(
	ctx context.Context,
	g access.Grant,
	n world.Narration,
	place canon.CardID,
	mood string,
) error {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	text, err := json.Marshal(n.NarrationText)
	if err != nil {
		return err
	}
	n.NarrationText = world.NarrationText{}
	part := g.Part("narrated:"+n.EventID.String(), [32]byte{})
	_, err = h.canon.Update(ctx, part, func(p *canon.Plan) error {
		p.Composes()
		label := world.NarrationLabel(p.View())
		if mood != "" {
			if err := h.planMood(ctx, p, n.PlayerID, place, mood, label); err != nil {
				return err
			}
		}
		var err error
		if n.Content, err = p.StoreText(string(text), label); err != nil {
			return err
		}
		payload, err := json.Marshal(n)
		if err != nil {
			return err
		}
		_, sent, err := p.EventOnce(canon.Event{Type: string(world.PlayerNarrated), Payload: payload, Label: label,
			Scope: string(world.PlayerScope(n.PlayerID)), Version: 1, Key: world.NarrationKey(n.EventID),
			Actor: narratedBy(n)})
		if err == nil && sent {
			err = errNarrated
		}
		return err
	})
	if errors.Is(err, errNarrated) {
		return nil
	}
	return err
}

// errNarrated ends the plan of a narration that another process has kept.
var errNarrated = errors.New("world: the act is narrated")

// narratedBy returns the actor of a narration.
func narratedBy(n world.Narration) canon.EventActor {
	if n.By == world.ByRules {
		return canon.EventActor{Kind: "system"}
	}
	return canon.EventActor{Kind: "ai", ID: markup.Clip(n.By, 100)}
}

// planMood lays an ambient layer over a place for an hour, unless it has one.
func (h *Host) planMood(
	ctx context.Context,
	p *canon.Plan,
	player, place canon.CardID,
	mood string,
	label access.Label,
) error {
	m := h.world.Current(p.Snapshot)
	at, ok, err := m.FindAtLink(ctx, player)
	if err != nil || !ok || at.To != place {
		return err
	}
	m.Tick = world.PresenceOf(at).Clock
	card, ok, err := m.CardByID(ctx, place)
	if err != nil || !ok {
		return err
	}
	layers, err := m.LayersAt(ctx, card)
	if err != nil || layers[world.LayerAmbient].Text != "" {
		return err
	}
	_, err = p.Layer(canon.Layer{Card: place, Kind: world.LayerAmbient, Text: mood, Label: label.Meet(card.Label),
		FromTick: m.Tick, ToTick: m.Tick + ambientLife})
	return err
}

// sentencesOf splits a text into its sentences, for readers that get it bit by bit.
func sentencesOf(text string) (list []string) {
	rest := text
	for rest != "" {
		cut := len(rest)
		for _, end := range []string{". ", "! ", "? ", "\n\n", ".” ", "!” ", "?” "} {
			if i := strings.Index(rest, end); i >= 0 {
				cut = min(cut, i+len(end))
			}
		}
		list = append(list, rest[:cut])
		rest = rest[cut:]
	}
	return list
}

// actOf returns the act that an event narrates, and the narration.
func actOf(e canon.StoredEvent) (uuid.UUID, world.Narration) {
	var n world.Narration
	world.DecodeFields(e.Payload, &n)
	return n.EventID, n
}
