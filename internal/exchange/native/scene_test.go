package native

import (
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

// scene is a world to import into.
type scene struct{ *exchangetest.Scene }

func newScene(t testing.TB) *scene { return &scene{exchangetest.NewOn(t, memory.New())} }

func (s *scene) export(who, dir string) exchange.Summary {
	s.T.Helper()
	sum, err := Export(s.T.Context(), s.Canon, s.As(who), dir, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	return sum
}
