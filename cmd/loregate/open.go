package main

import (
	"context"
	"fmt"
	"io"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/identity"
)

type openCmd struct {
	common
	Role    string   `help:"Role of the session: user, gm or admin. An admin is also the operator, unless --world is given." enum:"user,gm,admin" default:"admin"`
	World   []string `env:"LOREGATE_WORLD" help:"Worlds that the session opens, by slug or UUID. Default: all worlds for an admin, else the only world." placeholder:"WORLD"`
	Subject string   `help:"Subject that the session acts for." placeholder:"SUBJECT" default:"owner"`
	URL     string   `help:"Address of the server. Default: the configured address." placeholder:"URL"`
}

// printSignIn prints the link with which the person who started the sample opens its pages.
func printSignIn(ctx context.Context, out io.Writer, a *app.App, url string) {
	link, err := a.SignInLink(ctx, identity.PagesURL(url), ownerSpec(access.RoleAdmin), nil)
	if err != nil {
		return // the keys sign in as well
	}
	fmt.Fprintf(out, "Open the pages in a browser (the link works once, for ten minutes; `loregate open` prints another):\n\n  %s\n\n", link)
}

// ownerSpec returns the rights of the person who keeps the server.
func ownerSpec(role access.Role) identity.KeySpec {
	return identity.KeySpec{Name: "sign-in link", Subject: "owner", Actor: access.Person, MaxRole: role,
		Approve: role >= access.RoleGM, Operator: role == access.RoleAdmin}
}

func (o openCmd) Run(ctx context.Context, out io.Writer) error {
	role, _ := access.ParseRole(o.Role) // the tag enum allows only roles
	return o.withApp(ctx, func(a *app.App) error {
		if o.URL == "" {
			o.URL = a.Config.URL(a.Config.Addr)
		}
		spec := ownerSpec(role)
		spec.Subject = access.Subject(o.Subject)
		spec.Operator = spec.Operator && len(o.World) == 0
		link, err := a.SignInLink(ctx, identity.PagesURL(o.URL), spec, o.World)
		return printResult(out, err, "%s\n", link)
	})
}
