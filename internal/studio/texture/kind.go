package texture

import "loregate/internal/studio/noise"

// texel is one point of a surface: its height, 0 to One, and its colour in sRGB.
type texel struct {
	height  int64
	r, g, b byte
}

// painter returns the texel at fixed-point fractions of the tile.
type painter func(x, y int64) texel

// kinds are all the surfaces. Those of the tool's schema come first.
var kinds = map[string]func(seed uint64) painter{
	"stone": stonePainter, "wood": woodPainter, "grass": grassPainter, "sand": sandPainter, "metal": metalPainter,
	"fabric": fabricPainter,
	"brick":  brickPainter, "cobbles": cobblesPainter, "plaster": plasterPainter, "slate": slatePainter,
	"thatch": thatchPainter, "bark": barkPainter,
	"water": waterPainter, "earth": earthPainter, "salt": saltPainter, "rock": rockPainter,
	"marble": marblePainter, "tiles": tilePainter, "planks": plankPainter, "moss": mossPainter, "mud": mudPainter,
	"snow": snowPainter, "gravel": gravelPainter, "rust": rustPainter, "mosaic": mosaicPainter, "hay": hayPainter,
}

const one = noise.One

// ramp is a list of colours from dark to light.
type ramp [][3]int64

// texelAt returns a texel of this height with the colour at tint, 0 to One.
func (r ramp) texelAt(height, tint int64) texel {
	tint = min(max(tint, 0), one-1)
	steps := int64(len(r) - 1)
	i, f := tint*steps>>16, tint*steps&(one-1)
	mix := func(k int) byte { return byte(r[i][k] + (r[i+1][k]-r[i][k])*f>>16) }
	return texel{height, mix(0), mix(1), mix(2)}
}

// smoothWave goes smoothly from 0 to One and back once in a period of One.
func smoothWave(x int64) int64 {
	t := x & (one - 1) * 2
	if t > one {
		t = 2*one - t
	}
	return t * t >> 16 * (3*one - 2*t) >> 16
}

// smoothStep goes smoothly from 0 to One as x goes from a to b.
func smoothStep(a, b, x int64) int64 {
	t := min(max((x-a)*one/(b-a), 0), one)
	return t * t >> 16 * (3*one - 2*t) >> 16
}

func cellIndex(a, n int64) int64 { return a * n >> 16 }

// mulFixed returns x times a fraction in 16.16 fixed point.
func mulFixed(x, share int64) int64 { return x * share >> 16 }

// rubblePainter paints touching stones: cells with joints between, rough, each with a tint of its
// own.
func rubblePainter(seed uint64, cells int, joint int64, colors ramp) painter {
	points, grain, spots := noise.NewCells(seed, cells), noise.NewFractal(seed+1, 8, 6), noise.NewLattice(seed+2, 5)
	return func(x, y int64) texel {
		bend := (grain.At(x, y) - one/2) / 40
		near, next, which := points.At(x+bend+one, y+bend+one)
		body := smoothStep(joint/3, joint, next-near)
		rough := grain.At(x, y)
		own := int64(noise.Hash(seed, uint32(which), 9) & 0xffff)
		dome := one - min(mulFixed(near, near), one)
		height := mulFixed(body, one*6/10+mulFixed(dome, one*2/10)) + mulFixed(rough, one*2/10)
		tint := mulFixed(body, mulFixed(own, one*4/10)+mulFixed(rough, one*4/10)+mulFixed(spots.At(x, y), one/8)) + one/20
		return colors.texelAt(height/3, tint)
	}
}

func stonePainter(seed uint64) painter {
	return rubblePainter(seed, 9, one/7, ramp{{46, 42, 38}, {92, 86, 78}, {136, 128, 116}, {170, 162, 148}})
}

func cobblesPainter(seed uint64) painter {
	return rubblePainter(seed, 14, one/4, ramp{{34, 32, 30}, {74, 70, 66}, {110, 106, 100}, {146, 142, 136}})
}

func rockPainter(seed uint64) painter {
	grain, cracks := noise.NewFractal(seed, 5, 7), noise.NewCells(seed+1, 5)
	colors := ramp{{44, 42, 40}, {84, 80, 74}, {122, 116, 108}, {156, 150, 140}}
	return func(x, y int64) texel {
		g := grain.At(x, y)
		near, next, _ := cracks.At(x+(g-one/2)/10+one, y+(g-one/2)/10+one)
		crack := smoothStep(0, one/12, next-near)
		return colors.texelAt(mulFixed(g, one*6/10)+mulFixed(crack, one/20),
			mulFixed(g, one*11/10)-one/12+mulFixed(crack, one/10))
	}
}

