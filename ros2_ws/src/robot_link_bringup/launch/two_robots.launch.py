"""Start bridges to two robots, each in a namespace of its own: an example of how to compose bridge.launch.py."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import SetRemap
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument('sim', default_value='true', choices=['true', 'false'],
                              description='start a virtual microcontroller for each'),
        *robot('robot1', mcu_host='127.0.0.1', bind_port='5001'),
        *robot('robot2', mcu_host='127.0.0.2', bind_port='5002'),
    ])


def robot(name, mcu_host, bind_port):
    host, port = name + '_host', name + '_bind_port'
    bridge = PathJoinSubstitution([FindPackageShare('robot_link_bringup'), 'launch', 'bridge.launch.py'])
    return [
        DeclareLaunchArgument(host, default_value=mcu_host,
                              description=f'name or IPv4 address of the microcontroller of {name}'),
        DeclareLaunchArgument(port, default_value=bind_port,
                              description=f'UDP port of this host for the packets of {name}'),
        # The group keeps the arguments of one robot from the other, and from what includes this file.
        GroupAction([
            SetRemap('/tf', 'tf'),  # both have odom and base_link: each its own tree, as Nav2 does it
            IncludeLaunchDescription(bridge, launch_arguments={
                'namespace': name,
                'mcu_host': LaunchConfiguration(host),
                'bind_port': LaunchConfiguration(port),
                'sim': LaunchConfiguration('sim'),
            }.items()),
        ]),
    ]
