package noise

import "testing"

func TestNumbersAreStable(t *testing.T) {
	s := NewSource(7, "here")
	got := []uint64{Hash(1, 2, 3), s.Uint64(), uint64(NewFractal(3, 4, 4).At(1234, 40000)),
		uint64(NewLattice(3, 8).At(-1, 70000))}
	want := []uint64{1362356466509140561, 17541802092275552152, 44947, 29248}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %d, not %d", i, got[i], want[i])
		}
	}
}

func TestNoiseRepeatsAndStaysInBounds(t *testing.T) {
	f := NewFractal(1, 5, 5)
	for x := int64(0); x < One; x += 977 {
		for y := int64(0); y < One; y += 1013 {
			v := f.At(x, y)
			if v < 0 || v >= One {
				t.Fatalf("%d at %d, %d", v, x, y)
			}
			if v != f.At(x+One, y) || v != f.At(x, y+One) || v != f.At(x-One, y) {
				t.Fatalf("it does not repeat at %d, %d", x, y)
			}
		}
	}
}

func TestRoot(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 3, 4, 1<<62 - 1, 1<<40 + 5} {
		if r := intSqrt(n); r*r > n || (r+1)*(r+1) <= n && r < 1<<31 {
			t.Errorf("root of %d is %d", n, r)
		}
	}
}

func TestSourcesDiffer(t *testing.T) {
	if NewSource(1, "a").Uint64() == NewSource(1, "b").Uint64() ||
		NewSource(1, "a").Uint64() == NewSource(2, "a").Uint64() {
		t.Error("two sources give the same")
	}
	s := NewSource(1, "a")
	for range 1000 {
		if n := s.Intn(7); n < 0 || n > 6 {
			t.Fatal(n)
		}
		if x := s.Between(2, 3); x < 2 || x > 3 {
			t.Fatal(x)
		}
	}
}
