package benchtest

import (
	"strings"
	"testing"

	"loregate/internal/cputest"
	parser "loregate/internal/world/command"
)

// BenchmarkParse parses commands, from one letter to a list of nearly the maximum length.
func BenchmarkParse(b *testing.B) {
	requireBench(b)
	for name, text := range map[string]string{
		"short": "n", "usual": "go north then look at the well", "typos": "atack the hound with teh oar then flee wset",
		"long": strings.Repeat("take the lamp and the rope, ", 17)[:parser.MaxLength-30],
	} {
		b.Run(name, func(b *testing.B) {
			const most = 2000
			m := medians{}
			for b.Loop() {
				before := cputest.Used()
				for range most {
					parser.Parse(text)
				}
				m.add("commands/s", most/max((cputest.Used()-before).Seconds(), 1e-6))
			}
			m.report(b)
		})
	}
}
