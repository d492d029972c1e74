package texture

import (
	"image"

	"loregate/internal/studio/noise"
)

// Finish is a change of a painted surface. The zero Finish changes nothing.
type Finish struct {
	Tint [3]byte // its mean colour in sRGB; zero: as painted
	Wear int64   // stains and bleached patches, 0 to One
	Wet  int64   // darkness of water, 0 to One
}

// Apply changes the colours and the roughness of a surface: dirt is dull, worn spots are smooth, and water makes
// smooth, most of all in the hollows.
func (f Finish) Apply(on Maps, seed uint64) {
	if f == (Finish{}) {
		return
	}
	m := on.Color
	size := m.Rect.Dx()
	mean := meanColor(m)
	stain, grime := noise.NewFractal(seed+101, 3, 6), noise.NewFractal(seed+102, 6, 5)
	step := int64(one / size)
	eachRow(size, func(y int) {
		for x := range size {
			p := m.Pix[y*m.Stride+4*x:]
			light := (int64(p[0]) + int64(p[1]) + int64(p[2])) * one / max(mean[0]+mean[1]+mean[2], 1)
			worn := mulFixed(f.Wear, smoothStep(one*48/100, one*72/100, stain.At(int64(x)*step, int64(y)*step)))
			dirty := mulFixed(f.Wear, smoothStep(one*45/100, one*70/100, grime.At(int64(y)*step, int64(x)*step)))
			for k := range 3 {
				c := int64(p[k])
				if f.Tint != ([3]byte{}) {
					own := mulFixed(int64(f.Tint[k]), one+(light-one)*9/10)
					c = own + (c-mean[k])/4
				}
				c += mulFixed((150+c)/2-c, worn/2)
				c += mulFixed([3]int64{52, 45, 36}[k]-c, dirty*6/10)
				c -= mulFixed(c, f.Wet*45/100)
				p[k] = byte(min(max(c, 0), 255))
			}
			rough := &on.Rough.Pix[y*m.Stride+4*x+1]
			r := int64(*rough) - mulFixed(int64(*rough), worn/4)
			r += mulFixed(255-r, dirty)
			*rough = byte(r - mulFixed(r, mulFixed(f.Wet, one*9/10-int64(on.relief[y*size+x])/4)))
		}
	})
}

func meanColor(m *image.RGBA) (sum [3]int64) {
	for i := 0; i < len(m.Pix); i += 4 {
		for k := range sum {
			sum[k] += int64(m.Pix[i+k])
		}
	}
	for k := range sum {
		sum[k] /= max(int64(len(m.Pix)/4), 1)
	}
	return sum
}
