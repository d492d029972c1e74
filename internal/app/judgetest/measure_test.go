package judgetest

import (
	"math"
	"testing"
)

func TestNDCG(t *testing.T) {
	grades := map[string]int{"best": 3, "good": 2}
	// gains are 7 and 3; the second rank divides by log2(3)
	ideal := 7 + 3/math.Log2(3)
	for _, c := range []struct {
		names []string
		want  float64
	}{
		{[]string{"best", "good"}, 1},
		{[]string{"good", "best"}, (3 + 7/math.Log2(3)) / ideal},
		{[]string{"other", "best"}, 7 / math.Log2(3) / ideal},
		{[]string{"best", "best"}, 7 / ideal}, // a name counts once
		{[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "best"}, 0},
		{nil, 0},
	} {
		if got := ndcg(c.names, grades); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("ndcg(%v) = %v, want %v", c.names, got, c.want)
		}
	}
}

func TestAUC(t *testing.T) {
	for _, c := range []struct {
		above, below []float64
		want         float64
	}{
		{[]float64{3, 2}, []float64{1, 0}, 1},
		{[]float64{0}, []float64{1}, 0},
		{[]float64{1, 0}, []float64{1, 0}, 0.5},
	} {
		if got := auc(c.above, c.below); got != c.want {
			t.Errorf("auc(%v, %v) = %v, want %v", c.above, c.below, got, c.want)
		}
	}
}
