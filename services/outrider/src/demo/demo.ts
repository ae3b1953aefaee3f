import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { builtConsole } from '@outrider/api';
import { type ProtocolName, SYSTEM_CLOCK } from '@outrider/domain';
import { telemetryTopic } from '@outrider/log';
import type { Config } from '@outrider/runtime';
import {
  CAMERA_PHONE,
  createDemoScenario,
  createDriver,
  type DemoScenario,
  type DemoVehicle,
  type Driver,
  type DriverState,
  pastPlan,
  type RoadNetwork,
  resumeDriver,
  startFleet,
  startVideoTerminal,
  withKeys,
} from '@outrider/simulator';
import type { variables } from '../config.ts';
import type { Outrider } from '../outrider.ts';
import type { Stores } from '../stores.ts';
import { addressOf } from '../welcome.ts';
import {
  DEMO_ACCOUNTS,
  DEMO_LOGIN,
  type DemoDefinitions,
  ensureDefinitions,
  ensureForwarding,
  localTimeZone,
} from './definitions.ts';
import { type PastVehicle, type WrittenHistory, writeHistory } from './history.ts';
import { progressOf } from './history-progress.ts';
import { type DemoMemory, readMemory, writeMemory } from './memory.ts';
import { HISTORY_PATIENCE_MS } from './patience.ts';
import { startReceiver } from './receiver.ts';
import { stageScenes } from './scene.ts';

