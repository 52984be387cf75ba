package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// chart is a plot that gives each line a colour and dash of its own. The first error stays, and save tells it.
type chart struct {
	*plot.Plot
	lines         int
	width, height vg.Length
	err           error
}

// The palette of Okabe and Ito: told apart by colour-blind eyes too.
var colours = []color.RGBA{{0, 0, 0, 255}, {0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}}

func newChart(title, x, y string) *chart {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top, p.Legend.Left = true, true // text after its line: no viewer's font makes them overlap
	p.Legend.Padding = vg.Points(2)
	p.Add(plotter.NewGrid())
	return &chart{Plot: p, width: 18 * vg.Centimeter, height: 11 * vg.Centimeter}
}

// line adds a curve; every second one is dashed, so that one that covers another shows it.
func (c *chart) line(name string, xy plotter.XYs) {
	l, err := plotter.NewLine(xy)
	if err != nil {
		if c.err == nil {
			c.err = fmt.Errorf("%s: %w", name, err)
		}
		return
	}
	l.Color, l.Width = colours[c.lines%len(colours)], vg.Points(1.5)
	if c.lines%2 == 1 {
		l.Dashes = []vg.Length{vg.Points(6), vg.Points(2)}
	}
	c.lines++
	c.Add(l)
	c.Legend.Add(name, l)
}

// legendAt puts the legend's left upper corner where no curve is, in cm from that of the plot.
func (c *chart) legendAt(right, down vg.Length) {
	c.Legend.XOffs, c.Legend.YOffs = right*vg.Centimeter, -down*vg.Centimeter
}

// mark is an upright line at a moment.
func (c *chart) mark(name string, x, from, to float64) {
	c.line(name, plotter.XYs{{X: x, Y: from}, {X: x, Y: to}})
}

// square gives both axes one scale and range, about.
func (c *chart) square() {
	c.width, c.height = 15*vg.Centimeter, 15*vg.Centimeter
	c.X.Min, c.X.Max, c.Y.Min, c.Y.Max = -0.5, 2.6, -0.5, 2.75 // save widens it
}

func (c *chart) save(path string) error {
	if c.err != nil {
		return c.err
	}
	c.X.Max += 0.05 * (c.X.Max - c.X.Min) // or the picture's edge cuts the last number in two
	return c.Save(c.width, c.height, path)
}
