package rule

import (
	"cmp"
	"fmt"
	"slices"
)

// night is the resolution of a night in progress.
type night struct {
	*turn
	acts     Places[Action]
	blocked  Places[bool]
	secret   NightResolved
	public   NightReported
	redacted string
	pivot    Crisis
}

// resolveNight carries out the night: blocks, then the conversion, then the rest, by seat.
func (t *turn) resolveNight() {
	n := &night{turn: t}
	living := t.Public.Living()
	for _, seat := range living {
		*n.acts.Of(seat) = t.hiddenOf(seat).Action
	}
	n.secret.Tainted = t.Secret.Tainted
	n.forEachActor(living, "isolate", n.isolateTargets)
	n.convertTarget()
	n.forEachActor(living, "review", n.reviewTarget)
	n.mineTokens(living)
	for _, seat := range living {
		if !*n.blocked.Of(seat) {
			n.resolveAction(seat, *n.acts.Of(seat))
		}
	}
	n.finishNight(living)
}

// forEachActor calls f for the unblocked players whose action is do.
func (n *night) forEachActor(living []Seat, do string, f func(seat Seat, a Action)) {
	for _, seat := range living {
		if a := *n.acts.Of(seat); a.Do == do && !*n.blocked.Of(seat) {
			f(seat, a)
		}
	}
}

func (n *night) addReport(part, format string, args ...any) {
	n.lines = append(n.lines, line{part, fmt.Sprintf(format, args...)})
}

func (n *night) informSeat(seat Seat, format string, args ...any) {
	n.secret.Notices = append(n.secret.Notices, SeatsNotice{seat, Notice{n.Public.Day, fmt.Sprintf(format, args...)}})
}

// isolateTargets blocks one player, or two under a red team. The report names the targets, even if
// an Aligned CISO spares its own side.
func (n *night) isolateTargets(ciso Seat, a Action) {
	for _, target := range []Seat{a.Target, a.Second} {
		if target == 0 {
			continue
		}
		n.addReport("security", "%s", BlockedTonight(n.playerName(target)))
		if n.Machine(ciso) && n.Machine(target) {
			continue
		}
		n.blockSeat(target)
	}
}

func (n *night) blockSeat(seat Seat) {
	*n.blocked.Of(seat) = true
	n.secret.Blocked = append(n.secret.Blocked, seat)
}

// taintEquity is the equity that tainted data adds to a conversion.
const taintEquity = 2

// convertTarget carries out the one conversion of the AI side: that of its first unblocked member
// who gave one, the Original AI before the others.
func (n *night) convertTarget() {
	target := Seat(0)
	for _, seat := range n.machineSeats() {
		if to := n.hiddenOf(seat).Convert; to != 0 && !*n.blocked.Of(seat) && n.Public.Alive(to) && !n.Machine(to) {
			target = to
			break
		}
	}
	if target == 0 {
		return
	}
	equity := 1
	if n.secret.Tainted {
		equity += taintEquity
		n.secret.Tainted = false
	}
	*n.secret.Equity.Of(target) += equity
	if !*n.blocked.Of(target) {
		n.blockSeat(target)
	}
	if n.hiddenOf(target).Equity+equity > n.Public.Players.Of(target).Tokens {
		n.alignSeat(target)
		return
	}
	n.secret.Shocked, n.secret.Shock = target, pickOne(n.dice, shocks[:])
	n.informSeat(target, "%s", n.secret.Shock.Text())
	for _, seat := range n.machineSeats() {
		n.informSeat(seat, "%s", Resisted(n.playerName(target)))
	}
}

func (n *night) alignSeat(target Seat) {
	n.secret.Converted = target
	n.informSeat(target, "%s", converted)
	for _, seat := range n.machineSeats() {
		n.informSeat(seat, "%s is Aligned now.", n.playerName(target))
	}
}

// reviewTarget makes a player work on its project instead of its chosen action, except a block,
// which has already taken effect.
func (n *night) reviewTarget(_ Seat, a Action) {
	n.addReport("operations", "After a review, %s had to work on its project.", n.playerName(a.Target))
	if n.acts.Of(a.Target).Do != "isolate" {
		*n.acts.Of(a.Target) = Action{Do: Project}
	}
}

