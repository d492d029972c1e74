package access_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Two worlds: anna is a GM of the first and has no role in the second.
var (
	here      = access.WorldID{1}
	elsewhere = access.WorldID{2}
)

func anna() access.Caller {
	return access.Caller{Subject: "anna", Key: "k1", Actor: access.Person,
		Roles: map[access.WorldID]access.Role{here: access.RoleGM}}
}

// ledger is a Recorder that keeps the records in memory.
type ledger struct {
	reserved int
	records  []access.Record
	full     error
}

func (l *ledger) Reserve() error {
	if l.full == nil {
		l.reserved++
	}
	return l.full
}
func (l *ledger) Record(r access.Record) { l.records = append(l.records, r) }

// taken is one question to a meter.
type taken struct {
	account, profile string
	class            access.Class
}

// meter is a Limiter that refuses some classes and keeps its calls.
type meter struct {
	refuses []access.Class
	asked   []taken
}

func (m *meter) Take(account, profile string, class access.Class) (time.Duration, bool) {
	m.asked = append(m.asked, taken{account, profile, class})
	return 7 * time.Second, !slices.Contains(m.refuses, class)
}

// The rows list the admitted calls, and the errors of the refused ones.
func TestAdmit(t *testing.T) {
	change := func(f func(*access.Caller)) access.Caller { c := anna(); f(&c); return c }
	for name, row := range map[string]struct {
		caller  access.Caller
		request access.Request
		want    error // nil if the call is admitted
	}{
		"her role":       {anna(), access.Request{World: here, MinRole: access.RoleGM}, nil},
		"below her role": {anna(), access.Request{World: here, MinRole: access.RoleUser}, nil},
		"above her role": {anna(), access.Request{World: here, MinRole: access.RoleAdmin}, fault.Denied},
		"a world that is not hers": {anna(), access.Request{World: elsewhere, MinRole: access.RoleUser},
			fault.NotFound},
		"no world": {anna(), access.Request{MinRole: access.RoleUser}, fault.NotFound},
		"a read by a key that only reads": {change(func(c *access.Caller) { c.ReadOnly = true }),
			access.Request{World: here, MinRole: access.RoleUser, Effect: access.Read}, nil},
		"a write by a key that only reads": {change(func(c *access.Caller) { c.ReadOnly = true }),
			access.Request{World: here, MinRole: access.RoleUser, Effect: access.Write}, fault.Denied},
		"a proposal by a key that only reads": {change(func(c *access.Caller) { c.ReadOnly = true }),
			access.Request{World: here, MinRole: access.RoleUser, Effect: access.Propose}, fault.Denied},
		"what asks for no role": {anna(), access.Request{World: elsewhere}, nil},
		"nobody": {access.Caller{}, access.Request{World: here, MinRole: access.RoleUser},
			fault.NotFound},
		"a role everywhere": {access.Caller{EveryRole: access.RoleUser},
			access.Request{World: elsewhere, MinRole: access.RoleUser}, nil},
		"a role everywhere, and a lower": {access.Caller{EveryRole: access.RoleGM,
			Roles: map[access.WorldID]access.Role{here: access.RoleUser}},
			access.Request{World: here, MinRole: access.RoleGM}, nil},
		"a role everywhere, and a higher": {access.Caller{EveryRole: access.RoleUser,
			Roles: map[access.WorldID]access.Role{here: access.RoleGM}},
			access.Request{World: here, MinRole: access.RoleGM}, nil},
		"the operator's": {change(func(c *access.Caller) { c.Operator = true }),
			access.Request{Operator: true}, nil},
		"the operator's, by an admin": {access.Caller{EveryRole: access.RoleAdmin}, access.Request{Operator: true},
			fault.Denied},
		"on the list of surfaces": {change(func(c *access.Caller) { c.Surfaces = []string{"archive", "world"} }),
			access.Request{Surface: "world", World: here, MinRole: access.RoleGM}, nil},
		"not on the list of surfaces": {change(func(c *access.Caller) { c.Surfaces = []string{"archive"} }),
			access.Request{Surface: "world", World: here}, fault.Denied},
		"of no surface": {change(func(c *access.Caller) { c.Surfaces = []string{"archive"} }),
			access.Request{World: here}, nil},
		"on the list of operations": {change(func(c *access.Caller) { c.Operations = []string{"look"} }),
			access.Request{Operation: "look", World: here}, nil},
		"not on the list of operations": {change(func(c *access.Caller) { c.Operations = []string{"look"} }),
			access.Request{Operation: "go", World: here}, fault.Denied},
		"on one list and not on the other": {change(func(c *access.Caller) { c.Surfaces, c.Operations = []string{"world"}, []string{"look"} }), access.Request{Surface: "archive", Operation: "look"}, fault.Denied},
		"for her audience": {change(func(c *access.Caller) { c.Audience = "play" }),
			access.Request{Audience: "play"}, nil},
		"for another audience": {change(func(c *access.Caller) { c.Audience = "play" }),
			access.Request{Audience: "mcp"}, fault.Denied},
		"for no audience": {change(func(c *access.Caller) { c.Audience = "play" }), access.Request{},
			fault.Denied},
		"a whole key where players go": {anna(), access.Request{Audience: "play"}, nil},
		"a list before the operator": {change(func(c *access.Caller) { c.Operator, c.Operations = true, []string{"look"} }),
			access.Request{Operation: "backup", Operator: true}, fault.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			book := &ledger{}
			a, err := access.NewGuard(access.Config{Recorder: book}).Admit(t.Context(), row.caller, row.request)
			if book.reserved != 1 {
				t.Errorf("room was kept for %d records", book.reserved)
			}
			if row.want != nil {
				if !errors.Is(err, row.want) || a != nil || len(book.records) != 1 || book.records[0].Outcome != row.want.Error() {
					t.Errorf("%v, %v, recorded %+v; want %v", a, err, book.records, row.want)
				}
				return
			}
			if err != nil || len(book.records) != 0 {
				t.Fatalf("%v, recorded %+v", err, book.records)
			}
			role := row.caller.Role(row.request.World)
			if g := a.Grant; !g.Valid() || g.Role() != role || g.World() != row.request.World ||
				g.Caller().Subject != row.caller.Subject ||
				g.View().Level != access.Level(role) || g.View().Subject != row.caller.Subject ||
				g.View().Ceiling != access.LevelNone {
				t.Errorf("the grant is %+v with %+v", g.Role(), g.View())
			}
		})
	}
	_, err := access.NewGuard(access.Config{}).Admit(t.Context(), anna(),
		access.Request{World: here, MinRole: access.RoleAdmin})
	var e *fault.Error
	if !errors.As(err, &e) || e.Details["required_role"] != "admin" {
		t.Errorf("which role would do is not said: %v", err)
	}
}

