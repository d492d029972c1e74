package build

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"sync"

	"loregate/internal/studio/builder"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// coat is a material that covers a share of the land.
type coat struct {
	look  builder.Look
	share func(x, y, height, slope float64) float64 // 0 to 1
}

// landPainter blends coats to one texture of a part of the land.
type landPainter struct {
	coats  []coat // later ones cover earlier ones
	height func(x, y float64) float64
	spans  [2]span // along X and Y
	pixels int
	pale   float64 // metres at which the colour pales to half; 0: never
	rough  *noise.Fractal
}

// span maps a range in metres to texture coordinates from 0 to 1. The inner part gets most of them.
type span struct{ low, innerLow, innerHigh, high float64 }

// innerShare is the share of the texture for the inner part.
const innerShare = 0.72

// newSpan returns the span of a range with an inner part, which is clipped to it.
func newSpan(low, high, middle, reach float64) span {
	return span{low, min(max(middle-reach, low), high), min(max(middle+reach, low), high), high}
}

func (s span) knots() (u1, u2 float64) {
	outer := s.innerLow - s.low + s.high - s.innerHigh
	if outer <= 0 || s.innerHigh <= s.innerLow || s.innerHigh-s.innerLow > innerShare*(s.high-s.low) {
		return (s.innerLow - s.low) / (s.high - s.low), (s.innerHigh - s.low) / (s.high - s.low)
	}
	u1 = (1 - innerShare) * (s.innerLow - s.low) / outer
	return u1, u1 + innerShare
}

// toTexture returns the texture coordinate of a point.
func (s span) toTexture(x float64) float64 {
	u1, u2 := s.knots()
	switch {
	case x < s.innerLow:
		return max((x-s.low)/(s.innerLow-s.low), 0) * u1
	case x <= s.innerHigh:
		return u1 + (x-s.innerLow)/max(s.innerHigh-s.innerLow, 1e-9)*(u2-u1)
	}
	return u2 + min((x-s.innerHigh)/(s.high-s.innerHigh), 1)*(1-u2)
}

// toMetres is the inverse of toTexture.
func (s span) toMetres(u float64) float64 {
	u1, u2 := s.knots()
	switch {
	case u < u1:
		return s.low + u/u1*(s.innerLow-s.low)
	case u <= u2:
		return s.innerLow + (u-u1)/max(u2-u1, 1e-9)*(s.innerHigh-s.innerLow)
	}
	return s.innerHigh + (u-u2)/(1-u2)*(s.high-s.innerHigh)
}

// mapFaces gives the faces of a mesh the texture coordinates of their corners' positions.
func (l *landPainter) mapFaces(m *scene.Mesh) *scene.Mesh {
	uv := make([][2]float64, len(m.V))
	edge := 0.5 / float64(l.pixels)
	for i, v := range m.V {
		for axis, s := range l.spans {
			uv[i][axis] = min(max(s.toTexture(v[axis]), edge), 1-edge)
		}
	}
	for i := range m.F {
		f := &m.F[i]
		f.UV = make([][2]float64, len(f.V))
		for k, v := range f.V {
			f.UV[k] = uv[v]
		}
	}
	return m
}

// tile is a coat's surface as pixels in sRGB.
type tile struct {
	pixels *image.RGBA // nil: plain
	plain  [3]float64
}

func newTile(l builder.Look, p Painter) (t tile, err error) {
	for i := range t.plain {
		t.plain[i] = toSRGB(l.Color[i]) * 255
	}
	if l.Paint == "" || l.Color != ([4]float64{}) {
		return t, nil
	}
	painted, err := p.PaintedPNG(l.Paint)
	if err != nil {
		return t, err
	}
	m, err := png.Decode(bytes.NewReader(painted.Color))
	if err != nil {
		return t, err
	}
	t.pixels = image.NewRGBA(m.Bounds())
	draw.Draw(t.pixels, m.Bounds(), m, image.Point{}, draw.Src)
	for i := 0; i < len(t.pixels.Pix); i += 4 {
		for k := range 3 {
			t.plain[k] += float64(t.pixels.Pix[i+k])
		}
	}
	for k := range t.plain {
		t.plain[k] /= float64(len(t.pixels.Pix) / 4)
	}
	return t, nil
}

