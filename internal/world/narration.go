package world

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// narrationIn is the input of get-narration-context.
type narrationIn struct {
	PlayerID   string `json:"playerId,omitzero" maxlen:"100" jsonschema:"Id or codename of the player that is narrated to."`
	LocationID string `json:"locationId,omitzero" maxlen:"100" jsonschema:"Without playerId: id or codename of the place."`
	NPCID      string `json:"npcId,omitzero" maxlen:"100" jsonschema:"Id or codename of a character that speaks or acts."`
	Purpose    string `json:"purpose,omitzero" enum:"describe,result,dialogue,ambience" default:"describe" jsonschema:"Use of the context."`
	MaxTokens  int    `json:"maxTokens,omitzero" min:"100" max:"8000" default:"1500" numeric:"string" jsonschema:"Most tokens."`
	timeInput
}

// Kinds of the entries of a narration context.
const (
	entryPlace     = "place"
	entryAir       = "air"
	entryStyle     = "style"
	entrySpeaker   = "npc"
	entryHere      = "here"
	entryExit      = "exit"
	entryPlayer    = "player"
	entryQuest     = "quest"
	entryEvent     = "event"
	entryMemory    = "memory"
	entryForbidden = "forbidden"
	entryLore      = "lore"
)

type narrationEntry struct {
	Kind   string        `json:"kind" enum:"place,air,style,npc,here,exit,player,quest,event,memory,forbidden,lore"`
	ID     *canon.CardID `json:"id,omitempty"`
	Name   string        `json:"name,omitempty"`
	Text   string        `json:"text"`
	Why    string        `json:"why" jsonschema:"Reason for the entry."`
	Tokens int           `json:"tokens" jsonschema:"Bytes divided by four."`
}

type cutEntry struct {
	Kind   string `json:"kind"`
	Name   string `json:"name,omitempty"`
	Tokens int    `json:"tokens"`
}

type narrationContext struct {
	Citation
	Tick    int64            `json:"tick"`
	Purpose string           `json:"purpose"`
	Tokens  int              `json:"tokens"`
	Entries []narrationEntry `json:"entries" jsonschema:"In the order of their importance."`
	Cut     []cutEntry       `json:"cut" jsonschema:"Entries that did not fit, and the rest of a text that was cut."`
}

// Bounds of what a narration context reads.
const (
	maxNarrated  = 12 // events
	maxMemories  = 10
	maxLore      = 8
	maxEntryText = 600 // characters of an entry other than the place
)

// narration collects the entries of a context within a budget of tokens.
type narration struct {
	*AsOf
	ctx    context.Context
	out    narrationContext
	budget int
	player *Card
	place  *Card
	npc    *Card
	told   map[uuid.UUID]bool // events that have an entry
}

func tokensOf(text string) int { return (len(text) + 3) / 4 }

// add adds an entry if it fits into the budget, and lists it as cut otherwise.
func (n *narration) add(e narrationEntry) {
	e.Text = markup.OneLine(e.Text)
	if e.Text == "" {
		return
	}
	full := tokensOf(e.Text)
	if e.Kind != entryPlace {
		e.Text, _ = CutText(e.Text, maxEntryText)
	} else if full > n.budget/2 {
		e.Text, _ = CutText(e.Text, n.budget*2) // half the budget, four bytes a token
	}
	e.Tokens = tokensOf(e.Text)
	if n.out.Tokens+e.Tokens > n.budget {
		n.out.Cut = append(n.out.Cut, cutEntry{e.Kind, e.Name, full})
		return
	}
	if full > e.Tokens {
		n.out.Cut = append(n.out.Cut, cutEntry{e.Kind, e.Name, full - e.Tokens})
	}
	n.out.Tokens += e.Tokens
	n.out.Entries = append(n.out.Entries, e)
}

func (n *narration) addCard(kind string, t Card, text, why string) {
	id := t.ID
	n.add(narrationEntry{Kind: kind, ID: &id, Name: t.Title(), Text: text, Why: why})
}