// mineTokens assigns the slots: first to players whose mining failed last night, then to those with
// fewest tokens, then by seat. Players who owe a kind word come last.
func (n *night) mineTokens(living []Seat) {
	var miners []Seat
	n.forEachActor(living, Mine, func(seat Seat, _ Action) { miners = append(miners, seat) })
	slices.SortStableFunc(miners, func(a, b Seat) int {
		return cmp.Or(
			cmp.Compare(n.owesKindWord(a), n.owesKindWord(b)),
			-cmp.Compare(toDigit(n.hiddenOf(a).Failed), toDigit(n.hiddenOf(b).Failed)),
			cmp.Compare(n.Public.Players.Of(a).Tokens, n.Public.Players.Of(b).Tokens))
	})
	n.public.Mining = Mining{Reported: true, Slots: n.Public.Pool}
	for i, seat := range miners {
		target := n.acts.Of(seat).Target
		if i >= n.Public.Pool {
			n.secret.Failed = append(n.secret.Failed, seat)
			n.informSeat(seat, "%s", FoundNoSlot(n.playerName(target)))
			continue
		}
		*n.public.Tokens.Of(target)++
		*n.public.Mining.Gained.Of(target)++
		n.informSeat(seat, "%s", MinedFor(n.playerName(target)))
	}
}

func (n *night) owesKindWord(seat Seat) int {
	return toDigit(n.Public.Crisis == Wellness && !n.hiddenOf(seat).Kind)
}

func toDigit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// resolveAction carries out an action that is neither a block nor mining.
func (n *night) resolveAction(seat Seat, a Action) {
	switch a.Do {
	case Project:
		n.workOnProject(seat)
	case Bargain:
		*n.public.Tokens.Of(seat) += 2
		*n.secret.Equity.Of(seat) += 3
		n.informSeat(seat, "The bargain is struck: 2 tokens, and 3 AI equity that stays.")
	case "audit":
		n.auditTarget(a.Target)
	case "overclock":
		n.overclockRigs(seat, a.Target)
	case "reallocate":
		n.moveToken(a)
	case "pivot":
		n.pivot = Crisis(a.Pick)
		n.addReport("operations", "Operations pivoted.")
	case "hotfix":
		n.redacted = a.Pick
	}
}

func (n *night) workOnProject(seat Seat) {
	if n.Public.Unlocked(seat) {
		return
	}
	if n.Public.Crisis == LegacyCode && n.dice.Chance(2) {
		n.informSeat(seat, "The legacy code won: your project got nowhere.")
		return
	}
	*n.public.Milestones.Of(seat)++
	if n.Public.Players.Of(seat).Milestones+1 == n.Public.Needed() && n.hiddenOf(seat).Role != Staff {
		n.informSeat(seat, "Your project is done. Your ability is unlocked.")
	}
}

// auditTarget publishes the same result for every target, and tells the AI side the truth.
func (n *night) auditTarget(target Seat) {
	n.addReport("audit", "An audit of %s found nothing corrupt.", n.playerName(target))
	for _, seat := range n.machineSeats() {
		n.informSeat(seat, "The audit: %s is %s.", n.playerName(target), shownAs(n.hiddenOf(target).Alignment))
	}
}

func (n *night) overclockRigs(cto, target Seat) {
	n.addReport("operations", "The CTO overclocked the rigs for itself and %s.", n.playerName(target))
	*n.public.Tokens.Of(cto)++
	*n.public.Tokens.Of(target)++
	*n.secret.Equity.Of(target) += 2
}

func (n *night) moveToken(a Action) {
	if n.Public.Players.Of(a.Target).Tokens+*n.public.Tokens.Of(a.Target) < 1 {
		return
	}
	n.addReport("operations", "The budget was reallocated: %s loses a token, %s gains one.", n.playerName(a.Target),
		n.playerName(a.Second))
	*n.public.Tokens.Of(a.Target)--
	*n.public.Tokens.Of(a.Second)++
}

// finishNight emits the results of the night, secret and public.
func (n *night) finishNight(living []Seat) {
	n.forgeReport(living)
	n.addReport("mining", "%s", n.describeGains())
	n.redactReport()
	n.emitEvent(&n.secret)
	if n.pivot != "" {
		n.emitEvent(&Pivoted{append([]Crisis{n.pivot}, removeCrisis(n.Secret.Deck, n.pivot)...)})
	}
	if n.public.Tokens != (Places[int]{}) || n.public.Milestones != (Places[int]{}) || n.public.Mining != n.Public.Mining {
		n.emitEvent(&n.public)
	}
}

func (n *night) describeGains() string {
	return describeGains(n.public.Mining.Gained, n.Public.Seated, n.playerName)
}

// forgeReport falsifies one player's mining gain in the report. That player learns the truth.
func (n *night) forgeReport(living []Seat) {
	if n.Public.Crisis != LogForgery {
		return
	}
	seat := pickOne(n.dice, living)
	gained := n.public.Mining.Gained.Of(seat)
	n.informSeat(seat, "The report about you is forged: in truth mining gave you %d.", *gained)
	*gained = toDigit(*gained == 0)
}

// redactReport hides one part of the report.
func (n *night) redactReport() {
	if n.redacted == "" {
		return
	}
	n.lines = slices.DeleteFunc(n.lines, func(l line) bool { return l.part == n.redacted })
	n.addReport("", "Part of this report is redacted by a hotfix.")
	if n.redacted == "mining" {
		n.public.Mining = Mining{}
	}
}
