package vault

import (
	"testing"

	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
)

// scene is a world to import into.
type scene struct{ *exchangetest.Scene }

func newScene(t testing.TB) *scene { return &scene{exchangetest.NewOn(t, memory.New())} }

// newStoredScene returns a scene on the store that a single binary uses by default.
func newStoredScene(t testing.TB) *scene {
	t.Helper()
	return &scene{exchangetest.NewOn(t, sqlitetest.Open(t))}
}
