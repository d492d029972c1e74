package app

import (
	"cmp"
	"context"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/console"
	"loregate/internal/httpd"
	"loregate/internal/identity"
	"loregate/internal/member"
	"loregate/internal/wait"
)

// instanceSecret names the bytes that tell the cookies of this store's servers from those of others.
const instanceSecret = "console cookies"

// clientSecret names the key that authenticates the ids of clients, for all processes on the store.
const clientSecret = "ids of clients"

// consolePages returns the handler of the pages for people.
func (a *App) consolePages(ctx context.Context) (http.Handler, error) {
	instance, err := a.sharedSecret(ctx, instanceSecret, 4)
	if err != nil {
		return nil, err
	}
	limits := meteredLimits{a.limits, a.metrics}
	return console.New(console.Config{
		Engine: a.Ops, Sessions: recordedSessions{a.Identity, a}, Instance: hex.EncodeToString(instance), Logger: a.logger,
		Follow: httpd.FollowFeed, Surfaces: a.programSurfaces(), Bodies: a.bodies,
		PublicURL: strings.TrimRight(a.Config.PublicURL, "/"),
		TitleOf: func(ctx context.Context, w access.WorldID) (string, error) {
			world, err := a.Canon.World(ctx, w)
			return cmp.Or(world.Title, world.Slug), err
		},
		Wrong: func(r *http.Request, err error) error { return httpd.ChargeWrong(limits, httpd.ClientOf(r), err) },
	})
}

// recordedSessions are the sessions of the pages. Admissions of people are recorded in the audits of the worlds
// that it concerns.
type recordedSessions struct {
	*identity.Service
	app *App
}

func (s recordedSessions) CreateCode(ctx context.Context, c identity.Consent) (string, error) {
	code, err := s.Service.CreateCode(ctx, c)
	if err != nil {
		return "", err
	}
	client, err := s.Service.FindClient(ctx, c.Person, c.Client)
	if err != nil {
		return "", err
	}
	return code, s.record(ctx, c.Person, "let_client_in", slices.Collect(maps.Keys(c.Rights.Worlds)), client.Name,
		c.Rights.MaxRole.String()+", "+c.Rights.May())
}

// EndOwn ends a credential. The end of a grant is recorded, that of a session is not.
func (s recordedSessions) EndOwn(ctx context.Context, session, id string) error {
	k, err := s.Service.EndOwn(ctx, session, id)
	if err != nil || k.Audience != identity.AudienceGrant {
		return err
	}
	return s.record(ctx, cmp.Or(k.Behalf, k.Subject), "end_grant", slices.Collect(maps.Keys(k.Worlds)), string(k.Subject),
		k.Name)
}

func (s recordedSessions) Accept(ctx context.Context, code string, subject access.Subject) (identity.Membership, error) {
	m, err := s.Service.Accept(ctx, code, subject)
	if err != nil {
		return m, err
	}
	return m, s.recordAcceptance(ctx, m)
}

func (s recordedSessions) Join(ctx context.Context, code, name string) (identity.Membership, string, error) {
	m, token, err := s.Service.Join(ctx, code, name)
	if err != nil {
		return m, token, err
	}
	return m, token, s.recordAcceptance(ctx, m)
}

func (s recordedSessions) recordAcceptance(ctx context.Context, m identity.Membership) error {
	return s.record(ctx, m.Subject, "accept_invitation", []access.WorldID{m.World}, string(m.Subject), m.Role.String())
}

// OpenIssuerSession records in each world that a person signed in by an outside issuer.
func (s recordedSessions) OpenIssuerSession(ctx context.Context, begun string,
	a identity.IssuerAnswer) (identity.IssuerSignIn, identity.Key, string, error) {
	r, k, token, err := s.Service.OpenIssuerSession(ctx, begun, a)
	if err != nil {
		return r, k, token, err
	}
	c, err := s.Service.Authenticate(ctx, token, identity.AudienceConsole)
	if err != nil {
		return r, k, "", err
	}
	return r, k, token, s.record(ctx, k.Subject, "sign_in", slices.Collect(maps.Keys(c.Roles)), string(k.Subject), k.Name)
}

// record adds what a person did to the audits of worlds.
func (s recordedSessions) record(ctx context.Context, by access.Subject, operation string, worlds []access.WorldID, about,
	detail string) error {
	for _, w := range worlds {
		err := s.app.WithGrant(ctx, access.Caller{Subject: by, Actor: access.Person, EveryRole: access.RoleUser,
			Unlimited: true}, access.Request{Operation: operation, Surface: member.Surface, Effect: access.Write,
			MinRole: access.RoleUser, World: w}, func(g access.Grant) error {
			return member.Record(ctx, s.app.Canon, g, about, detail)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pruneEvery is the interval at which ended secrets are deleted.
const pruneEvery = time.Hour

// pruneSecrets deletes ended codes, refresh tokens and sessions until stop is called, which waits.
func (a *App) pruneSecrets(ctx context.Context) (stop func()) {
	return runBehind(ctx, func(ctx context.Context) {
		for {
			if _, err := a.Identity.Prune(ctx); err != nil && ctx.Err() == nil {
				a.logger.Error("ended sessions and tokens could not be deleted; it is tried again", "error", err)
			}
			if !wait.For(ctx, pruneEvery) {
				return
			}
		}
	})
}

// SignInLink creates a link that signs one person in on the pages, once, within ten minutes. base is
// the server's address. The code stands in the fragment, which browsers do not send.
func (a *App) SignInLink(ctx context.Context, base string, spec identity.KeySpec, worlds []string) (string, error) {
	if err := a.resolveWorlds(ctx, &spec, worlds); err != nil {
		return "", err
	}
	var code string
	err := a.runAsOperator(ctx, access.WorldID{}, "sign_in_link", access.Write, func(g access.Grant) (err error) {
		spec.CreatedBy = g.Caller().Subject
		code, err = a.Identity.CreateSignIn(ctx, spec)
		return err
	})
	if err != nil {
		return "", err
	}
	return base + "/sign-in#" + code, nil
}
