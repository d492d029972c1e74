package app

import (
	"context"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/world"
)

// systemCaller returns the caller that delivers events to handlers.
func systemCaller() access.Caller {
	return access.Caller{Subject: "system", Actor: access.Person, EveryRole: access.RoleAdmin, Unlimited: true}
}

// openEvents creates the dispatcher that delivers events to their handlers. Serve runs it.
func (a *App) openEvents() (err error) {
	// Looking for events ten times a second is not recorded.
	quiet := access.NewGuard(access.Config{Now: a.now, Logger: a.logger})
	a.Events, err = event.New(event.Config{
		Canon: a.Canon, Deliveries: a.store, Now: a.now, Logger: a.logger, Known: world.IsEventType,
		Change:   world.PlaceChange(),
		Handlers: append([]event.Handler{world.ExitHandler(a.Canon)}, a.agentHandlers()...),
		Act: func(ctx context.Context, w access.WorldID, operation, key string, f func(access.Grant) error) error {
			guard, effect := a.Guard, access.Write
			if operation == event.ReadOperation {
				guard, effect = quiet, access.Read
			}
			return runAdmitted(ctx, guard, systemCaller(), access.Request{Operation: operation, Effect: effect,
				MinRole: access.RoleAdmin, World: w,
				Correlation: uuid.Must(uuid.NewV7()).String(), IdempotencyKey: key}, f)
		},
	})
	return err
}

// runEvents delivers events until stop is called, which waits.
func (a *App) runEvents(ctx context.Context) (stop func()) {
	return runBehind(ctx, a.Events.Run)
}

// DeadLetters lists a world's dead-lettered events: those that their handlers failed to process.
func (a *App) DeadLetters(ctx context.Context, name string) ([]event.DeadLetter, error) {
	w, err := a.resolveWorld(ctx, name)
	if err != nil {
		return nil, err
	}
	return a.Events.DeadLetters(ctx, w)
}

// ReplayEvents makes the dead letters of a world due again, or only those of one event, and
// delivers all due events.
func (a *App) ReplayEvents(ctx context.Context, name, event string) (n int, err error) {
	w, err := a.resolveWorld(ctx, name)
	if err != nil {
		return 0, err
	}
	if n, err = a.Events.Replay(ctx, w, event); err != nil || n == 0 {
		return n, err
	}
	_, err = a.Events.Round(ctx)
	return n, err
}

// ResetWorld resets a playthrough to the state that it was forked from.
func (a *App) ResetWorld(ctx context.Context, name string) (r canon.Receipt, err error) {
	w, err := a.resolveWorld(ctx, name)
	if err != nil {
		return r, err
	}
	err = a.runAsOperator(ctx, w, "reset_world", access.Write, func(g access.Grant) error {
		if r, err = a.Canon.Reset(ctx, g, w); err != nil {
			return err
		}
		return a.places.ResetClock(ctx, g)
	})
	return r, err
}
