import { type ProtocolName, SYSTEM_CLOCK } from '@outrider/domain';
import type { Driver } from './driver.ts';
import { connectTerminal } from './endpoint.ts';
import { createDemoDrivers, type DemoScenario, type DemoVehicle } from './scenario.ts';
import type { TerminalClient, TerminalStats } from './terminal-client.ts';

export interface FleetOptions {
  scenario: DemoScenario;
  /** Drivers of the scenario's vehicles, in the same order; default: new drivers that begin now. */
  drivers?: readonly Driver[];
  host: string;
  /** Ports of the gateway, by protocol. */
  ports: Readonly<Record<ProtocolName, number>>;
  /** The clock of the fleet; default: the machine's clock. */
  now?: () => number;
}

/** A driving fleet, each vehicle with a terminal of its own connected to the gateway. */
export interface Fleet {
  /** One line per vehicle, in the scenario's order. */
  stats(): { vehicle: DemoVehicle; terminal: TerminalStats }[];
  /** Number of positions acknowledged by the gateway, of all vehicles. */
  acknowledged(): number;
  /** Stops the drivers and closes the connections. */
  stop(): Promise<void>;
}

/** Starts a scenario's fleet, which drives in real time until it is stopped. */
export function startFleet({ scenario, host, ports, now = SYSTEM_CLOCK.now, ...options }: FleetOptions): Fleet {
  // Terminals report whole seconds, and some protocols cannot carry fractions.
  const drivers = options.drivers ?? createDemoDrivers(scenario, Math.floor(now() / 1000) * 1000);
  const terminals: TerminalClient[] = scenario.vehicles.map(({ protocol, profile: { terminalId } }) =>
    connectTerminal({ protocol, host, port: ports[protocol] ?? 0, terminalId }),
  );
  const drive = (): void => {
    const timeMs = now();
    drivers.forEach((driver, index) => {
      const positions = driver.advanceTo(timeMs);
      if (positions.length > 0) terminals[index]?.record(positions);
    });
  };
  drive();
  const driving = SYSTEM_CLOCK.every(250, drive);
  const stats = (): ReturnType<Fleet['stats']> =>
    scenario.vehicles.flatMap((vehicle, index) => {
      const terminal = terminals[index];
      return terminal ? [{ vehicle, terminal: terminal.stats() }] : [];
    });
  return {
    stats,
    acknowledged: () => stats().reduce((sum, { terminal }) => sum + terminal.acknowledged, 0),
    async stop() {
      driving.cancel();
      await Promise.all(terminals.map((terminal) => terminal.close()));
    },
  };
}
