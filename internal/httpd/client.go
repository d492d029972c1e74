package httpd

import (
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

// withClient lets inner handlers learn who called.
func (x *exchange) withClient() {
	x.r = x.r.WithContext(context.WithValue(x.r.Context(), clientKey{}, x.client))
}

// ClientOf is the address that a request came from, believed proxies aside; the zero Addr
// where the request did not pass the outer layers.
func ClientOf(r *http.Request) netip.Addr {
	a, _ := r.Context().Value(clientKey{}).(netip.Addr)
	return a
}

// ChargeWrong counts a credential that was found wrong against the address that it came
// from, and gives the error to answer with: the one there was, or, where the address sent
// too many, that it is to wait. It is called after the credential was looked at, which costs
// one look-up by a hash: a good one is never refused for what its neighbours sent.
func ChargeWrong(l access.Limiter, client netip.Addr, err error) error {
	if l == nil || !client.IsValid() || !errors.Is(err, identity.ErrInvalid) {
		return err
	}
	return mayTry(l, access.AddressAccount(client), err)
}

// mayTry counts an attempt of an account, and gives otherwise where it had one left.
func mayTry(l access.Limiter, account string, otherwise error) error {
	if l == nil {
		return otherwise
	}
	wait, ok := l.Take(account, "", access.ClassAuth)
	if ok {
		return otherwise
	}
	e := fault.New(fault.RateLimited, "too many attempts; wait %d s and try again", fault.RetrySeconds(wait))
	e.RetryAfter = wait
	return e.With("limit", string(access.ClassAuth))
}

// enter counts a request under way for its address. Requests of a believed proxy that does
// not say whom it speaks for are nobody's.
func (s *server) enter(x *exchange) (leave func(), err error) {
	if !x.client.IsValid() || within(x.client, s.Proxies) {
		return func() {}, nil
	}
	leave, ok := s.underWay.Take(access.AddressAccount(x.client))
	if ok {
		return leave, nil
	}
	e := fault.New(fault.RateLimited, "too many requests and streams are open from this address; close some, or try again shortly")
	e.RetryAfter = time.Second
	return nil, e.With("limit", "connections_per_address")
}