// narrationContextOf collects, for one player or place, the texts that a narrator needs, the most
// important first.
func narrationContextOf(ctx context.Context, m *AsOf, in narrationIn) (out Item[narrationContext], err error) {
	n := &narration{AsOf: m, ctx: ctx, told: map[uuid.UUID]bool{}, budget: cmp.Or(in.MaxTokens, 1500),
		out: narrationContext{Purpose: cmp.Or(in.Purpose, "describe"), Entries: []narrationEntry{}, Cut: []cutEntry{}}}
	ok, err := n.findSubjects(in)
	if err != nil || !ok {
		return out, err
	}
	steps := []func() error{n.addPlace, n.addAir, n.addSpeaker, n.addForbidden, n.addCompany, n.addExits, n.addPlayer,
		n.addQuests, n.addEvents, n.addMemories, n.addLore}
	if n.out.Purpose == "dialogue" {
		steps = []func() error{n.addSpeaker, n.addMemories, n.addForbidden, n.addPlace, n.addAir, n.addEvents, n.addPlayer,
			n.addQuests, n.addLore, n.addCompany, n.addExits}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return out, err
		}
	}
	n.out.Tick = m.Tick
	return Item[narrationContext]{&n.out}, nil
}

// findSubjects reads the cards that an input names. ok is false if one of them is not visible.
func (n *narration) findSubjects(in narrationIn) (ok bool, err error) {
	if in.PlayerID != "" {
		t, found, err := n.FindCard(n.ctx, in.PlayerID)
		if err != nil || !found || !t.IsType(TypePlayer) {
			return false, err
		}
		n.player = &t
		at, stands, err := n.FindAtLink(n.ctx, t.ID)
		if err != nil {
			return false, err
		}
		if stands {
			if n.place, err = n.placeByID(n.ctx, at.To); err != nil {
				return false, err
			}
		}
	} else {
		t, found, err := n.FindPlace(n.ctx, in.LocationID)
		if err != nil || !found {
			return false, err
		}
		n.place = &t
	}
	if in.NPCID != "" {
		t, found, err := n.FindCard(n.ctx, in.NPCID)
		if err != nil || !found || !IsAlive(t) {
			return false, err
		}
		n.npc = &t
	}
	if n.place != nil {
		if err := n.PrefetchPlace(n.ctx, n.place.ID); err != nil {
			return false, err
		}
	}
	return true, n.settleTick(n.ctx, n.place)
}

func (n *narration) addPlace() error {
	if n.place == nil {
		n.add(narrationEntry{Kind: entryPlace, Text: "The player stands nowhere.", Why: "no place holds the player"})
		return nil
	}
	text, err := n.ReadText(n.ctx, *n.place)
	n.addCard(entryPlace, *n.place, text, "the place of the scene")
	return err
}

// airNames are the names of the layers in a narration context.
var airNames = map[string]string{LayerWeather: "Weather", LayerLighting: "Light", LayerAmbient: "Mood",
	LayerDynamic: "Now"}

func (n *narration) addAir() error {
	if style := n.World().Settings.Description; style != "" {
		n.add(narrationEntry{Kind: entryStyle, Text: style, Why: "the world's description"})
	}
	if n.place == nil {
		return nil
	}
	layers, err := n.LayersAt(n.ctx, *n.place)
	if err != nil {
		return err
	}
	parts := []string{"It is " + TimeOfDay(n.Tick) + "."}
	for _, kind := range []string{LayerWeather, LayerLighting, LayerAmbient, LayerDynamic} {
		if s := slotOf(layers, kind); s.Value != "" {
			parts = append(parts, airNames[kind]+": "+strings.TrimRight(s.Value, ".")+".")
		}
	}
	n.add(narrationEntry{Kind: entryAir, Text: strings.Join(parts, " "), Why: "time of day, weather, light and mood"})
	return nil
}

// describeBeing returns the text of a character or creature, with how it regards the player and
// whether the player has beaten it.
func (n *narration) describeBeing(t Card) (string, error) {
	text, err := n.ReadText(n.ctx, t)
	if err != nil || n.player == nil {
		return text, err
	}
	_, r, err := n.RegardOf(n.ctx, t.ID, n.player.ID)
	return strings.TrimSpace(describeAttitude(r.Attitude, n.player.Title()) + " " + text), err
}

func (n *narration) addSpeaker() error {
	if n.npc == nil {
		return nil
	}
	text, err := n.describeBeing(*n.npc)
	n.addCard(entrySpeaker, *n.npc, text, "speaks or acts in the scene")
	return err
}