/** A demo fleet with history and live vehicles, run together with the service. */
export interface Demo {
  /** To be called when the stores are open and nothing reads the log yet. Writes the history. */
  prepare(stores: Stores, file: (name: string) => string): Promise<void>;
  /** To be called when the service runs. Waits until it has processed the history, and starts the fleet. */
  start(outrider: Outrider): Promise<void>;
  stop(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** All vehicles are on duty from this long before the start, because a demo is watched at any hour. */
const ON_DUTY_BEFORE_MS = 5_400_000;
const SAVE_EVERY_MS = 30_000;
/** Drivers change this long after the start, so a shift ends within the first minutes. */
const SHIFT_CHANGE_MS = 75_000;
const CAMERA_REPORT_MS = 1000;
/** Notifications of the history that stay unread. */
const UNREAD = 12;
/** Map of the town among the console's files, drawn by the console's build. */
const TOWN_FILE = 'demo/town.mbtiles';
/** Zoom that shows most of the town. */
const FIRST_ZOOM = 12.6;
const LOOK_EVERY_MS = 100;

/**
 * A fleet in a made-up town that uses the service as any fleet does: terminals over TCP and HTTP, a login, the REST
 * API. Its history is written into the log before anything reads it. A map of the town is installed beside the
 * operator's own maps.
 */
export function createDemo(config: Config<typeof variables>): Demo {
  return new RunningDemo(config);
}

class RunningDemo implements Demo {
  readonly #config: Config<typeof variables>;
  readonly #scenario = createDemoScenario();
  #memory: DemoMemory = { password: '', drivers: {} };
  #memoryFile = '';
  #definitions: DemoDefinitions | null = null;
  #history: WrittenHistory | null = null;
  #stores: Stores | null = null;
  readonly #drivers = new Map<DemoVehicle, Driver>();
  readonly #closers: (() => unknown)[] = [];

  constructor(config: Config<typeof variables>) {
    this.#config = config;
  }

  async prepare(stores: Stores, file: (name: string) => string): Promise<void> {
    this.#stores = stores;
    this.#drawTown();
    this.#memoryFile = file('demo.json');
    this.#memory = readMemory(this.#memoryFile);
    const definitions = await ensureDefinitions(stores.registry, this.#scenario, this.#memory.password);
    this.#definitions = definitions;
    // Whole seconds, because some protocols have no finer resolution.
    const nowMs = Math.floor(SYSTEM_CLOCK.now() / 1000) * 1000;
    const keyed = (driver: Driver, vehicle: DemoVehicle) => withKeys(driver, vehicle, nowMs + SHIFT_CHANGE_MS);
    const pasts = this.#pasts(definitions, nowMs).map((past) => ({
      ...past,
      driver: keyed(past.driver, past.vehicle),
    }));
    const clocks = pasts.filter(({ vehicle }) => drives(vehicle)).map(({ driver }) => driver.state().clockMs);
    const fromMs = Math.max(nowMs - this.#config.DEMO_HISTORY_DAYS * DAY_MS, Math.min(nowMs, ...clocks));
    if (fromMs < nowMs) {
      const print = this.#progress(`Making ${lengthOf(nowMs - fromMs)} of history`);
      this.#history = await writeHistory(stores.log, pasts, { fromMs, toMs: nowMs }, print);
    }
    const { network, vehicles } = this.#scenario;
    for (const { vehicle, driver, isStaged } of pasts)
      this.#drivers.set(
        vehicle,
        isStaged ? driver : keyed(resumeDriver(network, vehicle.plan, driver.state()), vehicle),
      );
    // Without a history the vehicles begin where there is something to see.
    if (this.#config.DEMO_HISTORY_DAYS === 0)
      for (const vehicle of vehicles)
        this.#drivers.set(vehicle, keyed(createDriver(network, vehicle.plan, vehicle.seed, nowMs), vehicle));
    this.#save();
  }

  async start(outrider: Outrider): Promise<void> {
    const definitions = this.#definitions;
    const stores = this.#stores;
    if (definitions === null || stores === null) throw new Error('the demo was not prepared');
    if (this.#history !== null && this.#history.positions > 0) {
      await this.#takenIn(stores, this.#history);
      await this.#readMost(stores, definitions);
    }
    await this.#forward(stores, definitions);
    const { ports } = outrider;
    const driven = this.#scenario.vehicles.filter(drives);
    this.#startFleet(driven, ports as Record<ProtocolName, number>);
    await useApi(ports.http, definitions, this.#memory.password, driven);
    const saving = SYSTEM_CLOCK.every(SAVE_EVERY_MS, () => this.#save());
    this.#closers.push(() => saving.cancel());
    if (this.#config.LOG_FORMAT === 'text') this.#printLogins(outrider, definitions, driven);
  }

  /** The login of the fleet manager is the last line, with a link to a vehicle on the map. */
  #printLogins({ ports }: Outrider, { vehicles }: DemoDefinitions, driven: readonly DemoVehicle[]): void {
    const { password } = this.#memory;
    const others = DEMO_ACCOUNTS.filter(({ login }) => login !== DEMO_LOGIN);
    const width = Math.max(...others.map(({ login }) => login.length));
    const bus = vehicles.get(CAMERA_PHONE)?.id;
    const [longitude = 0, latitude = 0] = this.#scenario.network.junctions[this.#scenario.network.center] ?? [];
    const query = `vehicle=${bus}&at=${FIRST_ZOOM}/${latitude.toFixed(5)}/${longitude.toFixed(5)}`;
    process.stdout.write(
      `The demo fleet is on the road: ${driven.length} vehicles, ${this.#scenario.geofences.length} geofences.\n` +
        `  cameras      terminal ${CAMERA_PHONE}: choose Bus with cameras, or /service/ovms/api\n` +
        `  forwarding   to a receiver in this process: /forwarding as demo-dealer\n` +
        `  other logins with the same password, which stays that of this folder\n` +
        others.map(({ login, about }) => `               ${login.padEnd(width)}   ${about}\n`).join('') +
        `\n  demo login   ${DEMO_LOGIN} / ${password}   at ${addressOf(this.#config, ports.http)}/?${query}\n\n`,
    );
  }

  async stop(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
    if (this.#drivers.size > 0) this.#save();
  }

  /** Installs the map of the town. Does nothing without a console, which would show it. */
  #drawTown(): void {
    const town = join(this.#config.CONSOLE_DIR ?? builtConsole() ?? '', TOWN_FILE);
    if (!existsSync(town)) return;
    const folder = join(this.#config.DATA_DIR, 'maps');
    mkdirSync(folder, { recursive: true });
    copyFileSync(town, join(folder, 'town.mbtiles'));
  }

  /** Forwards the fleet to the receiver. Called after the history was processed: only live data is forwarded. */
  async #forward({ registry }: Stores, { dealer }: DemoDefinitions): Promise<void> {
    // Respects an operator who forbids requests to this machine.
    if (this.#config.WEBHOOK_ALLOW_PRIVATE !== 'yes') return;
    const receiver = await startReceiver(randomBytes, SYSTEM_CLOCK.now);
    this.#closers.push(() => receiver.close());
    await ensureForwarding(registry, dealer, receiver);
  }

  /** Drivers of the past up to now. Those of new vehicles begin with the history. */
  #pasts({ vehicles }: DemoDefinitions, nowMs: number): (PastVehicle & { isStaged: boolean })[] {
    const { network } = this.#scenario;
    const startMs = nowMs - this.#config.DEMO_HISTORY_DAYS * DAY_MS;
    const pasts = this.#scenario.vehicles.flatMap((vehicle) => {
      const vehicleId = vehicles.get(vehicle.profile.terminalId)?.id;
      if (vehicleId === undefined) return [];
      const state = this.#memory.drivers[vehicle.profile.terminalId];
      const alwaysFromMs = nowMs - ON_DUTY_BEFORE_MS;
      const driver =
        state === undefined
          ? createDriver(network, pastPlan(vehicle, alwaysFromMs), vehicle.seed, startMs)
          : repeat(network, vehicle, state, alwaysFromMs);
      return [{ vehicle, vehicleId, driver }];
    });
    const staged = stageScenes(network, pasts, nowMs);
    return pasts.map((past) => {
      const driver = staged.get(past.vehicle);
      return { ...past, driver: driver ?? past.driver, isStaged: driver !== undefined };
    });
  }

  #startFleet(driven: readonly DemoVehicle[], ports: Record<ProtocolName, number>): void {
    const onTerminals = driven.filter(({ profile }) => profile.terminalId !== CAMERA_PHONE);
    const host = '127.0.0.1';
    const scenario: DemoScenario = { ...this.#scenario, vehicles: onTerminals };
    const fleet = startFleet({ scenario, drivers: onTerminals.map((vehicle) => this.#driverOf(vehicle)), host, ports });
    this.#closers.push(() => fleet.stop());
    const bus = driven.find(({ profile }) => profile.terminalId === CAMERA_PHONE);
    if (bus === undefined) return;
    const cameras = startVideoTerminal({ host, port: ports.jt808 ?? 0, phone: CAMERA_PHONE });
    const driver = this.#driverOf(bus);
    const reporting = SYSTEM_CLOCK.every(CAMERA_REPORT_MS, () => {
      for (const position of driver.advanceTo(SYSTEM_CLOCK.now())) cameras.report(position);
    });
    this.#closers.push(
      () => cameras.stop(),
      () => reporting.cancel(),
    );
  }

  #driverOf(vehicle: DemoVehicle): Driver {
    const driver = this.#drivers.get(vehicle);
    if (driver === undefined) throw new Error(`${vehicle.profile.name} has no driver`);
    return driver;
  }

  #save(): void {
    for (const [{ profile }, driver] of this.#drivers) this.#memory.drivers[profile.terminalId] = driver.state();
    writeMemory(this.#memoryFile, this.#memory);
  }

  /** Resolves when rules, archive and notifications have processed the written history, or take too long. */
  async #takenIn(stores: Stores, history: WrittenHistory): Promise<void> {
    const print = this.#progress(`Taking in ${history.positions.toLocaleString('en')} positions`);
    const end = Math.max(1, ...(await stores.log.endOffsets(telemetryTopic)).values());
    const endMs = SYSTEM_CLOCK.now() + HISTORY_PATIENCE_MS;
    while (true) {
      const { share, waitsFor } = await progressOf(stores, history, end);
      const [first] = waitsFor;
      print(first === undefined ? 1 : Math.min(0.95, share));
      if (first === undefined) return;
      if (SYSTEM_CLOCK.now() > endMs) {
        process.stderr.write(`the history is still being taken in (by ${first}); the fleet starts anyway\n`);
        return;
      }
      await SYSTEM_CLOCK.sleep(LOOK_EVERY_MS);
    }
  }

  /** Marks most notifications as read: a week of unread ones would be unrealistic. */
  async #readMost({ registry }: Stores, { manager }: DemoDefinitions): Promise<void> {
    const { lastNumber: last } = await registry.inboxes.progress(manager.id);
    await registry.inboxes.markAllRead(manager.id, last - UNREAD);
  }

  /** Prints a line after each quarter. */
  #progress(what: string): (share: number) => void {
    const startMs = SYSTEM_CLOCK.steadyMs();
    let printed = -1;
    return (share) => {
      const quarter = Math.floor(share * 4);
      if (this.#config.LOG_FORMAT !== 'text' || quarter <= printed) return;
      printed = quarter;
      const seconds = ((SYSTEM_CLOCK.steadyMs() - startMs) / 1000).toFixed(1);
      process.stdout.write(`${what}: ${quarter * 25} %${quarter === 4 ? `, ${seconds} s` : ''}\n`);
    };
  }
}

function drives({ silentForDays }: DemoVehicle): boolean {
  return silentForDays === null;
}

/**
 * Continues as the fleet drove until it stopped, and then as fleets usually drive. Data sent after the last saved state
 * is generated again identically, as after a crash.
 */
function repeat(network: RoadNetwork, vehicle: DemoVehicle, saved: DriverState, alwaysFromMs: number): Driver {
  const repeatedToMs = saved.clockMs + 2 * SAVE_EVERY_MS;
  const present = resumeDriver(network, vehicle.plan, saved);
  let past: Driver | null = null;
  return {
    advanceTo(timeMs) {
      const positions = past === null ? present.advanceTo(Math.min(timeMs, repeatedToMs)) : [];
      if (timeMs <= repeatedToMs) return positions;
      past ??= resumeDriver(network, pastPlan(vehicle, alwaysFromMs), present.state());
      return [...positions, ...past.advanceTo(timeMs)];
    },
    state: () => (past ?? present).state(),
  };
}

function lengthOf(ms: number): string {
  const days = Math.round(ms / DAY_MS);
  if (days === 7) return 'a week';
  if (days > 0) return days === 1 ? 'a day' : `${days} days`;
  return `${Math.max(1, Math.round(ms / 60_000))} minutes`;
}

interface LoggedIn {
  base: string;
  jwt: string;
}

async function logIn(httpPort: number, password: string): Promise<LoggedIn> {
  const base = `127.0.0.1:${httpPort}`;
  const response = await fetch(`http://${base}/auth/login?jwt=1`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ login: DEMO_LOGIN, password }),
  });
  if (!response.ok) throw new Error(`the demo login was refused: ${response.status} ${await response.text()}`);
  return { base, jwt: ((await response.json()) as { jwt: string }).jwt };
}

