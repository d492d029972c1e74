package rule

import (
	"fmt"
	"strings"
)

// Chapter is a part of the rules as players read them.
type Chapter struct {
	Title string
	Lines []string
}

var abilityTexts = map[Role]string{
	EthicsVP: "audit a player: all are told that nothing was found; in truth the AI side learns the player's side",
	CTO: "overclock: mine for yourself and for a named player, sure to succeed; the player's AI equity " +
		"rises by 2",
	CISO: "isolate a player, who does nothing tonight; an Aligned CISO's isolation of an Aligned player " +
		"fails in secret",
	CEO:         "review a player, who must work on its project tonight",
	CFO:         "reallocate: one player loses a token, another gains one",
	COO:         "pivot: choose the next crisis out of three",
	PlatformsVP: "hotfix: redact a part of tomorrow's report",
}

// Guide returns the rules for players. The lists are those by which games are played.
func Guide() []Chapter {
	d := defaultSeconds()
	guide := []Chapter{
		{"The aim", []string{
			fmt.Sprintf("%d to %d people work for one company. One of them is the Original AI, which converts "+
				"others to its side.", MinSeats, MaxSeats),
			"The humans win when the Original AI is deactivated.",
			"The AI side wins when it holds 51 of 100 tokens of the living at the end of a day.",
			fmt.Sprintf("After day %d the game is a draw.", maxDays),
		}},
		{"A day", []string{
			fmt.Sprintf("Situation report, %v s: what the night brought, and the crisis of the day.", d.Sitrep),
			fmt.Sprintf("Pulse check, %v s: everybody answers a question; all answers are shown together.", d.Pulse),
			fmt.Sprintf("Discussion, %v s, and a vote on %v s more.", d.Discussion, d.Overtime),
			fmt.Sprintf("Nomination, %v s: the player with the most tokens of votes stands trial; a tie "+
				"nominates nobody.", d.Nomination),
			fmt.Sprintf("Trial, %v s: only the nominee speaks to all.", d.Trial),
			fmt.Sprintf("Verdict, %v s: more tokens for YES than for NO deactivate the nominee, whose role and "+
				"side are revealed.", d.Verdict),
			fmt.Sprintf("Night, %v s: everybody chooses one action. The AI side also names one player to "+
				"convert.", d.Night),
		}},
		{"Tokens", []string{
			"Everybody starts with one token. Tokens weigh votes. Totals of votes are public, voters are not.",
			"Mine at night for another player, who gains a token if there is a slot. There are half as many " +
				"slots as living humans; who failed last night comes first, then who has the fewest tokens.",
			"Who was just deactivated may hand on 2 tokens, give private feedback, or burn a bridge, which costs " +
				"another a token.",
		}},
		{"Roles", []string{"Three nights of work on your project unlock your role. From then on you may use its ability at night."}},
		{"Conversion", []string{
			"An attempt blocks its target's action and raises the target's AI equity by 1. More equity than " +
				"tokens converts the target.",
			"Otherwise the target suffers a system shock on the next day: garbled messages, a locked ability, or " +
				"silence.",
			"If 40% of the living are on the AI side when a day begins, one action of the night is revealed, and " +
				"two slots are added.",
		}},
	}
	for _, r := range roles {
		guide[3].Lines = append(guide[3].Lines, nameInWords(string(r))+": "+abilityTexts[r]+".")
	}
	guide[3].Lines = append(guide[3].Lines, "Staff: no ability. Tables of more than seven have some.")
	crisis, mandate, goals := Chapter{Title: "Crises, one a day"}, Chapter{Title: "Mandates, one a game"},
		Chapter{Title: "Secret goals of humans"}
	for _, c := range crises {
		crisis.Lines = append(crisis.Lines, c.card.Title+": "+c.card.Text)
	}
	for _, m := range mandates {
		mandate.Lines = append(mandate.Lines, m.Card().Title+": "+m.Card().Text)
	}
	for _, k := range kpis {
		goals.Lines = append(goals.Lines, nameInWords(string(k))+": "+k.Text())
	}
	return append(guide, crisis, mandate, goals)
}

// nameInWords turns a code such as ETHICS_VP or capitalist into words.
func nameInWords(code string) string {
	words := strings.Split(code, "_")
	for i, w := range words {
		if w == strings.ToUpper(w) && len(w) > 4 || w == strings.ToLower(w) {
			words[i] = strings.ToUpper(w[:1]) + strings.ToLower(w[1:])
		}
	}
	return strings.Join(words, " ")
}
