"""
Let Nav2 drive the robot, or a virtual one, to goals on a blank map.

Where the robot is on the map is known by odometry alone: the map's origin is where odometry began. With a localisation
(AMCL, SLAM) in the place of that, set localization:=false.
"""

from ament_index_python.packages import get_packages_with_prefixes
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, OpaqueFunction, Shutdown
from launch.conditions import IfCondition
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
    optional = {'ekf': 'robot_localization', 'twist_mux': 'twist_mux', 'rviz': 'rviz2'}
    must_be_installed([*NAV2.values(), *PLUGINS, 'robot_state_publisher', 'tf2_ros', 'xacro',
                       *(package for name, package in optional.items() if arg[name] == 'true')])
    return [
        bridge(arg),
        Node(package='robot_state_publisher', executable='robot_state_publisher', output='screen',
             parameters=[{'robot_description': ParameterValue(Command(['xacro ', arg['robot']]), value_type=str)}]),
        Node(condition=IfCondition(arg['localization']),
             package='tf2_ros', executable='static_transform_publisher', name='map_to_odom', output='screen',
             arguments=['--frame-id', 'map', '--child-frame-id', 'odom']),
        *nav2(arg),
        Node(condition=IfCondition(arg['twist_mux']),
             package='twist_mux', executable='twist_mux', name='twist_mux', output='screen',
             parameters=[of_bringup('config', 'twist_mux.yaml')],
             remappings=[('cmd_vel_out', 'cmd_vel')]),
        # Nav2 does not notice that a transform comes no more, and would drive on from where the robot was last: all of it ends.
        Node(condition=IfCondition(arg['ekf']),
             package='robot_localization', executable='ekf_node', name='ekf_filter_node', output='screen',
             parameters=[of_bringup('config', 'ekf.yaml')],
             on_exit=Shutdown(reason='odom -> base_link has no publisher any more')),
        Node(condition=IfCondition(arg['rviz']),
             package='rviz2', executable='rviz2', arguments=['-d', of_bringup('rviz', 'nav2.rviz')]),
    ]


def must_be_installed(packages):
    missing = sorted(set(packages) - set(get_packages_with_prefixes()))
    if missing:
        raise RuntimeError('install or source first: ' + ', '.join(missing)
                           + " (with apt: ros-humble-NAME, '-' in the place of '_')")


def bridge(arg):
    launch_file = PathJoinSubstitution([FindPackageShare('robot_link_bringup'), 'launch', 'bridge.launch.py'])
    return GroupAction(condition=IfCondition(arg['bridge']), actions=[
        IncludeLaunchDescription(launch_file, launch_arguments={
            **{name: arg[name] for name in TO_BRIDGE},
            'params_file': arg['bridge_params_file'],
            'publish_tf': 'false' if arg['ekf'] == 'true' else '',
        }.items())])


def nav2(arg):
    # The behaviours go through the smoother as well, as they do from Jazzy on: by default they command beside it, unsmoothed
    # and against it, and the smoother does not know how fast the robot is when it takes over.
    remappings = {
        'controller_server': [('cmd_vel', 'cmd_vel_nav')],
        'behavior_server': [('cmd_vel', 'cmd_vel_nav')],
        'velocity_smoother': [
            ('cmd_vel', 'cmd_vel_nav'),
            ('cmd_vel_smoothed', 'cmd_vel_navigation' if arg['twist_mux'] == 'true' else 'cmd_vel')],
    }
    more = {'map_server': [{'yaml_filename': arg['map']}]}
    # Without name=, which would be the name of a server's costmap too.
    return [Node(package=package, executable=name, output='screen',
                 parameters=[arg['nav2_params_file'], *more.get(name, [])],
                 remappings=remappings.get(name))
            for name, package in NAV2.items()]
