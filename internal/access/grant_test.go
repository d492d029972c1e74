package access_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
)

func granted(t *testing.T, c access.Caller, r access.Request) access.Grant {
	t.Helper()
	a, err := access.NewGuard(access.Config{}).Admit(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	return a.Grant
}

// No Guard made the zero Grant, and nothing widens it.
func TestTheZeroGrantOpensNothing(t *testing.T) {
	var zero access.Grant
	for name, g := range map[string]access.Grant{
		"itself": zero, "as an admin": zero.As(access.LevelAdmin), "as a player": zero.AsPlayer("anna"),
		"a part":  zero.Part("1", [32]byte{1}),
		"unkeyed": zero.Unkeyed(), "rehearsed": zero.DryRun(),
	} {
		if g.Valid() || g.Role() != access.RoleNone || g.View() != (access.View{}) || g.World() != (access.WorldID{}) ||
			g.Writes() || g.Caller().Subject != "" || g.Request() != (access.Request{}) {
			t.Errorf("%s: it opens something", name)
		}
	}
}

// A grant can take the view of a level up to its own, without data that is open to its caller by name, but never a
// higher one; the accountable caller stays the same.
func TestAGrantIsLoweredAndNeverWidened(t *testing.T) {
	levels := []access.Level{access.LevelNone, access.LevelUser, access.LevelGM, access.LevelAdmin, access.LevelAll}
	for _, role := range []access.Role{access.RoleNone, access.RoleUser, access.RoleGM, access.RoleAdmin} {
		own := granted(t, access.Caller{Subject: "anna", EveryRole: role}, access.Request{World: here})
		for _, level := range levels {
			g := own.As(level)
			want := access.View{Level: level}
			if level > role.Level() {
				want = own.View()
			}
			if g.View() != want || g.Role() != min(role, access.Role(level)) || g.Caller().Subject != "anna" ||
				g.World() != here {
				t.Errorf("%s as %s: the role %s with %+v", role, level, g.Role(), g.View())
			}
		}
		p := own.AsPlayer("bert")
		want := access.View{Level: access.LevelUser, Subject: "bert", Ceiling: role.Level()}
		if role == access.RoleNone {
			want = own.View()
		}
		if p.View() != want || p.Role() != min(role, access.RoleUser) || p.Caller().Subject != "anna" {
			t.Errorf("%s as a player: the role %s with %+v", role, p.Role(), p.View())
		}
		if own.View() != (access.View{Level: role.Level(), Subject: "anna"}) || own.Role() != role {
			t.Errorf("%s: the grant itself was changed: %+v", role, own.View())
		}
	}
}

// The view of a player includes data that names the player, up to the caller's own level.
func TestAsPlayer(t *testing.T) {
	gm := granted(t, access.Caller{Subject: "anna", EveryRole: access.RoleGM}, access.Request{World: here})
	for label, want := range map[string]bool{"user": true, "gm": false, "gm:bert": true, "gm:anna": false, "admin": false,
		"admin:bert": false, "admin:anna,bert": false} {
		var l access.Label
		if err := l.UnmarshalText([]byte(label)); err != nil {
			t.Fatal(err)
		}
		if got := gm.AsPlayer("bert").View().Sees(l); got != want {
			t.Errorf("%s is seen: %t", label, got)
		}
	}
}

func TestWhichGrantsWrite(t *testing.T) {
	for effect, want := range map[access.Effect]bool{access.Read: false, access.Propose: false, access.Write: true,
		access.Destroy: true, "": false} {
		if got := granted(t, anna(), access.Request{Effect: effect}).Writes(); got != want {
			t.Errorf("%q writes: %t", effect, got)
		}
	}
}

// The parts of a call have different keys; if the call has no key, its parts have none.
func TestPartsOfACall(t *testing.T) {
	own := granted(t, anna(), access.Request{IdempotencyKey: "key", InputHash: [32]byte{1}})
	bare := granted(t, anna(), access.Request{InputHash: [32]byte{1}})
	for name, row := range map[string]struct {
		g    access.Grant
		key  string
		hash byte
		dry  bool
	}{
		"the call":             {own, "key", 1, false},
		"a part":               {own.Part("2", [32]byte{7}), "key#2", 7, false},
		"a part without a key": {bare.Part("2", [32]byte{7}), "", 7, false},
		"without its key":      {own.Unkeyed(), "", 1, false},
		"a rehearsal":          {own.DryRun(), "key", 1, true},
		"the call, afterwards": {own, "key", 1, false},
	} {
		r := row.g.Request()
		if r.IdempotencyKey != row.key || r.InputHash != [32]byte{row.hash} || r.DryRun != row.dry ||
			row.g.Caller().Subject != "anna" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A view sees labels at or below its level, and labels that name its subject up to its ceiling. The
// test states this independently of the implementation.
func TestViewSees(t *testing.T) {
	levels := []access.Level{access.LevelUser, access.LevelGM, access.LevelAdmin}
	for _, own := range append([]access.Level{access.LevelNone}, append(levels, access.LevelAll)...) {
		for _, who := range []access.Subject{"", "anna", "bert"} {
			for _, ceiling := range append([]access.Level{access.LevelNone}, levels...) {
				for _, level := range levels {
					for _, named := range [][]access.Subject{nil, {"anna"}, {"anna", "carl"}, {""}} {
						v, l := access.View{Level: own, Subject: who, Ceiling: ceiling}, access.NewLabel(level, named...)
						reaches := own != access.LevelNone && own >= level
						byName := level > access.LevelUser && who == "anna" && slices.Contains(named, "anna") &&
							(ceiling == access.LevelNone || ceiling >= level)
						if got := v.Sees(l); got != (reaches || byName) {
							t.Errorf("%+v sees %s: %t", v, l, got)
						}
					}
				}
			}
		}
	}
	if (access.View{}).Sees(access.Label{}) || (access.View{Subject: "anna"}).Sees(access.Label{}) {
		t.Error("the zero view sees the zero label")
	}
}

func TestLabels(t *testing.T) {
	for text, want := range map[string]access.Label{
		"user":             {Level: access.LevelUser},
		"user:anna":        {Level: access.LevelUser}, // everyone is meant, so names have no effect
		"gm":               {Level: access.LevelGM},
		"gm:bert,anna":     {Level: access.LevelGM, Subjects: []access.Subject{"anna", "bert"}},
		"admin:anna,anna":  {Level: access.LevelAdmin, Subjects: []access.Subject{"anna"}},
		"gm:kc:f:1|anna,b": {Level: access.LevelGM, Subjects: []access.Subject{"b", "kc:f:1|anna"}},
	} {
		var got access.Label
		if err := got.UnmarshalText([]byte(text)); err != nil || !got.Equal(want) {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
		var again access.Label
		if err := again.UnmarshalText([]byte(got.String())); err != nil || !again.Equal(want) {
			t.Errorf("%s is written %s", text, got)
		}
	}
	for _, text := range []string{"", "none", "all", "GM", "root", ":anna", " gm"} {
		var l access.Label
		if err := l.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %+v", text, l)
		}
	}
	given := []access.Subject{"b", "a"}
	if l := access.NewLabel(access.LevelGM, given...); l.String() != "gm:a,b" || given[0] != "b" {
		t.Errorf("%s, and what was given is %v", l, given)
	}
	if access.NewLabel(access.LevelGM).Equal(access.NewLabel(access.LevelAdmin)) ||
		access.NewLabel(access.LevelGM, "a").Equal(access.NewLabel(access.LevelGM, "b")) {
		t.Error("labels that differ are equal")
	}
}

// The meet of two labels is visible only to views that see both.
func TestLabelMeet(t *testing.T) {
	var labels []access.Label
	for _, level := range []access.Level{access.LevelUser, access.LevelGM, access.LevelAdmin} {
		for _, named := range [][]access.Subject{nil, {"anna"}, {"bert"}, {"anna", "bert"}} {
			labels = append(labels, access.NewLabel(level, named...))
		}
	}
	for _, a := range labels {
		for _, b := range labels {
			m := a.Meet(b)
			if back := b.Meet(a); !m.Equal(back) {
				t.Errorf("%s with %s is %s one way and %s the other", a, b, m, back)
			}
			if m.Level != max(a.Level, b.Level) {
				t.Errorf("%s with %s is %s", a, b, m)
			}
			for _, own := range []access.Level{access.LevelUser, access.LevelGM, access.LevelAdmin} {
				v := access.View{Level: own}
				if v.Sees(m) != (v.Sees(a) && v.Sees(b)) {
					t.Errorf("%s with %s is %s: %s sees it: %t", a, b, m, own, v.Sees(m))
				}
			}
			for _, who := range []access.Subject{"anna", "bert"} {
				v := access.View{Level: access.LevelUser, Subject: who}
				if both := v.Sees(a) && v.Sees(b); v.Sees(m) != both {
					t.Errorf("%s with %s is %s: %s sees it: %t, both: %t", a, b, m, who, v.Sees(m), both)
				}
			}
		}
	}
}

func TestRolesAndLevelsAsText(t *testing.T) {
	for text, want := range map[string]access.Role{"user": access.RoleUser, "gm": access.RoleGM,
		"admin": access.RoleAdmin} {
		if r, ok := access.ParseRole(text); !ok || r != want || r.String() != text {
			t.Errorf("%s is %v, %t", text, r, ok)
		}
	}
	for _, text := range []string{"", "none", "all", "GM", "gm "} {
		if r, ok := access.ParseRole(text); ok || r != access.RoleNone {
			t.Errorf("%q is %v", text, r)
		}
	}
	var w access.WorldID
	if b, err := json.Marshal(here); err != nil || json.Unmarshal(b, &w) != nil || w != here || w.IsZero() ||
		!(access.WorldID{}).IsZero() {
		t.Errorf("%s, %v, %v", b, err, w)
	}
}

func TestCheckSubject(t *testing.T) {
	for s, good := range map[string]bool{
		"a": true, strings.Repeat("a", 100): true, "kc:f:1|anna": true, "!": true, "~": true, "ö": true, "\u2fff": true,
		"": false, strings.Repeat("a", 101): false, "a b": false, "a,b": false, "a\n": false, "\x7f": false, "\u3000": false,
		"a\x00": false,
	} {
		if err := access.CheckSubject(access.Subject(s)); (err == nil) != good {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// Each field of a caller is a right, except the expiry of the token: two callers have the same
// rights only if all other fields are equal.
func TestSameRights(t *testing.T) {
	if !anna().SameRights(anna()) {
		t.Error("a caller differs from itself")
	}
	kind := reflect.TypeFor[access.Caller]()
	for i := range kind.NumField() {
		changed := anna()
		f := reflect.ValueOf(&changed).Elem().Field(i)
		switch f.Interface().(type) {
		case map[access.WorldID]access.Role:
			f.Set(reflect.ValueOf(map[access.WorldID]access.Role{here: access.RoleUser}))
		case map[access.WorldID]access.May:
			f.Set(reflect.ValueOf(map[access.WorldID]access.May{here: access.MayRead}))
		case uuid.UUID:
			f.Set(reflect.ValueOf(uuid.UUID{9}))
		case access.WorldID:
			f.Set(reflect.ValueOf(access.WorldID{9}))
		case []string:
			f.Set(reflect.ValueOf([]string{"x"}))
		default:
			switch f.Kind() {
			case reflect.String:
				f.SetString(f.String() + "x")
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Uint8:
				f.SetUint(3)
			default:
				f.Set(reflect.ValueOf(newClock().now()))
			}
		}
		name := kind.Field(i).Name
		if same := anna().SameRights(changed); same != (name == "TokenExpires") {
			t.Errorf("another %s, and the rights are the same: %t", name, same)
		}
		if fmt.Sprint(changed) == fmt.Sprint(anna()) {
			t.Errorf("%s was not changed", name)
		}
	}
}

// A lowered caller has the view that every caller of the role has: nothing is open to it by name, also at its own role.
func TestALoweredCallerSeesNothingByName(t *testing.T) {
	for _, most := range []access.Role{access.RoleUser, access.RoleGM, access.RoleAdmin} {
		anna := access.Caller{Subject: "anna", Roles: map[access.WorldID]access.Role{here: access.RoleGM}, Approve: true}
		g := granted(t, anna.Lower(most), access.Request{World: here})
		want := min(most, access.RoleGM)
		if g.View() != (access.View{Level: want.Level()}) || g.Caller().Subject != "anna" || g.Caller().Approve {
			t.Errorf("lowered to %s: %+v", most, g.View())
		}
		if anna.SameRights(anna.Lower(access.RoleAdmin)) {
			t.Error("a lowered caller has the same rights")
		}
	}
}

// The view for readers shows only data that all of them see, and nothing that its caller does not see.
func TestAViewForReadersShowsWhatAllOfThemSee(t *testing.T) {
	var labels []access.Label
	for _, level := range []access.Level{access.LevelUser, access.LevelGM, access.LevelAdmin} {
		for _, subjects := range [][]access.Subject{nil, {"anna"}, {"bert"}, {"anna", "bert"}, {"anna", "carl"}} {
			labels = append(labels, access.NewLabel(level, subjects...))
		}
	}
	shown := 0
	for _, who := range []access.Subject{"anna", "keeper"} {
		for _, role := range []access.Role{access.RoleUser, access.RoleGM, access.RoleAdmin} {
			own := granted(t, access.Caller{Subject: who, EveryRole: role}, access.Request{World: here})
			for _, target := range labels {
				if !own.View().Sees(target) {
					continue
				}
				g := own.ForReaders(target)
				if !g.Valid() || g.Role() > role || g.Caller().Subject != who {
					t.Fatalf("%s as %s for %s: %+v", who, role, target, g)
				}
				for _, data := range labels {
					if !g.View().Sees(data) {
						continue
					}
					if shown++; !data.Covers(target) || !own.View().Sees(data) {
						t.Errorf("%s as %s writes for %s and takes from %s", who, role, target, data)
					}
				}
				if !g.View().Sees(access.NewLabel(access.LevelUser)) {
					t.Errorf("%s as %s writes for %s without what everybody sees", who, role, target)
				}
			}
		}
	}
	if gm := granted(t, access.Caller{Subject: "gm", EveryRole: access.RoleGM}, access.Request{World: here}); shown == 0 ||
		!gm.ForReaders(access.NewLabel(access.LevelGM, "anna")).View().Sees(access.NewLabel(access.LevelGM, "anna", "bert")) {
		t.Error("what the one reader sees by name is not shown")
	}
	if (access.Grant{}).ForReaders(access.NewLabel(access.LevelGM, "anna")).Valid() {
		t.Error("the zero grant opens something")
	}
}
