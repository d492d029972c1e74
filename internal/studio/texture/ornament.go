package texture

import "loregate/internal/studio/noise"

// marblePainter paints pale stone with bent veins.
func marblePainter(seed uint64) painter {
	bend, cloud, fine := noise.NewFractal(seed, 4, 6), noise.NewFractal(seed+1, 3, 4), noise.NewFractal(seed+2, 24, 3)
	colors := ramp{{104, 102, 104}, {172, 168, 164}, {214, 210, 204}, {236, 232, 226}}
	return func(x, y int64) texel {
		b := bend.At(x, y)
		wave := smoothWave(x*3 + y*2 + b*3)
		vein := one - smoothStep(0, one/6, wave)
		c, f := cloud.At(x, y), fine.At(x, y)
		return colors.texelAt(one/4-mulFixed(vein, one/60)+mulFixed(f, one/80),
			one*6/10+mulFixed(c, one*5/10)-one/5-mulFixed(vein, one*45/100)+mulFixed(f, one/10))
	}
}

// tilePainter paints rows of round clay tiles, each overlapping the row below.
func tilePainter(seed uint64) painter {
	grain := noise.NewFractal(seed, 16, 4)
	colors := ramp{{64, 26, 18}, {124, 54, 34}, {164, 82, 50}, {190, 116, 78}}
	return func(x, y int64) texel {
		const courses, across = 9, 12
		row := cellIndex(y, courses)
		fy := y * courses & (one - 1)
		x2 := x*across + row%2*one/2
		fx, col := x2&(one-1), (x2>>16)%across
		own := int64(noise.Hash(seed, uint32(row), uint32(col)) & 0xffff)
		round := smoothWave(fx)
		g := grain.At(x, y)
		shade := mulFixed(smoothStep(0, one/5, fy), one/3+mulFixed(round, one*2/3))
		return colors.texelAt(mulFixed(round, one/9)+mulFixed(one-fy, one/10)+mulFixed(g, one/50),
			mulFixed(shade, one/4+mulFixed(own, one*4/10)+mulFixed(g, one*3/10))+one/20)
	}
}

// plankPainter paints sawn boards side by side, with nails.
func plankPainter(seed uint64) painter {
	grain, streak := noise.NewFractal(seed, 4, 6), noise.NewFractal(seed+1, 32, 3)
	colors := ramp{{52, 36, 24}, {102, 76, 52}, {140, 110, 78}, {168, 140, 106}}
	return func(x, y int64) texel {
		const boards = 7
		col := cellIndex(x, boards)
		fx := x * boards & (one - 1)
		own := int64(noise.Hash(seed, uint32(col), 5) & 0xffff)
		along := y + own
		gap := smoothStep(one/50, one/16, min(fx, one-fx))
		joint := (along*2 + own) & (one - 1)
		gap = min(gap, smoothStep(one/200, one/60, min(joint, one-joint)))
		g := grain.At(x*3+own, along/3)
		s := streak.At(x*2, along/6)
		tint := mulFixed(own, one*3/10) + mulFixed(g, one*4/10) + mulFixed(s, one*3/10)
		return colors.texelAt(mulFixed(gap, one/12)+mulFixed(s, one/40), mulFixed(gap, tint)+one/30)
	}
}

// mossPainter paints stones that moss grows over in patches.
func mossPainter(seed uint64) painter {
	stone, patch, fuzz := stonePainter(seed), noise.NewFractal(seed+7, 5, 5), noise.NewFractal(seed+8, 40, 3)
	colors := ramp{{26, 34, 14}, {48, 62, 24}, {78, 92, 38}, {112, 124, 58}}
	return func(x, y int64) texel {
		under := stone(x, y)
		grown := smoothStep(one*46/100, one*58/100, patch.At(x, y)+one/5-under.height)
		f := fuzz.At(x, y)
		over := colors.texelAt(under.height+one/14+mulFixed(f, one/20), mulFixed(f, one)+mulFixed(patch.At(x, y),
			one/4)-one/8)
		return blendTexels(under, over, grown)
	}
}

// blendTexels returns a mixture: a where share is 0, b where it is One.
func blendTexels(a, b texel, share int64) texel {
	mix := func(p, q byte) byte { return byte(int64(p) + mulFixed(int64(q)-int64(p), share)) }
	return texel{a.height + mulFixed(b.height-a.height, share), mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b)}
}

