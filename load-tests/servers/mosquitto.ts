import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '@outrider/testing/port';
import { type Security, type Server, startServer } from './server.ts';

/** Debian installs it where only administrators have it in their path. */
export const MOSQUITTO = existsSync('/usr/sbin/mosquitto') ? '/usr/sbin/mosquitto' : 'mosquitto';

/**
 * Mosquitto that keeps sessions and messages on the disk when it ends in order: by `MQTT_URL`, and where it has a
 * certificate by `MQTTS_URL`, `WS_URL` and `WSS_URL`.
 */
export async function startMosquitto(
  folder: string,
  certificate: Pick<Security, 'keyFile' | 'certificateFile'> | null = null,
): Promise<Server> {
  mkdirSync(folder, { recursive: true, mode: 0o777 });
  const port = await reservePort();
  const file = join(folder, 'mosquitto.conf');
  const settings = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence true',
    `persistence_location ${folder}/`,
    'max_queued_messages 100000',
    'user root',
  ];
  const environment: Record<string, string> = { MQTT_URL: `mqtt://127.0.0.1:${port}` };
  for (const scheme of certificate === null ? [] : ['mqtts', 'ws', 'wss']) {
    const listened = await reservePort();
    settings.push(`listener ${listened} 127.0.0.1`, ...(scheme === 'mqtts' ? [] : ['protocol websockets']));
    if (certificate !== null && scheme !== 'ws')
      settings.push(`certfile ${certificate.certificateFile}`, `keyfile ${certificate.keyFile}`);
    environment[`${scheme.toUpperCase()}_URL`] = `${scheme}://localhost:${listened}`;
  }
  writeFileSync(file, `${settings.join('\n')}\n`);
  const logPath = join(folder, 'mosquitto.log');
  return startServer('Mosquitto', port, environment, { command: MOSQUITTO, args: ['-c', file], logPath });
}
