package textworld

import (
	"os"
	"testing"
	"time"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/sqlite/sqlitetest"
)

// BenchmarkCircle measures the first and the second import of the world of a CircleMUD. BENCH_CIRCLE names
// its folder lib/world, such as that of tbamud/tbamud. Run it with -benchtime 1x.
func BenchmarkCircle(b *testing.B) {
	dir := os.Getenv("BENCH_CIRCLE")
	if dir == "" {
		b.Skip("BENCH_CIRCLE names no folder")
	}
	for range b.N {
		s := exchangetest.NewOn(b, sqlitetest.Open(b))
		for _, step := range []string{"import", "again"} {
			start := time.Now()
			sum, err := ImportCircle(b.Context(), s.Canon, s.As("admin"), os.DirFS(dir), exchange.Options{Label: "circle"})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(time.Since(start).Seconds(), step+"-s")
			b.Log(exchangetest.FirstLine(sum))
		}
	}
}
