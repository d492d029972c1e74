package texture

import "loregate/internal/studio/noise"

// texel is one point of a surface: its height, 0 to One, and its colour in sRGB.
type texel struct {
	height  int64
	r, g, b byte
}

// painter gives the texel at fixed-point parts of the tile.
type painter func(x, y int64) texel

// kinds are the surfaces that there are. Those of the tool's schema come first.
var kinds = map[string]func(seed uint64) painter{
	"stone": stone, "wood": wood, "grass": grass, "sand": sand, "metal": metal, "fabric": fabric,
	"brick": brick, "cobbles": cobbles, "plaster": plaster, "slate": slate, "thatch": thatch, "bark": bark,
	"water": water, "earth": earth, "salt": salt, "rock": rock,
}

const one = noise.One

// ramp is colours from dark to light.
type ramp [][3]int64

// paint gives a texel of a height, coloured by a tint of 0 to One.
func (r ramp) paint(height, tint int64) texel {
	tint = min(max(tint, 0), one-1)
	steps := int64(len(r) - 1)
	i, f := tint*steps>>16, tint*steps&(one-1)
	mix := func(k int) byte { return byte(r[i][k] + (r[i+1][k]-r[i][k])*f>>16) }
	return texel{height, mix(0), mix(1), mix(2)}
}

// wave goes from 0 to One and back once in a period of One, smoothly.
func wave(x int64) int64 {
	t := x & (one - 1) * 2
	if t > one {
		t = 2*one - t
	}
	return t * t >> 16 * (3*one - 2*t) >> 16
}

// step goes from 0 to One as x goes from a to b.
func step(a, b, x int64) int64 {
	t := min(max((x-a)*one/(b-a), 0), one)
	return t * t >> 16 * (3*one - 2*t) >> 16
}

func part(a, n int64) int64 { return a * n >> 16 }

// of is a share of x in 16.16.
func of(x, share int64) int64 { return x * share >> 16 }

// rubble is stones that touch: cells with joints between, rough, each of its own tint.
func rubble(seed uint64, cells int, joint int64, colors ramp) painter {
	points, grain, spots := noise.NewCells(seed, cells), noise.NewFractal(seed+1, 8, 6), noise.NewLattice(seed+2, 5)
	return func(x, y int64) texel {
		bend := (grain.At(x, y) - one/2) / 40
		near, next, which := points.At(x+bend+one, y+bend+one)
		body := step(joint/3, joint, next-near)
		rough := grain.At(x, y)
		own := int64(noise.Hash(seed, uint32(which), 9) & 0xffff)
		dome := one - min(of(near, near), one)
		height := of(body, one*6/10+of(dome, one*2/10)) + of(rough, one*2/10)
		tint := of(body, of(own, one*4/10)+of(rough, one*4/10)+of(spots.At(x, y), one/8)) + one/20
		return colors.paint(height/3, tint)
	}
}

func stone(seed uint64) painter {
	return rubble(seed, 9, one/7, ramp{{46, 42, 38}, {92, 86, 78}, {136, 128, 116}, {170, 162, 148}})
}

func cobbles(seed uint64) painter {
	return rubble(seed, 14, one/4, ramp{{34, 32, 30}, {74, 70, 66}, {110, 106, 100}, {146, 142, 136}})
}

func rock(seed uint64) painter {
	grain, cracks := noise.NewFractal(seed, 5, 7), noise.NewCells(seed+1, 5)
	colors := ramp{{44, 42, 40}, {84, 80, 74}, {122, 116, 108}, {156, 150, 140}}
	return func(x, y int64) texel {
		g := grain.At(x, y)
		near, next, _ := cracks.At(x+(g-one/2)/10+one, y+(g-one/2)/10+one)
		crack := step(0, one/12, next-near)
		return colors.paint(of(g, one*6/10)+of(crack, one/20), of(g, one*11/10)-one/12+of(crack, one/10))
	}
}

