package loadtest_test

import (
	"fmt"

	"loregate/internal/loadtest"
)

func Example() {
	r := loadtest.Report{PerSec: 812, All: loadtest.Latency{P50: 4, P99: 31}, Kinds: map[loadtest.Kind]loadtest.Figures{
		loadtest.Read: {Calls: 500, Latency: loadtest.Latency{P50: 2, P99: 12}}}}
	fmt.Println(r.Row("my server"))
	// Output: | my server | 812 | 4.0 | 31.0 | 12.0 | – | – | – | – | – | 0 | 0 | 0 | 0 | n/a |
}
