import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { datagramProtocols, protocols } from '@outrider/protocols';
import type { Config } from '@outrider/runtime';
import type { variables } from '../config.ts';
import { type Finding, ok, problem } from './finding.ts';

type Network = 'tcp' | 'udp';
interface WantedPort {
  setting: string;
  port: number;
  network: Network;
}

/**
 * Checks whether the ports of the settings are free.
 *
 * @param isInUse whether a running service holds DATA_DIR: then ports of an Outrider are its own
 */
export async function checkPorts(config: Config<typeof variables>, isInUse: boolean): Promise<Finding[]> {
  const wanted = wantedPorts(config).filter(({ port }) => port > 0);
  const findings: Finding[] = [];
  let own = 0;
  for (const [place, same] of Map.groupBy(wanted, ({ port, network }) => `${port} (${network})`)) {
    const settings = same.map(({ setting }) => setting);
    const [{ port, network } = { port: 0, network: 'tcp' as const }] = same;
    if (same.length > 1) {
      const names = settings.join(' and ');
      findings.push(problem('ports', `${names} are both ${place}`, 'give each a port of its own'));
      continue;
    }
    const code = await refusalOf(config.HOST, port, network);
    if (code === null) continue;
    if (code === 'EADDRNOTAVAIL')
      return [problem('ports', `HOST ${config.HOST} is no address of this machine`, 'set HOST to one, or unset it')];
    const owner = code === 'EADDRINUSE' ? await ownerOf(port, network) : null;
    if (isInUse && code === 'EADDRINUSE' && (owner === null || owner.isOutrider)) own++;
    else findings.push(refused(`${settings[0]} ${place}`, code, owner));
  }
  if (findings.length > 0) return findings;
  const used = own > 0 ? `${own} are those of the service that runs, ` : '';
  return [ok('ports', `${used}${wanted.length - own} are free`)];
}

function refused(what: string, code: string, owner: Owner | null): Finding {
  if (code === 'EACCES')
    return problem('ports', `${what} may not be listened on by this account`, 'set a port above 1023');
  if (code !== 'EADDRINUSE') return problem('ports', `${what} can't be listened on: ${code}`, 'set another port');
  const by =
    owner === null ? 'another program' : `${owner.isOutrider ? 'another Outrider' : owner.name} (process ${owner.pid})`;
  return problem('ports', `${what} is in use by ${by}`, 'stop it, or set another port');
}

function wantedPorts(config: Config<typeof variables>): WantedPort[] {
  const settings: Readonly<Record<string, unknown>> = config;
  const ports: WantedPort[] = [];
  const add = (setting: string, network: Network = 'tcp') => {
    const port = settings[setting];
    if (typeof port === 'number') ports.push({ setting, port, network });
  };
  for (const setting of ['PORT', 'METRICS_PORT', 'VIDEO_MEDIA_PORT']) add(setting);
  for (const { settingPrefix } of protocols) for (const suffix of ['_PORT', '_TLS_PORT']) add(settingPrefix + suffix);
  if (config.TERMINAL_UDP === 'yes')
    for (const { settingPrefix } of datagramProtocols) add(`${settingPrefix}_PORT`, 'udp');
  return ports;
}

/** The error code if a port can't be listened on; otherwise null. */
async function refusalOf(host: string, port: number, network: Network): Promise<string | null> {
  const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'unknown';
  if (network === 'udp') {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    try {
      const bound = once(socket, 'listening');
      socket.bind(port, host);
      await bound;
      return null;
    } catch (error) {
      return codeOf(error);
    } finally {
      socket.close();
    }
  }
  const server = createServer();
  try {
    const listening = once(server, 'listening');
    server.listen(port, host);
    await listening;
    return null;
  } catch (error) {
    return codeOf(error);
  } finally {
    if (server.listening) server.close();
  }
}

interface Owner {
  pid: number;
  name: string;
  isOutrider: boolean;
}

/** State of a listening socket in /proc/net/tcp, and of a bound UDP socket. */
const LISTENS = { tcp: '0A', udp: '07' } as const;

/** The process that uses a port, by /proc (Linux); null if it is not visible to this account. */
async function ownerOf(port: number, network: Network): Promise<Owner | null> {
  const inodes = new Set<string>();
  for (const file of [network, `${network}6`]) {
    const table = await readFile(`/proc/net/${file}`, 'utf8').catch(() => '');
    for (const line of table.split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (Number.parseInt(local.split(':')[1] ?? '', 16) === port && state === LISTENS[network]) inodes.add(inode);
    }
  }
  if (inodes.size === 0) return null;
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)))
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (!inodes.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? '')) continue;
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      const name = (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'unknown')).trim();
      return {
        pid: Number(pid),
        name,
        isOutrider: command.some((word) => /outrider\/src\/(main|dev)\.ts$/.test(word)),
      };
    }
  return null;
}
