import type {
  LngLat,
  PolygonShape,
  ProtocolName,
  SensorFields,
  Shape,
  TerminalId,
  VehicleFieldValues,
} from '@outrider/domain';
import { protocols } from '@outrider/protocols';
import { type CargoPlan, cargoSensors } from './cargo.ts';
import { createDriver, type Driver, type DriverPlan, type Rush } from './driver.ts';
import { engineSpeedSensor } from './engine-speed.ts';
import { levelSensors } from './level-sensor.ts';
import type { PointM } from './plane.ts';
import { createRandom } from './random.ts';
import { createRoadNetwork, type RoadNetwork, type Site } from './roads.ts';
import type { Shift } from './shift.ts';

/** A vehicle of the demo fleet: its profile, its terminal, and its driver. */
export interface DemoVehicle {
  /** Fields that are not set have their defaults. */
  profile: Partial<VehicleFieldValues> & Pick<VehicleFieldValues, 'name'> & { terminalId: TerminalId };
  sensors: readonly SensorFields[];
  /** Name of the group that the vehicle belongs to. */
  group: string;
  protocol: ProtocolName;
  plan: DriverPlan;
  /** Differences of the simulated past from the present: it has working hours, and halts of realistic length. */
  past: Pick<DriverPlan, 'dwellSeconds'> & { shift: Omit<Shift, 'alwaysFromMs'> };
  /** Number of days since the terminal last reported; infinite: it never did. Null: the vehicle drives. */
  silentForDays: number | null;
  /** Random seed of this vehicle's drive. */
  seed: number;
}

export interface DemoGeofence {
  name: string;
  shape: Shape;
  speedLimitKmh: number | null;
  minDwellSeconds: number;
  color: string | null;
  description: string | null;
  category: string | null;
  sharedWithOrganisation: boolean;
}

/** A fleet and its geofences, as data: the caller creates them through the registry or the REST API. */
export interface DemoScenario {
  network: RoadNetwork;
  /** Names of the vehicle groups. */
  groups: readonly string[];
  vehicles: readonly DemoVehicle[];
  geofences: readonly DemoGeofence[];
}

/** Colour and icon by the first word of the vehicle's name. */
const LOOKS: Readonly<Record<string, Pick<VehicleFieldValues, 'color' | 'icon'>>> = {
  Van: { color: '#1f5fc4', icon: 'van' },
  Truck: { color: '#c2410c', icon: 'truck' },
  Shuttle: { color: '#7e3fb5', icon: 'bus' },
  Taxi: { color: '#b7860b', icon: 'taxi' },
  Supervisor: { color: null, icon: 'car' },
  Bus: { color: '#0f766e', icon: 'bus' },
};
const TOLL_WIDTH_M = 60;
const CUSTOMER_RADIUS_M = 80;
const FREIGHT_RADIUS_M = 260;
const ZONE_RADIUS_M = 640;
/** Seconds between reports: shorter than the 5 to 30 s of real terminals, because people watch the demo. */
const REPORT_SECONDS = 2;
const PARKED_REPORT_SECONDS = 20;
/** Usual settings of real terminals, because the past is large. */
const PAST_REPORT_SECONDS = 15;
const PAST_PARKED_REPORT_SECONDS = 480;
/** Haste of the simulated past, as a share of the present's. */
const PAST_HASTE = 0.4;
const CAR_TANK_L = 70;
const CAR_LITRES_PER_100_KM = 9;
/** In the night to Wednesday, while the truck waits at the depot. */
const ROBBERY = { weekday: 3, fromMinute: 130, minutes: 25, litres: 85 };
/** Frozen goods; the van at the depot was loaded with the compressor off. */
const FROZEN: CargoPlan = { setC: -18, outsideC: 24, startC: -15.5 };
/** Indices of refrigerated vans. */
const REFRIGERATED = [1, 3, 5];
const DRIVEN_HARD = [7, 9];
const RUSH: Rush = { share: 0.4, force: 1.8 };
/**
 * Limits that only drivers in a rush exceed regularly. They are high because the town's corners are sharper than real
 * ones.
 */
const HARSH_LIMITS = { harshAccelerationMps2: 2.2, harshBrakingMps2: 3, harshCorneringMps2: 6.5 };
/** Phone number of the bus with cameras. */
export const CAMERA_PHONE = '13800000099' as TerminalId;

const WORKDAYS = [1, 2, 3, 4, 5];
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];

function shift(fromHour: number, toHour: number, weekdays: readonly number[]): DemoVehicle['past']['shift'] {
  return { fromMinute: fromHour * 60, toMinute: toHour * 60, weekdays, staggerSeconds: 1500 };
}

