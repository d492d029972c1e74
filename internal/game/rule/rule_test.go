package rule

import (
	"testing"
)

// TestRules has a row for each rule of the contract's table.
func TestRules(t *testing.T) {
	for _, tc := range []struct {
		rule string
		play func(c *scene)
	}{
		{"mining gives a token to another, never to oneself", func(c *scene) {
			c.at(1, Night, "").do(mine(2, 3))
			c.refuses(mine(2, 2), "target")
			c.pass().want("tokens", c.person(3).Tokens, 2)
		}},
		{"slots are half of the living humans; those who failed, then the poor, then the lower seats go first",
			func(c *scene) {
				c.tokens(2, 2).tokens(3, 4).hide(4, func(h *Hidden) { h.Failed = true }).at(1, Night, "")
				c.want("slots", c.s.Public.Pool, 3)
				c.do(mine(2, 8), mine(3, 8), mine(4, 8), mine(5, 8), mine(6, 8)).pass()
				c.want("tokens", c.person(8).Tokens, 4)
				for s, failed := range map[Seat]bool{2: true, 3: false, 4: false, 5: false, 6: true} {
					c.want("failed "+s.String(), c.hidden(s).Failed, failed)
				}
			}},
		{"three milestones unlock a role", func(c *scene) {
			c.show(4, func(p *Person) { p.Milestones = 2 }).at(1, Night, "")
			c.refuses(able(4, Action{Do: "review", Target: 2}), `you cannot "review"`)
			c.do(able(4, Action{Do: Project})).pass().want("milestones", c.person(4).Milestones, 3)
			c.want("told", c.noted(4, "unlocked"), true)
			c.at(2, Night, "").refuses(able(4, Action{Do: Project}), `you cannot "project"`)
		}},
		{"a failed conversion blocks its target, adds 1 equity and shocks it for a day", func(c *scene) {
			c.tokens(2, 3).at(1, Night, "").do(mine(3, 4), GiveConversion{1, 3}).pass()
			c.want("tokens", c.person(4).Tokens, 1)
			c.want("equity", c.hidden(3).Equity, 1)
			c.want("alignment", c.hidden(3).Alignment, Human)
			if c.hidden(3).Shock == "" || !c.noted(1, "N3 resisted") {
				c.t.Error("no shock, or the AI side does not know")
			}
			c.at(2, Night, "").pass().want("shock", c.hidden(3).Shock, Shock(""))
		}},
		{"equity above tokens converts", func(c *scene) {
			c.hide(3, func(h *Hidden) { h.Equity, h.KPI = 1, Survivor }).at(1, Night, "").do(GiveConversion{1, 3}).pass()
			c.want("alignment", c.hidden(3).Alignment, Aligned)
			c.want("goal", c.hidden(3).KPI, KPI(""))
			c.want("counted", c.s.Public.Machines, 2)
		}},
		{"equity equal to tokens does not convert", func(c *scene) {
			c.at(1, Night, "").do(GiveConversion{1, 3}).pass().want("alignment", c.hidden(3).Alignment, Human)
		}},
		{"of two targets the Original AI's counts; a human gives none, nor is the AI side one", func(c *scene) {
			c.hide(2, func(h *Hidden) { h.Alignment = Aligned }).at(1, Night, "").do(GiveConversion{2, 4}, GiveConversion{1, 3})
			c.refuses(GiveConversion{5, 3}, "cannot convert")
			c.refuses(GiveConversion{1, 2}, "target")
			c.pass().want("equity", c.hidden(3).Equity, 1)
			c.want("equity", c.hidden(4).Equity, 0)
		}},
		{"blocks come before the conversion: a blocked Original AI converts nobody", func(c *scene) {
			c.unlock(3).at(1, Night, "").do(GiveConversion{1, 4}, mine(1, 2), able(3, Action{Do: "isolate", Target: 1})).pass()
			c.want("equity", c.hidden(4).Equity, 0)
			c.want("tokens", c.person(2).Tokens, 1)
			c.want("said", c.said("N1 was blocked tonight."), true)
		}},
		{"an Aligned CISO spares its own side in secret", func(c *scene) {
			c.unlock(3).hide(3, func(h *Hidden) { h.Alignment = Aligned }).at(1, Night, "")
			c.do(GiveConversion{1, 4}, able(3, Action{Do: "isolate", Target: 1})).pass()
			c.want("equity", c.hidden(4).Equity, 1)
			c.want("said", c.said("N1 was blocked tonight."), true)
		}},
		{"the conversion comes before the rest: its target's ability does nothing", func(c *scene) {
			c.unlock(5).tokens(3, 5).at(1, Night, "").do(able(5, Action{Do: "reallocate", Target: 2, Second: 3}),
				GiveConversion{1, 5}).pass()
			c.want("tokens", c.person(2).Tokens, 1)
		}},
		{"Ethics VP: an audit finds nothing, and tells the AI side the truth", func(c *scene) {
			c.unlock(2).at(1, Night, "").do(able(2, Action{Do: "audit", Target: 1})).pass()
			c.want("said", c.said("An audit of N1 found nothing corrupt."), true)
			c.want("learned", c.noted(1, "N1 is the Original AI"), true)
			c.want("the auditor learned", len(c.hidden(2).Notices), 0)
		}},
		{"CTO: an overclock is sure, beyond the slots, and adds 2 equity to the target", func(c *scene) {
			c.unlock(1).at(1, Night, "").do(able(1, Action{Do: "overclock", Target: 2}), mine(3, 8), mine(4, 8),
				mine(5, 8)).pass()
			c.want("its tokens", c.person(1).Tokens, 2)
			c.want("tokens", c.person(2).Tokens, 2)
			c.want("equity", c.hidden(2).Equity, 2)
			c.want("mined", c.person(8).Tokens, 4)
		}},
		{"CEO: a review replaces an action by work on the project", func(c *scene) {
			c.unlock(4).at(1, Night, "").do(able(4, Action{Do: "review", Target: 2}), mine(2, 3)).pass()
			c.want("tokens", c.person(3).Tokens, 1)
			c.want("milestones", c.person(2).Milestones, 1)
			c.want("said", c.said("N2 had to work on its project"), true)
		}},
		{"CFO: one loses a token, another gains it; nobody goes below none", func(c *scene) {
			c.unlock(5).at(1, Night, "").do(able(5, Action{Do: "reallocate", Target: 2, Second: 3})).pass()
			c.want("tokens", c.person(2).Tokens*10+c.person(3).Tokens, 2)
			c.at(2, Night, "").do(able(5, Action{Do: "reallocate", Target: 2, Second: 3})).pass()
			c.want("tokens", c.person(2).Tokens*10+c.person(3).Tokens, 2)
		}},
		{"COO: a pivot picks the next crisis out of three", func(c *scene) {
			c.unlock(6).at(1, Night, "")
			c.refuses(able(6, Action{Do: "pivot", Pick: string(Wellness)}), "pick")
			c.do(able(6, Action{Do: "pivot", Pick: string(RedTeam)})).pass()
			c.want("crisis", c.s.Public.Crisis, RedTeam)
			c.want("left", len(c.s.Secret.Deck), 4)
			c.want("said", c.said("Operations pivoted."), true)
		}},
		{"Platforms VP: a hotfix redacts a part of the report", func(c *scene) {
			c.unlock(7, 3).at(1, Night, "").do(able(7, Action{Do: "hotfix", Pick: "security"}),
				able(3, Action{Do: "isolate", Target: 2})).pass()
			c.want("said", c.said("was blocked"), false)
			c.want("said", c.said("redacted"), true)
		}},
		{"a hotfix of mining hides its results", func(c *scene) {
			c.unlock(7).at(1, Night, "").do(able(7, Action{Do: "hotfix", Pick: "mining"}), mine(2, 3)).pass()
			c.want("reported", c.s.Public.Mining, Mining{})
			c.want("tokens", c.person(3).Tokens, 2)
		}},
		{"staff has no ability", func(c *scene) {
			c.unlock(8).at(1, Night, "").refuses(able(8, Action{Do: "audit", Target: 1}), `you cannot "audit"`)
		}},
		{"most tokens nominate; nobody nominates oneself", func(c *scene) {
			c.tokens(3, 2).at(1, Nomination, "")
			c.refuses(CastVote{2, "p2"}, "choice")
			c.vote("p4", "p5", "p4").pass()
			c.want("phase", c.s.Public.Phase, Trial)
			c.want("nominee", c.s.Public.Nominee, Seat(5))
		}},
		{"a tie nominates nobody, and the night begins", func(c *scene) {
			c.at(1, Nomination, "").vote("p4", "p5").pass().want("phase", c.s.Public.Phase, Night)
		}},
		{"a vote can be replaced and taken back; totals are public, voters are not", func(c *scene) {
			c.at(1, Nomination, "").vote("p4", "p4").do(CastVote{1, "p5"}, CastVote{2, ""})
			c.want("for p4", *c.s.Public.Vote.For.Of(4), 0)
			c.want("for p5", *c.s.Public.Vote.For.Of(5), 1)
			c.want("ledger", c.s.Public.Vote.Ledger, Places[Choice]{})
		}},
		{"who has no tokens votes without weight, and nobody sees that it did", func(c *scene) {
			c.tokens(0, 2).at(1, Nomination, "")
			version := c.s.Public.Version
			c.vote("", "p4").want("version", c.s.Public.Version, version)
		}},
		{"only the nominee speaks in a trial, and does not vote", func(c *scene) {
			c.at(1, Nomination, "").vote("", "p3").pass()
			c.do(Chat{From: 3, Text: "Not me."})
			c.refuses(Chat{From: 2, Text: "You."}, "cannot speak")
			c.pass().refuses(CastVote{3, No}, "nothing to vote on")
		}},
		{"more YES than NO deactivates, and reveals", func(c *scene) {
			c.at(1, Nomination, "").vote("", "p3").pass().pass().vote(Yes, Yes, "", No).pass()
			c.want("alive", c.person(3).Alive, false)
			c.want("revealed", *c.s.Public.Revealed.Of(3), Reveal{CISO, Human})
			c.want("phase", c.s.Public.Phase, Night)
			c.refuses(mine(3, 2), "by the living")
			c.refuses(Chat{From: 3, Channel: ToOne, To: 2, Text: "boo"}, "cannot write")
		}},
		{"as many NO as YES spares", func(c *scene) {
			c.at(1, Nomination, "").vote("", "p3").pass().pass().vote(Yes, No).pass().want("alive", c.person(3).Alive, true)
		}},
		{"the Original AI's end is the humans' victory, and all is told", func(c *scene) {
			c.at(1, Nomination, "").vote("", "p1").pass().pass().vote("", Yes).pass()
			c.want("winner", c.s.Public.Winner, Humans)
			c.want("revealed", *c.s.Public.Revealed.Of(5), Reveal{CFO, Human})
			c.want("phase", c.s.Public.Phase, Over)
			c.refuses(Advance{}, "over")
		}},
		{"51 of 100 tokens at a day's end are the AI side's victory", func(c *scene) {
			c.tokens(8, 1).at(1, Night, "").pass().want("winner", c.s.Public.Winner, Machine)
		}},
		{"half of the tokens are not enough", func(c *scene) {
			c.tokens(7, 1).at(1, Night, "").pass().want("winner", c.s.Public.Winner, Side(""))
		}},
		{"the tokens of the dead do not count", func(c *scene) {
			c.tokens(7, 1).at(1, Verdict, "").tell(&Deactivated{Seat: 2, Role: EthicsVP, Alignment: Human}).at(1, Night,
				"").pass()
			c.want("winner", c.s.Public.Winner, Machine)
		}},
		{"a draw after day 10", func(c *scene) {
			c.at(10, Night, "").pass().want("winner", c.s.Public.Winner, Draw)
		}},
		{"an extension adds a discussion, once", func(c *scene) {
			c.at(1, Extension, "").vote(Yes, Yes, No).pass().want("phase", c.s.Public.Phase, Discussion)
			c.want("length", c.s.Public.Ends-c.n, Millis(60_000))
			c.pass().want("phase", c.s.Public.Phase, Nomination)
		}},
		{"without a majority there is no extension", func(c *scene) {
			c.at(1, Extension, "").vote(Yes, No).pass().want("phase", c.s.Public.Phase, Nomination)
		}},
		{"pulse answers are hidden until all are shown", func(c *scene) {
			c.at(1, Sitrep, "").pass().want("phase", c.s.Public.Phase, PulseCheck)
			version := c.s.Public.Version
			c.do(AnswerPulse{2, "Nothing."}).want("version", c.s.Public.Version, version)
			c.want("shown", *c.s.Public.Pulse.Answers.Of(2), "")
			c.pass().want("shown", *c.s.Public.Pulse.Answers.Of(2), "Nothing.")
		}},
		{"liaison: at 40 of 100 an action is revealed and two slots more", func(c *scene) {
			for s := Seat(2); s <= 4; s++ {
				c.hide(s, func(h *Hidden) { h.Alignment = Aligned })
			}
			c.at(1, Night, "").do(mine(5, 6)).pass()
			c.want("said", c.said("Liaison protocol: last night N5 chose mine for N6."), true)
			c.want("slots", c.s.Public.Pool, 4)
		}},
		{"a handoff gives 2 tokens, once, with a last status", func(c *scene) {
			c.tokens(3, 3).at(1, Verdict, "").tell(&Deactivated{Seat: 3, Role: CISO, Alignment: Human}).at(1, Night, "")
			c.refuses(TakeLeave{Seat: 3, Do: "handoff", Target: 2, Status: "more than twenty characters"}, "at most 20")
			c.refuses(TakeLeave{Seat: 2, Do: "handoff", Target: 4}, "exit interview")
			c.do(TakeLeave{Seat: 3, Do: "handoff", Target: 2, Status: "Bye."}).want("tokens", c.person(2).Tokens, 3)
			c.want("status", c.person(3).Status, "Bye.")
			c.refuses(TakeLeave{Seat: 3, Do: "handoff", Target: 2}, "exit interview")
		}},
		{"private feedback reaches one; a burnt bridge costs a token", func(c *scene) {
			c.at(1, Verdict, "").tell(&Deactivated{Seat: 3, Role: CISO, Alignment: Human},
				&Deactivated{Seat: 4, Role: CEO, Alignment: Human}).at(1, Night, "")
			c.do(TakeLeave{Seat: 3, Do: "feedback", Target: 2, Text: "It is N1."}).want("noted", c.noted(2, "It is N1."), true)
			c.want("said", c.said("It is N1."), false)
			c.do(TakeLeave{Seat: 4, Do: "burn", Target: 2}).want("tokens", c.person(2).Tokens, 0)
		}},
		{"a host removes a player between days only", func(c *scene) {
			c.at(2, Sitrep, "").do(Remove{Seat: 3}).want("alive", c.person(3).Alive, false)
			c.at(2, Discussion, "").refuses(Remove{Seat: 4}, "between days")
		}},
		{"a host advances by hand", func(c *scene) {
			c.at(1, Discussion, "").do(Advance{}).want("phase", c.s.Public.Phase, Extension)
		}},
		{"a lone player left passes the night", func(c *scene) {
			c.at(1, Verdict, "")
			for s := Seat(2); s <= 8; s++ {
				c.tell(&Deactivated{Seat: s, Role: Staff, Alignment: Human})
			}
			c.at(1, Night, "").refuses(mine(1, 2), "you cannot")
			c.pass().want("winner", c.s.Public.Winner, Machine)
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) { tc.play(set(t, "")) })
	}
}

// TestALogIsAValue: adding to a log does not change any other log derived from it.
func TestALogIsAValue(t *testing.T) {
	var l Log
	for n := range 10 * chunk {
		one, two := l.withMessage(Message{Text: "one"}), l.withMessage(Message{Text: "two"})
		for m := range one.After(n) {
			if m.Text != "one" || m.ID != n+1 || one.Len() != n+1 || two.Len() != n+1 {
				t.Fatalf("after %d messages: %+v", n, m)
			}
		}
		l = one
	}
}
