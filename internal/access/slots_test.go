package access_test

import (
	"net/netip"
	"sync"
	"testing"

	"loregate/internal/access"
)

func TestSlotsAreSharedByAccount(t *testing.T) {
	s := access.NewSlots(2)
	at := func(a string) string { return access.AddressAccount(netip.MustParseAddr(a)) }
	first, ok := s.Take(at("2001:db8::1"))
	if _, second := s.Take(at("2001:db8::ffff:1")); !ok || !second {
		t.Fatal("two of one network are refused")
	}
	if _, ok := s.Take(at("2001:db8::2")); ok {
		t.Error("a third of the same /64 is let in")
	}
	for _, other := range []string{"2001:db8:0:1::1", "192.0.2.1", "::ffff:192.0.2.1"} {
		if _, ok := s.Take(at(other)); !ok {
			t.Errorf("%s is refused for what another holds", other)
		}
	}
	if _, ok := s.Take(at("192.0.2.1")); ok {
		t.Error("an IPv4 address and the same one mapped to IPv6 count apart")
	}
	first()
	first()
	if _, ok := s.Take(at("2001:db8::2")); !ok {
		t.Error("what was given back is not there")
	}
	if _, ok := s.Take(at("2001:db8::2")); ok {
		t.Error("what was given back twice counts twice")
	}
}

func TestSlotsUnderRace(t *testing.T) {
	s := access.NewSlots(4)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 500 {
				if release, ok := s.Take("a"); ok {
					release()
				}
			}
		})
	}
	all.Wait()
	for range 4 {
		if _, ok := s.Take("a"); !ok {
			t.Fatal("some were lost")
		}
	}
	if _, ok := s.Take("a"); ok {
		t.Error("there are more than four")
	}
}