// Each call counts once in its class; a call that changes the canon also counts as a write.
func TestLimitClassesOfACall(t *testing.T) {
	call, write, command := access.ClassCall, access.ClassWrite, access.ClassCommand
	for name, row := range map[string]struct {
		caller  access.Caller
		request access.Request
		refuses []access.Class
		asked   []access.Class
		refused access.Class // the class in the refusal; "" if the call is admitted
	}{
		"a read": {anna(), access.Request{Class: call, Effect: access.Read}, []access.Class{write},
			[]access.Class{call}, ""},
		"a proposal": {anna(), access.Request{Class: call, Effect: access.Propose}, []access.Class{write},
			[]access.Class{call}, ""},
		"a write": {anna(), access.Request{Class: call, Effect: access.Write}, nil,
			[]access.Class{call, write}, ""},
		"a deletion": {anna(), access.Request{Class: call, Effect: access.Destroy}, nil,
			[]access.Class{call, write}, ""},
		"a write of its class": {anna(), access.Request{Class: write, Effect: access.Write}, nil,
			[]access.Class{write}, ""},
		"a player's command": {anna(), access.Request{Class: command, Effect: access.Write}, []access.Class{write},
			[]access.Class{command}, ""},
		"too many calls": {anna(), access.Request{Class: call, Effect: access.Write}, []access.Class{call},
			[]access.Class{call}, call},
		"too many writes": {anna(), access.Request{Class: call, Effect: access.Write}, []access.Class{write},
			[]access.Class{call, write}, call},
		"what is free": {anna(), access.Request{Class: access.ClassFree, Effect: access.Write},
			[]access.Class{call, write, ""}, nil, ""},
		"somebody without limit": {access.Caller{Unlimited: true}, access.Request{Class: call, Effect: access.Write},
			[]access.Class{call, write}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, book := &meter{refuses: row.refuses}, &ledger{}
			row.caller.RateClass = "sample"
			_, err := access.NewGuard(access.Config{Limiter: m, Recorder: book}).Admit(t.Context(), row.caller, row.request)
			var classes []access.Class
			for _, one := range m.asked {
				classes = append(classes, one.class)
				if one.account != "k1" || one.profile != "sample" {
					t.Errorf("asked for %+v", one)
				}
			}
			if !slices.Equal(classes, row.asked) {
				t.Errorf("counted as %q, want %q", classes, row.asked)
			}
			var e *fault.Error
			if row.refused == "" {
				if err != nil {
					t.Error(err)
				}
			} else if !errors.As(err, &e) || e.Kind != fault.RateLimited || e.RetryAfter != 7*time.Second ||
				e.Details["limit"] != string(row.refused) || len(book.records) != 1 || book.records[0].Outcome != "rate_limited" {
				t.Errorf("%v, recorded %+v", err, book.records)
			}
		})
	}
	// The limit is checked first: calls that would be refused anyway count against it too.
	m := &meter{refuses: []access.Class{call}}
	if _, err := access.NewGuard(access.Config{Limiter: m}).Admit(t.Context(), access.Caller{},
		access.Request{Class: call, World: here, MinRole: access.RoleAdmin}); !errors.Is(err, fault.RateLimited) {
		t.Errorf("who may not, over the limit: %v", err)
	}
	if a, b := (access.Caller{Key: "k1", Subject: "anna"}).Account(),
		(access.Caller{Subject: "anna"}).Account(); a != "k1" || b != "subject:anna" {
		t.Errorf("accounts %q and %q", a, b)
	}
}