// mudPainter paints wet earth with puddles and ruts.
func mudPainter(seed uint64) painter {
	lumps, fine := noise.NewFractal(seed, 6, 6), noise.NewFractal(seed+1, 28, 4)
	colors := ramp{{28, 22, 17}, {58, 46, 35}, {88, 71, 54}, {112, 94, 74}}
	return func(x, y int64) texel {
		l, f := lumps.At(x, y), fine.At(x, y)
		dry := smoothStep(one*36/100, one*48/100, l)
		return colors.texelAt(mulFixed(dry, mulFixed(l, one/5)+mulFixed(f, one/25)),
			one/12+mulFixed(dry, mulFixed(l, one*6/10)+mulFixed(f, one*3/10)))
	}
}

// snowPainter paints drifted snow.
func snowPainter(seed uint64) painter {
	drift, fine := noise.NewFractal(seed, 3, 5), noise.NewFractal(seed+1, 48, 3)
	colors := ramp{{176, 190, 208}, {212, 222, 234}, {236, 241, 247}, {250, 252, 254}}
	return func(x, y int64) texel {
		d, f := drift.At(x, y), fine.At(x, y)
		return colors.texelAt(mulFixed(d, one/8)+mulFixed(f, one/60), mulFixed(d, one)+mulFixed(f, one/4)-one/8)
	}
}

// gravelPainter paints small loose stones.
func gravelPainter(seed uint64) painter {
	return rubblePainter(seed, 26, one/3, ramp{{48, 44, 40}, {98, 92, 84}, {138, 130, 120}, {178, 170, 158}})
}

// rustPainter paints iron with patches of rust.
func rustPainter(seed uint64) painter {
	patch, fine := noise.NewFractal(seed, 5, 6), noise.NewFractal(seed+1, 30, 4)
	iron := ramp{{34, 34, 36}, {62, 62, 64}, {86, 86, 88}}
	rust := ramp{{54, 24, 12}, {112, 52, 24}, {160, 88, 44}, {186, 122, 74}}
	return func(x, y int64) texel {
		p, f := patch.At(x, y), fine.At(x, y)
		eaten := smoothStep(one*44/100, one*56/100, p)
		return blendTexels(iron.texelAt(one/8+mulFixed(f, one/60), f), rust.texelAt(one/7+mulFixed(f, one/16),
			mulFixed(p, one/2)+mulFixed(f, one/2)), eaten)
	}
}

// mosaicPainter paints small square stones in a pattern of three colours.
func mosaicPainter(seed uint64) painter {
	grain := noise.NewFractal(seed, 20, 4)
	grounds := []ramp{
		{{120, 112, 98}, {176, 166, 146}, {214, 204, 184}}, {{70, 26, 20}, {122, 48, 36}, {152, 76, 58}},
		{{20, 38, 54}, {38, 66, 88}, {66, 96, 116}}}
	return func(x, y int64) texel {
		const across = 24
		col, row := cellIndex(x, across)%across, cellIndex(y, across)%across
		fx, fy := x*across&(one-1), y*across&(one-1)
		body := smoothStep(one/30, one/9, min(min(fx, one-fx), min(fy, one-fy)))
		pattern := 0
		if d := (col + row) % 8; d == 0 || (col-row+across)%8 == 0 {
			pattern = 1
		} else if d == 4 && (col-row+across)%8 == 4 {
			pattern = 2
		}
		own := int64(noise.Hash(seed, uint32(col), uint32(row)) & 0xffff)
		g := grain.At(x, y)
		return grounds[pattern].texelAt(mulFixed(body, one/16)+mulFixed(g, one/60),
			mulFixed(body, mulFixed(own, one/2)+mulFixed(g, one/2)))
	}
}

// hayPainter paints loose stalks in all directions.
func hayPainter(seed uint64) painter {
	first, second, third := noise.NewFractal(seed, 6, 3), noise.NewFractal(seed+1, 6, 3), noise.NewFractal(seed+2,
		8, 4)
	colors := ramp{{74, 58, 22}, {136, 110, 50}, {182, 154, 82}, {214, 190, 122}}
	return func(x, y int64) texel {
		a, b := first.At(x*9+y, y*2-x), second.At(x-y*2, y*9+x*2)
		c := third.At(x*6+y*5, y*6-x*5)
		top := max(a, b, c)
		return colors.texelAt(mulFixed(top, one/9), mulFixed(top, one*13/10)-one*4/10)
	}
}
