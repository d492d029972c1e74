package play

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// Bounds of the acts that one look at a player's quests reads.
const (
	actsPage  = 100
	actsPages = 20
	// maxUnmet is the number of acts without progress after which they are marked as looked at.
	maxUnmet = 50
)

// maxReward bounds the number of things of one reward.
const maxReward = 1000

// followQuests moves the quests of a player by its acts since they last moved, in a commit of its own. Acts that were
// committed before a process ended thus count at the next act. It returns uuid.Nil if nothing moved.
func (h *Host) followQuests(
	ctx context.Context,
	g access.Grant,
	player canon.CardID,
	replayed bool,
) (uuid.UUID, error) {
	var earlier canon.Receipt
	active := false
	err := h.canon.Read(ctx, g, func(snap *canon.Snapshot) (err error) {
		if replayed {
			if earlier, active, err = snap.Repeated(ctx, g); err != nil || active {
				active = false
				return err
			}
		}
		own, err := h.world.Current(snap).PursuedQuests(ctx, player)
		active = slices.ContainsFunc(own, func(p world.Pursued) bool { return p.State == world.QuestActive })
		return err
	})
	if err != nil || !active {
		return earlier.Change, err
	}
	receipt, err := h.canon.Update(ctx, g, func(p *canon.Plan) error {
		s, err := newTurn(ctx, h.world, p, player, command.Intent{})
		if _, nowhere := errors.AsType[*impossible](err); nowhere {
			return nil
		}
		if err != nil {
			return err
		}
		return s.planProgress()
	})
	return receipt.Change, err
}

// planProgress folds the player's acts into its quests, and gives the rewards of those that end.
func (s *turn) planProgress() error {
	own, err := s.PursuedQuests(s.ctx, s.player.ID)
	if err != nil {
		return err
	}
	own = slicesx.Filter(own, func(p world.Pursued) bool { return p.State == world.QuestActive })
	acts, err := s.readActs(own)
	if err != nil || len(acts) == 0 {
		return err
	}
	told := world.QuestProgress{PlayerID: s.player.ID, Clock: s.presence.Clock}
	for _, p := range own {
		move := world.QuestMove{QuestID: p.Card.ID}
		state, unmet := p.Pursuit, 0
		for _, e := range acts {
			if e.Seq <= p.Link.Since {
				continue
			}
			next, met, err := s.FoldQuest(s.ctx, p.Quest, state, e)
			if err != nil {
				return err
			}
			state, unmet = next, unmet+1
			move.Steps = append(move.Steps, met...)
		}
		move.State = state.State
		switch {
		case len(move.Steps) > 0 || state.State != world.QuestActive:
			if err := s.tellMove(p, &move, &told); err != nil {
				return err
			}
		case unmet < maxUnmet:
			continue
		}
		state.Acts = p.Acts + unmet
		if err := s.linkPursuit(p.Link, state); err != nil {
			return err
		}
	}
	if len(told.Quests) == 0 {
		return nil
	}
	payload, err := json.Marshal(told)
	if err != nil {
		return err
	}
	return s.plan.Event(canon.Event{Type: string(world.QuestAdvanced), Payload: payload, Label: s.label, Version: 1,
		Scope: string(world.PlayerScope(s.player.ID)), Actor: canon.EventActor{Kind: "system"}})
}

// readActs returns the events of the player since its quests last moved, oldest first.
func (s *turn) readActs(own []world.Pursued) (acts []canon.StoredEvent, err error) {
	if len(own) == 0 {
		return nil, nil
	}
	after := own[0].Link.Since
	for _, p := range own {
		after = min(after, p.Link.Since)
	}
	for range actsPages {
		page, _, err := s.Events(s.ctx, canon.EventQuery{Actor: s.player.ID.String(), After: after, Oldest: true,
			Page: canon.Page{Limit: actsPage, Uncounted: true}})
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			if e, err = s.Perceive(s.ctx, e); err != nil {
				return nil, err
			}
			acts = append(acts, e)
		}
		if len(page) < actsPage {
			break
		}
		after = page[len(page)-1].Seq
	}
	return acts, nil
}

// tellMove adds the progress of a quest to the event, and plans its rewards if it has ended.
func (s *turn) tellMove(p world.Pursued, move *world.QuestMove, told *world.QuestProgress) (err error) {
	s.narrowLabel(p.Card)
	told.Objects = append(told.Objects, world.NewObjectRef(p.Card, 0))
	switch move.State {
	case world.QuestDone:
		if move.Given, err = s.giveRewards(p.Quest); err == nil {
			told.Objects = append(told.Objects, move.Given...)
			err = s.changeGiver(p.Card, p.Quest, world.DeedQuestDone)
		}
	case world.QuestFailed:
		err = s.changeGiver(p.Card, p.Quest, world.DeedQuestFailed)
	}
	told.Quests = append(told.Quests, *move)
	return err
}

