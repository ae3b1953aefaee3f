import { parseArgs } from 'node:util';
import { blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { allProtocols, protocols, topicProtocols } from '@outrider/protocols';
import { connectTerminal, createMqttTerminal, type TerminalClient } from '@outrider/simulator';

/*
 * A terminal of any protocol as a program: it drives round a place and sends where it is.
 *
 *     npm run device -- --protocol gt06 --id 359999000000018
 *     npm run device -- --protocol teltonika --udp
 *
 * Its id is the terminal id of a vehicle; before there is one it is listed among the unknown terminals.
 */

const EARTH_METRES_PER_DEGREE = 111_320;
const ROUND_RADIUS_M = 2000;
const SPEED_KMH = 50;

const { values } = parseArgs({
  options: {
    protocol: { type: 'string', default: 'gt06' },
    id: { type: 'string' },
    /** Sends by UDP. */
    udp: { type: 'boolean', default: false },
    /** Publishes to this broker, `mqtt://user:password@host:1883`, instead of the gateway. */
    broker: { type: 'string' },
    host: { type: 'string', default: '127.0.0.1' },
    /** Default: that of the protocol. */
    port: { type: 'string' },
    /** Latitude and longitude that it drives round. */
    at: { type: 'string', default: '52.37,4.895' },
    'every-seconds': { type: 'string', default: '5' },
    /** Ends after so many positions. */
    positions: { type: 'string', default: 'Infinity' },
    /** Refuses the commands that it gets. */
    refuse: { type: 'boolean', default: false },
  },
});

const names = allProtocols.map(({ name }) => name);
const protocol = allProtocols.find(({ name }) => name === values.protocol);
if (protocol === undefined) throw new TypeError(`--protocol is one of ${names.join(', ')}, not ${values.protocol}`);
const everySeconds = positive('every-seconds', values['every-seconds']);
const most = positive('positions', values.positions);
const [latitude = Number.NaN, longitude = Number.NaN] = values.at.split(',').map(Number);
if (!(Math.abs(latitude) < 85 && Math.abs(longitude) <= 180))
  throw new TypeError(`--at takes latitude,longitude, not ${values.at}`);
const terminalId = (values.id ?? protocol.exampleId(1)) as TerminalId;

const { udp } = values;
const terminal = values.broker === undefined ? toGateway() : toBroker(values.broker);

const startedAtMs = Date.now();
let sent = 0;
const timer = setInterval(step, everySeconds * 1000);
step();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end());

function toGateway(): TerminalClient {
  const listed = protocols.find(({ name }) => name === values.protocol);
  if (listed === undefined) throw new TypeError(`${values.protocol} is spoken over a broker: say --broker`);
  const port = values.port === undefined ? listed.defaultPort : positive('port', values.port);
  process.stdout.write(`${listed.title}, terminal ${terminalId}, to ${values.host}:${port}${udp ? ' by UDP' : ''}\n`);
  return connectTerminal({
    protocol: listed.name,
    host: values.host,
    port,
    terminalId,
    udp,
    onCommand(text) {
      process.stdout.write(`command ${text}: ${values.refuse ? 'refused' : 'done'}\n`);
      return !values.refuse;
    },
  });
}

function toBroker(url: string): TerminalClient {
  const published = topicProtocols.find(({ name }) => name === values.protocol);
  if (published === undefined) throw new TypeError(`${values.protocol} is not spoken over a broker`);
  const { hostname: host, port, username, password } = new URL(url);
  process.stdout.write(`${published.title}, terminal ${terminalId}, to the broker ${host}\n`);
  const login = username === '' ? {} : { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  return createMqttTerminal({ host, port: Number(port || 1883), terminalId, protocol: published, ...login });
}

function step(): void {
  terminal.record([positionAt(Date.now())]);
  sent += 1;
  const { online, acknowledged, stored, lastFailure } = terminal.stats();
  const failure = lastFailure === null ? '' : `, ${lastFailure}`;
  process.stdout.write(
    `${online ? 'connected' : 'not connected'}: ${acknowledged} acknowledged, ${stored} stored${failure}\n`,
  );
  if (sent < most) return;
  clearInterval(timer);
  void terminal.settled().then(end);
}

async function end(): Promise<void> {
  clearInterval(timer);
  const { acknowledged } = terminal.stats();
  await terminal.close();
  process.stdout.write(`${acknowledged} positions were acknowledged\n`);
}

function positionAt(nowMs: number): Position {
  const angle = (((nowMs - startedAtMs) / 1000) * (SPEED_KMH / 3.6)) / ROUND_RADIUS_M;
  const north = (ROUND_RADIUS_M * Math.cos(angle)) / EARTH_METRES_PER_DEGREE;
  const east = (ROUND_RADIUS_M * Math.sin(angle)) / (EARTH_METRES_PER_DEGREE * Math.cos((latitude * Math.PI) / 180));
  const position = blankPosition(nowMs, latitude + north, longitude + east);
  position.speedKmh = SPEED_KMH;
  position.courseDeg = Math.floor((angle * 180) / Math.PI + 90) % 360;
  position.satellites = 11;
  position.ignition = true;
  return position;
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new TypeError(`--${option} takes a number above 0, not ${text}`);
  return value;
}
