"""What the launch tests share: launch files to start, and a node that drives and listens."""

import os
import random
import signal
import tempfile
import time

from ament_index_python.packages import get_package_share_directory
from geometry_msgs.msg import Twist
from launch import LaunchDescription
from launch.actions import GroupAction, IncludeLaunchDescription
from launch.events.process import SignalProcess
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.actions import ReadyToTest
import rclpy

PATIENCE = 30.0  # s, for what must come, however slow the machine


def launch(*files):
    """Describe a test of launch files, each with its arguments."""
    share = get_package_share_directory('robot_link_bringup')
    return LaunchDescription([
        *(GroupAction([IncludeLaunchDescription(PythonLaunchDescriptionSource(os.path.join(share, 'launch', name)),
                                                launch_arguments=arguments.items())]) for name, arguments in files),
        ReadyToTest(),
    ])


def own_address():
    """Return an address of this host on which nobody else has a virtual microcontroller."""
    return '127.{}.{}.{}'.format(*(random.randint(1, 254) for _ in range(3)))


def new_file(suffix):
    handle, path = tempfile.mkstemp(suffix=suffix)
    os.close(handle)
    return path


def kill(launch_service, executable):
    """Kill a process of the launch file, without warning."""
    launch_service.emit_event(SignalProcess(
        signal_number=signal.SIGKILL,
        process_matcher=lambda action: action.process_details is not None
        and os.path.basename(action.process_details['cmd'][0]) == executable))


def unknown_parameters(proc_output):
    """Return what the nodes said about parameters in their files that they do not have."""
    lines = ''.join(event.text.decode() for event in proc_output).split('\n')
    return [line for line in lines if ': unknown' in line]


class Peer:
    """A node with what topics said last. It lives while something is awaited."""

    def __init__(self):
        self.context = rclpy.Context()
        self.context.init()
        self.executor = rclpy.executors.SingleThreadedExecutor(context=self.context)
        self.node = rclpy.create_node('peer', context=self.context)
        self.executor.add_node(self.node)
        self.last = {}

    def close(self):
        self.node.destroy_node()
        self.executor.shutdown()
        self.context.shutdown()

    def listen(self, topic, kind):
        self.node.create_subscription(kind, topic, lambda message: self.last.__setitem__(topic, message), 10)

    def drive(self, topic, vx):
        """Command a speed at 20 Hz, as a planner does."""
        publisher = self.node.create_publisher(Twist, topic, 1)
        command = Twist()
        command.linear.x = vx
        self.node.create_timer(0.05, lambda: publisher.publish(command))

    def wait_for(self, what, topic, holds):
        """Wait until the last message of a topic is as it must be, and return it."""
        deadline = time.monotonic() + PATIENCE
        while not (topic in self.last and holds(self.last[topic])):
            assert time.monotonic() < deadline, f'{what} did not come; {topic} last said {self.last.get(topic)}'
            self.executor.spin_once(timeout_sec=0.1)
        return self.last[topic]