/** How the past of each kind of vehicle is driven. */
const PASTS = {
  van: { dwellSeconds: [240, 1080], shift: shift(7, 16.5, [...WORKDAYS, 6]) },
  truck: { dwellSeconds: [1200, 4200], shift: shift(5, 19, WORKDAYS) },
  shuttle: { dwellSeconds: [60, 500], shift: shift(5.5, 20, EVERY_DAY) },
  taxi: { dwellSeconds: [120, 1200], shift: shift(6, 17, EVERY_DAY) },
  nightTaxi: { dwellSeconds: [120, 1200], shift: shift(17, 27, EVERY_DAY) },
  supervisor: { dwellSeconds: [900, 4200], shift: shift(8, 17, WORKDAYS) },
  bus: { dwellSeconds: [30, 400], shift: shift(6, 21, EVERY_DAY) },
} satisfies Record<string, DemoVehicle['past']>;

/** Destinations of the vehicles. */
interface Town {
  depot: Site;
  logistics: Site;
  customers: readonly Site[];
  /** The destination for any index: indices wrap around. */
  customer: (index: number) => Site;
  /** Four sites around the centre. */
  outer: readonly Site[];
  center: number;
  tollJunction: (index: number) => number;
}

type Add = (
  vehicle: Pick<VehicleFieldValues, 'name' | 'speedLimitKmh'> &
    Pick<DemoVehicle, 'group' | 'protocol' | 'past'> &
    Partial<Pick<DemoVehicle, 'silentForDays'> & { terminalId: TerminalId }>,
  plan: Pick<DriverPlan, 'stops' | 'start'> & Partial<DriverPlan>,
) => void;

function townOf(network: RoadNetwork): Town {
  const customers = network.sites.filter((site) => site.kind === 'customer');
  return {
    depot: siteOf(network, 'depot'),
    logistics: siteOf(network, 'logistics'),
    customers,
    customer: (index) => customers[index % customers.length] as Site,
    outer: [network.sites[1], network.sites[3], network.sites[5], network.sites[7]] as Site[],
    center: network.center,
    tollJunction: (index) => network.tollRoad[index] as number,
  };
}

/**
 * Creates twenty-six vehicles that drive, two that do not, and twelve geofences in a fictitious town. Some vehicles
 * begin a few hundred metres before a boundary, some are about to leave the depot, and the trucks exceed their owner's
 * speed limit on the toll road. Entries, exits and speeding therefore occur within the first minute, and recur as the
 * vehicles repeat their rounds.
 *
 * @param seed the same seed gives the same fleet
 */
export function createDemoScenario(seed = 1): DemoScenario {
  const network = createRoadNetwork(seed);
  const random = createRandom(seed + 1);
  const town = townOf(network);

  const vehicles: DemoVehicle[] = [];
  const add: Add = ({ name, group, protocol, speedLimitKmh, past, silentForDays = null, terminalId }, plan) => {
    const number = vehicles.length + 1;
    vehicles.push({
      group,
      protocol,
      past,
      silentForDays,
      sensors: [
        ...(plan.levelSensor ? levelSensors(plan.levelSensor, plan.tankL ?? CAR_TANK_L) : []),
        ...(plan.cargo ? cargoSensors(plan.cargo) : []),
        ...(plan.sendsEngineSpeed ? [engineSpeedSensor()] : []),
      ],
      profile: {
        name,
        plate: plateOf(number),
        vin: `WDB9066331S${String(200_000 + number)}`,
        terminalId: terminalId ?? terminalIdOf(protocol, number),
        externalId: `FLEET-${String(number).padStart(3, '0')}`,
        deviceModel: protocol === 'teltonika' ? 'FMB140' : null,
        speedLimitKmh,
        speedToleranceKmh: 3,
        tankCapacityL: plan.tankL ?? CAR_TANK_L,
        fuelPer100KmL: plan.litresPer100Km ?? CAR_LITRES_PER_100_KM,
        ...(plan.rush && HARSH_LIMITS),
        ...LOOKS[name.split(' ', 1)[0] ?? ''],
      },
      seed: seed * 1000 + number,
      plan: {
        dwellSeconds: [40, 150],
        haste: 0.2,
        topSpeedKmh: 130,
        reportSeconds: REPORT_SECONDS,
        parkedReportSeconds: PARKED_REPORT_SECONDS,
        odometerM: Math.round(random.between(4e6, 240e6)),
        fuelL: Math.round(random.between(25, 60)),
        tankL: CAR_TANK_L,
        litresPer100Km: CAR_LITRES_PER_100_KM,
        ...plan,
      },
    });
  };
  for (const addSome of [addVans, addTrucks, addShuttles, addTaxis, addSupervisors, addOthers]) addSome(add, town);

  return {
    network,
    groups: [...new Set(vehicles.map((vehicle) => vehicle.group))],
    vehicles,
    geofences: [
      {
        ...geofence(
          'Depot',
          around(network, town.depot.at, [
            [-110, -100],
            [95, -100],
            [105, 60],
            [60, 95],
            [-110, 95],
          ]),
        ),
        ...{ category: 'Depot', color: '#1f5fc4', sharedWithOrganisation: true },
      },
      ...town.customers.map((site) => ({
        ...geofence(site.name, { type: 'circle', center: site.at, radiusM: CUSTOMER_RADIUS_M }),
        category: 'Customer',
      })),
      {
        ...geofence('Freight village', {
          type: 'multipolygon',
          polygons: town.customers
            .slice(0, 2)
            .map(({ at }) => [around(network, at, circleOf(FREIGHT_RADIUS_M, 6)).rings[0] ?? []]),
        }),
        ...{ category: 'Freight', color: '#b7860b', sharedWithOrganisation: true },
        description: 'Two yards, one place.',
      },
      geofence('M7 toll road', { type: 'line', path: tollPath(network), widthM: TOLL_WIDTH_M }),
      {
        ...geofence(
          'Old town, 40 km/h',
          around(network, network.junctions[network.center] as LngLat, circleOf(ZONE_RADIUS_M, 12)),
        ),
        speedLimitKmh: 40,
      },
    ],
  };
}