// brickPainter paints courses of bricks, every other one shifted by half a brick.
func brickPainter(seed uint64) painter {
	grain := noise.NewFractal(seed, 16, 5)
	colors := ramp{{96, 88, 78}, {104, 48, 36}, {140, 66, 46}, {168, 92, 64}}
	return func(x, y int64) texel {
		const courses, length = 16, 6
		row := cellIndex(y, courses)
		fy := y * courses & (one - 1)
		x2 := x*length + row%2*one/2
		fx, col := x2&(one-1), (x2>>16)%length
		edge := min(min(fx, one-fx)*courses/length/2*5/4, min(fy, one-fy))
		body := smoothStep(one/14, one/7, edge)
		own := int64(noise.Hash(seed, uint32(row), uint32(col)) & 0xffff)
		rough := grain.At(x, y)
		tint := mulFixed(body, one/3+mulFixed(own, one*4/10)+mulFixed(rough, one/5))
		return colors.texelAt(mulFixed(body, one/8)+mulFixed(rough, one/14), tint)
	}
}

// woodPainter paints boards parallel to Y.
func woodPainter(seed uint64) painter {
	grain, long := noise.NewFractal(seed, 3, 5), noise.NewFractal(seed+1, 6, 3)
	colors := ramp{{38, 24, 14}, {82, 54, 32}, {120, 84, 52}, {150, 112, 74}}
	return func(x, y int64) texel {
		const boards = 8
		board := cellIndex(x, boards)
		fx := x * boards & (one - 1)
		own := int64(noise.Hash(seed, uint32(board), 3) & 0xffff)
		edge := smoothStep(0, one/18, min(fx, one-fx))
		ring := long.At(x*12, y+own)
		stripe := smoothWave(fx*5 + grain.At(x, y+own)*3)
		tint := mulFixed(edge, mulFixed(own, one*35/100)+mulFixed(stripe, one/5)+mulFixed(ring, one*4/10))
		return colors.texelAt(mulFixed(edge, one/9)+mulFixed(ring, one/20)+mulFixed(stripe, one/60), tint)
	}
}

func barkPainter(seed uint64) painter {
	ridges, grain := noise.NewFractal(seed, 6, 5), noise.NewFractal(seed+1, 4, 6)
	colors := ramp{{26, 20, 15}, {58, 46, 36}, {88, 74, 60}, {112, 98, 82}}
	return func(x, y int64) texel {
		h := ridges.At(x*4+(grain.At(x, y)-one/2)/4, y)
		return colors.texelAt(mulFixed(h, one/4), mulFixed(h, one*7/10)+mulFixed(grain.At(x, y), one/4))
	}
}

func grassPainter(seed uint64) painter {
	patch, blade := noise.NewFractal(seed, 4, 4), noise.NewFractal(seed+1, 64, 3)
	colors := ramp{{28, 40, 14}, {56, 76, 28}, {88, 108, 44}, {128, 138, 66}}
	return func(x, y int64) texel {
		p, b := patch.At(x, y), blade.At(x+(patch.At(y, x)-one/2)/30, y)
		return colors.texelAt(mulFixed(b, one/10), mulFixed(p, one*55/100)+mulFixed(b, one*45/100)-one/20)
	}
}

func earthPainter(seed uint64) painter {
	lumps, fine := noise.NewFractal(seed, 5, 5), noise.NewFractal(seed+1, 48, 3)
	colors := ramp{{40, 30, 22}, {74, 58, 42}, {104, 84, 62}, {128, 108, 84}}
	return func(x, y int64) texel {
		l, f := lumps.At(x, y), fine.At(x, y)
		return colors.texelAt(mulFixed(l, one/5)+mulFixed(f, one/16), mulFixed(l, one*6/10)+mulFixed(f, one*35/100))
	}
}

func sandPainter(seed uint64) painter {
	drift, fine := noise.NewFractal(seed, 4, 3), noise.NewFractal(seed+1, 128, 2)
	colors := ramp{{134, 112, 80}, {172, 148, 110}, {196, 174, 134}, {216, 198, 162}}
	return func(x, y int64) texel {
		ripple := smoothWave(y*14 + drift.At(x, y)*2)
		f := fine.At(x, y)
		return colors.texelAt(mulFixed(ripple, one/24)+mulFixed(f, one/60),
			mulFixed(drift.At(x, y), one/2)+mulFixed(ripple, one/6)+mulFixed(f, one/4))
	}
}

func metalPainter(seed uint64) painter {
	brush, rust := noise.NewFractal(seed, 8, 3), noise.NewFractal(seed+1, 4, 6)
	clean, worn := ramp{{70, 72, 76}, {118, 120, 124}, {156, 158, 160}}, ramp{{52, 30, 20}, {92, 52, 30}, {124, 76, 46}}
	return func(x, y int64) texel {
		b, r := brush.At(x, y*16), rust.At(x, y)
		eaten := smoothStep(one*52/100, one*60/100, r)
		t := clean.texelAt(mulFixed(b, one/60)+mulFixed(eaten, one/40), b)
		w := worn.texelAt(0, r)
		mix := func(a, c byte) byte { return byte(int64(a) + (int64(c)-int64(a))*eaten>>16) }
		t.r, t.g, t.b = mix(t.r, w.r), mix(t.g, w.g), mix(t.b, w.b)
		return t
	}
}

