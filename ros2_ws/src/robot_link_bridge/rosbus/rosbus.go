// Package rosbus is the small part of ROS 2 that a node of this project needs: one node that publishes
// and subscribes. Open picks the way to ROS 2 that was compiled in by build tag: Cyclone DDS
// ("cyclonedds"). Everything may be called from any goroutine, except where a method says otherwise.
//
//	bus, err := rosbus.Open(rosbus.Options{Node: "robot_link_bridge"})
//	odom, err := rosbus.Advertise[msgs.Odometry](bus, "odom", rosbus.Reliable10)
//	_, err = rosbus.Subscribe(bus, "cmd_vel", rosbus.BestEffort1, func(m *msgs.Twist) { ... })
//	err = bus.Ready()
//	err = odom.Publish(&msgs.Odometry{...})
//
// A message is a struct of package msgs. Between here and the adapters there are only serialized bytes,
// fully-qualified names and the interfaces of package driver.
package rosbus

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/names"
)

// ErrClosed is what a closed Bus, Publisher or Subscription returns, wrapped with the action that failed.
var ErrClosed = driver.ErrClosed

// Message is a type that can travel on a topic; package msgs has them.
type Message = msgs.Message

// QoS is what the two ends of a topic have to agree on.
type QoS = driver.QoS

// Endpoint is a publisher or a subscription in the graph, and GID tells endpoints apart.
type (
	Endpoint = driver.Endpoint
	GID      = driver.GID
)

// Mismatch says what a subscription asks for that a publisher of its type does not offer ("transient local"); "" if
// they match.
func Mismatch(pub, sub *Endpoint) string { return driver.Mismatch(pub, sub) }

// The QoS of this project's topics, by what they promise and how many messages they keep.
var (
	BestEffort1 = QoS{Depth: 1}                                       // commands: only the latest matters
	BestEffort5 = QoS{Depth: 5}                                       // ROS's "sensor data"
	Reliable1   = QoS{Reliable: true, Depth: 1}                       // status: every change, nothing old
	Reliable10  = QoS{Reliable: true, Depth: 10}                      // ROS's default; odometry
	Reliable100 = QoS{Reliable: true, Depth: 100}                     // tf
	Latched1    = QoS{Reliable: true, TransientLocal: true, Depth: 1} // a late subscriber gets the last one
)

// Options says which node to be. Only Node is needed.
type Options struct {
	Node      string
	Namespace string // "" is "/"
	// DomainID joins that DDS domain; 0 joins the one that ROS_DOMAIN_ID names.
	DomainID int
	// Enclave is the security enclave to announce; "" is "/". Security itself is not supported.
	Enclave string
	// Remap maps one fully-qualified topic name to another, as from rosparam; nil changes nothing.
	Remap func(topic string) string
	// RemapService does the same for services.
	RemapService func(service string) string
	// Logf receives rare one-line warnings of the middleware; nil drops them.
	Logf func(format string, args ...any)
	// LogArgs are the command line's ROS arguments about logging ("--log-level", "debug"), for LogHandler.
	LogArgs []string
}

// Bus is one node in the ROS graph. The functions Advertise and Subscribe turn its serialized messages
// into structs.
type Bus interface {
	// Resolve turns a topic name as written ("odom", "~/status", "/tf") into the fully-qualified one
	// that this node uses for it, remaps included.
	Resolve(topic string) (string, error)
	// AdvertiseCDR and SubscribeCDR are the untyped ends of Advertise and Subscribe: typ is a ROS type
	// ("nav_msgs/msg/Odometry"), a message is its CDR with the encapsulation header. The bytes that fn
	// gets are only valid during the call.
	AdvertiseCDR(topic, typ string, qos QoS) (driver.Writer, error)
	SubscribeCDR(topic, typ string, qos QoS, fn driver.Take) (driver.Reader, error)
	// ServeCDR and ClientCDR are the untyped ends of Serve and NewClient: typ is a ROS service
	// ("std_srvs/srv/Trigger").
	ServeCDR(service, typ string, serve func(request []byte, reply driver.Reply)) (driver.Server, error)
	ClientCDR(service, typ string) (driver.Client, error)
	// Publishers and Subscriptions list the ends of a topic in the graph, this node's too, as far as discovery
	// has got. A node's name can come a little later than what it publishes.
	Publishers(topic string) ([]Endpoint, error)
	Subscriptions(topic string) ([]Endpoint, error)
	// Ready shows the node, its publishers and its subscriptions in the ROS graph ("ros2 node info").
	// Messages flow without it. What is made or closed later is shown by itself.
	Ready() error
	// LogHandler logs as nodes of ROS do, /rosout included, until Close; nil when the adapter has no such way.
	LogHandler() slog.Handler
	// Close takes the node and everything of it off the graph. No callback is running when it has
	// returned, and none comes after. It is idempotent, and must not be called from a callback.
	Close() error
}

// Open joins the ROS graph as one node.
func Open(o Options) (Bus, error) { return OpenWith(o, open) }

