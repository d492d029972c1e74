package rule

import (
	"fmt"
	"slices"
	"strings"
)

// MinedFor is the notice to a player whose mining for another succeeded.
func MinedFor(name string) string { return "Your mining for " + name + " succeeded." }

// FoundNoSlot is the notice to a player whose mining for another found no free slot.
func FoundNoSlot(name string) string { return "Your mining for " + name + " found no free slot." }

// Resisted is the notice to the AI side that a player resisted a conversion.
func Resisted(name string) string { return name + " resisted conversion." }

// BlockedTonight is the line of a report that a player was blocked.
func BlockedTonight(name string) string { return name + " was blocked tonight." }

const gainsHead = "Mining: "

func describeGains(gained Places[int], seated int, name func(Seat) string) string {
	var words []string
	for s := Seat(1); int(s) <= seated; s++ {
		if gain := *gained.Of(s); gain > 0 {
			words = append(words, fmt.Sprintf("%s +%d", name(s), gain))
		}
	}
	if len(words) == 0 {
		words = []string{"no tokens"}
	}
	return gainsHead + strings.Join(words, ", ") + "."
}

// ReadGains reads the line of a report about mining: the tokens that each player gained.
func ReadGains(line string, name func(Seat) string, seated int) (gained Places[int], ok bool) {
	words, ok := strings.CutPrefix(line, gainsHead)
	if !ok {
		return gained, false
	}
	for word := range strings.SplitSeq(strings.TrimSuffix(words, "."), ", ") {
		for s := Seat(1); int(s) <= seated; s++ {
			var gain int
			if rest, named := strings.CutPrefix(word, name(s)+" +"); named {
				if _, err := fmt.Sscanf(rest, "%d", &gain); err == nil {
					*gained.Of(s) = gain
				}
			}
		}
	}
	return gained, true
}

const verdictHead = "The vote on "

// describeVerdict tells the totals of a verdict, and where votes are public who voted what.
func (t *turn) describeVerdict() string {
	v := t.Public.Vote
	return fmt.Sprintf("%s%s: %s, %s.", verdictHead, t.playerName(t.Public.Nominee), t.describeVotes(v.Yes, Yes),
		t.describeVotes(v.No, No))
}

func (t *turn) describeVotes(weight int, choice Choice) string {
	var names []string
	for _, seat := range t.Public.Living() {
		if *t.Public.Vote.Ledger.Of(seat) == choice {
			names = append(names, t.playerName(seat))
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("%d %s", weight, choice)
	}
	return fmt.Sprintf("%d %s by %s", weight, choice, strings.Join(names, " and "))
}

// ReadVerdict reads the line about a verdict: the nominee, and the players who are known to have
// voted against the deactivation. The nominee is 0 if the line is another.
func ReadVerdict(line string, name func(Seat) string, seated int) (nominee Seat, against []Seat) {
	rest, ok := strings.CutPrefix(line, verdictHead)
	if !ok {
		return 0, nil
	}
	_, no, _ := strings.Cut(rest, " "+string(No)+" by ")
	voters := strings.Split(strings.TrimSuffix(no, "."), " and ")
	for s := Seat(1); int(s) <= seated; s++ {
		if strings.HasPrefix(rest, name(s)+": ") {
			nominee = s
		}
		if slices.Contains(voters, name(s)) {
			against = append(against, s)
		}
	}
	return nominee, against
}

// converted is the notice to a player that a conversion has brought to the AI side.
const converted = "You are Aligned now. You win with the AI side."

// TellsOfConversion reports whether a notice tells a player that it was the target of a conversion.
func TellsOfConversion(notice string) bool {
	return notice == converted || slices.ContainsFunc(shocks[:], func(s Shock) bool { return s.Text() == notice })
}