// fabricPainter paints a weave of threads.
func fabricPainter(seed uint64) painter {
	worn := noise.NewFractal(seed, 4, 5)
	colors := ramp{{74, 58, 46}, {126, 102, 78}, {166, 142, 112}, {196, 176, 148}}
	return func(x, y int64) texel {
		const threads = 48
		over := (cellIndex(x, threads)+cellIndex(y, threads))%2 == 0
		warp, weft := smoothWave(x*threads), smoothWave(y*threads)
		h := warp
		if over {
			h = weft
		}
		return colors.texelAt(mulFixed(h, one/40), mulFixed(h, one*4/10)+mulFixed(worn.At(x, y), one/2))
	}
}

func plasterPainter(seed uint64) painter {
	stain, fine := noise.NewFractal(seed, 3, 6), noise.NewFractal(seed+1, 24, 4)
	colors := ramp{{128, 112, 90}, {178, 162, 136}, {202, 190, 166}, {218, 208, 188}}
	return func(x, y int64) texel {
		s, f := stain.At(x, y), fine.At(x, y)
		return colors.texelAt(mulFixed(f, one/24)+mulFixed(s, one/24), one/5+mulFixed(s, one*3/10)+mulFixed(f, one*4/10))
	}
}

// slatePainter paints rows of flat stones, each overlapping the row below.
func slatePainter(seed uint64) painter {
	grain := noise.NewFractal(seed, 16, 4)
	colors := ramp{{26, 28, 32}, {56, 60, 66}, {84, 88, 94}, {110, 112, 116}}
	return func(x, y int64) texel {
		const courses, across = 12, 10
		row := cellIndex(y, courses)
		fy := y * courses & (one - 1)
		x2 := x*across + row%2*one/2
		fx, col := x2&(one-1), (x2>>16)%across
		own := int64(noise.Hash(seed, uint32(row), uint32(col)) & 0xffff)
		gap := smoothStep(one/40, one/14, min(fx, one-fx))
		g := grain.At(x, y)
		height := mulFixed(gap, mulFixed(one-fy, one/8)+mulFixed(own, one/40)) + mulFixed(g, one/40)
		shade := smoothStep(0, one/8, fy)
		return colors.texelAt(height, mulFixed(gap, mulFixed(shade, mulFixed(own, one/2)+mulFixed(g, one/3)))+one/20)
	}
}

func thatchPainter(seed uint64) painter {
	straw, layer := noise.NewFractal(seed, 6, 3), noise.NewFractal(seed+1, 4, 4)
	colors := ramp{{58, 44, 24}, {106, 84, 48}, {146, 120, 74}, {178, 152, 102}}
	return func(x, y int64) texel {
		const courses = 5
		l := layer.At(x, y)
		fy := (y*courses + l/3) & (one - 1)
		s := straw.At(x*8+(l-one/2)/5, y)
		lip := smoothStep(0, one/6, fy)
		return colors.texelAt(mulFixed(one-fy, one/10)+mulFixed(s, one/20),
			mulFixed(lip, mulFixed(s, one*6/10)+mulFixed(l, one*35/100)))
	}
}

func waterPainter(seed uint64) painter {
	swell, ripple := noise.NewFractal(seed, 4, 3), noise.NewFractal(seed+1, 12, 4)
	colors := ramp{{10, 26, 34}, {18, 42, 52}, {30, 60, 70}, {52, 84, 92}}
	return func(x, y int64) texel {
		s := swell.At(x, y)
		r := ripple.At(x+(s-one/2)/10, y*2)
		return colors.texelAt(mulFixed(s, one/40)+mulFixed(r, one/30), mulFixed(s, one/2)+mulFixed(r, one/3))
	}
}

func saltPainter(seed uint64) painter {
	crust, fine := noise.NewCells(seed, 12), noise.NewFractal(seed+1, 24, 4)
	colors := ramp{{150, 146, 140}, {194, 192, 188}, {220, 220, 218}, {240, 240, 238}}
	return func(x, y int64) texel {
		f := fine.At(x, y)
		near, next, _ := crust.At(x+(f-one/2)/30+one, y+(f-one/2)/30+one)
		ridge := one - smoothStep(0, one/5, next-near)
		return colors.texelAt(mulFixed(ridge, one/20)+mulFixed(f, one/30), mulFixed(f, one/2)+mulFixed(ridge, one/3)+one/6)
	}
}
