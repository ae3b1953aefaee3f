import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { BlockList, Server } from 'node:net';
import type { ProtocolName } from '@outrider/domain';
import { type Logger, surviveAcceptErrors } from '@outrider/runtime';
import { readProxyHeaders } from './connection/proxied-connections.ts';

type AnyServer = Server | HttpServer;

export interface ListenerOptions {
  host: string;
  /** Port by protocol; 0 selects a free one, null disables the protocol. */
  ports: Readonly<Record<ProtocolName, number | null>>;
  /** TLS ports; null: none. */
  tlsPorts: Readonly<Record<ProtocolName, number | null>> | null;
  /** Proxies, whose connections begin with a header of the PROXY protocol; null: none. */
  proxies: BlockList | null;
  logger: Logger;
  onNoDescriptor(protocol: ProtocolName): void;
  onBadProxyHeader(protocol: ProtocolName, detail: string, address: string): void;
}

/** The open TCP ports of the gateway. */
export class Listeners {
  readonly ports: Record<ProtocolName, number> = {};
  readonly tlsPorts: Record<ProtocolName, number> = {};
  readonly #options: ListenerOptions;
  readonly #servers: AnyServer[] = [];

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Opens the configured ports of a protocol. */
  async open(name: ProtocolName, { plain, secure }: { plain: AnyServer; secure: AnyServer | null }): Promise<void> {
    const { ports, tlsPorts } = this.#options;
    await this.#open(name, plain, ports[name], this.ports);
    if (secure !== null) await this.#open(name, secure, tlsPorts?.[name], this.tlsPorts);
  }

  /** Stops accepting connections. Resolves when the open ones have ended. */
  close(): Promise<unknown> {
    return Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  /** Closes idle HTTP connections … */
  closeIdle(): void {
    for (const server of this.#servers) if ('closeIdleConnections' in server) server.closeIdleConnections();
  }

  /** … and all HTTP connections. */
  closeAll(): void {
    for (const server of this.#servers) if ('closeAllConnections' in server) server.closeAllConnections();
  }

  async #open(
    name: ProtocolName,
    server: AnyServer,
    port: number | null | undefined,
    opened: Record<ProtocolName, number>,
  ): Promise<void> {
    const { host, proxies, logger, onNoDescriptor, onBadProxyHeader } = this.#options;
    if (port == null) return;
    if (proxies !== null)
      readProxyHeaders(server, proxies, (detail, address) => onBadProxyHeader(name, detail, address));
    server.listen({ port, host, backlog: 4096 });
    await once(server, 'listening');
    surviveAcceptErrors(server, logger, () => onNoDescriptor(name));
    this.#servers.push(server);
    const address = server.address();
    if (address !== null && typeof address === 'object') opened[name] = address.port;
  }
}
