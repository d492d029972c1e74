package load_test

import (
	"fmt"

	"loregate/internal/load"
)

func Example() {
	r := load.Report{PerSec: 812, All: load.Latency{P50: 4, P99: 31}, Kinds: map[load.Kind]load.Figures{
		load.Read: {Calls: 500, Latency: load.Latency{P50: 2, P99: 12}}}}
	fmt.Println(r.Row("my server"))
	// Output: | my server | 812 | 4.0 | 31.0 | 12.0 | – | – | – | – | – | 0 | 0 | 0 | 0 | n/a |
}