// A call for a player counts for the player, and for the caller among the calls for players.
func TestLimitsOfACallForAPlayer(t *testing.T) {
	player := uuid.MustParse("0190a8e0-0000-7000-8000-000000000000")
	for name, row := range map[string]struct {
		caller  access.Caller
		refuses access.Class
		asked   []string
		refused string
	}{
		"for a player": {anna(), "", []string{"k1 players", "k1/player:" + player.String() + " commands"}, ""},
		"too many for the player": {anna(), access.ClassCommand,
			[]string{"k1 players", "k1/player:" + player.String() + " commands"}, "too many commands;"},
		"too many for players":  {anna(), access.ClassPlayers, []string{"k1 players"}, "too many calls for players;"},
		"a token of the player": {access.Caller{Key: "k2", Player: player}, "", []string{"k2 commands"}, ""},
	} {
		m := &meter{refuses: []access.Class{row.refuses}}
		_, err := access.NewGuard(access.Config{Limiter: m}).Admit(t.Context(), row.caller,
			access.Request{Class: access.ClassCommand, Effect: access.Write, Player: player})
		var asked []string
		for _, one := range m.asked {
			asked = append(asked, one.account+" "+string(one.class))
		}
		if !slices.Equal(asked, row.asked) {
			t.Errorf("%s: counted as %q, want %q", name, asked, row.asked)
		}
		if (err != nil) != (row.refused != "") || err != nil && !strings.Contains(err.Error(), row.refused) {
			t.Errorf("%s: %v, want %q", name, err, row.refused)
		}
	}
}

