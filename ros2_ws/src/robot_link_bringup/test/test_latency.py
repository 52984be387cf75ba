"""The latency node measures a virtual microcontroller, while the bridge drives it."""

import unittest

from launch_testing import post_shutdown_test
from launch_testing.asserts import assertExitCodes
import peer
from robot_link_msgs.msg import LatencyStats, LinkStatus

MCU = peer.own_address()


def generate_test_description():
    return peer.launch(
        ('bridge.launch.py', {'sim': 'true', 'mcu_host': MCU, 'bind_port': '0'}),
        ('latency.launch.py', {'mcu_host': MCU, 'rate': '200'}))


class WhileItRuns(unittest.TestCase):

    def test_both_are_served(self):
        p = peer.Peer()
        self.addCleanup(p.close)
        p.listen('/link/latency', LatencyStats)
        p.listen('/link/status', LinkStatus)
        stats = p.wait_for('a window with replies', '/link/latency', lambda m: m.received > 100)
        self.assertEqual(stats.rate, 200.0)
        self.assertEqual(stats.mcu, MCU + ':5000')
        self.assertGreater(stats.round_trip_p50, 0.0)
        self.assertLess(stats.round_trip_p50, 0.05)
        p.wait_for('UP', '/link/status', lambda m: m.state == LinkStatus.STATE_UP)


@post_shutdown_test()
class Afterwards(unittest.TestCase):

    def test_all_end_well(self, proc_info, proc_output):
        assertExitCodes(proc_info)
        self.assertEqual(peer.unknown_parameters(proc_output), [])
