package storetest

import (
	"os"
	"strconv"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/raceenabled"
)

// modelSteps is the number of random steps that Run compares; STORE_STEPS overrides it.
const modelSteps = 3000

// Run tests a store against all promises of canon.Store. open returns an empty store and arranges
// for it to be closed.
func Run(t *testing.T, open func(t *testing.T) canon.Store) {
	for _, p := range []struct {
		promise string
		test    func(*testing.T, func(*testing.T) canon.Store)
	}{
		{"sight", testVisibility},
		{"interference", testInterference},
		{"worlds", testWorlds},
		{"cards", testCards},
		{"lists", testLists},
		{"tree", testTree},
		{"trash", testTrash},
		{"names", testNames},
		{"search", testSearch},
		{"history", testHistory},
		{"refs", testRefs},
		{"links", testLinks},
		{"layers", testLayers},
		{"reach", testReach},
		{"clock", testLinkMax},
		{"near", testNear},
		{"fields", testFields},
		{"events", testEvents},
		{"past", testPast},
		{"bodies", testBodies},
		{"streams", testStreams},
		{"dump", testDump},
		{"discard", testDiscard},
		{"atomic", testAtomic},
		{"concurrent", testConcurrent},
		{"model", testModel},
	} {
		t.Run(p.promise, func(t *testing.T) { p.test(t, open) })
	}
}

func testModel(t *testing.T, open func(*testing.T) canon.Store) {
	steps := raceenabled.Share(modelSteps, 8)
	if s := os.Getenv("STORE_STEPS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("STORE_STEPS: %v", err)
		}
		steps = n
	} else if testing.Short() {
		steps /= 10
	}
	RunModel(t, open, 1, steps)
	t.Logf("%d random operations answered as by the reference", steps)
}
