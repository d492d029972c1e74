package main

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"

	"loregate/internal/raceenabled"
)

// TestSimulateIsDeterministic plays games from one seed twice. Both print the same bytes and break
// no rule, and neither side wins more than 65 of 100.
func TestSimulateIsDeterministic(t *testing.T) {
	t.Parallel()
	c := simulateCmd{Players: 8, AI: 8, Seed: 7, Games: 100}
	if raceenabled.Detected {
		c.Games = 20
	}
	var said [2]bytes.Buffer
	for i := range said {
		if err := c.Run(t.Context(), &said[i]); err != nil {
			t.Fatal(err)
		}
	}
	if said[0].String() != said[1].String() {
		t.Errorf("the same seed says\n%s and then\n%s", &said[0], &said[1])
	}
	rates := regexp.MustCompile(`(?m)^(?:humans|ai) +\d+ \((\d+)\.\d%\)`).FindAllStringSubmatch(said[0].String(), -1)
	if len(rates) != 2 {
		t.Fatalf("it does not say how often each side wins:\n%s", &said[0])
	}
	for _, rate := range rates {
		if n, err := strconv.Atoi(rate[1]); err != nil || n > 65 && !raceenabled.Detected {
			t.Errorf("one side wins too often: %s", rate[0])
		}
	}
}
