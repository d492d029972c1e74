package proposal_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

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

// A skeptic is a second reader that denies a claim by the line of the canon with a word in it.
type skeptic struct {
	word   string
	err    error
	doubts []proposal.Doubt
	left   time.Duration // until its time was up
}

func (r *skeptic) ReadDoubt(ctx context.Context, _ access.WorldID, d proposal.Doubt) (o proposal.Opinion, err error) {
	if end, ok := ctx.Deadline(); ok {
		r.left = time.Until(end)
	}
	r.doubts = append(r.doubts, d)
	o.By = "skeptic"
	for i, line := range d.Canon {
		if r.word != "" && strings.Contains(line, r.word) {
			o.Denied, o.Because = 1, i+1
		}
	}
	return o, r.err
}

func withDoubts(r *skeptic) option { return func(c *proposal.Config) { c.Doubts = r } }

func line(text string) fields {
	return fields{"npcId": ids["@gudrun"], "playerId": ids["@wren"], "draftText": text}
}

// A second reader is asked only about claims that the rules do not settle or do not read, and only if the canon tells
// something of them. It can refuse them, with the sentence of the
// canon that denies them, and do nothing else. A replay uses its stored opinion and does not ask again.
func TestASecondReaderOnlyRefuses(t *testing.T) {
	r := &skeptic{}
	s := newScene(t, "", withDoubts(r))
	s.lend("brass bell", "hob", access.NewLabel(access.LevelUser))
	ada := s.as("ada", access.RoleUser)
	var judged []string
	for _, c := range []struct {
		text, word string
		err        error
		asked      bool
		want       proposal.Status
		tells      string
	}{
		{"Hob has the brass bell.", "Hob", nil, false, proposal.Accepted, ""},
		{"I have the brass bell, and I keep it.", "Hob", nil, false, proposal.Rejected, "but Hob has brass bell"},
		{"Hob hid the brass bell from a pedlar.", "has brass bell", nil, true, proposal.Rejected,
			"the canon says \u201cHob has brass bell.\u201d"},
		{"The brass bell rings for Hob alone.", "has brass bell", nil, true, proposal.Rejected,
			"the canon says \u201cHob has brass bell.\u201d"},
		{"The brass bell rings for Hob every night.", "", nil, true, proposal.Accepted, ""},
		{"Hob gilded the brass bell in spring.", "", nil, true, proposal.Pending, "does not say whether"},
		{"Two horses threw their shoes.", "Hob", nil, false, proposal.Pending, "does not say whether"},
		{"Hob polished the brass bell at noon.", "Hob", errors.New("hung up"), true, proposal.Pending,
			"does not say whether"},
	} {
		r.doubts, r.word, r.err = nil, c.word, c.err
		answer := ada.propose("propose-npc-dialogue", line(c.text))
		told := ""
		for _, i := range answer.Issues {
			told += i.Error
		}
		if answer.Status != c.want || !strings.Contains(told, c.tells) || len(r.doubts) > 0 != c.asked {
			t.Errorf("%q, asked %d times: %s, %q", c.text, len(r.doubts), answer.Status, told)
		}
		if c.asked && (r.left <= 0 || r.left > 10*time.Second) {
			t.Errorf("%q: the reader had %s", c.text, r.left)
		}
		judged = append(judged, answer.ProposalID)
	}
	r.doubts, r.word = nil, "Hob"
	for _, id := range judged {
		if again, err := call[proposal.Replayed](ada, "replay-proposal", fields{"proposalId": id}); err != nil ||
			!again.Identical || len(r.doubts) > 0 {
			t.Errorf("replayed: %+v, %v, asked %d times", again, err, len(r.doubts))
		}
	}
}

// A second reader sees the same text and canon whether there is hidden canon about it or not, also of a proposal by
// somebody who sees it.
func TestASecondReaderSeesNoHiddenCanon(t *testing.T) {
	read := func(hidden bool, role access.Role) []proposal.Doubt {
		r := &skeptic{}
		s := newScene(t, "", withDoubts(r))
		s.lend("brass bell", "hob", access.NewLabel(access.LevelUser))
		if !hidden {
			s.by("key", s.world, func(p *canon.Plan) error { // players see it, but not who has it
				_, err := p.Create(canon.NewCard{Name: "bone key", Type: "Item"})
				return err
			})
		} else {
			s.lend("bone key", "hob", access.NewLabel(access.LevelGM))
			s.by("hidden bell", s.world, func(p *canon.Plan) error {
				label := access.NewLabel(access.LevelGM)
				_, err := p.Create(canon.NewCard{Name: "Theft of the brass bell", Type: "Lore", Label: &label,
					Content: "<p>SECRETMARK: Hob stole the brass bell.</p>"})
				return err
			})
		}
		s.as("ada", role).propose("propose-npc-dialogue", line("Hob sold the brass bell and the bone key to a pedlar."))
		return r.doubts
	}
	for _, role := range []access.Role{access.RoleUser, access.RoleGM} {
		with, without := read(true, role), read(false, role)
		if len(with) != 1 || !reflect.DeepEqual(with, without) {
			t.Errorf("as %s\nwith hidden canon:    %+v\nwithout hidden canon: %+v", role, with, without)
		}
	}
}
