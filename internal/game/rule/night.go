package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// night is the resolution of a night under way.
type night struct {
	*turn
	acts     Places[Action]
	blocked  Places[bool]
	secret   NightResolved
	public   NightReported
	redacted string
	pivot    Crisis
}

// resolve carries out the night: blocks, then the conversion, then the rest, by seat.
func (t *turn) resolve() {
	n := &night{turn: t}
	living := t.Public.Living()
	for _, seat := range living {
		*n.acts.Of(seat) = t.hidden(seat).Action
	}
	n.secret.Tainted = t.Secret.Tainted
	n.each(living, "isolate", n.isolate)
	n.convert()
	n.each(living, "review", n.review)
	n.mine(living)
	for _, seat := range living {
		if !*n.blocked.Of(seat) {
			n.act(seat, *n.acts.Of(seat))
		}
	}
	n.finish(living)
}

// each calls f for those whose action is do, and who are not blocked.
func (n *night) each(living []Seat, do string, f func(seat Seat, a Action)) {
	for _, seat := range living {
		if a := *n.acts.Of(seat); a.Do == do && !*n.blocked.Of(seat) {
			f(seat, a)
		}
	}
}

func (n *night) report(part, format string, args ...any) {
	n.lines = append(n.lines, line{part, fmt.Sprintf(format, args...)})
}

func (n *night) inform(seat Seat, format string, args ...any) {
	n.secret.Notices = append(n.secret.Notices, SeatsNotice{seat, Notice{n.Public.Day, fmt.Sprintf(format, args...)}})
}

// isolate blocks one player, or two under a red team. All are told, also when an Aligned
// CISO spares its own side.
func (n *night) isolate(ciso Seat, a Action) {
	for _, target := range []Seat{a.Target, a.Second} {
		if target == 0 {
			continue
		}
		n.report("security", "%s was blocked tonight.", n.name(target))
		if n.Machine(ciso) && n.Machine(target) {
			continue
		}
		n.block(target)
	}
}

func (n *night) block(seat Seat) {
	*n.blocked.Of(seat) = true
	n.secret.Blocked = append(n.secret.Blocked, seat)
}

// taint is what tainted data adds to a conversion's equity.
const taint = 2

// convert carries out the one conversion of the AI side: the first that an unblocked
// member gave, the Original AI before the others.
func (n *night) convert() {
	target := Seat(0)
	for _, seat := range n.machines() {
		if to := n.hidden(seat).Convert; to != 0 && !*n.blocked.Of(seat) && n.Public.Alive(to) && !n.Machine(to) {
			target = to
			break
		}
	}
	if target == 0 {
		return
	}
	equity := 1
	if n.secret.Tainted {
		equity += taint
		n.secret.Tainted = false
	}
	*n.secret.Equity.Of(target) += equity
	if !*n.blocked.Of(target) {
		n.block(target)
	}
	if n.hidden(target).Equity+equity > n.Public.Players.Of(target).Tokens {
		n.join(target)
		return
	}
	n.secret.Shocked, n.secret.Shock = target, pick(n.dice, shocks[:])
	n.inform(target, "%s", n.secret.Shock.Text())
	for _, seat := range n.machines() {
		n.inform(seat, "%s resisted conversion.", n.name(target))
	}
}

func (n *night) join(target Seat) {
	n.secret.Converted = target
	n.inform(target, "You are Aligned now. You win with the AI side.")
	for _, seat := range n.machines() {
		n.inform(seat, "%s is Aligned now.", n.name(target))
	}
}

// review makes a player work on its project instead of what it wanted. A block has
// happened by then.
func (n *night) review(_ Seat, a Action) {
	n.report("operations", "After a review, %s had to work on its project.", n.name(a.Target))
	if n.acts.Of(a.Target).Do != "isolate" {
		*n.acts.Of(a.Target) = Action{Do: Project}
	}
}

// mine gives out the slots: to those who failed last night, then to those with fewest
// tokens, then by seat. Who owes a kind word comes last.
func (n *night) mine(living []Seat) {
	var miners []Seat
	n.each(living, Mine, func(seat Seat, _ Action) { miners = append(miners, seat) })
	slices.SortStableFunc(miners, func(a, b Seat) int {
		return cmp.Or(
			cmp.Compare(n.owes(a), n.owes(b)),
			-cmp.Compare(digit(n.hidden(a).Failed), digit(n.hidden(b).Failed)),
			cmp.Compare(n.Public.Players.Of(a).Tokens, n.Public.Players.Of(b).Tokens))
	})
	n.public.Mining = Mining{Reported: true, Slots: n.Public.Pool}
	for i, seat := range miners {
		target := n.acts.Of(seat).Target
		if i >= n.Public.Pool {
			n.secret.Failed = append(n.secret.Failed, seat)
			n.inform(seat, "Your mining for %s found no free slot.", n.name(target))
			continue
		}
		*n.public.Tokens.Of(target)++
		*n.public.Mining.Gained.Of(target)++
		n.inform(seat, "Your mining for %s succeeded.", n.name(target))
	}
}