/** Logs in like any client, schedules a report, saves templates, and queries a terminal. */
async function useApi(
  httpPort: number,
  definitions: DemoDefinitions,
  password: string,
  driven: readonly DemoVehicle[],
): Promise<void> {
  const account = await logIn(httpPort, password);
  await scheduleReports(account);
  await saveTemplates(account);
  await askTerminal(account, definitions, driven);
}

const SCHEDULES = [
  {
    ...{ name: 'Mileage of the week', kind: 'mileage', period: 'day', format: 'xlsx' },
    ...{ frequency: 'weekly', covers: 'last-week', hour: 6 },
  },
  {
    ...{ name: 'The fleet yesterday', kind: 'fleet-digest', format: 'pdf' },
    ...{ frequency: 'daily', covers: 'yesterday', hour: 5 },
  },
];

/** Only once: afterwards the names are taken. */
async function scheduleReports({ base, jwt }: LoggedIn): Promise<void> {
  for (const schedule of SCHEDULES) {
    const response = await fetch(`http://${base}/api/v1/report-schedules`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `JWT ${jwt}` },
      body: JSON.stringify({ ...schedule, timeZone: localTimeZone(), emails: [] }),
    });
    if (response.status !== 201 && response.status !== 409)
      throw new Error(`the demo's report schedule was refused: ${response.status} ${await response.text()}`);
  }
}

