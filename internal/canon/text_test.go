package canon_test

import (
	"encoding/json"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

func TestTextsBesideCardsAreErasedByTheirHash(t *testing.T) {
	s := newScene(t)
	user := s.as("user")
	user.create("Oda", "")
	open := access.NewLabel(access.LevelUser)
	var kept, gone canon.Hash
	s.as("user").must(func(p *canon.Plan) (err error) {
		c, err := p.Card("Oda")
		if err != nil {
			return err
		}
		if kept, err = p.StoreText("a promise", open); err != nil {
			return err
		}
		if gone, err = p.StoreText("a confession", open); err != nil {
			return err
		}
		attrs, _ := json.Marshal([]canon.Hash{kept, gone})
		_, err = p.Link(
			canon.Link{Kind: "recalls", From: c.ID, To: c.ID, Attrs: json.RawMessage(`{"texts":` + string(attrs) + `}`)},
		)
		return err
	})
	if _, err := user.do(func(p *canon.Plan) error {
		_, err := p.StoreText("above", access.NewLabel(access.LevelGM))
		return err
	}); err == nil {
		t.Error("a user stored a text for game masters")
	}
	s.as("user").must(func(p *canon.Plan) error { return p.EraseText(canon.TextRef{Content: gone, Label: open}) })
	for range 2 {
		for h, want := range map[canon.Hash]string{kept: "a promise", gone: ""} {
			err := s.canon.Read(t.Context(), user.grant, func(snap *canon.Snapshot) error {
				if got, err := snap.StoredText(t.Context(), h); err != nil || got != want {
					t.Errorf("the text is %q, want %q (%v)", got, want, err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		s.wantRebuilt()
		if _, err := s.canon.Rebuild(t.Context(), s.as("operator").grant, s.world, canon.KeepRebuilt); err != nil {
			t.Fatal(err)
		}
	}
}