/** Adds vans, which drive from the depot to three customers and back. */
function addVans(add: Add, { customer, depot }: Town): void {
  for (let i = 0; i < 10; i++) {
    const stops = [customer(i), customer(i + 3), customer(i + 6)].map((site) => site.junction);
    // Their terminals send each connected sensor under its name.
    const isRefrigerated = REFRIGERATED.includes(i);
    const start: DriverPlan['start'] =
      i < 4
        ? { at: 'stop', leavesAfterSeconds: 2 + 7 * i }
        : { at: 'road', of: stops[0] as number, withinM: i < 7 ? 130 + 40 * (i - 4) : 700 * (i - 6) };
    add(
      {
        name: `Van ${pad(i + 1)}`,
        group: 'Delivery',
        protocol: i % 2 === 0 ? 'teltonika' : 'wialon-ips',
        speedLimitKmh: 70,
        past: PASTS.van,
      },
      {
        ...{ stops: [...stops, depot.junction], start },
        ...(isRefrigerated && { cargo: FROZEN }),
        ...(DRIVEN_HARD.includes(i) && { rush: RUSH, sendsEngineSpeed: true }),
      },
    );
  }
}

/** Adds trucks, which drive between the depot and the logistics park over the toll road. */
function addTrucks(add: Add, { logistics, depot, tollJunction }: Town): void {
  for (let i = 0; i < 5; i++)
    add(
      { name: `Truck ${pad(i + 1)}`, group: 'Long haul', protocol: 'omnicomm', speedLimitKmh: 80, past: PASTS.truck },
      {
        stops: i % 2 === 0 ? [logistics.junction, depot.junction] : [depot.junction, logistics.junction],
        start: { at: 'road', of: tollJunction(1 + i), withinM: 500 },
        topSpeedKmh: 88 + i,
        fuelL: 260 + 20 * i,
        tankL: 420,
        litresPer100Km: 29,
        levelSensor: { emptyRaw: 20, fullRaw: 4095 },
        ...(i === 1 && { robbery: ROBBERY }),
      },
    );
}

/** Adds shuttles, which drive from one side of the centre to the other. */
function addShuttles(add: Add, { outer, center }: Town): void {
  for (let i = 0; i < 4; i++) {
    const home = outer[i] as Site;
    add(
      {
        name: `Shuttle ${pad(i + 1)}`,
        group: 'Passengers',
        protocol: 'teltonika',
        speedLimitKmh: null,
        past: PASTS.shuttle,
      },
      {
        stops: [center, outer[(i + 2) % 4]?.junction ?? center, home.junction],
        dwellSeconds: [8, 25],
        start: { at: 'road', of: center, withinM: ZONE_RADIUS_M + 120 + 150 * i },
        litresPer100Km: 12,
      },
    );
  }
}

/** Adds taxis, which drive anywhere, with short stops, in a hurry. */
function addTaxis(add: Add, { customer }: Town): void {
  for (let i = 0; i < 4; i++) {
    const stops = [customer(2 * i), customer(2 * i + 5), customer(2 * i + 3)].map((site) => site.junction);
    add(
      {
        name: `Taxi ${pad(i + 1)}`,
        group: 'Passengers',
        protocol: i < 2 ? 'osmand' : 'teltonika',
        speedLimitKmh: 60,
        past: i % 2 === 0 ? PASTS.taxi : PASTS.nightTaxi,
      },
      {
        stops,
        dwellSeconds: [10, 60],
        haste: 0.35,
        rush: RUSH,
        start: { at: 'road', of: stops[0] as number, withinM: 300 + 500 * i },
      },
    );
  }
}

