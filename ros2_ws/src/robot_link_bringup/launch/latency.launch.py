"""Measure delay and loss to the microcontroller, beside the bridge or alone."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    params_file = PathJoinSubstitution([FindPackageShare('robot_link_bringup'), 'config', 'latency.yaml'])
    return LaunchDescription([
        DeclareLaunchArgument('mcu_host', default_value='',
                              description='name or IPv4 address of the microcontroller; empty: as params_file says'),
        DeclareLaunchArgument('mcu_port', default_value='',
                              description='UDP port of the microcontroller; empty: as params_file says'),
        DeclareLaunchArgument('rate', default_value='',
                              description='probes a second, Hz; empty: as params_file says'),
        DeclareLaunchArgument('namespace', default_value='',
                              description='namespace of the node and its topic'),
        DeclareLaunchArgument('params_file', default_value=params_file,
                              description='parameters of the node'),
        DeclareLaunchArgument('log_level', default_value='info',
                              choices=['debug', 'info', 'warn', 'error', 'fatal'],
                              description='what the node logs, at least'),
        OpaqueFunction(function=start),
    ])


def start(context):
    arg = context.launch_configurations
    given = {name: kind(arg[name])
             for name, kind in (('mcu_host', str), ('mcu_port', int), ('rate', float)) if arg[name]}
    return [Node(
        package='robot_link_bridge', executable='latency_node',
        namespace=arg['namespace'],
        parameters=[arg['params_file'], given],
        ros_arguments=['--log-level', arg['log_level']],
        output='screen')]
