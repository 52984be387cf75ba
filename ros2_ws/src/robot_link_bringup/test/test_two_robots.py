"""Two robots on one host keep out of each other's way."""

import unittest

from launch_testing import post_shutdown_test
from launch_testing.asserts import assertExitCodes
from nav_msgs.msg import Odometry
import peer
from robot_link_msgs.msg import LinkStatus
from tf2_msgs.msg import TFMessage


def generate_test_description():
    return peer.launch(('two_robots.launch.py', {
        'robot1_host': peer.own_address(), 'robot1_bind_port': '0',
        'robot2_host': peer.own_address(), 'robot2_bind_port': '0',
    }))


class WhileItRuns(unittest.TestCase):

    def test_a_command_moves_one_of_them(self):
        p = peer.Peer()
        self.addCleanup(p.close)
        for robot in ('robot1', 'robot2'):
            p.listen(f'/{robot}/link/status', LinkStatus)
            p.listen(f'/{robot}/odom', Odometry)
            p.listen(f'/{robot}/tf', TFMessage)
        p.drive('/robot1/cmd_vel', 0.25)
        p.wait_for('motion', '/robot1/odom', lambda m: m.pose.pose.position.x > 0.2)
        other = p.wait_for('odometry', '/robot2/odom', lambda m: True)
        self.assertAlmostEqual(other.pose.pose.position.x, 0.0, places=3)
        for robot in ('robot1', 'robot2'):
            p.wait_for('its own tree', f'/{robot}/tf', lambda m: True)
            p.wait_for('UP', f'/{robot}/link/status', lambda m: m.state == LinkStatus.STATE_UP)


@post_shutdown_test()
class Afterwards(unittest.TestCase):

    def test_all_end_well(self, proc_info):
        assertExitCodes(proc_info)
        self.assertEqual(len(list(proc_info)), 4)
