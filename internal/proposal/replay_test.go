package proposal_test

import (
	"testing"

	"loregate/internal/access"
	"loregate/internal/proposal"
)

// A text that waits because it cites no context may be proposed again with one.
func TestContextComesLater(t *testing.T) {
	bot := newScene(t, "").as("ai-bot", access.RoleUser)
	text := ambience("The rope remembers every knot it has had.")
	for _, want := range []proposal.Status{proposal.Pending, "duplicate"} {
		if r := bot.propose("propose-ambience", text); r.Status != want {
			t.Errorf("without a context: %+v", r)
		}
	}
	text["contextRef"] = goodRef
	for _, want := range []proposal.Status{proposal.Accepted, "duplicate"} {
		if r := bot.propose("propose-ambience", text); r.Status != want {
			t.Errorf("with a context: %+v, %+v", r, r.Rejection)
		}
	}
}

// An agent's text that cites a context is accepted. Without a context it waits for a person, unless
// the world's stored settings exempt its kind. No hash is required.
func TestContextRefIsEnough(t *testing.T) {
	s := newScene(t, "")
	bot, ada := s.as("ai-bot", access.RoleUser), s.as("ada", access.RoleUser)
	cited := ambience("Rope creaks, and under it the water seems to count.")
	cited["contextRef"] = goodRef
	stale := ambience("A gull walks the rail as if it were owed something.")
	stale["contextRef"], stale["provenance"] = goodRef, fields{"contextHash": contextHash(t, 2)}
	shown := ambience("The tar on the planks has a thumbprint in it.")
	shown["contextRef"], shown["provenance"] = goodRef,
		fields{"contextHash": contextHash(t, 1, []byte(`{"contextRef":"`+goodRef+`",`+string(goodAnswer[1:])))}
	made := ambience("Fog comes up to the third step and no further.")
	made["contextRef"] = "made-up"
	for name, tc := range map[string]struct {
		by   actor
		in   fields
		want proposal.Status
		code string
	}{
		"a contextRef alone":                   {bot, cited, proposal.Accepted, ""},
		"a hash of the answer as it was shown": {bot, shown, proposal.Accepted, ""},
		"a hash of something else":             {bot, stale, proposal.Rejected, "REPLAY_MISMATCH"},
		"a contextRef that nothing gave":       {bot, made, proposal.Rejected, "REPLAY_MISMATCH"},
		"nothing, by an agent": {bot, ambience("Wind from the pans, salt on the lips."),
			proposal.Pending, ""},
		"nothing, by a person": {ada, ambience("The lamps are lit early, out of habit."),
			proposal.Accepted, ""},
		"a template without version and hash": {bot,
			with(ambience("Nets hang like slow weather."), "provenance",
				fields{"templateId": "ambience", "contextRefs": []string{goodRef}}), proposal.Rejected, "REPLAY_MISMATCH"},
		"the same reference at the top and within": {bot,
			with(with(ambience("Two oars lean together and say nothing."), "contextRef", goodRef), "provenance",
				fields{"contextRefs": []string{goodRef}}), proposal.Accepted, ""},
	} {
		r := tc.by.propose("propose-ambience", tc.in)
		if r.Status != tc.want || tc.code != "" && (r.Rejection == nil || r.Rejection.Code != tc.code) {
			t.Errorf("%s: %+v, %+v", name, r, r.Rejection)
		}
		again, err := call[proposal.Replayed](tc.by, "replay-proposal", fields{"proposalId": r.ProposalID})
		if err != nil || !again.Identical {
			t.Errorf("%s, replayed: %+v, %v", name, again, err)
		}
	}
	s.allow("ambience")
	if r := bot.propose("propose-ambience",
		ambience("A kettle sings somewhere behind the chandler's.")); r.Status != proposal.Accepted {
		t.Errorf("where the world allows it: %+v", r)
	}
	line := fields{"npcId": ids["@gudrun"], "playerId": ids["@wren"], "draftText": "Mind the third plank."}
	if r := bot.propose("propose-npc-dialogue", line); r.Status != proposal.Pending {
		t.Errorf("a kind that the world does not name: %+v", r)
	}
}

func with(in fields, name string, value any) fields {
	in[name] = value
	return in
}
