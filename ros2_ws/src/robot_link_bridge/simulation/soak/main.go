// Command soak runs the simulation for ever, seed after seed, writes failures down, and goes on where it was
// stopped. `make soak` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/simulation"
)

// batch is how many seeds are done between two notes of how far it is.
const batch = 2000

// firstSeed is beyond those that the tests run.
const firstSeed = 1_000_000

func main() {
	dir := flag.String("dir", "build/soak", "`folder` for how far it is (next_seed) and for failures (seed_N.txt)")
	seeds := flag.Uint64("seeds", 0, "`number` of seeds to run, 0 = for ever")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failures, err := run(ctx, *dir, *seeds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	if failures > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, seeds uint64) (failures int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	progress := filepath.Join(dir, "next_seed")
	next, err := readSeed(progress)
	if err != nil {
		return 0, err
	}
	var total simulation.Stats
	began := time.Now()
	for end := next + seeds; (seeds == 0 || next < end) && ctx.Err() == nil; next += batch {
		found, stats := runBatch(next)
		total.Add(&stats)
		for _, f := range found {
			failures++
			path := filepath.Join(dir, fmt.Sprintf("seed_%d.txt", f.Script.Seed))
			text := fmt.Sprintf("%s\n# shrunk from seed %d, at %.6f s: %s\n", strings.TrimSpace(f.Script.String()), f.Script.Seed, float64(f.At)/1e6, f.What)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return failures, err
			}
			fmt.Printf("FAILED: %v (written to %s)\n", f, path)
		}
		if err := os.WriteFile(progress, fmt.Appendln(nil, next+batch), 0o644); err != nil {
			return failures, err
		}
		wall := time.Since(began).Seconds()
		fmt.Printf("seed %d: %.3g packets, %.3g control steps, %.3g s simulated, %.0f x real time, %d failures\n", next+batch,
			float64(total.Packets), float64(total.Steps), float64(total.SimulatedUs)/1e6, float64(total.SimulatedUs)/1e6/wall, failures)
	}
	return failures, nil
}

func readSeed(path string) (uint64, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return firstSeed, nil
	}
	if err != nil {
		return 0, err
	}
	seed, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s does not hold a seed (remove it to begin anew): %w", path, err)
	}
	return seed, nil
}

// runBatch runs the seeds from first on, on all processors.
func runBatch(first uint64) (found []*simulation.Failure, total simulation.Stats) {
	var mu sync.Mutex
	var workers sync.WaitGroup
	n := uint64(runtime.NumCPU())
	for worker := range n {
		workers.Go(func() {
			var stats simulation.Stats
			for seed := first + worker; seed < first+batch; seed += n {
				if f := simulation.Run(simulation.Generate(seed), &stats); f != nil {
					f = simulation.Shrink(f)
					mu.Lock()
					found = append(found, f)
					mu.Unlock()
				}
			}
			mu.Lock()
			total.Add(&stats)
			mu.Unlock()
		})
	}
	workers.Wait()
	return found, total
}