func (n *night) owes(seat Seat) int {
	return digit(n.Public.Crisis == Wellness && !n.hidden(seat).Kind)
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// act carries out what is neither a block nor mining.
func (n *night) act(seat Seat, a Action) {
	switch a.Do {
	case Project:
		n.project(seat)
	case Bargain:
		*n.public.Tokens.Of(seat) += 2
		*n.secret.Equity.Of(seat) += 3
		n.inform(seat, "The bargain is struck: 2 tokens, and 3 AI equity that stays.")
	case "audit":
		n.audit(a.Target)
	case "overclock":
		n.overclock(seat, a.Target)
	case "reallocate":
		n.reallocate(a)
	case "pivot":
		n.pivot = Crisis(a.Pick)
		n.report("operations", "Operations pivoted.")
	case "hotfix":
		n.redacted = a.Pick
	}
}

func (n *night) project(seat Seat) {
	if n.Public.Unlocked(seat) {
		return
	}
	if n.Public.Crisis == LegacyCode && n.dice.Chance(2) {
		n.inform(seat, "The legacy code won: your project got nowhere.")
		return
	}
	*n.public.Milestones.Of(seat)++
	if n.Public.Players.Of(seat).Milestones+1 == n.Public.Needed() && n.hidden(seat).Role != Staff {
		n.inform(seat, "Your project is done. Your ability is unlocked.")
	}
}

// audit says the same whatever it found, and tells the AI side the truth.
func (n *night) audit(target Seat) {
	n.report("audit", "An audit of %s found nothing corrupt.", n.name(target))
	for _, seat := range n.machines() {
		n.inform(seat, "The audit: %s is %s.", n.name(target), shownAs(n.hidden(target).Alignment))
	}
}

func (n *night) overclock(cto, target Seat) {
	n.report("operations", "The CTO overclocked the rigs for itself and %s.", n.name(target))
	*n.public.Tokens.Of(cto)++
	*n.public.Tokens.Of(target)++
	*n.secret.Equity.Of(target) += 2
}

func (n *night) reallocate(a Action) {
	if n.Public.Players.Of(a.Target).Tokens+*n.public.Tokens.Of(a.Target) < 1 {
		return
	}
	n.report("operations", "The budget was reallocated: %s loses a token, %s gains one.", n.name(a.Target), n.name(a.Second))
	*n.public.Tokens.Of(a.Target)--
	*n.public.Tokens.Of(a.Second)++
}

// finish tells everybody what they may know.
func (n *night) finish(living []Seat) {
	n.forge(living)
	n.report("mining", "Mining: %s.", n.gains())
	n.redact()
	n.emit(&n.secret)
	if n.pivot != "" {
		n.emit(&Pivoted{append([]Crisis{n.pivot}, without(n.Secret.Deck, n.pivot)...)})
	}
	if n.public.Tokens != (Places[int]{}) || n.public.Milestones != (Places[int]{}) || n.public.Mining != n.Public.Mining {
		n.emit(&n.public)
	}
}

func (n *night) gains() string {
	var words []string
	for s := Seat(1); int(s) <= n.Public.Seated; s++ {
		if gain := *n.public.Mining.Gained.Of(s); gain > 0 {
			words = append(words, fmt.Sprintf("%s +%d", n.name(s), gain))
		}
	}
	if len(words) == 0 {
		return "no tokens"
	}
	return strings.Join(words, ", ")
}

// forge falsifies what one player gained by mining in the report. Who it is about learns
// the truth.
func (n *night) forge(living []Seat) {
	if n.Public.Crisis != LogForgery {
		return
	}
	seat := pick(n.dice, living)
	gained := n.public.Mining.Gained.Of(seat)
	n.inform(seat, "The report about you is forged: in truth mining gave you %d.", *gained)
	*gained = digit(*gained == 0)
}

// redact hides one part of the report.
func (n *night) redact() {
	if n.redacted == "" {
		return
	}
	n.lines = slices.DeleteFunc(n.lines, func(l line) bool { return l.part == n.redacted })
	n.report("", "Part of this report is redacted by a hotfix.")
	if n.redacted == "mining" {
		n.public.Mining = Mining{}
	}
}
