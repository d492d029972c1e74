package blender

import (
	"image"
	"testing"

	"loregate/internal/studio/noise"
)

// Noise becomes less, an edge stays, and a picture without noise stays as it is.
func TestDenoise(t *testing.T) {
	plain := image.NewRGBA(image.Rect(0, 0, 48, 32))
	noisy := image.NewRGBA(plain.Rect)
	rnd := noise.NewSource(1, "grain")
	for y := range 32 {
		for x := range 48 {
			i := plain.PixOffset(x, y)
			level := 60 + 120*(x/24)
			for k := range 4 {
				plain.Pix[i+k] = byte(level)
				noisy.Pix[i+k] = byte(level + rnd.Intn(31) - 15)
			}
		}
	}
	away := func(m *image.RGBA) (sum int) {
		for i, p := range m.Pix {
			if i%4 < 3 {
				d := int(p) - int(plain.Pix[i])
				sum += d * d
			}
		}
		return sum
	}
	if got, was := away(denoise(noisy)), away(noisy); got*4 > was {
		t.Errorf("the error is %d, of %d", got, was)
	}
	if away(denoise(plain)) != 0 {
		t.Error("a clean picture was changed")
	}
}
