package app

import (
	"testing"
	"time"
)

func TestSpansAreWrittenWithoutZeroParts(t *testing.T) {
	for d, want := range map[time.Duration]string{24 * time.Hour: "24h", 10 * time.Minute: "10m", 30 * time.Second: "30s",
		90 * time.Minute: "1h30m", time.Hour + 10*time.Second: "1h0m10s", 10*time.Minute + 10*time.Second: "10m10s"} {
		if got := formatSpan(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
