import type { LngLat, ProtocolName, Shape, TerminalId, VehicleFieldValues } from '@outrider/domain';
import { protocols } from '@outrider/protocols';
import { createDriver, type Driver, type DriverPlan } from './driver.ts';
import type { PointM } from './plane.ts';
import { createRandom } from './random.ts';
import { createRoadNetwork, type RoadNetwork, type Site } from './roads.ts';

/** A vehicle of the demo fleet: its profile, the terminal in it, and how it is driven. */
export interface DemoVehicle {
  /** Fields without a value have their defaults. */
  profile: Partial<VehicleFieldValues> & Pick<VehicleFieldValues, 'name'> & { terminalId: TerminalId };
  /** Name of the one group it is in. */
  group: string;
  protocol: ProtocolName;
  plan: DriverPlan;
  /** Makes this vehicle's drive its own. */
  seed: number;
}

export interface DemoGeofence {
  name: string;
  shape: Shape;
  speedLimitKmh: number | null;
  minDwellSeconds: number;
}

/** A fleet and its geofences, as data: the caller creates them through the registry or the REST API. */
export interface DemoScenario {
  network: RoadNetwork;
  /** Names of the vehicle groups. */
  groups: readonly string[];
  vehicles: readonly DemoVehicle[];
  geofences: readonly DemoGeofence[];
}

const TOLL_WIDTH_M = 60;
const CUSTOMER_RADIUS_M = 80;
const ZONE_RADIUS_M = 640;
/** Reports a real terminal would send every 5 to 30 s come faster here: a demo is watched. */
const REPORT_SECONDS = 2;
const PARKED_REPORT_SECONDS = 20;

/**
 * Twenty-five vehicles and eleven geofences in a made-up town. Some begin a few hundred metres before a boundary, some
 * are about to leave the depot, and the trucks are on the toll road faster than their owner likes: entries, exits and
 * speeding come within the first minute, and the rounds that all of them drive keep them coming.
 *
 * @param seed the same seed gives the same fleet
 */
