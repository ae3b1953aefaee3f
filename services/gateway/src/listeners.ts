import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { BlockList, Server } from 'node:net';
import type { ProtocolName } from '@outrider/domain';
import { type Logger, surviveAcceptErrors } from '@outrider/runtime';
import { readProxyHeaders } from './connection/proxied-connections.ts';

type AnyServer = Server | HttpServer;

export interface ListenerOptions {
  host: string;
  /** Port by protocol; 0 takes any free one, null leaves the protocol out. */
  ports: Readonly<Record<ProtocolName, number | null>>;
  /** Those by TLS; null: none. */
  tlsPorts: Readonly<Record<ProtocolName, number | null>> | null;
  /** Whose connections begin with a header of the PROXY protocol; null: nobody's. */
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

  /** Opens the ports of a protocol that it is to have. */
  async open(name: ProtocolName, { plain, secure }: { plain: AnyServer; secure: AnyServer | null }): Promise<void> {
    const { ports, tlsPorts } = this.#options;
    await this.#open(name, plain, ports[name], this.ports);
    if (secure !== null) await this.#open(name, secure, tlsPorts?.[name], this.tlsPorts);
  }

  /** Takes no more connections. Resolves when those that are open have ended. */
  close(): Promise<unknown> {
    return Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  /** Ends connections of requests that ask for nothing now … */
  closeIdle(): void {
    for (const server of this.#servers) if ('closeIdleConnections' in server) server.closeIdleConnections();
  }

  /** … and all of them. */
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
