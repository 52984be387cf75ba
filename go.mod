module robot_link

go 1.25.0

require (
	github.com/sigurn/crc16 v0.0.0-20211026045750-20ab5afb07e3
	go.uber.org/multierr v1.11.0
	golang.org/x/sys v0.40.0
	gopkg.in/yaml.v3 v3.0.1
)
