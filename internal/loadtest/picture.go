package loadtest

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
)

// worstP99 returns the highest 99th percentile of all slots, in milliseconds.
func (r *Report) worstP99() (ms float64) {
	for _, s := range r.Over {
		ms = max(ms, s.P99)
	}
	return ms
}

var bars = []rune("▁▂▃▄▅▆▇█")

// Sparkline returns the 99th percentile over time in one line; a slot without an answer is blank,
// and one with a failure is a cross.
func (r *Report) Sparkline() string {
	worst := r.worstP99()
	var b strings.Builder
	for _, s := range r.Over {
		switch {
		case s.Failed > 0:
			b.WriteRune('×')
		case s.Calls == 0:
			b.WriteRune(' ')
		default:
			b.WriteRune(bars[int(s.P99/worst*float64(len(bars)-1)+0.5)])
		}
	}
	return b.String()
}

// The picture's measures, in pixels.
const (
	wide, high = 720, 260
	left, top  = 56, 34
	plotWide   = wide - left - 16
	plotHigh   = high - top - 40
)

// Picture writes latency over time as SVG: the median and the 99th percentile on a logarithmic
// scale, calls a second as bars behind them, failures as crosses.
func (r *Report) Picture(out io.Writer, title string) error {
	var b strings.Builder
	scale := r.scaleOf()
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="11">`+"\n", wide, high)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/><text x="%d" y="18" font-size="13">%s</text>`+"\n", wide,
		high, left, escapeXML(title))
	scale.drawGrid(&b)
	r.drawBars(&b, scale)
	r.drawLine(&b, scale, "#d9822b", func(s Slot) float64 { return s.P99 })
	r.drawLine(&b, scale, "#2b6cb0", func(s Slot) float64 { return s.P50 })
	for _, s := range r.Over {
		if s.Failed > 0 {
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="#c00" text-anchor="middle">×</text>`+"\n", scale.x(s.At), top+10)
		}
	}
	legend := func(x int, style, text string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d" %s>%s</text>`+"\n", x, high-8, style, text)
	}
	legend(left, `fill="#2b6cb0"`, "p50 ms")
	legend(left+60, `fill="#d9822b"`, "p99 ms")
	legend(left+120, `fill="#888"`, fmt.Sprintf("calls/s, highest %.0f", scale.rate))
	legend(left+270, `fill="#c00"`, "× failed")
	legend(wide-16, `text-anchor="end"`, fmt.Sprintf("%.0f s", scale.seconds))
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}

// scale maps figures to pixels.
type scale struct {
	seconds  float64
	low, top float64 // bounds in milliseconds, powers of ten
	rate     float64 // the highest rate
	step     float64 // seconds of a slot
}

func (r *Report) scaleOf() scale {
	s := scale{seconds: max(r.Seconds, 1e-3), low: math.Inf(1), top: 1, step: max(r.Seconds, 1e-3)}
	if len(r.Over) > 1 {
		s.step = r.Over[1].At
	}
	for _, o := range r.Over {
		if o.Calls > 0 {
			s.low, s.top = min(s.low, o.P50), max(s.top, o.P99)
		}
		s.rate = max(s.rate, float64(o.Calls)/s.step)
	}
	if math.IsInf(s.low, 1) {
		s.low = 1
	}
	s.low = math.Pow(10, math.Floor(math.Log10(max(s.low, 0.01))))
	s.top = max(math.Pow(10, math.Ceil(math.Log10(s.top))), s.low*10)
	return s
}

func (s scale) x(seconds float64) float64 { return left + seconds/s.seconds*plotWide }

func (s scale) y(ms float64) float64 {
	part := math.Log10(max(ms, s.low)/s.low) / math.Log10(s.top/s.low)
	return top + plotHigh*(1-min(part, 1))
}

func (s scale) drawGrid(b *strings.Builder) {
	for ms := s.low; ms <= s.top*1.001; ms *= 10 {
		y := s.y(ms)
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1[3]f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%g</text>`+"\n", left, left+plotWide, y, left-6, y+4, ms)
	}
}

func (r *Report) drawBars(b *strings.Builder, s scale) {
	for _, o := range r.Over {
		if o.Calls == 0 {
			continue
		}
		h := float64(o.Calls) / s.step / s.rate * plotHigh
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#eee"/>`+"\n", s.x(o.At), top+plotHigh-h,
			max(s.x(s.step)-left-1, 0.5), h)
	}
}

func (r *Report) drawLine(b *strings.Builder, s scale, color string, figure func(Slot) float64) {
	var points []string
	for _, o := range r.Over {
		if o.Calls > 0 {
			points = append(points, fmt.Sprintf("%.1f,%.1f", s.x(o.At+s.step/2), s.y(figure(o))))
		}
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.6" points="%s"/>`+"\n", color,
		strings.Join(points, " "))
}
