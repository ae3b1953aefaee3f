import { ADMIN_LOGIN } from '@outrider/api';
import { protocols } from '@outrider/protocols';
import type { Config } from '@outrider/runtime';
import type { variables } from './config.ts';
import type { Outrider } from './outrider.ts';

/** Host name by which a browser on this machine can connect to a service that listens on the address. */
function hostOf(listensOn: string): string {
  if (listensOn === '0.0.0.0' || listensOn === '::') return 'localhost';
  return listensOn.includes(':') ? `[${listensOn}]` : listensOn;
}

/** URL of the service for a browser on this machine. */
export function addressOf({ HOST }: Config<typeof variables>, httpPort: number): string {
  return `http://${hostOf(HOST)}:${httpPort}`;
}

/** Prints the addresses of the service on standard output: as text for people, as one line of JSON for programs. */
export function printWelcome(config: Config<typeof variables>, { ports, generatedPassword }: Outrider): void {
  if (config.LOG_FORMAT === 'json') {
    process.stdout.write(`${JSON.stringify({ ready: true, ports, generatedPassword })}\n`);
    return;
  }
  const address = addressOf(config, ports.http);
  const rows: [string, string][] = [
    ['home', `${address}/`],
    ['documentation', `${address}/docs/`],
    ['REST API', `${address}/api/v1, described in ${address}/openapi.json`],
    ['live API', `${address.replace('http', 'ws')}/live, described in ${address}/asyncapi.json`],
    ['log in', `POST ${address}/auth/login?jwt=1`],
    ['health, metrics', `${address}/health/ready, ${address}/metrics`],
    ...protocols.map(({ name, title }): [string, string] => [title, `port ${ports[name]}`]),
    ['JT/T 1078 media', `port ${ports.video}`],
    ['data', config.DATA_DIR],
  ];
  if (generatedPassword !== null)
    rows.push(['first login', `${ADMIN_LOGIN} / ${generatedPassword}   (shown only once)`]);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  process.stdout.write(`\nOutrider is ready. Ctrl-C stops it.\n\n${lines.join('\n')}\n\n`);
}
