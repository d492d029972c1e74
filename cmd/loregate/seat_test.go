package main

import (
	"strings"
	"testing"
)

// A seat belongs to a game and not to a world: its client is served also if the flags or the
// environment name a world.
func TestSeatIgnoresTheWorld(t *testing.T) {
	dir := t.TempDir()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	t.Setenv("LOREGATE_WORLD", "lendwater")
	for _, args := range [][]string{{"mcp", "--seat", "g-00112233aabbccdd/p1"},
		{"mcp", "--seat", "g-00112233aabbccdd/p1", "--world", "main"}} {
		got := runCommand(t, dir, hello, args...)
		if got.code != 0 || !strings.Contains(got.stdout, `"protocolVersion"`) || got.err != "" {
			t.Errorf("%v: %d %s %s", args, got.code, got.stdout, got.err)
		}
	}
}
