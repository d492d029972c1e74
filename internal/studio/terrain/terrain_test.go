package terrain

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/png"
	"testing"
)

func TestHeightsAreStable(t *testing.T) {
	l := Make(7, 65, 100, 80, 12)
	h := sha256.New()
	for _, v := range l.Heights {
		fmt.Fprintln(h, v)
	}
	const want = "3ffbe1885475d033"
	if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestLand(t *testing.T) {
	l := Make(3, 129, 200, 100, 20)
	low, high := l.Mesh().Bounds()
	if low[0] != -100 || high[0] != 100 || low[1] != -50 || high[1] != 50 || low[2] < 0 || high[2] > 20 ||
		high[2]-low[2] < 5 {
		t.Errorf("from %v to %v", low, high)
	}
	b, err := l.PNG()
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := m.(*image.Gray16); !ok || g.Gray16At(0, 0).Y != l.Heights[128*129] ||
		g.Gray16At(5, 128).Y != l.Heights[5] {
		t.Error("the picture is not the heights, north up")
	}
}

func BenchmarkMake513(b *testing.B) {
	for b.Loop() {
		Make(1, 513, 500, 500, 40).Mesh().Pack()
	}
}