// OpenWith is Open with an adapter of the caller's choice, such as memory.Net.Open in tests.
func OpenWith(o Options, adapter func(driver.Options) (driver.Conn, error)) (Bus, error) {
	d := driver.Options{Node: o.Node, Enclave: o.Enclave, DomainID: o.DomainID, Logf: o.Logf, LogArgs: o.LogArgs}
	if err := names.ValidateNode(o.Node); err != nil {
		return nil, fmt.Errorf("rosbus: %w", err)
	}
	var err error
	if d.Namespace, err = names.Namespace(o.Namespace); err != nil {
		return nil, fmt.Errorf("rosbus: %w", err)
	}
	if d.DomainID == 0 {
		if d.DomainID, err = domainFromEnv(os.Getenv("ROS_DOMAIN_ID")); err != nil {
			return nil, fmt.Errorf("rosbus: %w", err)
		}
	}
	if d.DomainID < 0 || d.DomainID > maxDomain {
		return nil, fmt.Errorf("rosbus: domain id %d is not within 0 and %d", d.DomainID, maxDomain)
	}
	if d.Enclave == "" {
		d.Enclave = "/"
	}
	if d.Logf == nil {
		d.Logf = func(string, ...any) {}
	}
	conn, err := adapter(d)
	if err != nil {
		return nil, fmt.Errorf("rosbus: %w", err)
	}
	return &bus{conn: conn, node: d.Node, namespace: d.Namespace, remap: o.Remap, remapService: o.RemapService}, nil
}

// maxDomain is the last domain whose UDP ports exist: 7400 + 250 x 232 is 65400.
const maxDomain = 232

// domainFromEnv reads a ROS_DOMAIN_ID. Unset and empty are 0, as in rcl; a typing error must not end
// in another robot's domain.
func domainFromEnv(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(s, 10, 32)
	if err != nil || id > maxDomain {
		return 0, fmt.Errorf("ROS_DOMAIN_ID=%q: expected a number from 0 to %d", s, maxDomain)
	}
	return int(id), nil
}

type bus struct {
	conn            driver.Conn
	node, namespace string
	remap           func(string) string
	remapService    func(string) string

	closing sync.Once
	err     error

	mu      sync.Mutex
	clients []driver.Client // to end the calls that wait
}

func (b *bus) Resolve(topic string) (string, error) { return b.expand(topic, b.remap) }

// expand turns a topic's or a service's name as written into the one that the node uses.
func (b *bus) expand(name string, remap func(string) string) (string, error) {
	full, err := names.Expand(name, b.node, b.namespace)
	if err != nil {
		return "", err
	}
	if remap != nil {
		full = remap(full)
		if err := names.ValidateTopic(full); err != nil {
			return "", fmt.Errorf("remap of %q: %w", name, err)
		}
	}
	return full, nil
}

func (b *bus) AdvertiseCDR(topic, typ string, qos QoS) (driver.Writer, error) {
	full, err := b.check(topic, qos)
	if err == nil {
		var w driver.Writer
		if w, err = b.conn.NewWriter(full, typ, qos); err == nil {
			return w, nil
		}
	}
	return nil, fmt.Errorf("advertise %s (%s): %w", topic, typ, err)
}

func (b *bus) SubscribeCDR(topic, typ string, qos QoS, fn driver.Take) (driver.Reader, error) {
	full, err := b.check(topic, qos)
	if err == nil && fn == nil {
		err = errors.New("no callback")
	}
	if err == nil {
		var r driver.Reader
		if r, err = b.conn.NewReader(full, typ, qos, fn); err == nil {
			return r, nil
		}
	}
	return nil, fmt.Errorf("subscribe to %s (%s): %w", topic, typ, err)
}

func (b *bus) check(topic string, qos QoS) (string, error) {
	if qos.Depth < 1 {
		return "", fmt.Errorf("QoS depth %d is not at least 1", qos.Depth)
	}
	return b.Resolve(topic)
}

func (b *bus) ServeCDR(service, typ string, serve func([]byte, driver.Reply)) (driver.Server, error) {
	full, err := b.expand(service, b.remapService)
	if err == nil && serve == nil {
		err = errors.New("no callback")
	}
	if err == nil {
		var s driver.Server
		if s, err = b.conn.NewServer(full, typ, serve); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("serve %s (%s): %w", service, typ, err)
}

func (b *bus) ClientCDR(service, typ string) (driver.Client, error) {
	full, err := b.expand(service, b.remapService)
	if err == nil {
		var c driver.Client
		if c, err = b.conn.NewClient(full, typ); err == nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.clients = append(b.clients, c)
			return c, nil
		}
	}
	return nil, fmt.Errorf("client of %s (%s): %w", service, typ, err)
}

func (b *bus) Publishers(topic string) ([]Endpoint, error) {
	return b.list("publishers", topic, b.conn.Publishers)
}

func (b *bus) Subscriptions(topic string) ([]Endpoint, error) {
	return b.list("subscriptions", topic, b.conn.Subscriptions)
}

func (b *bus) list(what, topic string, ends func(topic string) ([]Endpoint, error)) ([]Endpoint, error) {
	full, err := b.Resolve(topic)
	if err == nil {
		var list []Endpoint
		if list, err = ends(full); err == nil {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%s of %s: %w", what, topic, err)
}

func (b *bus) Ready() error {
	if err := b.conn.Announce(); err != nil {
		return fmt.Errorf("announce the node %s: %w", b.node, err)
	}
	return nil
}

func (b *bus) LogHandler() slog.Handler {
	if l, ok := b.conn.(driver.Logger); ok {
		return l.LogHandler()
	}
	return nil
}

func (b *bus) Close() error {
	b.closing.Do(func() {
		b.mu.Lock()
		clients := b.clients
		b.mu.Unlock()
		for _, c := range clients {
			b.err = multierr.Append(b.err, c.Close())
		}
		b.err = multierr.Append(b.err, b.conn.Close())
	})
	return b.err
}