func toSRGB(c float64) float64 {
	if c <= 0.0031308 {
		return 12.92 * c
	}
	return 1.055*math.Pow(c, 1/2.4) - 0.055
}

// at returns the colour at a point in tiles.
func (t *tile) at(u, v float64) [3]float64 {
	if t.pixels == nil {
		return t.plain
	}
	n := t.pixels.Rect.Dx()
	i := 4 * ((int(v*float64(n))&(n-1))*n + int(u*float64(n))&(n-1))
	p := t.pixels.Pix
	return [3]float64{float64(p[i]), float64(p[i+1]), float64(p[i+2])}
}

// mixedAt returns the colour at a point in metres, sampled twice, turned and in two sizes, so that the tiles are not seen
// to recur.
func (t *tile) mixedAt(x, y, mix float64) [3]float64 {
	const tilesPerMetre = 1 / scene.TileMetres
	c := t.at(x*tilesPerMetre, y*tilesPerMetre)
	blend(&c, t.at((x*0.8-y*0.6)*tilesPerMetre*0.43, (x*0.6+y*0.8)*tilesPerMetre*0.43), mix)
	return c
}

// blend moves a colour a share of the way to another.
func blend(c *[3]float64, to [3]float64, share float64) {
	for i := range c {
		c[i] += (to[i] - c[i]) * share
	}
}

// mask holds the shares of the coats, the height and broad noise at points of a grid in texture coordinates.
type mask struct {
	n      int
	shares [][]float32 // by coat; then by the constants below
}

// What a mask holds after its coats.
const (
	maskLight  = iota // of broad noise
	maskMix           // of the two sizes of tiles
	maskHeight        // in metres
	maskSideX         // how much the land faces along X, 0 to 1
	maskSideY         // and along Y
	maskExtras
)

// minSide is the share of a side below which land is painted from above alone.
const minSide = 0.02

func (l *landPainter) newMask() *mask {
	m := &mask{n: min(l.pixels/4, 448)}
	for range len(l.coats) + maskExtras {
		m.shares = append(m.shares, make([]float32, m.n*m.n))
	}
	eachRow(m.n, func(j int) {
		for i := range m.n {
			x := l.spans[0].toMetres(float64(i) / float64(m.n-1))
			y := l.spans[1].toMetres(float64(j) / float64(m.n-1))
			h, slope := l.height(x, y), slopeAt(l.height, x, y)
			for k := range l.coats {
				m.shares[k][j*m.n+i] = float32(l.coats[k].share(x, y, h, slope))
			}
			sideX, sideY := facing(l.height, x, y)
			for k, extra := range [maskExtras]float64{
				maskLight: 0.8 + 0.26*l.noiseAt(y+h, x-h, 170), maskMix: smoothRamp(l.noiseAt(y+h, x-h, 61)*3 - 1),
				maskHeight: h, maskSideX: sideX, maskSideY: sideY,
			} {
				m.shares[len(l.coats)+k][j*m.n+i] = float32(extra)
			}
		}
	})
	return m
}

// at returns the share of a coat at texture coordinates.
func (m *mask) at(coat int, u, v float64) float64 {
	x, y := u*float64(m.n-1), v*float64(m.n-1)
	i, j := min(int(x), m.n-2), min(int(y), m.n-2)
	fx, fy := float32(x-float64(i)), float32(y-float64(j))
	s := m.shares[coat][j*m.n+i:]
	low, high := s[0]+(s[1]-s[0])*fx, s[m.n]+(s[m.n+1]-s[m.n])*fx
	return float64(low + (high-low)*fy)
}

