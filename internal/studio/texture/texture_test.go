package texture

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"loregate/internal/studio/noise"
)

// golden are hashes of the pixels: they change only if a surface is meant to look different.
var golden = map[string]string{
	"metal": "b8893b72e3b26a53", "slate": "172e3c917f5f2d51", "bark": "b085e33129d18c1d", "earth": "eafb560cb8a5759c",
	"rock": "a77bdf4ffb93b1b2", "stone": "c175a1a4dd6a3ccb", "thatch": "f97d30bedbc89366", "salt": "1dc3c6c300dd4b38",
	"brick": "a40ca13907b77318", "plaster": "e63ba91d7aa8d142", "water": "d86f4709f7606fda", "wood": "c40bb4658d7cf1cc",
	"planks": "3e3242ed68184f44", "moss": "67b1c26762fa8eb4", "marble": "c7ea1836683b6064", "mud": "49f7e8d6665c0c46",
	"gravel": "8729848736af6cea", "rust": "b59ecb874a72bef3", "mosaic": "ac53f306ecc607db", "hay": "a66e9fe837741b70",
	"tiles": "6031da37975f4292", "snow": "f9ac342cb8652a48",
	"grass": "03d7654e2c9202d4", "sand": "270ebbf4bd5f5bfe", "fabric": "3377cd2cc64c38f4", "cobbles": "1f0195c960203d7b",
}

func TestPixelsAreStable(t *testing.T) {
	for kind, want := range golden {
		p := Paint(kind, 64, 7)
		if got := fmt.Sprintf("%x", sha256.Sum256(append(p.Color.Pix, p.Normal.Pix...)))[:16]; got != want {
			t.Errorf("%s: %q, not %q", kind, got, want)
		}
	}
	for kind := range kinds {
		if golden[kind] == "" {
			p := Paint(kind, 64, 7)
			t.Errorf("%q: %q,", kind, fmt.Sprintf("%x", sha256.Sum256(append(p.Color.Pix, p.Normal.Pix...)))[:16])
		}
	}
}

// A surface tiles: the colour step across its edge is no greater than the steps inside.
func TestTexturesTile(t *testing.T) {
	const n = 128
	for kind := range kinds {
		p := Paint(kind, n, 3).Color
		jump := func(x0, y0, x1, y1 int) int {
			a, b := p.RGBAAt(x0, y0), p.RGBAAt(x1, y1)
			d := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
			return d(a.R, b.R) + d(a.G, b.G) + d(a.B, b.B)
		}
		line := func(k int) (across, down int) {
			for i := range n {
				across += jump(k, i, (k+1)%n, i)
				down += jump(i, k, i, (k+1)%n)
			}
			return across, down
		}
		across, down := 0, 0
		for k := range n - 1 {
			a, d := line(k)
			across, down = max(across, a), max(down, d)
		}
		if a, d := line(n - 1); a > across*5/4 || d > down*5/4 {
			t.Errorf("%s: its edge shows: %d and %d where no line inside has more than %d and %d", kind, a, d, across, down)
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	for kind := range kinds {
		if a, b := Paint(kind, 32, 1), Paint(kind, 32, 2); string(a.Color.Pix) == string(b.Color.Pix) {
			t.Errorf("%s is the same for two seeds", kind)
		}
	}
}

// With SHEET=dir the surfaces are written to files for inspection.
func TestSheet(t *testing.T) {
	dir := os.Getenv("SHEET")
	if dir == "" {
		t.Skip("SHEET is not set")
	}
	for kind := range kinds {
		p := Paint(kind, 256, 7)
		b, err := PNG(p.Color)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, kind+".png"), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkPair1024(b *testing.B) {
	for b.Loop() {
		p := Paint("stone", 1024, 1)
		if _, err := PNG(p.Color); err != nil {
			b.Fatal(err)
		}
		if _, err := PNG(p.Normal); err != nil {
			b.Fatal(err)
		}
	}
}

// A tint changes the mean colour and keeps the pattern; wear and water change the colours, too.
func TestFinish(t *testing.T) {
	const one = noise.One
	plain := Paint("stone", 64, 3)
	for name, f := range map[string]Finish{"tint": {Tint: [3]byte{150, 90, 60}}, "wear": {Wear: one * 8 / 10},
		"wet": {Wet: one / 2}} {
		m := Paint("stone", 64, 3).Color
		f.Apply(m, 3)
		mean, was := meanColor(m), meanColor(plain.Color)
		if bytes.Equal(m.Pix, plain.Color.Pix) {
			t.Errorf("%s changes nothing", name)
		}
		if name == "tint" && (mean[0]-150 > 6 || 150-mean[0] > 6 || mean[2]-60 > 6 || 60-mean[2] > 6) {
			t.Errorf("the mean of the tint is %v", mean)
		}
		if name == "wet" && mean[0] >= was[0] {
			t.Errorf("wet stone is not darker: %v, %v", mean, was)
		}
	}
	m := Paint("stone", 64, 3).Color
	Finish{}.Apply(m, 3)
	if !bytes.Equal(m.Pix, plain.Color.Pix) {
		t.Error("the zero finish changes the surface")
	}
}
