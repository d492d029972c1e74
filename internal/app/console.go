package app

import (
	"cmp"
	"context"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/console"
	"loregate/internal/httpd"
	"loregate/internal/identity"
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
		Engine: a.Ops, Sessions: a.Identity, Instance: hex.EncodeToString(instance), Logger: a.logger,
		Follow: httpd.FollowFeed, Surfaces: a.programSurfaces(), PublicURL: strings.TrimRight(a.Config.PublicURL, "/"),
		TitleOf: func(ctx context.Context, w access.WorldID) (string, error) {
			world, err := a.Canon.World(ctx, w)
			return cmp.Or(world.Title, world.Slug), err
		},
		Wrong: func(r *http.Request, err error) error { return httpd.ChargeWrong(limits, httpd.ClientOf(r), err) },
	}), nil
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
