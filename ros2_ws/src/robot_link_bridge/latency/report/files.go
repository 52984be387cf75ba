package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Files are the three that a measurement leaves: FILE.html, and FILE.json and FILE.csv beside it.
type Files struct{ HTML, JSON, CSV string }

// FilesOf takes the name of the page, and sees that files can be made where it is: it would be late to find out after
// the measurement.
func FilesOf(page string) (Files, error) {
	base, ok := strings.CutSuffix(page, ".html")
	if !ok || filepath.Base(base) == "" || strings.HasSuffix(base, "/") {
		return Files{}, fmt.Errorf("report %q: want a name that ends in .html", page)
	}
	probe, err := os.CreateTemp(filepath.Dir(page), ".robot_link_*")
	if err != nil {
		return Files{}, fmt.Errorf("no report can be written there: %w", err)
	}
	return Files{HTML: page, JSON: base + ".json", CSV: base + ".csv"}, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Write writes all three, each as a whole or not at all. others are measurements to compare with.
func (f Files) Write(d *Document, others []*Document) error {
	for _, file := range []struct {
		name string
		make func() ([]byte, error)
	}{
		{f.JSON, d.JSON}, {f.CSV, d.CSV}, {f.HTML, func() ([]byte, error) { return d.HTML(others) }},
	} {
		b, err := file.make()
		if err != nil {
			return fmt.Errorf("make %s: %w", file.name, err)
		}
		if err := replace(file.name, b); err != nil {
			return err
		}
	}
	return nil
}

func replace(name string, b []byte) error {
	next := name + ".new"
	if err := os.WriteFile(next, b, 0o644); err != nil {
		return err
	}
	return os.Rename(next, name)
}
