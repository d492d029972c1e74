package worldtest

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// Player is a person who plays, with its own token.
type Player struct {
	Actor
	ID canon.CardID
}

// Does sends a command.
func (p Player) Does(text string, more ...func(*op.Request)) Answer {
	p.Scene.T.Helper()
	b, _ := json.Marshal(map[string]string{"id": p.ID.String(), "text": text})
	r := op.Request{Operation: "send_command", Input: b}
	for _, m := range more {
		m(&r)
	}
	got, err := p.Invoke(r)
	if err != nil {
		p.Scene.T.Fatalf("%s: %v", text, err)
	}
	return p.checked("send_command", text, got)
}

// Keyed gives a request an idempotency key.
func Keyed(key string) func(*op.Request) { return func(r *op.Request) { r.IdempotencyKey = key } }

// Stands returns the name of the place where the player is.
func (p Player) Stands() string {
	p.Scene.T.Helper()
	name, _ := p.Call("get_player", `{"id":"`+p.ID.String()+`"}`).At("player.location.name").(string)
	return name
}

// Joins creates a player.
func (s *Scene) Joins(name string) Player {
	s.T.Helper()
	got := s.As("host").Call("create_player", `{"name":"`+name+`"}`)
	u, err := uuid.Parse(got.At("player.id").(string))
	if err != nil || got.At("token") != "token of "+u.String() {
		s.T.Fatalf("%v: %s", err, got.Raw)
	}
	return Player{Actor{s, access.Caller{Subject: access.Subject("player-" + u.String()),
		Roles:    map[access.WorldID]access.Role{s.ID: access.RoleUser},
		Audience: "play", Player: u}}, canon.CardID(u)}
}

// Clock returns the player's clock.
func (p Player) Clock() int64 {
	p.Scene.T.Helper()
	return int64(p.Call("get_player", `{"id":"`+p.ID.String()+`"}`).At("player.clock").(float64))
}

// TickText returns a player's clock as JSON.
func (s *Scene) TickText(p Player) string { return strconv.FormatInt(p.Clock(), 10) }

// Tick returns the time of a place as a narrator reads it.
func (s *Scene) Tick(place string) int64 {
	s.T.Helper()
	return int64(s.As("user").Call("get-location-context", `{"locationId":"loc-`+slug(place)+
		`"}`).At("item.tick").(float64))
}

// Pass lets real time pass.
func (s *Scene) Pass(d time.Duration) { s.Now = s.Now.Add(d) }