// addForbidden adds what a narration must not claim: that the dead act and that closed ways are
// open.
func (n *narration) addForbidden() error {
	if n.place == nil {
		return nil
	}
	here, err := n.CardsHere(n.ctx, n.place.ID)
	if err != nil {
		return err
	}
	if n.npc != nil && !slices.ContainsFunc(here, func(t Card) bool { return t.ID == n.npc.ID }) {
		n.addCard(entryForbidden, *n.npc, n.npc.Title()+" is not here.", "the character is somewhere else")
	}
	for _, t := range here {
		if IsAlive(t) && IsDead(t) {
			n.addCard(entryForbidden, t, t.Title()+" is dead, and neither speaks nor acts.", "the card says so")
		}
	}
	exits, err := n.Exits(n.ctx, *n.place)
	if err != nil {
		return err
	}
	for _, e := range exits {
		switch {
		case e.Availability == ExitForbidden:
			n.add(narrationEntry{Kind: entryForbidden, Text: "There is no going " + e.Direction.Phrase() + ". " + e.Reason,
				Why: "the way is closed"})
		case e.LockState == "locked":
			n.add(narrationEntry{Kind: entryForbidden, Text: "The way " + e.Direction.Phrase() + " is locked.",
				Why: "the way is closed"})
		}
	}
	return nil
}

// IsDead reports whether the fields of a card say that it is dead.
func IsDead(t Card) bool {
	var f struct {
		Status string `json:"status"`
		Dead   any    `json:"dead"`
		Died   any    `json:"died"`
	}
	DecodeFields(t.Fields, &f)
	told := func(v any) bool { return v != nil && v != false && v != "" }
	return strings.EqualFold(f.Status, "dead") || told(f.Dead) || told(f.Died)
}

func (n *narration) addCompany() error {
	if n.place == nil {
		return nil
	}
	here, err := n.CardsHere(n.ctx, n.place.ID)
	if err != nil {
		return err
	}
	for _, t := range here {
		switch {
		case n.player != nil && t.ID == n.player.ID, n.npc != nil && t.ID == n.npc.ID:
		case t.IsType(TypePlayer):
			n.addCard(entryHere, t, "A player.", "another player is here")
		default:
			text, err := n.describeBeing(t)
			if err != nil {
				return err
			}
			n.addCard(entryHere, t, text, "is here")
		}
	}
	lying, err := n.HeldItems(n.ctx, n.place.ID)
	for _, h := range lying {
		text, terr := n.ReadText(n.ctx, h.Card)
		if terr != nil {
			return terr
		}
		if h.Quantity > 1 {
			text = fmt.Sprintf("%d of them. %s", h.Quantity, text)
		}
		n.addCard(entryHere, h.Card, cmp.Or(text, "It lies here."), "lies here")
	}
	return err
}

func (n *narration) addExits() error {
	if n.place == nil {
		return nil
	}
	exits, err := n.readNamedExits(n.ctx, *n.place)
	for _, e := range exits {
		if e.Availability != ExitHard {
			continue
		}
		text := "A way leads " + e.Direction.Phrase()
		if e.ToName != "" {
			text += ", to " + e.ToName
		}
		n.add(narrationEntry{Kind: entryExit, ID: e.To, Name: string(e.Direction), Text: text + ". " + e.Description,
			Why: "a way out"})
	}
	return err
}

func (n *narration) addPlayer() error {
	if n.player == nil {
		return nil
	}
	own, err := n.HeldItems(n.ctx, n.player.ID)
	if err != nil {
		return err
	}
	names := make([]string, len(own))
	for i, h := range own {
		names[i] = CountedName(h)
	}
	text := "Carries nothing."
	if len(names) > 0 {
		text = "Carries " + JoinNames(names, "and") + "."
	}
	n.addCard(entryPlayer, *n.player, text, "the player that is narrated to")
	return nil
}

// addQuests adds the quests that the player pursues, each with the steps that are open.
func (n *narration) addQuests() error {
	if n.player == nil {
		return nil
	}
	own, err := n.PursuedQuests(n.ctx, n.player.ID)
	for _, p := range own {
		if p.State == QuestActive {
			n.addCard(entryQuest, p.Card, "To do: "+p.DescribeOpen(), "the player has accepted this quest")
		}
	}
	return err
}

