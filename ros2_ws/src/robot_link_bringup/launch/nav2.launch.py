"""
Let Nav2 drive the robot, or a virtual one, to goals on a blank map.

Where the robot is on the map is known by odometry alone: the map's origin is where odometry began. With a localisation
(AMCL, SLAM) in the place of that, set localization:=false.
"""

from ament_index_python.packages import get_packages_with_prefixes
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, OpaqueFunction
from launch.substitutions import Command, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# Executables, which are also the names of their nodes in nav2.yaml, and the packages that they are in.
NAV2 = {
    'map_server': 'nav2_map_server',
    'controller_server': 'nav2_controller',
    'planner_server': 'nav2_planner',
    'behavior_server': 'nav2_behaviors',
    'bt_navigator': 'nav2_bt_navigator',
    'velocity_smoother': 'nav2_velocity_smoother',
    'lifecycle_manager': 'nav2_lifecycle_manager',
}
PLUGINS = ['nav2_navfn_planner', 'nav2_regulated_pure_pursuit_controller']

TO_BRIDGE = {
    'sim': ('false', 'start a virtual microcontroller on this host, and bridge to it'),
    'sim_args': ('', "more for the virtual one: '--drive differential' (see robot_link sim --help)"),
    'mcu_host': ('', 'name or IPv4 address of the microcontroller; empty: as bridge_params_file says'),
    'mcu_port': ('', 'UDP port of the microcontroller; empty: as bridge_params_file says'),
    'bind_port': ('', 'UDP port of this host for its packets; empty: as bridge_params_file says'),
}


def generate_launch_description():
    def of_bringup(*path):
        return PathJoinSubstitution([FindPackageShare('robot_link_bringup'), *path])
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, (default, text) in TO_BRIDGE.items()),
        DeclareLaunchArgument('bridge_params_file', default_value=of_bringup('config', 'bridge.yaml'),
                              description='parameters of the bridge'),
        DeclareLaunchArgument('nav2_params_file', default_value=of_bringup('config', 'nav2.yaml'),
                              description='parameters of Nav2'),
        DeclareLaunchArgument('map', default_value=of_bringup('maps', 'blank.yaml'),
                              description='map to drive on'),
        DeclareLaunchArgument('robot', default_value=of_bringup('urdf', 'robot.urdf.xacro'),
                              description='description of the robot'),
        DeclareLaunchArgument('localization', default_value='true', choices=['true', 'false'],
                              description="publish map -> odom: the map's origin is where odometry began"),
        DeclareLaunchArgument('bridge', default_value='true', choices=['true', 'false'],
                              description='start the bridge; false: it runs already'),
        DeclareLaunchArgument('ekf', default_value='false', choices=['true', 'false'],
                              description='robot_localization publishes odom -> base_link, by config/ekf.yaml'),
        DeclareLaunchArgument('twist_mux', default_value='false', choices=['true', 'false'],
                              description='twist_mux decides between Nav2 and a joystick, by config/twist_mux.yaml'),
        DeclareLaunchArgument('rviz', default_value='false', choices=['true', 'false'],
                              description='start RViz'),
        OpaqueFunction(function=start, args=[of_bringup]),
    ])


def start(context, of_bringup):
    arg = context.launch_configurations
    on = {name for name, value in arg.items() if value == 'true'}
    must_be_installed([
        *NAV2.values(), *PLUGINS, 'robot_state_publisher', 'tf2_ros', 'xacro',
        *(package for name, package in (('ekf', 'robot_localization'), ('twist_mux', 'twist_mux'), ('rviz', 'rviz2'))
          if name in on)])
    return [
        *([bridge(arg, 'false' if 'ekf' in on else '')] if 'bridge' in on else []),
        Node(package='robot_state_publisher', executable='robot_state_publisher', output='screen',
             parameters=[{'robot_description': ParameterValue(Command(['xacro ', arg['robot']]), value_type=str)}]),
        *([Node(package='tf2_ros', executable='static_transform_publisher', name='map_to_odom', output='screen',
                arguments=['--frame-id', 'map', '--child-frame-id', 'odom'])] if 'localization' in on else []),
        *nav2(arg, 'cmd_vel_navigation' if 'twist_mux' in on else 'cmd_vel'),
        *([Node(package='twist_mux', executable='twist_mux', name='twist_mux', output='screen',
                parameters=[of_bringup('config', 'twist_mux.yaml')],
                remappings=[('cmd_vel_out', 'cmd_vel')])] if 'twist_mux' in on else []),
        *([Node(package='robot_localization', executable='ekf_node', name='ekf_filter_node', output='screen',
                parameters=[of_bringup('config', 'ekf.yaml')])] if 'ekf' in on else []),
        *([Node(package='rviz2', executable='rviz2', arguments=['-d', of_bringup('rviz', 'nav2.rviz')])]
          if 'rviz' in on else []),
    ]


def must_be_installed(packages):
    missing = sorted(set(packages) - set(get_packages_with_prefixes()))
    if missing:
        raise RuntimeError('install or source first: ' + ', '.join(missing)
                           + " (with apt: ros-humble-NAME, '-' in the place of '_')")


def bridge(arg, publish_tf):
    launch_file = PathJoinSubstitution([FindPackageShare('robot_link_bringup'), 'launch', 'bridge.launch.py'])
    return GroupAction([IncludeLaunchDescription(launch_file, launch_arguments={
        **{name: arg[name] for name in TO_BRIDGE},
        'params_file': arg['bridge_params_file'],
        'publish_tf': publish_tf,
    }.items())])


def nav2(arg, smoothed):
    # The behaviours go through the smoother as well, as they do from Jazzy on: by default they command beside it, unsmoothed
    # and against it, and the smoother would not know what speed the robot has when it takes over.
    remappings = {
        'controller_server': [('cmd_vel', 'cmd_vel_nav')],
        'behavior_server': [('cmd_vel', 'cmd_vel_nav')],
        'velocity_smoother': [('cmd_vel', 'cmd_vel_nav'), ('cmd_vel_smoothed', smoothed)],
    }
    extra = {'map_server': [{'yaml_filename': arg['map']}]}
    return [Node(package=package, executable=name, output='screen',  # named by itself: name= would rename its costmap too
                 parameters=[arg['nav2_params_file'], *extra.get(name, [])],
                 remappings=remappings.get(name))
            for name, package in NAV2.items()]