// brick is courses of bricks, every other shifted by half.
func brick(seed uint64) painter {
	grain := noise.NewFractal(seed, 16, 5)
	colors := ramp{{96, 88, 78}, {104, 48, 36}, {140, 66, 46}, {168, 92, 64}}
	return func(x, y int64) texel {
		const courses, length = 16, 6
		row := part(y, courses)
		fy := y * courses & (one - 1)
		x2 := x*length + row%2*one/2
		fx, col := x2&(one-1), (x2>>16)%length
		edge := min(min(fx, one-fx)*courses/length/2*5/4, min(fy, one-fy))
		body := step(one/14, one/7, edge)
		own := int64(noise.Hash(seed, uint32(row), uint32(col)) & 0xffff)
		rough := grain.At(x, y)
		tint := of(body, one/3+of(own, one*4/10)+of(rough, one/5))
		return colors.paint(of(body, one/8)+of(rough, one/14), tint)
	}
}

// wood is boards that run along Y.
func wood(seed uint64) painter {
	grain, long := noise.NewFractal(seed, 3, 5), noise.NewFractal(seed+1, 6, 3)
	colors := ramp{{38, 24, 14}, {82, 54, 32}, {120, 84, 52}, {150, 112, 74}}
	return func(x, y int64) texel {
		const boards = 8
		board := part(x, boards)
		fx := x * boards & (one - 1)
		own := int64(noise.Hash(seed, uint32(board), 3) & 0xffff)
		edge := step(0, one/18, min(fx, one-fx))
		ring := long.At(x*12, y+own)
		stripe := wave(fx*5 + grain.At(x, y+own)*3)
		tint := of(edge, of(own, one*35/100)+of(stripe, one/5)+of(ring, one*4/10))
		return colors.paint(of(edge, one/9)+of(ring, one/20)+of(stripe, one/60), tint)
	}
}

func bark(seed uint64) painter {
	ridges, grain := noise.NewFractal(seed, 6, 5), noise.NewFractal(seed+1, 4, 6)
	colors := ramp{{26, 20, 15}, {58, 46, 36}, {88, 74, 60}, {112, 98, 82}}
	return func(x, y int64) texel {
		h := ridges.At(x*4+(grain.At(x, y)-one/2)/4, y)
		return colors.paint(of(h, one/4), of(h, one*7/10)+of(grain.At(x, y), one/4))
	}
}

func grass(seed uint64) painter {
	patch, blade := noise.NewFractal(seed, 4, 4), noise.NewFractal(seed+1, 64, 3)
	colors := ramp{{28, 40, 14}, {56, 76, 28}, {88, 108, 44}, {128, 138, 66}}
	return func(x, y int64) texel {
		p, b := patch.At(x, y), blade.At(x+(patch.At(y, x)-one/2)/30, y)
		return colors.paint(of(b, one/10), of(p, one*55/100)+of(b, one*45/100)-one/20)
	}
}

func earth(seed uint64) painter {
	lumps, fine := noise.NewFractal(seed, 5, 5), noise.NewFractal(seed+1, 48, 3)
	colors := ramp{{40, 30, 22}, {74, 58, 42}, {104, 84, 62}, {128, 108, 84}}
	return func(x, y int64) texel {
		l, f := lumps.At(x, y), fine.At(x, y)
		return colors.paint(of(l, one/5)+of(f, one/16), of(l, one*6/10)+of(f, one*35/100))
	}
}

func sand(seed uint64) painter {
	drift, fine := noise.NewFractal(seed, 4, 3), noise.NewFractal(seed+1, 128, 2)
	colors := ramp{{134, 112, 80}, {172, 148, 110}, {196, 174, 134}, {216, 198, 162}}
	return func(x, y int64) texel {
		ripple := wave(y*14 + drift.At(x, y)*2)
		f := fine.At(x, y)
		return colors.paint(of(ripple, one/24)+of(f, one/60), of(drift.At(x, y), one/2)+of(ripple, one/6)+of(f, one/4))
	}
}

func metal(seed uint64) painter {
	brush, rust := noise.NewFractal(seed, 8, 3), noise.NewFractal(seed+1, 4, 6)
	clean, worn := ramp{{70, 72, 76}, {118, 120, 124}, {156, 158, 160}}, ramp{{52, 30, 20}, {92, 52, 30}, {124, 76, 46}}
	return func(x, y int64) texel {
		b, r := brush.At(x, y*16), rust.At(x, y)
		eaten := step(one*52/100, one*60/100, r)
		t := clean.paint(of(b, one/60)+of(eaten, one/40), b)
		w := worn.paint(0, r)
		mix := func(a, c byte) byte { return byte(int64(a) + (int64(c)-int64(a))*eaten>>16) }
		t.r, t.g, t.b = mix(t.r, w.r), mix(t.g, w.g), mix(t.b, w.b)
		return t
	}
}