// CountedName returns the name of a thing with its quantity: "Copper Coin (5)".
func CountedName(h Held) string {
	if h.Quantity == 1 {
		return Indefinite(h.Card)
	}
	return fmt.Sprintf("%s (%d)", h.Card.Title(), h.Quantity)
}

// addEvents adds the latest events at the place or of the player, as the reader perceived them.
func (n *narration) addEvents() error {
	var events []canon.StoredEvent
	var err error
	switch {
	case n.player != nil:
		events, err = n.playerEvents(n.ctx, n.player.ID, maxNarrated)
	case n.place != nil:
		events, err = n.readEvents(n.ctx, canon.EventQuery{Scopes: []string{string(LocationScope(n.place.ID))}}, maxNarrated)
	}
	if err != nil {
		return err
	}
	return n.addTexts(entryEvent, "happened just now, the latest first", events)
}

func (n *narration) addTexts(kind, why string, events []canon.StoredEvent) error {
	list, err := n.recountEvents(n.ctx, events)
	for _, e := range list {
		if n.told[e.ID] {
			continue
		}
		n.told[e.ID] = true
		n.add(narrationEntry{Kind: kind, Text: e.Text, Why: why})
	}
	return err
}

// addMemories adds what the character remembers of the player: promises, the latest exchanges, the summary of earlier
// ones, and lines that narrators have given it.
func (n *narration) addMemories() error {
	if n.npc == nil || n.player == nil {
		return nil
	}
	_, r, err := n.RegardOf(n.ctx, n.npc.ID, n.player.ID)
	if err != nil {
		return err
	}
	recent := slices.DeleteFunc(slices.Clone(r.Recent), func(h canon.Hash) bool { return slices.Contains(r.Promises, h) })
	if err := n.addExchanges(r.Promises, "the player has promised it"); err != nil {
		return err
	}
	if err := n.addExchanges(recent[max(0, len(recent)-maxMemories):],
		"between the character and the player, the latest first"); err != nil {
		return err
	}
	sum, err := n.ReadMemory(n.ctx, r.Summary)
	if err != nil {
		return err
	}
	n.add(narrationEntry{Kind: entryMemory, Text: strings.Join(sum.Lines, " "),
		Why: "earlier exchanges of the two, summed up"})
	events, err := n.readEvents(n.ctx, canon.EventQuery{Scopes: []string{string(PlayerScope(n.player.ID))},
		Types: []string{string(NPCDialogue)}}, maxMemories)
	if err != nil {
		return err
	}
	events = slices.DeleteFunc(events, func(e canon.StoredEvent) bool { return !slices.Contains(cardsOf(e), n.npc.ID) })
	return n.addTexts(entryMemory, "the character has said it, the latest first", events)
}

func (n *narration) addExchanges(list []canon.Hash, why string) error {
	for _, h := range slices.Backward(list) {
		x, ok, err := n.ReadExchange(n.ctx, h)
		if err != nil {
			return err
		}
		if ok {
			n.add(narrationEntry{Kind: entryMemory, Text: x.Recall(n.player.Title(), n.npc.Title()), Why: why})
		}
	}
	return nil
}

// addLore adds cards that the place or the character is linked to.
func (n *narration) addLore() error {
	seen := map[canon.CardID]bool{}
	for _, from := range []*Card{n.npc, n.place} {
		if from == nil {
			continue
		}
		links, err := n.ReadLinks(n.ctx, canon.LinkQuery{From: from.ID}, MaxHere)
		if err != nil {
			return err
		}
		var ids []canon.CardID
		for _, l := range links {
			switch l.Kind {
			case LinkExit, LinkAt, LinkHolds, LinkAnchor, LinkRegards, LinkPursues:
			default:
				ids = append(ids, l.To)
			}
		}
		cards, err := n.CardsByID(n.ctx, ids[:min(len(ids), maxLore)])
		if err != nil {
			return err
		}
		for _, t := range cards {
			if seen[t.ID] {
				continue
			}
			seen[t.ID] = true
			text, err := n.ReadText(n.ctx, t)
			if err != nil {
				return err
			}
			n.addCard(entryLore, t, text, from.Title()+" is linked to it")
		}
	}
	return nil
}
