package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// A chart is drawn into a box of this size, in units that the page scales.
const (
	chartWidth, chartHeight = 640, 340
	marginLeft, marginRight = 78, 16
	marginTop, marginBottom = 16, 58
)

// axis maps values to a side of the box, on a logarithmic or a linear scale.
type axis struct {
	from, to float64
	log      bool
	low      float64 // where from is, in the box
	high     float64
}

func (a axis) at(v float64) float64 {
	if a.log {
		return a.low + (a.high-a.low)*math.Log(v/a.from)/math.Log(a.to/a.from)
	}
	return a.low + (a.high-a.low)*(v-a.from)/(a.to-a.from)
}

func xAxis(from, to float64, log bool) axis {
	return axis{from, to, log, marginLeft, chartWidth - marginRight}
}

func yAxis(from, to float64, log bool) axis {
	return axis{from, to, log, chartHeight - marginBottom, marginTop}
}

// ticks of a logarithmic axis are 1, 2 and 5 of each decade; more than a few decades show only the 1. Those of a linear one are
// some five round numbers.
func (a axis) ticks() (at []float64) {
	if a.log {
		steps := []float64{1, 2, 5}
		if a.to/a.from > 150 {
			steps = steps[:1]
		}
		for decade := math.Pow(10, math.Floor(math.Log10(a.from))); decade <= a.to*1.001; decade *= 10 {
			for _, s := range steps {
				if v := s * decade; v >= a.from*0.999 && v <= a.to*1.001 {
					at = append(at, v)
				}
			}
		}
		return at
	}
	step := math.Pow(10, math.Floor(math.Log10((a.to-a.from)/4)))
	for _, s := range []float64{5, 2} {
		if (a.to-a.from)/(step*s) >= 4 {
			step *= s
			break
		}
	}
	for v := math.Ceil(a.from/step) * step; v <= a.to*1.0001; v += step {
		at = append(at, v)
	}
	return at
}

// chart collects SVG.
type chart struct {
	b    strings.Builder
	x, y axis
}

func newChart(label string, x, y axis) *chart {
	c := &chart{x: x, y: y}
	fmt.Fprintf(&c.b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight, html.EscapeString(label))
	return c
}

func (c *chart) text(class string, x, y float64, anchor, text string) {
	fmt.Fprintf(&c.b, `<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(text))
}

// xTick is a line across the box and its label; so is yTick.
func (c *chart) xTick(v float64, label string) {
	x := c.x.at(v)
	fmt.Fprintf(&c.b, `<path class="grid" d="M%.1f %dV%d"/>`, x, marginTop, chartHeight-marginBottom)
	c.text("", x, chartHeight-marginBottom+20, "middle", label)
}

func (c *chart) yTick(v float64, label string) {
	y := c.y.at(v)
	fmt.Fprintf(&c.b, `<path class="grid" d="M%d %.1fH%d"/>`, marginLeft, y, chartWidth-marginRight)
	c.text("", marginLeft-8, y+5, "end", label)
}

func (c *chart) titles(x, y string) {
	c.text("", (marginLeft+chartWidth-marginRight)/2, chartHeight-10, "middle", x)
	fmt.Fprintf(&c.b, `<text class="ytitle" transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>`,
		(marginTop+chartHeight-marginBottom)/2, html.EscapeString(y))
}

func (c *chart) line(class string, points []string) {
	if len(points) == 1 {
		points = append(points, points[0]) // drawn as a dot by its round end
	}
	if len(points) > 0 {
		fmt.Fprintf(&c.b, `<path class="line %s" d="M%s"/>`, class, strings.Join(points, "L"))
	}
}

func (c *chart) point(x, y float64) string { return fmt.Sprintf("%.1f %.1f", c.x.at(x), c.y.at(y)) }

func (c *chart) end() template.HTML {
	c.b.WriteString("</svg>")
	return template.HTML(c.b.String()) // all text in it was escaped
}

// usLabel is a time in us in the fewest letters.
func usLabel(us float64) string {
	switch {
	case us >= 1e6:
		return fmt.Sprintf("%.4g s", us/1e6)
	case us >= 1e3:
		return fmt.Sprintf("%.4g ms", us/1e3)
	}
	return fmt.Sprintf("%.4g µs", us)
}

// span is the range of a logarithmic axis that has all values, with some room.
func span(low, high float64) (from, to float64) {
	if !(low > 0) || high < low {
		return 1, 1000
	}
	return low / 1.15, high * 1.15
}
