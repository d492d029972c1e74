package crashtest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
)

// TestCrashFork kills the program while it forks a world, next to a server that keeps writing.
// The unfinished fork is never visible, every chain stays valid, and the next start removes the
// leftovers.
func TestCrashFork(t *testing.T) { onEachStore(t, testCrashFork) }

func testCrashFork(t *testing.T, at string) {
	mustRun(t, at, "world", "create", "main")
	inProcess(t, at, 0, func(ctx context.Context, a *app.App) {
		for part := range 10 {
			createStones(ctx, t, a, fmt.Sprintf("Stone %d", part), 400)
		}
	})
	before := mustRun(t, at, "world", "list")
	chains := 0
	inProcess(t, at, 0, func(ctx context.Context, a *app.App) { chains = len(verifiedWorlds(ctx, t, a)) })
	killed := 0
	for n := range countFromEnv("CRASH_KILLS", 3) {
		inProcess(t, at, 0, func(ctx context.Context, a *app.App) {
			fork := command(t, at, "world", "fork", "main", "play")
			if err := fork.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- fork.Wait() }()
			apptest.Eventually(
				t,
				"the fork begins",
				maxWait,
				func() bool { return len(verifiedWorlds(ctx, t, a)) > chains+killed },
			)
			createStones(ctx, t, a, fmt.Sprintf("Meanwhile %d", n), 1)
			if err := fork.Process.Kill(); err != nil {
				t.Fatalf("the fork ended before it was killed: %v", err)
			}
			<-ended
		})
		killed++
		if now := mustRun(t, at, "world", "list"); now != before {
			t.Fatalf("after kill %d there are worlds\n%s", killed, now)
		}
		if out := mustRun(t, at, "audit", "verify"); strings.Count(out, "world:") != chains+killed {
			t.Fatalf("after kill %d:\n%s", killed, out)
		}
	}
	inProcess(t, at, time.Hour, func(ctx context.Context, a *app.App) {
		if left, err := a.Canon.SweepForks(ctx); left != 0 || err != nil {
			t.Errorf("%d unfinished forks are left: %v", left, err)
		}
		if now := verifiedWorlds(ctx, t, a); len(now) != chains {
			t.Errorf("there are chains of %v", now)
		}
	})
	mustRun(t, at, "world", "fork", "main", "play")
	if out := mustRun(t, at, "rebuild"); strings.Contains(out, "differ") {
		t.Error(out)
	}
}

// inProcess opens the store in this process, next to the program's processes, with a clock that
// runs ahead.
func inProcess(t *testing.T, at string, ahead time.Duration, f func(context.Context, *app.App)) {
	t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data, c.Database = settingsFor(at)
	a, err := app.Open(t.Context(), c, app.Options{Version: "1.0.0", Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Now().Add(ahead) }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.WithoutCancel(t.Context()))
	f(t.Context(), a)
}

func verifiedWorlds(ctx context.Context, t *testing.T, a *app.App) (worlds []string) {
	t.Helper()
	out, err := a.Verify(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "world:") {
			worlds = append(worlds, line)
		}
	}
	return worlds
}

// createStones creates n cards in the world main, in one commit.
func createStones(ctx context.Context, t *testing.T, a *app.App, name string, n int) {
	t.Helper()
	w, _, err := a.Canon.WorldBySlug(ctx, "main")
	if err != nil {
		t.Fatal(err)
	}
	err = a.WithGrant(
		ctx,
		app.Operator(),
		access.Request{Operation: "create", Effect: access.Write, Operator: true, World: w.ID},
		func(g access.Grant) error {
			_, err := a.Canon.Update(ctx, g, func(p *canon.Plan) error {
				for i := range n {
					if _, err := p.Create(canon.NewCard{Name: fmt.Sprintf("%s of %d", name, i),
						Content: strings.Repeat("grey and old ", 80)}); err != nil {
						return err
					}
				}
				return nil
			})
			return err
		},
	)
	if err != nil {
		t.Fatal(err)
	}
}