// rewardItem returns the thing that a reward gives, and how many; ok is false if it is only told.
func rewardItem(ctx context.Context, m *world.AsOf, reward string) (t world.Card, n int64, ok bool, err error) {
	n, name := command.SplitCount(reward)
	t, ok, err = m.FindNamed(ctx, name)
	return t, min(max(n, 1), maxReward), ok && isPortable(t) && !t.IsType(world.TypeQuest), err
}

// giveRewards plans that the player gets the things that are among the rewards of a quest.
func (s *turn) giveRewards(q world.Quest) (given []world.ObjectRef, err error) {
	for _, reward := range q.Rewards {
		t, n, ok, err := rewardItem(s.ctx, s.AsOf, reward)
		if err != nil {
			return nil, err
		}
		if !ok || slices.ContainsFunc(given, func(o world.ObjectRef) bool { return o.ID == t.ID }) {
			continue
		}
		s.narrowLabel(t)
		if err := s.addToHolder(world.Held{ID: t.ID}, n, s.player.ID); err != nil {
			return nil, err
		}
		given = append(given, world.NewObjectRef(t, n))
	}
	return given, nil
}

// giverOf returns the living giver of a quest. ok is false if it has none that the player sees.
func (s *turn) giverOf(q world.Quest) (t world.Card, ok bool, err error) {
	if q.Giver == "" {
		return t, false, nil
	}
	if t, ok, err = s.FindNamed(s.ctx, q.Giver); !ok || err != nil || !world.IsAlive(t) || t.IsType(world.TypePlayer) {
		return t, false, err
	}
	s.narrowLabel(t)
	return t, true, nil
}

// changeGiver plans the change of the attitude of the giver of a quest, which no longer counts as promised.
func (s *turn) changeGiver(quest world.Card, q world.Quest, deed world.Deed) error {
	giver, ok, err := s.giverOf(q)
	if err != nil || !ok {
		return err
	}
	b, err := s.bondWith(giver)
	if err != nil {
		return err
	}
	open := []canon.Hash{}
	for _, h := range b.Promises {
		x, _, err := s.ReadExchange(s.ctx, h)
		if err != nil {
			return err
		}
		if x.Verb != command.Accept || x.Things != quest.Title() {
			open = append(open, h)
		} else if !slices.Contains(b.Recent, h) {
			label, err := s.privateLabel(giver)
			if err != nil {
				return err
			}
			if err := s.plan.EraseText(canon.TextRef{Content: h, Label: label}); err != nil {
				return err
			}
		}
	}
	b.Promises = open
	return s.changeBond(b, deed)
}

// tellProgress narrates the progress of quests to their player.
func (m narrator) tellProgress(ctx context.Context, payload json.RawMessage) (string, error) {
	var all world.QuestProgress
	world.DecodeFields(payload, &all)
	own, err := m.PursuedQuests(ctx, all.PlayerID)
	var parts []string
	for _, move := range all.Quests {
		i := slices.IndexFunc(own, func(p world.Pursued) bool { return p.Card.ID == move.QuestID })
		if i < 0 {
			continue
		}
		name := "“" + own[i].Title() + "”"
		switch move.State {
		case world.QuestDone:
			parts = append(parts, name+" is done. "+tellRewards(own[i].Quest, move.Given))
		case world.QuestFailed:
			parts = append(parts, name+" has come to nothing.")
		default:
			parts = append(parts, "That was a step of "+name+". Next: "+own[i].DescribeOpen())
		}
	}
	return strings.TrimSpace(strings.Join(parts, " ")), err
}

// tellRewards narrates the rewards of a quest: the given things, and the rewards that are told.
func tellRewards(q world.Quest, given []world.ObjectRef) string {
	names := world.Action{Objects: given}.ObjectNames()
	for _, r := range q.Rewards {
		_, name := command.SplitCount(r)
		if !slices.ContainsFunc(given, func(o world.ObjectRef) bool {
			return strings.EqualFold(o.Name, strings.TrimSpace(name)) || o.ID.String() == name
		}) {
			names = strings.TrimPrefix(names+", ", ", ") + r
		}
	}
	if names == "" {
		return ""
	}
	return "You get " + names + "."
}