// fabric is threads over and under.
func fabric(seed uint64) painter {
	worn := noise.NewFractal(seed, 4, 5)
	colors := ramp{{74, 58, 46}, {126, 102, 78}, {166, 142, 112}, {196, 176, 148}}
	return func(x, y int64) texel {
		const threads = 48
		over := (part(x, threads)+part(y, threads))%2 == 0
		warp, weft := wave(x*threads), wave(y*threads)
		h := warp
		if over {
			h = weft
		}
		return colors.paint(of(h, one/40), of(h, one*4/10)+of(worn.At(x, y), one/2))
	}
}

func plaster(seed uint64) painter {
	stain, fine := noise.NewFractal(seed, 3, 6), noise.NewFractal(seed+1, 24, 4)
	colors := ramp{{128, 112, 90}, {178, 162, 136}, {202, 190, 166}, {218, 208, 188}}
	return func(x, y int64) texel {
		s, f := stain.At(x, y), fine.At(x, y)
		return colors.paint(of(f, one/24)+of(s, one/16), of(s, one*7/10)+of(f, one/4))
	}
}

// slate is rows of flat stones, each over the one below.
func slate(seed uint64) painter {
	grain := noise.NewFractal(seed, 16, 4)
	colors := ramp{{26, 28, 32}, {56, 60, 66}, {84, 88, 94}, {110, 112, 116}}
	return func(x, y int64) texel {
		const courses, across = 12, 10
		row := part(y, courses)
		fy := y * courses & (one - 1)
		x2 := x*across + row%2*one/2
		fx, col := x2&(one-1), (x2>>16)%across
		own := int64(noise.Hash(seed, uint32(row), uint32(col)) & 0xffff)
		gap := step(one/40, one/14, min(fx, one-fx))
		g := grain.At(x, y)
		height := of(gap, of(one-fy, one/8)+of(own, one/40)) + of(g, one/40)
		shade := step(0, one/8, fy)
		return colors.paint(height, of(gap, of(shade, of(own, one/2)+of(g, one/3)))+one/20)
	}
}

func thatch(seed uint64) painter {
	straw, layer := noise.NewFractal(seed, 6, 3), noise.NewFractal(seed+1, 4, 4)
	colors := ramp{{58, 44, 24}, {106, 84, 48}, {146, 120, 74}, {178, 152, 102}}
	return func(x, y int64) texel {
		const courses = 5
		l := layer.At(x, y)
		fy := (y*courses + l/3) & (one - 1)
		s := straw.At(x*8+(l-one/2)/5, y)
		lip := step(0, one/6, fy)
		return colors.paint(of(one-fy, one/10)+of(s, one/20), of(lip, of(s, one*6/10)+of(l, one*35/100)))
	}
}

func water(seed uint64) painter {
	swell, ripple := noise.NewFractal(seed, 4, 3), noise.NewFractal(seed+1, 12, 4)
	colors := ramp{{10, 26, 34}, {18, 42, 52}, {30, 60, 70}, {52, 84, 92}}
	return func(x, y int64) texel {
		s := swell.At(x, y)
		r := ripple.At(x+(s-one/2)/10, y*2)
		return colors.paint(of(s, one/40)+of(r, one/30), of(s, one/2)+of(r, one/3))
	}
}

func salt(seed uint64) painter {
	crust, fine := noise.NewCells(seed, 12), noise.NewFractal(seed+1, 24, 4)
	colors := ramp{{150, 146, 140}, {194, 192, 188}, {220, 220, 218}, {240, 240, 238}}
	return func(x, y int64) texel {
		f := fine.At(x, y)
		near, next, _ := crust.At(x+(f-one/2)/30+one, y+(f-one/2)/30+one)
		ridge := one - step(0, one/5, next-near)
		return colors.paint(of(ridge, one/20)+of(f, one/30), of(f, one/2)+of(ridge, one/3)+one/6)
	}
}
