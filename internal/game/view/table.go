package view

import (
	"time"

	"loregate/internal/game/rule"
)

// Table is the public state of a game as one seat reads it.
type Table struct {
	GameID   string            `json:"game_id"`
	Version  int               `json:"version"` // counts the changes of this view
	You      string            `json:"your_player_id"`
	Phase    string            `json:"current_phase"`
	Ends     *time.Time        `json:"phase_ends_at"`
	Day      int               `json:"day_number"`
	Players  map[string]Player `json:"players"`
	ChatLog  []Message         `json:"chat_log"` // all messages
	Crisis   *Card             `json:"crisis_event"`
	Mandate  *Card             `json:"corporate_mandate"`
	Vote     *Vote             `json:"vote"`
	Nominee  *string           `json:"nominated_player"`
	Mining   *Mining           `json:"mining_results"`
	Pool     int               `json:"liquidity_pool"`
	Machines int               `json:"aligned_count"`
	Revealed map[string]Reveal `json:"revealed"`
	Pulse    *Pulse            `json:"pulse_check"`
	Winner   *string           `json:"winner"`
}

// Player is the public state of a player.
type Player struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	JobTitle   string `json:"job_title,omitempty"`
	Tokens     int    `json:"tokens"`
	Milestones int    `json:"milestones"`
	Alive      bool   `json:"alive"`
	Status     string `json:"status_message"`
}

// Message is a line of the chat. Without a player it is the game's own.
type Message struct {
	ID     int       `json:"id"`
	Day    int       `json:"day"`
	Phase  string    `json:"phase"`
	Player *string   `json:"player_id"`
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
}

// Card is a crisis or a mandate.
type Card struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Vote is a vote in progress: the weights of YES and NO, or of each player's nomination.
type Vote struct {
	Kind   string            `json:"kind"`
	Totals map[string]int    `json:"totals"`
	Ledger map[string]string `json:"ledger,omitempty"` // each player's choice, if the mandate makes it public
}

// Mining is the result of last night's mining, as reported.
type Mining struct {
	Slots  int            `json:"slots"`
	Gained map[string]int `json:"gained"`
}

// Reveal is a player's role and alignment as far as they are public.
type Reveal struct {
	Role      *string `json:"role"`
	Alignment *string `json:"alignment"`
}

// Pulse is the question of the day, and the answers once they are shown.
type Pulse struct {
	Prompt    string            `json:"prompt"`
	Responses map[string]string `json:"responses"`
}

// TableOf returns the public state of a game as a seat reads it.
func TableOf(game string, p *rule.Public, seat rule.Seat) Table {
	t := tableWithoutChat(game, p, seat)
	t.ChatLog = Messages(p, 0)
	return t
}

// tableWithoutChat returns the table with an empty chat log.
func tableWithoutChat(game string, p *rule.Public, seat rule.Seat) Table {
	t := Table{GameID: game, Version: p.Version, You: seat.String(), Phase: string(p.Phase), Ends: timeOrNil(p.Ends),
		Day:     p.Day,
		Players: make(map[string]Player, p.Seated), ChatLog: []Message{}, Vote: voteOf(p), Nominee: idOrNil(p.Nominee),
		Mining: miningOf(p),
		Pool:   p.Pool, Machines: p.Machines, Revealed: map[string]Reveal{}, Pulse: pulseOf(p),
		Winner: stringOrNil(string(p.Winner))}
	if c := p.Crisis.Card(); p.Crisis != "" {
		t.Crisis = &Card{string(p.Crisis), c.Title, c.Text}
	}
	if c := p.Mandate.Card(); p.Mandate != "" {
		t.Mandate = &Card{string(p.Mandate), c.Title, c.Text}
	}
	for s := rule.Seat(1); int(s) <= p.Seated; s++ {
		if !p.Taken(s) {
			continue
		}
		x := p.Players.Of(s)
		t.Players[s.String()] = Player{s.String(), x.Name, x.JobTitle, x.Tokens, x.Milestones, x.Alive, x.Status}
		if r := *p.Revealed.Of(s); r != (rule.Reveal{}) {
			t.Revealed[s.String()] = Reveal{stringOrNil(string(r.Role)), stringOrNil(string(r.Alignment))}
		}
	}
	return t
}

// Messages returns the lines of the chat with a number above after.
func Messages(p *rule.Public, after int) []Message {
	list := make([]Message, 0, max(p.Log.Len()-after, 0))
	for m := range p.Log.After(after) {
		list = append(list, Message{m.ID, m.Day, string(m.Phase), idOrNil(m.From), m.Text, toTime(m.At)})
	}
	return list
}

func voteOf(p *rule.Public) *Vote {
	if p.Vote.Kind == "" {
		return nil
	}
	v := &Vote{Kind: string(p.Vote.Kind), Totals: map[string]int{}}
	if p.Vote.Kind != rule.VoteNomination {
		v.Totals["YES"], v.Totals["NO"] = p.Vote.Yes, p.Vote.No
	}
	for s := rule.Seat(1); int(s) <= p.Seated; s++ {
		if n := *p.Vote.For.Of(s); n > 0 {
			v.Totals[s.String()] = n
		}
		if c := *p.Vote.Ledger.Of(s); c != "" {
			if v.Ledger == nil {
				v.Ledger = map[string]string{}
			}
			v.Ledger[s.String()] = string(c)
		}
	}
	return v
}

func miningOf(p *rule.Public) *Mining {
	if !p.Mining.Reported {
		return nil
	}
	m := &Mining{Slots: p.Mining.Slots, Gained: map[string]int{}}
	for s := rule.Seat(1); int(s) <= p.Seated; s++ {
		if n := *p.Mining.Gained.Of(s); n > 0 {
			m.Gained[s.String()] = n
		}
	}
	return m
}

func pulseOf(p *rule.Public) *Pulse {
	if p.Pulse.Prompt == "" {
		return nil
	}
	q := &Pulse{Prompt: p.Pulse.Prompt, Responses: map[string]string{}}
	for s := rule.Seat(1); int(s) <= p.Seated; s++ {
		if a := *p.Pulse.Answers.Of(s); a != "" {
			q.Responses[s.String()] = a
		}
	}
	return q
}

func timeOrNil(t rule.Millis) *time.Time {
	if t == 0 {
		return nil
	}
	at := toTime(t)
	return &at
}

func toTime(t rule.Millis) time.Time { return time.UnixMilli(int64(t)).UTC() }

func idOrNil(s rule.Seat) *string { return stringOrNil(s.String()) }

func stringOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
