# robot link: what a user and a developer run. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

GO := tools/go
TAGS := cyclonedds
BRIDGE := ros2_ws/src/robot_link_bridge

# Debian 12; Ubuntu 22.04 and 24.04 have the same names (not verified).
BUILD_PACKAGES := go gcc libc6-dev cyclonedds-dev cyclonedds-tools
TEST_PACKAGES := $(BUILD_PACKAGES) python3 cppcheck clang-tidy gcovr

.PHONY: help
help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: demo
demo: build ## the whole way in half a minute: planner, bridge, virtual MCU, and what happens when each fails
	@bin/robot_link demo

.PHONY: build
build: setup ## build bin/robot_link
	@$(GO) build -tags $(TAGS) -ldflags "-X robot_link/$(BRIDGE)/mcusim.Commit=$$(git rev-parse HEAD 2>/dev/null)" -o bin/robot_link ./$(BRIDGE)/cmd/robot_link

.PHONY: setup
setup: ## install what building needs
	@tools/setup $(BUILD_PACKAGES)

# Budget of `make test` in seconds, on 2 cores, of 720 in the end. Measured in a new clone, with a ROS 2 on the machine
# and Go's cache warm: 211; beside other work up to 430. The packages and Go itself, once: 60.
#   firmware: tests, linters, coverage 25; state by state 25; Python 2; go vet 20; Go tests 130, of which the simulation
#   45 and the real program 120, 50 of these with ROS; the ROS 2 workspace 60, the first time 140
.PHONY: test
test: setup-test test-firmware test-python lint-go ros ## all that guards a change
	$(GO) test -tags $(TAGS) ./...

.PHONY: setup-test
setup-test:
	@tools/setup $(TEST_PACKAGES)

.PHONY: test-firmware
test-firmware: ## the firmware's C: unit tests under sanitizers, branch coverage, linters
	$(MAKE) --no-print-directory -C firmware/test test lint
	$(MAKE) --no-print-directory -C firmware/test/exhaustive run | grep -vE '^  ok '
	$(MAKE) --no-print-directory -C firmware/test coverage | grep -E '^(File|firmware|TOTAL|-)'

.PHONY: test-python
test-python: ## the Python mirror of the wire
	cd tools/python && python3 -m unittest -q

.PHONY: lint-go
lint-go:
	@bad=$$($$($(GO) env GOROOT)/bin/gofmt -l $$(git ls-files '*.go')) && test -z "$$bad" || { echo "run gofmt -w on: $$bad" >&2; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags $(TAGS) ./...

.PHONY: ros
ros: ## build and test the ROS 2 workspace, in build/ros, where there is a Humble
	@tools/ros test

.PHONY: check-all
check-all: test ## test, and what is slow: mutants, the race detector, longer fuzzing
	tools/mutants/run
	$(MAKE) --no-print-directory -C firmware/test/exhaustive seeded
	$(GO) test -race -tags $(TAGS) $$($(GO) list -tags $(TAGS) ./... | grep -v /simulation) # that one has no threads
	$(GO) test -run '^$$' -fuzz FuzzDecode -fuzztime 60s ./$(BRIDGE)/wire
	$(GO) test -run '^$$' -fuzz FuzzHonest -fuzztime 60s ./$(BRIDGE)/clocksync
	$(GO) test -run '^$$' -fuzz FuzzHostile -fuzztime 60s ./$(BRIDGE)/clocksync

.PHONY: plots
plots: setup ## draw docs/plots from a simulation
	$(GO) run ./$(BRIDGE)/mcusim/plots

.PHONY: soak
soak: setup ## the simulation for ever: failures to build/soak, goes on where it was stopped
	$(GO) run ./$(BRIDGE)/simulation/soak

.PHONY: clean
clean: ## remove what was built
	rm -rf bin build
