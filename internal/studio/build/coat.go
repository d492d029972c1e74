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

// mask holds the shares of the coats, and broad noise, at points of a grid in texture coordinates.
type mask struct {
	n      int
	shares [][]float32 // by coat; then the light, and the mix of the two sizes of tiles
}

func (l *landPainter) newMask() *mask {
	m := &mask{n: min(l.pixels/4, 448)}
	for range len(l.coats) + 2 {
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
			m.shares[len(l.coats)][j*m.n+i] = float32(0.8 + 0.26*l.noiseAt(y, x, 170))
			m.shares[len(l.coats)+1][j*m.n+i] = float32(smoothRamp(l.noiseAt(y, x, 61)*3 - 1))
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
			return landPoint{u: u, v: v, x: l.spans[0].toMetres(u), y: y}
		}
		// Noise is dear: odd columns get the mean of their neighbours.
		next := at(0)
		next.fine = l.noiseAt(next.x, y, 19)
		for column := 0; column < l.pixels; column += 2 {
			even, odd := next, at(column+1)
			next = at(column + 2)
			next.fine = l.noiseAt(next.x, y, 19)
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
type landPoint struct{ u, v, x, y, fine float64 }

// paintPixel blends the coats at a point. Each is sampled twice, turned and in two sizes, so that its
// tiles are not seen to recur.
func (l *landPainter) paintPixel(to []byte, tiles []tile, shares *mask, s landPoint) {
	const tilesPerMetre = 1 / scene.TileMetres
	mix := shares.at(len(tiles)+1, s.u, s.v)
	tu, tv := s.x*tilesPerMetre, s.y*tilesPerMetre
	ru, rv := (s.x*0.8-s.y*0.6)*tilesPerMetre*0.43, (s.x*0.6+s.y*0.8)*tilesPerMetre*0.43
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
		a, b := tiles[k].at(tu, tv), tiles[k].at(ru, rv)
		for i := range c {
			own := a[i] + (b[i]-a[i])*mix
			own += (tiles[k].plain[i] - own) * 0.25
			c[i] += (own - c[i]) * share
		}
	}
	light := shares.at(len(tiles), s.u, s.v) + 0.14*s.fine
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