// No call is served that cannot be recorded, and the record matches the call.
func TestEachCallIsRecordedOnce(t *testing.T) {
	at := newClock()
	book := &ledger{full: errors.New("the disk is full")}
	g := access.NewGuard(access.Config{Recorder: book, Limiter: &meter{refuses: []access.Class{access.ClassCall}},
		Now: at.now})
	r := access.Request{Operation: "get_card", Surface: "archive", World: here, MinRole: access.RoleUser,
		Target: "Old Mill", Correlation: "c-9"}
	_, err := g.Admit(t.Context(), anna(), r)
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Unavailable || e.RetryAfter <= 0 || strings.Contains(e.Message, "disk") ||
		len(book.records) != 0 {
		t.Errorf("without room for a record: %v", err)
	}
	book.full = nil
	a, err := g.Admit(t.Context(), anna(), r)
	if err != nil {
		t.Fatal(err)
	}
	begun := at.now()
	at.add(3 * time.Second)
	a.Done(t.Context(), 512, nil)
	want := access.Record{At: begun.UTC(), Correlation: "c-9", Subject: "anna", Key: "k1", Role: access.RoleGM,
		World: here, Surface: "archive",
		Operation: "get_card", Target: "Old Mill", Outcome: "ok", Duration: 3 * time.Second, Bytes: 512}
	if len(book.records) != 1 || book.records[0] != want {
		t.Errorf("recorded %+v, want %+v", book.records, want)
	}
	a, _ = g.Admit(t.Context(), anna(), r)
	a.Done(t.Context(), 0, fault.New(fault.Stale, "x"))
	if book.records[1].Outcome != "conflict" {
		t.Errorf("recorded %+v", book.records[1])
	}
}

// Only internal errors are logged as errors.
func TestInternalErrorsAreLogged(t *testing.T) {
	var log bytes.Buffer
	g := access.NewGuard(access.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, row := range []struct {
		err    error
		logged bool
	}{{nil, false}, {fault.New(fault.NotFound, "x"), false}, {errors.New("broken"), true},
		{fault.New(fault.Internal, "broken"), true}} {
		log.Reset()
		a, err := g.Admit(context.Background(), anna(), access.Request{Operation: "get_card", Correlation: "c-7"})
		if err != nil {
			t.Fatal(err)
		}
		a.Done(context.Background(), 0, row.err)
		if logged := strings.Contains(log.String(), "c-7"); logged != row.logged {
			t.Errorf("%v: logged %q", row.err, log.String())
		}
	}
}

// A part of a call was counted with the call; its write counts as one all the same.
func TestPartsCountAsWritesOnly(t *testing.T) {
	for name, row := range map[string]struct {
		request access.Request
		want    []access.Class
	}{
		"a read":               {access.Request{Effect: access.Read, Class: access.ClassCall}, nil},
		"a write":              {access.Request{Effect: access.Write, Class: access.ClassCall}, []access.Class{access.ClassWrite}},
		"a player's command":   {access.Request{Effect: access.Write, Class: access.ClassCommand}, []access.Class{access.ClassCommand}},
		"a read of a resource": {access.Request{Effect: access.Read, Class: access.ClassResource}, []access.Class{access.ClassResource}},
	} {
		m := &meter{}
		row.request.Part = true
		if _, err := access.NewGuard(access.Config{Limiter: m}).Admit(t.Context(), anna(), row.request); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []access.Class
		for _, one := range m.asked {
			got = append(got, one.class)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s counts as %v, want %v", name, got, row.want)
		}
	}
}

// Foresee refuses the calls that Admit would refuse, takes no token and writes no record.
func TestForeseeIsWithoutEffect(t *testing.T) {
	limits := access.NewLimits(access.LimitConfig{Profiles: map[string]access.Profile{
		access.ProfileDefault: {access.ClassCall: {PerMinute: 2}, access.ClassWrite: {PerMinute: 1}}}}, nil)
	g := access.NewGuard(access.Config{Limiter: limits})
	c := access.Caller{Subject: "ada", Key: "k", EveryRole: access.RoleUser}
	write := access.Request{Operation: "write", Effect: access.Write, Class: access.ClassCall, MinRole: access.RoleUser}
	for range 10 {
		if err := g.Foresee(c, write, access.RoleUser); err != nil {
			t.Fatal(err)
		}
	}
	secret := write
	secret.MinRole = access.RoleAdmin
	if err := g.Foresee(c, secret, access.RoleUser); fault.KindOf(err) != fault.Denied {
		t.Errorf("without the role: %v", err)
	}
	a, err := g.Admit(t.Context(), c, write)
	if err != nil {
		t.Fatal(err)
	}
	a.Done(t.Context(), 0, nil)
	if err := g.Foresee(c, write, access.RoleUser); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("after the last write: %v", err)
	}
}
