package simulation

import (
	"os"
	"testing"
	"time"
)

func TestSeeds(t *testing.T) {
	const seeds = 4000
	var total Stats
	began := time.Now()
	for seed := range uint64(seeds) {
		if f := Run(Generate(seed), &total); f != nil {
			t.Fatal(f)
		}
	}
	t.Logf("%+v in %v", total, time.Since(began))
}

func TestReplay(t *testing.T) {
	path := os.Getenv("SCRIPT")
	if path == "" {
		t.Skip("SCRIPT names no file")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if f := Run(s, nil); f != nil {
		t.Fatal(f)
	}
}
