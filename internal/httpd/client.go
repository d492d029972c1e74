package httpd

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

type clientKey struct{}

// withClient adds the client's address to the request's context.
func (x *exchange) withClient() {
	x.r = x.r.WithContext(context.WithValue(x.r.Context(), clientKey{}, x.client))
}

// ClientOf returns the address that a request came from, looking through trusted proxies; the zero
// Addr if the request did not pass the outer layers.
func ClientOf(r *http.Request) netip.Addr {
	a, _ := r.Context().Value(clientKey{}).(netip.Addr)
	return a
}

// ChargeWrong counts a wrong credential against the address that it came from. It returns err, or,
// if the address has sent too many, an error that tells the client to wait. It is called after the
// credential was checked, which costs one look-up by a hash: a valid credential is never refused
// for other attempts from its address.
func ChargeWrong(l access.Limiter, client netip.Addr, err error) error {
	if l == nil || !client.IsValid() || !errors.Is(err, identity.ErrInvalid) {
		return err
	}
	return cmp.Or(access.CountAttempt(l, access.AddressAccount(client)), err)
}

// takeSlot counts a running request for its address. Requests of a trusted proxy that does not name
// its client are not counted.
func (s *server) takeSlot(x *exchange) (leave func(), err error) {
	if !x.client.IsValid() || isInRanges(x.client, s.Proxies) {
		return func() {}, nil
	}
	leave, ok := s.underWay.Take(access.AddressAccount(x.client))
	if ok {
		return leave, nil
	}
	e := fault.New(fault.RateLimited,
		"too many requests and streams are open from this address; close some, or try again shortly")
	e.RetryAfter = time.Second
	return nil, e.With("limit", "connections_per_address")
}
