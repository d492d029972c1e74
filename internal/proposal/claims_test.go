package proposal_test

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/proposal"
)

// lend gives a thing to somebody in the canon.
func (s *scene) lend(thing, holder string, l access.Label) {
	s.by("lend", s.world, func(p *canon.Plan) error {
		c, err := p.Create(canon.NewCard{Name: thing, Type: "Item"})
		if err == nil {
			_, err = p.Link(canon.Link{Kind: "holds", From: idOf(holder), To: c.ID, Label: l})
		}
		return err
	})
}

// A claim that the canon denies is refused with its source. One that the canon does not settle waits for a person,
// also if hidden canon denies it.
func TestClaimsAreJudgedInTheAudiencesView(t *testing.T) {
	s := newScene(t, "")
	s.lend("brass bell", "hob", access.NewLabel(access.LevelUser))
	s.lend("bone key", "hob", access.NewLabel(access.LevelGM))
	for text, want := range map[string]struct {
		status proposal.Status
		tells  string
	}{
		"I have the brass bell, and I keep it.": {proposal.Rejected, "but Hob has brass bell"},
		"Hob has the brass bell.":               {proposal.Accepted, ""},
		"I have the bone key, and I keep it.":   {proposal.Pending, "I have the bone key"},
		"Veil is dead.":                         {proposal.Rejected, "claims a death"},
	} {
		for _, role := range []access.Role{access.RoleUser, access.RoleGM} {
			r := s.as("ada", role).propose("propose-npc-dialogue", fields{"npcId": ids["@gudrun"],
				"playerId": ids["@wren"], "draftText": text})
			told := ""
			for _, i := range r.Issues {
				told += i.Error
			}
			if r.Status == proposal.Duplicate {
				continue
			}
			if r.Status != want.status || !strings.Contains(told, want.tells) {
				t.Errorf("%q by %s is %s: %q", text, role, r.Status, told)
			}
		}
	}
}

// A contradiction with hidden canon is told to a game master, and not to the author.
func TestHiddenConflictIsToldToTheGameMaster(t *testing.T) {
	s := newScene(t, "")
	s.lend("bone key", "hob", access.NewLabel(access.LevelGM))
	ada := s.as("ada", access.RoleUser)
	r := ada.propose("propose-npc-dialogue", fields{"npcId": ids["@gudrun"], "playerId": ids["@wren"],
		"draftText": "I have the bone key, and I keep it."})
	if told := ada.get(r.ProposalID).Conflicts; len(told) > 0 {
		t.Errorf("the author is told %v", told)
	}
	told := s.approver(access.RoleGM).get(r.ProposalID).Conflicts
	if len(told) != 1 || !strings.Contains(told[0].Error, "Hob has bone key") {
		t.Errorf("the game master is told %v", told)
	}
}

// A replay judges a claim by the canon of its time, whatever has changed since.
func TestReplayJudgesClaimsByTheCanonOfTheirTime(t *testing.T) {
	s := newScene(t, "")
	s.lend("brass bell", "hob", access.NewLabel(access.LevelUser))
	ada := s.as("ada", access.RoleUser)
	var list []string
	for _, text := range []string{"I have the brass bell, and I keep it.", "Hob has the brass bell.",
		"I have the salt spoon, and I keep it."} {
		r := ada.propose("propose-npc-dialogue", fields{"npcId": ids["@gudrun"], "playerId": ids["@wren"],
			"draftText": text})
		list = append(list, r.ProposalID)
	}
	s.lend("salt spoon", "hob", access.NewLabel(access.LevelUser))
	s.by("rename", s.world, func(p *canon.Plan) error {
		c, _, err := p.Has("brass bell")
		if err == nil {
			_, err = p.Rename(c, "tin bell")
		}
		return err
	})
	for _, id := range list {
		if again, err := call[proposal.Replayed](ada, "replay-proposal", fields{"proposalId": id}); err != nil ||
			!again.Identical {
			t.Errorf("replayed: %+v, %v", again, err)
		}
	}
}