export function createDemoScenario(seed = 1): DemoScenario {
  const network = createRoadNetwork(seed);
  const random = createRandom(seed + 1);
  const depot = siteOf(network, 'depot');
  const logistics = siteOf(network, 'logistics');
  const customers = network.sites.filter((site) => site.kind === 'customer');
  const customer = (index: number): Site => customers[index % customers.length] as Site;
  const { center, tollRoad } = network;
  const tollJunction = (index: number): number => tollRoad[index] as number;

  const vehicles: DemoVehicle[] = [];
  const add = (
    {
      name,
      group,
      protocol,
      speedLimitKmh,
    }: Pick<VehicleFieldValues, 'name' | 'speedLimitKmh'> & Pick<DemoVehicle, 'group' | 'protocol'>,
    plan: Pick<DriverPlan, 'stops' | 'start'> & Partial<DriverPlan>,
  ): void => {
    const number = vehicles.length + 1;
    vehicles.push({
      group,
      protocol,
      profile: {
        name,
        plate: plateOf(number),
        vin: `WDB9066331S${String(200_000 + number)}`,
        terminalId: terminalIdOf(protocol, number),
        speedLimitKmh,
        speedToleranceKmh: 3,
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
        tankL: 70,
        litresPer100Km: 9,
        ...plan,
      },
    });
  };

  // Vans: the depot, three customers, the depot again.
  for (let i = 0; i < 10; i++) {
    const stops = [customer(i), customer(i + 3), customer(i + 6)].map((site) => site.junction);
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
      },
      { stops: [...stops, depot.junction], start },
    );
  }
  // Trucks: between the depot and the logistics park, over the toll road.
  for (let i = 0; i < 5; i++)
    add(
      { name: `Truck ${pad(i + 1)}`, group: 'Long haul', protocol: 'omnicomm', speedLimitKmh: 80 },
      {
        stops: i % 2 === 0 ? [logistics.junction, depot.junction] : [depot.junction, logistics.junction],
        start: { at: 'road', of: tollJunction(1 + i), withinM: 500 },
        topSpeedKmh: 88 + i,
        fuelL: 260 + 20 * i,
        tankL: 420,
        litresPer100Km: 29,
      },
    );
  // Shuttles: from one side of the middle to the other.
  const outer = [network.sites[1], network.sites[3], network.sites[5], network.sites[7]] as Site[];
  for (let i = 0; i < 4; i++) {
    const home = outer[i] as Site;
    add(
      { name: `Shuttle ${pad(i + 1)}`, group: 'Passengers', protocol: 'teltonika', speedLimitKmh: null },
      {
        stops: [center, outer[(i + 2) % 4]?.junction ?? center, home.junction],
        dwellSeconds: [8, 25],
        start: { at: 'road', of: center, withinM: ZONE_RADIUS_M + 120 + 150 * i },
        litresPer100Km: 12,
      },
    );
  }
  // Taxis: anywhere, with short stops, in a hurry.
  for (let i = 0; i < 4; i++) {
    const stops = [customer(2 * i), customer(2 * i + 5), customer(2 * i + 3)].map((site) => site.junction);
    add(
      { name: `Taxi ${pad(i + 1)}`, group: 'Passengers', protocol: i < 2 ? 'osmand' : 'teltonika', speedLimitKmh: 60 },
      {
        stops,
        dwellSeconds: [10, 60],
        haste: 0.35,
        start: { at: 'road', of: stops[0] as number, withinM: 300 + 500 * i },
      },
    );
  }
  // Supervisors: to the logistics park and back by the toll road, by car.
  for (let i = 0; i < 2; i++)
    add(
      {
        name: `Supervisor ${pad(i + 1)}`,
        group: 'Service',
        protocol: i === 0 ? 'osmand' : 'teltonika',
        speedLimitKmh: 110,
      },
      {
        stops: [logistics.junction, customer(4 + i).junction, depot.junction],
        haste: 0.25,
        start: { at: 'road', of: tollJunction(0), withinM: 300 + 200 * i },
        litresPer100Km: 7,
      },
    );

  return {
    network,
    groups: [...new Set(vehicles.map((vehicle) => vehicle.group))],
    vehicles,
    geofences: [
      geofence(
        'Depot',
        around(network, depot.at, [
          [-110, -100],
          [95, -100],
          [105, 60],
          [60, 95],
          [-110, 95],
        ]),
      ),
      ...customers.map((site) => geofence(site.name, { type: 'circle', center: site.at, radiusM: CUSTOMER_RADIUS_M })),
      geofence('M7 toll road', { type: 'line', path: tollPath(network), widthM: TOLL_WIDTH_M }),
      {
        ...geofence(
          'Old town, 40 km/h',
          around(network, network.junctions[center] as LngLat, circleOf(ZONE_RADIUS_M, 12)),
        ),
        speedLimitKmh: 40,
      },
    ],
  };
}

/**
 * The drivers of a scenario's vehicles, in its order.
 *
 * @param startMs Unix milliseconds at which all of them begin
 */
export function createDemoDrivers(scenario: DemoScenario, startMs: number): Driver[] {
  return scenario.vehicles.map(({ plan, seed }) => createDriver(scenario.network, plan, seed, startMs));
}

function geofence(name: string, shape: Shape): DemoGeofence {
  return { name, shape, speedLimitKmh: null, minDwellSeconds: 0 };
}

function siteOf(network: RoadNetwork, kind: Site['kind']): Site {
  const site = network.sites.find((each) => each.kind === kind);
  if (!site) throw new RangeError(`a town without a ${kind}`);
  return site;
}

/** A polygon of points given in metres from `at`. */
function around(network: RoadNetwork, at: LngLat, outline: readonly PointM[]): Shape {
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
