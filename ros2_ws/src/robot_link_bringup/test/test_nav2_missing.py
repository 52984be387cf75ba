"""Where there is no Nav2, its launch file says in one line what to install, and starts nothing."""

import unittest

from launch import LaunchDescription
from launch.actions import ExecuteProcess
from launch_testing import post_shutdown_test
from launch_testing.actions import ReadyToTest
from launch_testing.util import KeepAliveProc
import peer


def generate_test_description():
    launch = ExecuteProcess(cmd=['ros2', 'launch', 'robot_link_bringup', 'nav2.launch.py', 'sim:=true'])
    return LaunchDescription([launch, KeepAliveProc(), ReadyToTest()]), {'launch': launch}


class WhileItRuns(unittest.TestCase):

    def test_it_ends_by_itself(self, proc_info, launch):
        proc_info.assertWaitForShutdown(launch, timeout=peer.PATIENCE)


@post_shutdown_test()
class Afterwards(unittest.TestCase):

    def test_it_said_what_is_missing(self, proc_info, proc_output, launch):
        self.assertEqual(proc_info[launch].returncode, 1)
        said = ''.join(event.text.decode() for event in proc_output[launch]).splitlines()
        lines = [line for line in said if line and not line.startswith('[INFO]')]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn('install or source first: nav2_behaviors, nav2_bt_navigator', lines[0])
