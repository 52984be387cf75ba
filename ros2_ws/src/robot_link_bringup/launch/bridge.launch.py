"""
Start the bridge to a microcontroller, or to a virtual one of its own.

Include it within a GroupAction, as two_robots.launch.py does: what is included bare takes arguments that others have
left behind (params_file, say), and leaves its own.
"""

import shlex

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import ExecutableInPackage, FindPackageShare


def generate_launch_description():
    params_file = PathJoinSubstitution([FindPackageShare('robot_link_bringup'), 'config', 'bridge.yaml'])
    return LaunchDescription([
        DeclareLaunchArgument('mcu_host', default_value='',
                              description='name or IPv4 address of the microcontroller; empty: as params_file says, 127.0.0.1 with sim'),
        DeclareLaunchArgument('mcu_port', default_value='',
                              description='UDP port of the microcontroller; empty: as params_file says, 5000 with sim'),
        DeclareLaunchArgument('bind_port', default_value='',
                              description='UDP port of this host for its packets, one for each robot; empty: as params_file says'),
        DeclareLaunchArgument('namespace', default_value='',
                              description='namespace of the node and its topics'),
        DeclareLaunchArgument('params_file', default_value=params_file,
                              description='parameters of the bridge'),
        DeclareLaunchArgument('publish_tf', default_value='', choices=['', 'true', 'false'],
                              description='publish odom_frame_id to base_frame_id; empty: as params_file says'),
        DeclareLaunchArgument('log_level', default_value='info',
                              choices=['debug', 'info', 'warn', 'error', 'fatal'],
                              description='what the bridge logs, at least'),
        DeclareLaunchArgument('respawn', default_value='true', choices=['true', 'false'],
                              description='start the bridge again, 2 s after it ended by itself'),
        DeclareLaunchArgument('sim', default_value='false', choices=['true', 'false'],
                              description='start a virtual microcontroller on this host, and bridge to it'),
        DeclareLaunchArgument('sim_args', default_value='',
                              description="more for the virtual one: '--drive differential' (see robot_link sim --help)"),
        OpaqueFunction(function=start),
    ])


def start(context):
    arg = context.launch_configurations
    given = {}
    actions = []
    if arg['sim'] == 'true':
        given = {'mcu_host': '127.0.0.1', 'mcu_port': 5000}
    for name, kind in (('mcu_host', str), ('mcu_port', int), ('bind_port', int), ('publish_tf', lambda text: text == 'true')):
        if arg[name]:
            given[name] = kind(arg[name])
    if arg['sim'] == 'true':
        actions.append(ExecuteProcess(
            cmd=[ExecutableInPackage('robot_link', 'robot_link_bridge'), 'sim',
                 '--listen', '{mcu_host}:{mcu_port}'.format(**given), *shlex.split(arg['sim_args'])],
            output='screen'))
    actions.append(Node(
        package='robot_link_bridge', executable='bridge_node',
        namespace=arg['namespace'],
        parameters=[arg['params_file'], given],
        ros_arguments=['--log-level', arg['log_level']],
        output='screen',
        respawn=arg['respawn'] == 'true', respawn_delay=2.0))
    return actions
