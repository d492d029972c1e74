package access_test

import (
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// TestMay lists the calls that members may make, by the right of their membership.
func TestMay(t *testing.T) {
	member := func(r access.Role, m access.May) access.Caller {
		return access.Caller{Subject: "ada", Actor: access.Person, Approve: true,
			Roles: map[access.WorldID]access.Role{here: r}, May: map[access.WorldID]access.May{here: m}}
	}
	advisory := member(access.RoleUser, access.MayWrite)
	advisory.Advisory = true
	for name, row := range map[string]struct {
		who                                   access.Caller
		reads, proposes, diverted, ownOnly    bool
		decides, playDiverted, listedAsReader bool
	}{
		"reads":          {who: member(access.RoleUser, access.MayRead), reads: true, listedAsReader: true},
		"suggests":       {who: member(access.RoleUser, access.MayPropose), reads: true, proposes: true, diverted: true},
		"writes her own": {who: member(access.RoleUser, access.MayOwn), reads: true, proposes: true, ownOnly: true},
		"writes":         {who: member(access.RoleUser, access.MayWrite), reads: true, proposes: true, decides: true},
		"a game master":  {who: member(access.RoleGM, access.MayRead), reads: true, proposes: true, decides: true},
		"a key that proposes": {who: advisory, reads: true, proposes: true, diverted: true, playDiverted: true,
			decides: true},
	} {
		t.Run(name, func(t *testing.T) {
			guard := access.NewGuard(access.Config{})
			admits := func(e access.Effect) (access.Grant, bool) {
				a, err := guard.Admit(t.Context(), row.who, access.Request{World: here, MinRole: access.RoleUser, Effect: e})
				if err != nil && !errors.Is(err, fault.Denied) {
					t.Fatal(err)
				}
				if err != nil {
					return access.Grant{}, false
				}
				return a.Grant, true
			}
			read, ok := admits(access.Read)
			if ok != row.reads || read.MayDecide() != row.decides {
				t.Errorf("reads %t, decides %t", ok, read.MayDecide())
			}
			if _, ok := admits(access.Propose); ok != row.proposes {
				t.Errorf("proposes %t", ok)
			}
			if write, ok := admits(access.Write); ok != row.proposes || write.WritesOwnOnly() != row.ownOnly {
				t.Errorf("writes %t, own only %t", ok, write.WritesOwnOnly())
			}
			if got := row.who.IsDiverted(here, false); got != row.diverted {
				t.Errorf("a write becomes a proposal: %t", got)
			}
			if got := row.who.IsDiverted(here, true); got != row.playDiverted {
				t.Errorf("an act of play becomes a proposal: %t", got)
			}
			if got := row.who.ReadsOnly(); got != row.listedAsReader {
				t.Errorf("is shown operations that only read: %t", got)
			}
			agreed := row.who.Approved()
			if m := agreed.MayIn(here); agreed.IsDiverted(here, false) || m != row.who.MayIn(here) && m != access.MayWrite {
				t.Errorf("a change that was agreed to: %v", agreed.MayIn(here))
			}
		})
	}
	c, other := member(access.RoleUser, access.MayRead), member(access.RoleUser, access.MayPropose)
	if c.MayIn(elsewhere) != access.MayWrite || c.SameRights(other) {
		t.Error("a right of one world counts in another, or a stream goes on with other rights")
	}
}

func TestMayText(t *testing.T) {
	for _, m := range []access.May{access.MayWrite, access.MayOwn, access.MayPropose, access.MayRead} {
		var back access.May
		if b, err := m.MarshalText(); err != nil || back.UnmarshalText(b) != nil || back != m {
			t.Errorf("%s, %v, %v", b, err, back)
		}
	}
	var m access.May
	if err := m.UnmarshalText([]byte("rule")); err == nil || m != access.MayRead {
		t.Errorf("an unknown word: %v, %v", m, err)
	}
	if access.InvitedMay(access.RoleUser) != access.MayPropose || access.InvitedMay(access.RoleGM) != access.MayWrite {
		t.Error("the rights of invited people")
	}
}
