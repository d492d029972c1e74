package exchange

import (
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
	"testing"
)

func newScene(t testing.TB) *scene { return newSceneOn(t, memory.New()) }

// newStoredScene returns a scene on the store that a single binary uses by default.
func newStoredScene(t testing.TB) *scene {
	t.Helper()
	return newSceneOn(t, sqlitetest.Open(t))
}
