package event_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/store/sqlite"
)

func ExampleDispatcher() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "event")
	panicOnError(err)
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "canon.db")})
	panicOnError(err)
	defer store.Close()
	wiki := canon.New(canon.Config{Store: store})
	guard := access.NewGuard(access.Config{})
	act := func(ctx context.Context, w access.WorldID, operation, key string, do func(access.Grant) error) error {
		admission, err := guard.Admit(ctx, access.Caller{Subject: "system", EveryRole: access.RoleAdmin, Operator: true},
			access.Request{Operation: operation, Effect: access.Write, World: w, IdempotencyKey: key})
		if err != nil {
			return err
		}
		return do(admission.Grant)
	}
	events, err := event.New(event.Config{Canon: wiki, Deliveries: store, Act: act,
		Handlers: []event.Handler{{Name: "bell", Types: []event.Type{"Bell.Rung"},
			Handle: func(_ context.Context, _ access.Grant, e canon.StoredEvent) error {
				fmt.Println("heard", e.Type)
				return nil
			}}}})
	panicOnError(err)
	var harbour canon.World
	panicOnError(act(ctx, access.WorldID{}, "create_world", "", func(g access.Grant) (err error) {
		harbour, err = wiki.CreateWorld(ctx, g, canon.NewWorld{Slug: "harbour", Title: "Harbour"})
		return err
	}))
	panicOnError(act(ctx, harbour.ID, "ring", "", func(g access.Grant) error {
		_, err := wiki.Update(ctx, g, func(p *canon.Plan) error { return p.Event(canon.Event{Type: "Bell.Rung"}) })
		return err
	}))
	for range 2 { // the second round has nothing to deliver
		_, err = events.Round(ctx)
		panicOnError(err)
	}
	// Output: heard Bell.Rung
}

func panicOnError(err error) {
	if err != nil {
		panic(err)
	}
}
