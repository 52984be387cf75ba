"""The bridge drives a virtual robot, comes back when it is killed, and says so when the robot is gone."""

import os
import unittest

from launch_testing import post_shutdown_test
import peer
from nav_msgs.msg import Odometry
from robot_link_msgs.msg import LinkStatus

TRACE = peer.new_file('.csv')


def generate_test_description():
    return peer.launch(('bridge.launch.py', {
        'sim': 'true', 'mcu_host': peer.own_address(), 'bind_port': '0', 'namespace': 'robot',
        'sim_args': f"--name 'it is virtual' --trace {TRACE}",
    }))


def speeds():
    """Return vx of each control step so far, in m/s. The last line may not be whole yet."""
    with open(TRACE) as trace:
        return [float(row.split(',')[1]) for row in trace.read().split('\n')[1:-1]]


class WhileItRuns(unittest.TestCase):

    def setUp(self):
        self.peer = peer.Peer()
        self.addCleanup(self.peer.close)

    def test_the_robot_is_driven_and_what_dies_is_noticed(self, launch_service):
        p = self.peer
        p.listen('/robot/link/status', LinkStatus)
        p.listen('/robot/odom', Odometry)
        p.drive('/robot/cmd_vel', 0.25)
        p.wait_for('motion', '/robot/odom', lambda m: m.twist.twist.linear.x > 0.24)
        before = p.wait_for('UP', '/robot/link/status', lambda m: m.state == LinkStatus.STATE_UP)
        self.assertEqual(before.robot_name, 'it is virtual')

        steps = len(speeds())
        peer.kill(launch_service, 'bridge_node')
        p.last.clear()
        p.wait_for('the bridge again', '/robot/link/status',
                   lambda m: m.state == LinkStatus.STATE_UP and m.session != before.session)
        p.wait_for('motion again', '/robot/odom', lambda m: m.twist.twist.linear.x > 0.24)
        meanwhile = speeds()[steps:]
        self.assertEqual(min(meanwhile), 0.0, 'the robot was not at rest without its bridge')
        self.assertGreater(meanwhile.count(0.0), 1000, 'control steps of 1 ms at rest, of 2 s without a bridge')

        peer.kill(launch_service, 'robot_link')
        down = p.wait_for('DOWN', '/robot/link/status', lambda m: m.state == LinkStatus.STATE_DOWN)
        self.assertFalse(down.motion_permitted)
        self.assertNotEqual(down.reason, '')


@post_shutdown_test()
class Afterwards(unittest.TestCase):

    def test_the_bridge_ends_well(self, proc_info, proc_output):
        os.remove(TRACE)
        codes = {os.path.basename(info.cmd[0]): info.returncode for info in proc_info}
        self.assertEqual(codes, {'bridge_node': 0, 'robot_link': -9})
        self.assertEqual(peer.unknown_parameters(proc_output), [])
