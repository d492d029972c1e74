package player

import (
	"strings"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// memory is what a seat remembers of the chat: all of it is public, and follows from the messages
// alone.
type memory struct {
	last     int                 // number of the last message
	nights   map[int]nightReport // by the day that the night ended
	told     rule.Places[[]told] // each seat's claims about nights
	accused  rule.Places[seats]  // whom each seat has accused, in the whole game
	defended rule.Places[seats]
	kept     rule.Places[seats]     // whom each seat voted to keep, where votes were public
	names    rule.Places[stance]    // whom each seat last accused
	spoke    rule.Places[int]       // the day of each seat's last message
	garbled  rule.Places[int]       // the day of its last garbled message
	asked    map[rule.Seat]occasion // the last question to each seat about its night
	named    map[rule.Seat]occasion // the last message that names each seat, by anybody else
	crises   map[int]string         // the title of each day's crisis
	blocked  rule.Places[int]       // the day of the last report that it was blocked
}

// nightReport is a night's mining as reported.
type nightReport struct {
	gained rule.Places[int]
	crisis string // of the day before the night
}

// told is a claim about the night that ended on a day.
type told struct {
	day   int
	claim Claim
}

// stance is an accusation, and its day.
type stance struct {
	day   int
	about rule.Seat
}

// occasion is a message that calls for an answer.
type occasion struct {
	day     int
	phase   string
	accuses bool
}

// seats is a set of seats, one bit for each.
type seats uint16

func (s seats) withSeat(seat rule.Seat) seats { return s | 1<<seat }

func (s seats) hasSeat(seat rule.Seat) bool { return s&(1<<seat) != 0 }

// garble is the text of a message that a system shock garbled.
const garble = "lol"

func (m *memory) hear(t *view.Table, chat []view.Message) {
	if m.nights == nil {
		m.nights, m.crises = map[int]nightReport{}, map[int]string{}
		m.asked, m.named = map[rule.Seat]occasion{}, map[rule.Seat]occasion{}
	}
	for _, msg := range chat {
		if msg.ID <= m.last {
			continue
		}
		m.last = msg.ID
		if msg.Player == nil {
			m.hearReport(t, msg)
			continue
		}
		if speaker, ok := rule.ParseSeat(*msg.Player); ok {
			m.hearPlayer(t, speaker, msg)
		}
	}
}

// hearReport reads a line of the game's own.
func (m *memory) hearReport(t *view.Table, msg view.Message) {
	if title, ok := strings.CutPrefix(msg.Text, "Crisis: "); ok {
		m.crises[msg.Day], _, _ = strings.Cut(title, ".")
	}
	name := func(s rule.Seat) string { return t.Players[s.String()].Name }
	if gained, ok := rule.ReadGains(msg.Text, name, len(t.Players)); ok {
		m.nights[msg.Day] = nightReport{gained, m.crises[msg.Day-1]}
	}
	for s := rule.Seat(1); int(s) <= len(t.Players); s++ {
		if msg.Text == rule.BlockedTonight(name(s)) {
			*m.blocked.Of(s) = msg.Day
		}
	}
	if nominee, against := rule.ReadVerdict(msg.Text, name, len(t.Players)); nominee != 0 {
		for _, s := range against {
			*m.kept.Of(s) = m.kept.Of(s).withSeat(nominee)
		}
	}
}

func (m *memory) hearPlayer(t *view.Table, speaker rule.Seat, msg view.Message) {
	*m.spoke.Of(speaker) = msg.Day
	if msg.Text == garble {
		*m.garbled.Of(speaker) = msg.Day
	}
	for _, s := range namedIn(t, foldWords(msg.Text), speaker) {
		m.named[s] = occasion{day: msg.Day, phase: msg.Phase}
	}
	for _, c := range ReadClaims(t, msg) {
		switch {
		case c.Kind == Accuse:
			*m.accused.Of(speaker) = m.accused.Of(speaker).withSeat(c.About)
			*m.names.Of(speaker) = stance{msg.Day, c.About}
			m.named[c.About] = occasion{msg.Day, msg.Phase, true}
		case c.Kind == Defend:
			*m.defended.Of(speaker) = m.defended.Of(speaker).withSeat(c.About)
		case c.Kind == Question:
			m.asked[c.About] = occasion{day: msg.Day, phase: msg.Phase}
		case c.Kind.isNight():
			m.tell(speaker, told{msg.Day, c})
		}
	}
}

// tell keeps the first claim of a day: who changes its story is held to what it said first.
func (m *memory) tell(speaker rule.Seat, t told) {
	list := m.told.Of(speaker)
	if n := len(*list); n == 0 || (*list)[n-1].day != t.day {
		*list = append((*list)[:n:n], t)
	}
}

// toldOn returns a seat's claim about the night that ended on a day.
func (m *memory) toldOn(s rule.Seat, day int) (Claim, bool) {
	list := *m.told.Of(s)
	if n := len(list); n > 0 && list[n-1].day == day {
		return list[n-1].claim, true
	}
	return Claim{}, false
}
