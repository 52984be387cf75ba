"""A real Nav2 drives a virtual robot to goals, and the robot stops when Nav2 is told to stop, and when it dies."""

import math
import os
import time
import unittest

from launch_testing import post_shutdown_test
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
import peer
from rclpy.action import ActionClient
from robot_link_msgs.msg import LinkStatus

ARRIVED, CANCELED = 4, 5  # action_msgs/GoalStatus


def generate_test_description():
    return peer.launch(('nav2.launch.py', {'sim': 'true', 'mcu_host': peer.own_address(), 'bind_port': '0'}))


def rests(odom):
    twist = odom.twist.twist
    return abs(twist.linear.x) < 0.01 and abs(twist.linear.y) < 0.01 and abs(twist.angular.z) < 0.02


class WhileItRuns(unittest.TestCase):

    def setUp(self):
        self.peer = peer.Peer()
        self.addCleanup(self.peer.close)
        self.peer.listen('/odom', Odometry)
        self.peer.listen('/link/status', LinkStatus)
        self.client = ActionClient(self.peer.node, NavigateToPose, 'navigate_to_pose')
        self.addCleanup(self.client.destroy)

    def answer(self, what, future, patience=peer.PATIENCE):
        deadline = time.monotonic() + patience
        while not future.done():
            self.assertLess(time.monotonic(), deadline, f'{what} did not come')
            self.peer.executor.spin_once(timeout_sec=0.1)
        return future.result()

    def goal(self, x, y, yaw):
        goal = NavigateToPose.Goal()
        goal.pose.header.frame_id = 'map'
        goal.pose.pose.position.x, goal.pose.pose.position.y = x, y
        goal.pose.pose.orientation.z, goal.pose.pose.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)
        deadline = time.monotonic() + 2 * peer.PATIENCE
        while not (handle := self.answer('an answer', self.client.send_goal_async(goal))).accepted:
            self.assertLess(time.monotonic(), deadline, 'Nav2 takes no goal')  # it does when it is active
        return handle

    def wait_until(self, what, holds):
        self.peer.last.pop('/odom', None)
        return self.peer.wait_for(what, '/odom', holds)

    def test_goals_are_reached_and_every_end_is_rest(self, launch_service):
        self.assertTrue(self.client.wait_for_server(timeout_sec=2 * peer.PATIENCE), 'there is no Nav2')

        for x, y, yaw in ((1.0, 0.0, 0.0), (1.0, 0.7, math.pi / 2), (0.0, 0.0, math.pi)):
            end = self.answer('the end of the way', self.goal(x, y, yaw).get_result_async())
            self.assertEqual(end.status, ARRIVED)
            at = self.wait_until('rest', rests).pose.pose
            self.assertLess(math.hypot(at.position.x - x, at.position.y - y), 0.15)
            turned = 2 * math.atan2(at.orientation.z, at.orientation.w)
            self.assertLess(abs(math.remainder(turned - yaw, 2 * math.pi)), 0.15)

        status = self.peer.wait_for('a status', '/link/status', lambda m: m.cmd_vel_publishers)
        self.assertEqual(status.cmd_vel_publishers, ['/velocity_smoother'], 'Nav2 contradicts itself')
        self.assertEqual(list(status.graph_warnings), [])

        handle = self.goal(-4.0, 0.0, math.pi)
        self.wait_until('motion', lambda m: m.twist.twist.linear.x > 0.3)
        self.answer('the cancellation', handle.cancel_goal_async())
        self.wait_until('rest after a cancelled goal', rests)
        self.assertEqual(self.answer('the end', handle.get_result_async()).status, CANCELED)

        handle = self.goal(15.0, 0.0, 0.0)  # off the map: no way leads there, and it tries to recover
        self.wait_until('a turn on the spot', lambda m: m.twist.twist.angular.z > 0.3)
        self.answer('the cancellation', handle.cancel_goal_async())
        self.wait_until('rest after a cancelled recovery', rests)

        self.goal(-4.0, 0.0, math.pi)
        self.wait_until('motion', lambda m: m.twist.twist.linear.x > 0.3)
        peer.kill(launch_service, 'velocity_smoother')
        self.wait_until('rest without a smoother', rests)


@post_shutdown_test()
class Afterwards(unittest.TestCase):

    def test_the_bridge_ends_well(self, proc_info, proc_output):
        codes = {os.path.basename(info.cmd[0]): info.returncode for info in proc_info}
        self.assertEqual((codes['bridge_node'], codes['robot_link'], codes['velocity_smoother']), (0, 0, -9))
        self.assertEqual(peer.unknown_parameters(proc_output), [])
