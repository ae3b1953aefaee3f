export { DEMO_PEOPLE, type DemoPerson, withKeys } from './cards.ts';
export { type DriveOptions, type DriveResult, playDrive } from './drive.ts';
export {
  createDriver,
  type Driver,
  type DriverPlan,
  type DriverState,
  resumeDriver,
  type TankChange,
} from './driver.ts';
export { connectTerminal, datagramSimulatorOf, type Endpoint, simulatorOf, type TerminalOptions } from './endpoint.ts';
export { type Fleet, type FleetOptions, startFleet } from './fleet.ts';
export { createHttpTerminal, type HttpTerminalOptions } from './http-terminal.ts';
export { createMqttTerminal, type MqttTerminalOptions } from './mqtt-terminal.ts';
export { createRandom, type Random } from './random.ts';
export { type DriveSource, generateDrive, loadDrive } from './recorded.ts';
export { createRoadNetwork, findRoute, type Road, type RoadNetwork, type Site } from './roads.ts';
export {
  CAMERA_PHONE,
  createDemoDrivers,
  createDemoScenario,
  type DemoGeofence,
  type DemoScenario,
  type DemoVehicle,
  pastPlan,
} from './scenario.ts';
export { createTcpTerminal, type TcpTerminalOptions } from './tcp-terminal.ts';
export type { TerminalClient, TerminalStats } from './terminal-client.ts';
export { drawTown, type TownLayer, type TownMap } from './town.ts';
export { createUdpTerminal, type UdpTerminalOptions } from './udp-terminal.ts';
export { HEIGHT as TEST_VIDEO_HEIGHT, readCounter, WIDTH as TEST_VIDEO_WIDTH } from './video/counter-picture.ts';
export type { VideoFaults } from './video/faults.ts';
export { PlainH264Decoder, unitsOfMp4Packet } from './video/plain-h264-decoder.ts';
export { counterAt, PICTURE_MS, recordedFrames } from './video/test-video.ts';
export {
  type Recorded,
  startVideoTerminal,
  type VideoTerminal,
  type VideoTerminalOptions,
  type VideoTerminalStats,
} from './video/video-terminal.ts';