const TEMPLATES = [
  { name: 'Trips of the week', kind: 'trips', range: 'last-7-days', groupBy: 'vehicle', format: 'pdf' },
  {
    ...{ name: 'Outside working hours', kind: 'work-time', range: 'last-7-days', groupBy: 'vehicle', format: 'pdf' },
    workHours: 'Mo-Fr 08:00-17:00; Sa 09:00-13:00',
  },
];

/** Only into an empty list, because a user may have deleted one of them. */
async function saveTemplates({ base, jwt }: LoggedIn): Promise<void> {
  const url = `http://${base}/api/v1/me/report-templates`;
  const headers = { 'Content-Type': 'application/json', Authorization: `JWT ${jwt}` };
  const { items } = (await (await fetch(url, { headers })).json()) as { items: unknown[] };
  if (items.length > 0) return;
  const response = await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ items: TEMPLATES }) });
  if (!response.ok)
    throw new Error(`the demo's report templates were refused: ${response.status} ${await response.text()}`);
}

const CONNECTING_TRIES = 240;
const CONNECTING_MS = 250;

/** Only once. A vehicle then shows a command and its terminal's response. */
async function askTerminal(
  { base, jwt }: LoggedIn,
  { vehicles }: DemoDefinitions,
  driven: readonly DemoVehicle[],
): Promise<void> {
  const onRoad = driven.findLast(({ protocol }) => protocol === 'teltonika');
  const asked = vehicles.get(onRoad?.profile.terminalId ?? '');
  if (asked === undefined) return;
  const url = `http://${base}/api/v1/vehicles/${asked.id}/commands`;
  const headers = { 'Content-Type': 'application/json', Authorization: `JWT ${jwt}` };
  const given = await fetch(url, { headers });
  if (!given.ok || ((await given.json()) as { items: unknown[] }).items.length > 0) return;
  for (const command of [{ type: 'position-request' }, { type: 'text', parameters: { text: 'getver' } }]) {
    const ask = () => fetch(url, { method: 'POST', headers, body: JSON.stringify(command) });
    let response = await ask();
    // The terminal has just been started, and may not be connected yet.
    for (let nth = 0; response.status === 409 && nth < CONNECTING_TRIES; nth++) {
      await SYSTEM_CLOCK.sleep(CONNECTING_MS);
      response = await ask();
    }
    if (!response.ok) throw new Error(`the demo's command was refused: ${response.status} ${await response.text()}`);
  }
}
