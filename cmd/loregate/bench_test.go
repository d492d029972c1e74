package main

import (
	"strings"
	"testing"
)

func TestBenchRefuses(t *testing.T) {
	t.Setenv("LOREGATE_KEY", "lg_x")
	for _, tc := range []struct {
		args string
		code int
		want string
	}{
		{"bench", 2, "--world"},
		{"bench --world w --api-key-env LOREGATE_KEY_ABSENT", 1, "loregate key create"},
		{"bench --world w --mix read", 1, "KIND=N"},
		{"bench --world w --mix dance=1", 1, "dance"},
		{"bench --world w --url https://lore.example", 1, "--other-machine"},
		{"bench --world w --url http://lore.example --other-machine", 1, "https"},
		{"bench --world w --duration 2h", 1, "duration"},
		{"bench --world w --role king", 2, "user"},
		{"bench --world w --url http://127.0.0.1:1", 1, "no_connection"},
	} {
		got := runCommand(t, t.TempDir(), "", strings.Fields(tc.args)...)
		if got.code != tc.code || !strings.Contains(got.err, tc.want) || got.stdout != "" {
			t.Errorf("loregate %s: exit %d, want %d\n%s%s", tc.args, got.code, tc.code, got.err, got.stdout)
		}
	}
}

func TestBenchPrintsTheHeadOfItsTable(t *testing.T) {
	got := runCommand(t, t.TempDir(), "", "bench", "--world", "-", "--row", "head")
	if got.code != 0 || strings.Count(got.stdout, "\n") != 2 || !strings.HasPrefix(got.stdout, "| | calls/s |") {
		t.Errorf("exit %d: %q", got.code, got.stdout)
	}
}