// paint returns the texture as JPEG.
func (l *landPainter) paint(p Painter) ([]byte, error) {
	tiles := make([]tile, len(l.coats))
	for i, c := range l.coats {
		var err error
		if tiles[i], err = newTile(c.look, p); err != nil {
			return nil, err
		}
	}
	shares := l.newMask()
	out := image.NewRGBA(image.Rect(0, 0, l.pixels, l.pixels))
	eachRow(l.pixels, func(row int) {
		v := 1 - (float64(row)+0.5)/float64(l.pixels)
		y := l.spans[1].toMetres(v)
		at := func(column int) landPoint {
			u := (float64(column) + 0.5) / float64(l.pixels)
			return landPoint{u: u, v: v, x: l.spans[0].toMetres(u), y: y, z: shares.at(len(tiles)+maskHeight, u, v)}
		}
		// Noise is dear: odd columns get the mean of their neighbours.
		next := at(0)
		next.fine = l.fineNoise(next)
		for column := 0; column < l.pixels; column += 2 {
			even, odd := next, at(column+1)
			next = at(column + 2)
			next.fine = l.fineNoise(next)
			odd.fine = (even.fine + next.fine) / 2
			to := out.Pix[4*(row*l.pixels+column):]
			l.paintPixel(to, tiles, shares, even)
			l.paintPixel(to[4:], tiles, shares, odd)
		}
	})
	var b bytes.Buffer
	err := jpeg.Encode(&b, out, &jpeg.Options{Quality: 88})
	return b.Bytes(), err
}

// paintOnce returns a function that paints at its first call. Then it lets go of the scene.
func (l *landPainter) paintOnce() func(Painter) ([]byte, error) {
	var once sync.Once
	var out []byte
	var err error
	return func(p Painter) ([]byte, error) {
		once.Do(func() {
			out, err = l.paint(p)
			l = nil
		})
		return out, err
	}
}

func (l *landPainter) noiseAt(x, y, period float64) float64 {
	const shift = noise.One * 64
	return float64(l.rough.At(int64(x/period*noise.One)+shift, int64(y/period*noise.One)+shift)) / noise.One
}

// landPoint is a point of the land, in texture coordinates and in metres, with the fine noise there.
type landPoint struct{ u, v, x, y, z, fine float64 }

// fineNoise returns noise that does not draw out on steep land.
func (l *landPainter) fineNoise(s landPoint) float64 { return l.noiseAt(s.x+s.z, s.y-s.z, 19) }

// facing returns how much the land at a point faces along X and along Y, 0 to 1. The rest faces up.
func facing(height func(x, y float64) float64, x, y float64) (sideX, sideY float64) {
	dx, dy := gradientAt(height, x, y)
	dx, dy = dx*dx*dx*dx, dy*dy*dy*dy
	return dx / (1 + dx + dy), dy / (1 + dx + dy)
}

// paintPixel blends the coats at a point. Each is sampled from above, and on steep land from the sides, so that its tiles
// do not draw out there.
func (l *landPainter) paintPixel(to []byte, tiles []tile, shares *mask, s landPoint) {
	mix := shares.at(len(tiles)+maskMix, s.u, s.v)
	sideX, sideY := shares.at(len(tiles)+maskSideX, s.u, s.v), shares.at(len(tiles)+maskSideY, s.u, s.v)
	var c [3]float64
	for k := range tiles {
		own := shares.at(k, s.u, s.v)
		share := own
		if k > 0 {
			share = smoothRamp((own-0.5)*2.2 + (s.fine-0.5)*2.4 + 0.5)
			if share <= 0 || own <= 0.02 {
				continue
			}
		}
		tint := tiles[k].mixedAt(s.x, s.y, mix)
		if sideX > minSide {
			blend(&tint, tiles[k].mixedAt(s.y, s.z, mix), sideX/(1-sideY))
		}
		if sideY > minSide {
			blend(&tint, tiles[k].mixedAt(s.x, s.z, mix), sideY)
		}
		blend(&tint, tiles[k].plain, 0.25)
		blend(&c, tint, share)
	}
	light := shares.at(len(tiles)+maskLight, s.u, s.v) + 0.14*s.fine
	pale := 0.0
	if l.pale > 0 {
		pale = 0.75 * (1 - math.Exp2(-math.Hypot(s.x, s.y)/l.pale))
	}
	for i, haze := range [3]float64{138, 158, 176} {
		to[i] = byte(min(c[i]*light*(1-pale)+haze*pale, 255))
	}
	to[3] = 255
}

// eachRow runs f for each row, on two goroutines.
func eachRow(n int, f func(row int)) {
	var wait sync.WaitGroup
	for w := range 2 {
		wait.Go(func() {
			for row := w; row < n; row += 2 {
				f(row)
			}
		})
	}
	wait.Wait()
}
