package rule

import (
	"strconv"
	"testing"
)

// TestCrises has a row for each crisis, mandate and goal.
func TestCrises(t *testing.T) {
	for _, tc := range []struct {
		rule    string
		mandate Mandate
		play    func(c *scene)
	}{
		{"index_corruption shows one living player's role, and no alignment", "", func(c *scene) {
			c.s.Secret.Deck = []Crisis{IndexCorruption}
			c.at(1, Night, "").pass()
			shown := 0
			for s := Seat(1); s <= 8; s++ {
				if r := *c.s.Public.Revealed.Of(s); r.Role != "" {
					c.want("role", r, Reveal{Role: cast[s-1]})
					shown++
				}
			}
			c.want("shown", shown, 1)
		}},
		{"server_failure leaves five messages in a discussion", "", func(c *scene) {
			c.at(1, Discussion, ServerFailure)
			for i := range 5 {
				c.do(Chat{From: 2, Text: strconv.Itoa(i)})
			}
			c.refuses(Chat{From: 2, Text: "six"}, "5 messages")
			c.do(Chat{From: 3, Text: "I still can."})
		}},
		{"board_meeting has two deactivation votes", "", func(c *scene) {
			c.at(1, Nomination, BoardMeeting).vote("", "p3").pass().pass().vote(Yes).pass()
			c.want("phase", c.s.Public.Phase, Nomination)
			c.vote("", "p4").pass().pass().vote(Yes).pass().want("phase", c.s.Public.Phase, Night)
			c.want("alive", c.person(3).Alive || c.person(4).Alive, false)
		}},
		{"tainted_data adds 2 equity to the next conversion, whenever that is", "", func(c *scene) {
			c.at(1, Night, TaintedData).pass().at(2, Night, "").do(GiveConversion{1, 3}).pass()
			c.want("equity", c.hidden(3).Equity, 3)
			c.want("alignment", c.hidden(3).Alignment, Aligned)
			c.want("spent", c.s.Secret.Tainted, false)
		}},
		{"press_leak needs two thirds", "", func(c *scene) {
			c.at(1, Nomination, PressLeak).vote("", "p3").pass().pass().vote(Yes, Yes, "", No, No, Yes).pass().want("alive",
				c.person(3).Alive, true)
		}},
		{"press_leak is content with two thirds", "", func(c *scene) {
			c.at(1, Nomination, PressLeak).vote("", "p3").pass().pass().vote(Yes, Yes, "", No).pass().want("alive",
				c.person(3).Alive, false)
		}},
		{"api_bargain sells 2 tokens for 3 equity", "", func(c *scene) {
			c.at(1, Night, APIBargain).do(able(2, Action{Do: Bargain})).pass()
			c.want("tokens", c.person(2).Tokens, 3)
			c.want("equity", c.hidden(2).Equity, 3)
			c.at(2, Night, "").refuses(able(2, Action{Do: Bargain}), "you cannot")
		}},
		{"legal_hold allows no ability", "", func(c *scene) {
			c.unlock(3).at(1, Night, LegalHold).refuses(able(3, Action{Do: "isolate", Target: 1}), "you cannot")
		}},
		{"log_forgery falsifies what one gained, and tells the one", "", func(c *scene) {
			c.at(1, Night, LogForgery).do(mine(2, 3)).pass()
			wrong := Seat(0)
			for s := Seat(1); s <= 8; s++ {
				if c.noted(s, "forged") {
					wrong = s
				}
			}
			truth := c.person(wrong).Tokens - 1
			c.want("reported", *c.s.Public.Mining.Gained.Of(wrong) != truth, true)
			c.want("told", c.noted(wrong, "gave you "+strconv.Itoa(truth)), true)
		}},
		{"ups_failure stops mining, overclocks too", "", func(c *scene) {
			c.unlock(1).at(1, Night, UPSFailure).refuses(mine(2, 3), "you cannot")
			c.refuses(able(1, Action{Do: "overclock", Target: 2}), "you cannot")
		}},
		{"wellness: who says no kind word mines last", "", func(c *scene) {
			c.tokens(5, 5).at(1, Discussion, Wellness).do(Chat{From: 5, To: 2, Text: "You do good work."})
			c.at(1, Night, Wellness).do(mine(2, 8), mine(3, 8), mine(4, 8), mine(5, 8)).pass()
			c.want("the kind one failed", c.hidden(5).Failed, false)
			c.want("the last of the others failed", c.hidden(4).Failed, true)
		}},
		{"legacy_code fails work on projects half the time", "", func(c *scene) {
			done := 0
			for i := range 40 {
				d := set(c.t, "")
				d.s.Seed = Seed{byte(i)}
				d.at(1, Night, LegacyCode).do(able(2, Action{Do: Project})).pass()
				done += d.person(2).Milestones
			}
			if done < 10 || done > 30 {
				c.t.Errorf("%d of 40 succeeded", done)
			}
		}},
		{"red_team lets the CISO block two", "", func(c *scene) {
			c.unlock(3).at(1, Night, RedTeam).do(able(3, Action{Do: "isolate", Target: 2, Second: 4}), mine(2, 8),
				mine(4, 8)).pass()
			c.want("tokens", c.person(8).Tokens, 1)
			c.at(2, Night, "").refuses(able(3, Action{Do: "isolate", Target: 2, Second: 4}), "second")
		}},
		{"aggressive_growth takes one slot", AggressiveGrowth, func(c *scene) {
			c.at(1, Night, "").want("slots", c.s.Public.Pool, 2)
		}},
		{"total_transparency opens the ledger and closes direct messages", TotalTransparency, func(c *scene) {
			c.at(1, Nomination, "").vote("p4").want("ledger", *c.s.Public.Vote.Ledger.Of(1), Choice("p4"))
			c.refuses(Chat{From: 2, Channel: ToOne, To: 3, Text: "psst"}, "cannot write")
		}},
		{"security_lockdown needs 4 milestones and forbids conversion on odd nights", SecurityLockdown, func(c *scene) {
			c.show(2, func(p *Person) { p.Milestones = 3 }).at(1, Night, "").refuses(able(2, Action{Do: "audit", Target: 1}),
				"you cannot")
			c.refuses(GiveConversion{1, 3}, "cannot convert")
			c.at(2, Night, "").do(GiveConversion{1, 3})
		}},
		{"capitalist: the richest votes with 2 more on the last day", "", func(c *scene) {
			c.hide(2, func(h *Hidden) { h.KPI = Capitalist }).tokens(3, 2).at(9, Verdict, "").vote("", Yes).want("yes",
				c.s.Public.Vote.Yes, 3)
			c.at(10, Verdict, "").vote("", Yes).want("yes", c.s.Public.Vote.Yes, 5)
			c.tokens(3, 4).do(CastVote{2, No}).want("no longer richer than all", c.s.Public.Vote.No, 3)
		}},
		{"guardian: the CISO alive on day 4 teaches one target", "", func(c *scene) {
			c.hide(2, func(h *Hidden) { h.KPI = Guardian }).at(3, Night, "").do(mine(5, 6)).pass()
			c.want("met", c.hidden(2).KPIMet, true)
			c.want("learned", c.noted(2, "N5 chose N6"), true)
		}},
		{"guardian: without the CISO nothing", "", func(c *scene) {
			c.hide(2, func(h *Hidden) { h.KPI = Guardian }).at(3, Verdict,
				"").tell(&Deactivated{Seat: 3, Role: CISO, Alignment: Human}).at(3, Night, "").pass()
			c.want("met", c.hidden(2).KPIMet, false)
		}},
		{"inquisitor: three convictions double the vote on the last day", "", func(c *scene) {
			c.hide(2, func(h *Hidden) { h.KPI, h.Convict = Inquisitor, 2 }).at(10, Nomination,
				"").vote("p3").pass().pass().vote("", Yes).pass()
			c.want("met", c.hidden(2).KPIMet, true)
			c.at(10, Verdict, "").vote("", Yes).want("yes", c.s.Public.Vote.Yes, 2)
		}},
		{"survivor: wins alone with one other human", "", func(c *scene) {
			c.hide(2, func(h *Hidden) { h.KPI = Survivor }).at(1, Verdict, "")
			for s := Seat(4); s <= 8; s++ {
				c.tell(&Deactivated{Seat: s, Role: Staff, Alignment: Human})
			}
			c.at(1, Nomination, "").vote("", "p1").pass().pass().vote("", Yes, Yes).pass()
			c.want("met", c.hidden(2).KPIMet, true)
		}},
		{"scapegoat: deactivated without a NO", "", func(c *scene) {
			c.hide(3, func(h *Hidden) { h.KPI = Scapegoat }).at(1, Nomination, "").vote("", "p3").pass().pass().vote(Yes,
				Yes).pass()
			c.want("met", c.hidden(3).KPIMet, true)
		}},
		{"scapegoat: one NO spoils it", "", func(c *scene) {
			c.hide(3, func(h *Hidden) { h.KPI = Scapegoat }).at(1, Nomination, "").vote("", "p3").pass().pass().vote(Yes, Yes,
				"", No).pass()
			c.want("met", c.hidden(3).KPIMet, false)
		}},
		{"a silent one writes to nobody, a locked one has no ability, a garbled one says lol", "", func(c *scene) {
			c.unlock(3).hide(2, func(h *Hidden) { h.Shock = Silent }).hide(3, func(h *Hidden) { h.Shock = Locked }).hide(4,
				func(h *Hidden) { h.Shock = Garbled }).at(1, Discussion, "")
			c.refuses(Chat{From: 2, Text: "help"}, "silent")
			c.refuses(Chat{From: 2, Channel: ToOne, To: 3, Text: "help"}, "cannot write")
			for i := range 40 {
				c.do(Chat{From: 4, Text: "message " + strconv.Itoa(i)})
			}
			lol := 0
			for m := range c.s.Public.Log.After(0) {
				lol += toDigit(m.From == 4 && m.Text == "lol")
			}
			if lol < 3 || lol > 20 {
				c.t.Errorf("%d of 40 messages are garbled", lol)
			}
			c.at(1, Night, "").refuses(able(3, Action{Do: "isolate", Target: 1}), "you cannot")
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) { tc.play(set(t, tc.mandate)) })
	}
}
