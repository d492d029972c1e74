//go:build conformance

package app

import (
	"context"
	"net/http"

	"loregate/internal/access"
	"loregate/internal/httpd"
	"loregate/internal/mcpd"
	"loregate/internal/mcpd/conformance"
)

// addFixtures serves the fixtures of the conformance suite beside the operations.
func addFixtures(c mcpd.Config) mcpd.Config {
	c.Fixtures, c.Auth = conformance.Fixtures(), openDoor{c.Auth}
	return c
}

// openDoor treats a request without credentials as one of a user, because the suite sends no
// credentials. Requests with credentials are checked as in the product.
type openDoor struct{ mcpd.Authenticator }

func (d openDoor) Authenticate(ctx context.Context, r *http.Request) (access.Caller, error) {
	if httpd.Bearer(r) != "" {
		return d.Authenticator.Authenticate(ctx, r)
	}
	return access.Caller{Subject: "conformance", EveryRole: access.RoleUser, Unlimited: true}, nil
}
