import { sourceOf } from '@outrider/auth';
import type { AccessRefusal, Clock, PacketTrace, ProtocolName, TerminalId, Vehicle } from '@outrider/domain';
import type { Hub, RefusedContact } from '@outrider/hub';
import { httpProtocols } from '@outrider/protocols';
import type { Logger, Tracing } from '@outrider/runtime';
import type { gatewayMetrics } from './metrics.ts';
import { refusalDetail } from './terminal-access.ts';
import { UnknownBudget } from './unknown-budget.ts';
import { UnknownDevices } from './unknown-devices.ts';

export interface RefusedPeersParts {
  hub: Hub;
  logger: Logger;
  metrics: ReturnType<typeof gatewayMetrics>;
  tracing: Tracing;
  clock: Clock;
  /** Unknown terminal ids that one address may try per minute. */
  unknownPerMinute: number;
}

/** Counts and logs refused peers, lists them for the operator, and blocks addresses that guess ids. */
export class RefusedPeers {
  readonly #parts: RefusedPeersParts;
  readonly #devices: UnknownDevices;
  readonly #budget: UnknownBudget;

  constructor(parts: RefusedPeersParts) {
    const { hub, logger, clock, unknownPerMinute } = parts;
    this.#parts = parts;
    this.#budget = new UnknownBudget({
      hub,
      perMinute: unknownPerMinute,
      now: clock.now,
      onError: (error) => logger.warn({ err: error }, 'cannot count an unknown terminal'),
      onBlocked: (address) => logger.warn({ address }, 'address blocked: too many unknown terminal ids'),
    });
    this.#devices = new UnknownDevices({
      hub,
      now: clock.now,
      onError: (error) => logger.warn({ err: error }, 'cannot note an unknown device'),
    });
  }

  /** Records a terminal of a vehicle at this address. It stays admitted while the address is blocked. */
  noteLetIn(address: string, terminalId: TerminalId): void {
    this.#budget.noteLetIn(sourceOf(address), terminalId);
  }

  /** @param trace of the refused data */
  refuse(protocol: ProtocolName, reason: string, detail: string, address: string, trace: PacketTrace): void {
    const { metrics, logger, tracing } = this.#parts;
    metrics.refused(protocol, reason);
    logger.debug({ traceId: trace, protocol, reason, detail, address }, 'data of a terminal refused');
    if (!tracing.isOn) return;
    const facts = { 'outrider.protocol': protocol, 'outrider.refusal': reason, 'client.address': address };
    const span = tracing.beginPacket(trace, 'refuse', { kind: 'server', facts });
    span.fail(detail);
    span.end();
  }

  /**
   * Records that a vehicle refused its terminal. The data may contain the vehicle's secret, so none of it is stored.
   */
  noteAccessRefused(protocol: ProtocolName, vehicle: Vehicle, refusal: AccessRefusal, address: string): void {
    const { terminalId, terminalAccess } = vehicle;
    if (terminalId === null) return;
    const transport = httpProtocols.some(({ name }) => name === protocol) ? 'http' : 'tcp';
    const detail = refusalDetail(terminalAccess, refusal);
    const contact: RefusedContact = { transport, reason: refusal, detail, receivedBytes: 0, firstBytes: '' };
    this.#list(terminalId, protocol, address, contact, 'cannot note a refused terminal');
  }

  /** Queries and callbacks for the connections and requests of a protocol. */
  contextOf(protocol: ProtocolName) {
    return {
      isBlocked: (terminalId: TerminalId, address: string) => this.#budget.isBlocked(sourceOf(address), terminalId),
      onWrongSecret: (address: string) => this.#budget.noteWrongSecret(sourceOf(address)),
      onUnknown: (terminalId: TerminalId, address: string, contact?: RefusedContact) => {
        this.#budget.noteUnknown(sourceOf(address), terminalId);
        this.#list(terminalId, protocol, address, contact, 'cannot note an unknown terminal');
      },
      onUnknownDevice: (address: string, contact: RefusedContact) => this.#devices.note(protocol, address, contact),
      onAccessRefused: (vehicle: Vehicle, refusal: AccessRefusal, address: string) =>
        this.noteAccessRefused(protocol, vehicle, refusal, address),
      onRefused: (reason: string, detail: string, address: string, trace: PacketTrace) =>
        this.refuse(protocol, reason, detail, address, trace),
    };
  }

  #list(
    terminalId: TerminalId,
    protocol: ProtocolName,
    address: string,
    contact: RefusedContact | undefined,
    failure: string,
  ): void {
    const { hub, logger, clock } = this.#parts;
    hub
      .noteUnknownTerminal(terminalId, protocol, address, clock.now(), contact)
      .catch((error) => logger.warn({ err: error, terminalId }, failure));
  }
}