/** Adds supervisors, who drive cars to the logistics park and back over the toll road. */
function addSupervisors(add: Add, { logistics, customer, depot, tollJunction }: Town): void {
  for (let i = 0; i < 2; i++)
    add(
      {
        name: `Supervisor ${pad(i + 1)}`,
        group: 'Service',
        protocol: i === 0 ? 'osmand' : 'teltonika',
        speedLimitKmh: 110,
        past: PASTS.supervisor,
      },
      {
        stops: [logistics.junction, customer(4 + i).junction, depot.junction],
        haste: 0.25,
        start: { at: 'road', of: tollJunction(0), withinM: 300 + 200 * i },
        litresPer100Km: 7,
      },
    );
}

/** Adds a bus with cameras, and two vehicles that are not driven: one in the workshop, and a new one. */
function addOthers(add: Add, { outer, customer, depot }: Town): void {
  const bus = outer.map((site) => site.junction);
  add(
    {
      name: 'Bus with cameras',
      group: 'Passengers',
      protocol: 'jt808',
      speedLimitKmh: 60,
      past: PASTS.bus,
      terminalId: CAMERA_PHONE,
    },
    {
      stops: bus,
      dwellSeconds: [15, 40],
      start: { at: 'road', of: bus[0] as number, withinM: 900 },
      fuelL: 140,
      tankL: 240,
      litresPer100Km: 24,
    },
  );
  const parked: Pick<DriverPlan, 'stops' | 'start'> = {
    stops: [customer(2).junction, depot.junction],
    start: { at: 'stop', leavesAfterSeconds: 60 },
  };
  const idle = { group: 'Delivery', protocol: 'teltonika', speedLimitKmh: 70, past: PASTS.van };
  add({ ...idle, name: 'Van 11, in the workshop', silentForDays: 2 }, parked);
  add({ ...idle, name: 'Van 12, new', silentForDays: Number.POSITIVE_INFINITY }, parked);
}

/**
 * Creates the drivers of a scenario's vehicles, in the same order.
 *
 * @param startMs Unix milliseconds at which all of them begin
 */
export function createDemoDrivers({ network, vehicles }: DemoScenario, startMs: number): Driver[] {
  return vehicles.map(({ plan, seed }) => createDriver(network, plan, seed, startMs));
}

/**
 * The driver plan of a vehicle's past.
 *
 * @param alwaysFromMs time from which the vehicle drives at any hour
 */
export function pastPlan({ plan, past }: DemoVehicle, alwaysFromMs: number): DriverPlan {
  return {
    ...plan,
    start: { at: 'stop', leavesAfterSeconds: 0 },
    dwellSeconds: past.dwellSeconds,
    haste: plan.haste * PAST_HASTE,
    shift: { ...past.shift, alwaysFromMs },
    reportSeconds: PAST_REPORT_SECONDS,
    parkedReportSeconds: PAST_PARKED_REPORT_SECONDS,
  };
}

function geofence(name: string, shape: Shape): DemoGeofence {
  const terms = { speedLimitKmh: null, minDwellSeconds: 0, color: null, description: null };
  return { name, shape, ...terms, category: null, sharedWithOrganisation: false };
}

function siteOf(network: RoadNetwork, kind: Site['kind']): Site {
  const site = network.sites.find((each) => each.kind === kind);
  if (!site) throw new RangeError(`a town without a ${kind}`);
  return site;
}

/** A polygon of points given in metres from `at`. */
function around(network: RoadNetwork, at: LngLat, outline: readonly PointM[]): PolygonShape {
  const [eastM, northM] = network.plane.toPoint(at);
  const ring = outline.map(([x, y]) => network.plane.toLngLat([eastM + x, northM + y]));
  return { type: 'polygon', rings: [[...ring, ring[0] as LngLat]] };
}

function circleOf(radiusM: number, corners: number): PointM[] {
  return Array.from({ length: corners }, (_, corner) => {
    const angle = (corner / corners) * 2 * Math.PI;
    return [radiusM * Math.cos(angle), radiusM * Math.sin(angle)];
  });
}

function tollPath(network: RoadNetwork): LngLat[] {
  const path: LngLat[] = [];
  network.tollRoad.forEach((from, index) => {
    const to = network.tollRoad[index + 1];
    const road = network.roadsFrom[from]?.find((each) => each.to === to);
    if (road) path.push(...(path.length === 0 ? road.path : road.path.slice(1)));
  });
  return path;
}

function plateOf(number: number): string {
  return `OTR-${String(200 + number * 7).padStart(3, '0')}`;
}

function terminalIdOf(protocol: ProtocolName, number: number): TerminalId {
  const known = protocols.find(({ name }) => name === protocol);
  if (known === undefined) throw new RangeError(`no protocol ${protocol}`);
  return known.exampleId(number);
}

function pad(number: number): string {
  return String(number).padStart(2, '0');
}
