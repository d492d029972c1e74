package texture

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loregate/internal/studio/noise"
)

// golden are hashes of the pixels: they change only if a surface is meant to look different.
var golden = map[string]string{
	"metal": "9f8cc2fcb469594a", "slate": "d4a79af38328151a", "bark": "37e44c6573189fd0", "earth": "a5c63d11ddaae1f5",
	"rock": "cd2c07711fb93290", "stone": "3b5c145855462199", "thatch": "b4aba7eabcfbc107", "salt": "b7df67db26e9de8b",
	"brick": "0bc1860dbf3f3cf6", "plaster": "2a7acaff64b5374c", "water": "838099a8abba9168", "wood": "97389a744e0693bd",
	"planks": "83828767c5f2f8e1", "moss": "176dd4de6da3cccb", "marble": "6864d4ba271c20a7", "mud": "7137d979a3fb3a6e",
	"gravel": "035acce49b4f811e", "rust": "da41670d0d2bd52f", "mosaic": "7c4a47f200d50cbe", "hay": "7fa102a77b60e75f",
	"tiles": "8c1a30c50e92458c", "snow": "311bcabd6455ab17",
	"grass": "229c7230454027a3", "sand": "7e9e7c46ae6095d0", "fabric": "fec3d97827f22307", "cobbles": "4349fed9c0d969e2",
}

func TestPixelsAreStable(t *testing.T) {
	for kind, want := range golden {
		p := Paint(kind, 64, 7)
		if got := fmt.Sprintf("%x", sha256.Sum256(slices.Concat(p.Color.Pix, p.Normal.Pix, p.Rough.Pix)))[:16]; got != want {
			t.Errorf("%s: %q, not %q", kind, got, want)
		}
	}
	for kind := range kinds {
		if golden[kind] == "" {
			p := Paint(kind, 64, 7)
			t.Errorf(
				"%q: %q,",
				kind,
				fmt.Sprintf("%x", sha256.Sum256(slices.Concat(p.Color.Pix, p.Normal.Pix, p.Rough.Pix)))[:16],
			)
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

func BenchmarkMaps1024(b *testing.B) {
	for b.Loop() {
		p := Paint("stone", 1024, 1)
		if _, err := p.Encode(); err != nil {
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
		changed := Paint("stone", 64, 3)
		f.Apply(changed, 3)
		m := changed.Color
		if rough := bytes.Equal(changed.Rough.Pix, plain.Rough.Pix); rough != (name == "tint") {
			t.Errorf("%s: its roughness is the same: %v", name, rough)
		}
		mean, was := meanColor(m), meanColor(plain.Color)
		if bytes.Equal(m.Pix, plain.Color.Pix) {
			t.Errorf("%s changes nothing", name)
		}
		if name == "tint" && (mean[0]-150 > 6 || 150-mean[0] > 6 || mean[2]-60 > 6 || 60-mean[2] > 6) {
			t.Errorf("the mean of the tint is %v", mean)
		}
		if name == "wet" && (mean[0] >= was[0] || meanColor(changed.Rough)[1] >= meanColor(plain.Rough)[1]*3/4) {
			t.Errorf("wet stone is not darker and smoother: %v, %v", mean, was)
		}
	}
	same := Paint("stone", 64, 3)
	Finish{}.Apply(same, 3)
	if !bytes.Equal(same.Color.Pix, plain.Color.Pix) || !bytes.Equal(same.Rough.Pix, plain.Rough.Pix) {
		t.Error("the zero finish changes the surface")
	}
}
