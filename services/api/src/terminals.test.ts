import { allProtocols } from '@outrider/protocols';
import { expect, test } from 'vitest';
import { World } from './api.fixture.ts';

test('protocols of terminals, with the ports that are open now, or those of the settings', async () => {
  const terminals = {
    host: 'gps.example.com',
    ports: { gt06: 5023, jt808: null },
    udpPorts: { gt06: 5023 },
    tlsPorts: { gt06: 6023 },
  };
  const settled = await World.open({ terminals });
  const { jwt } = await settled.member('anna');
  const { body } = await settled.call('GET', '/api/v1/terminal-protocols', { jwt });
  expect(body.host).toBe('gps.example.com');
  expect(body.items.map(({ name }: { name: string }) => name)).toEqual(allProtocols.map(({ name }) => name));
  const of = (name: string, items = body.items) => items.find((each: { name: string }) => each.name === name);
  expect(of('gt06')).toMatchObject({
    port: 5023,
    udpPort: 5023,
    tlsPort: 6023,
    transport: 'tcp',
    authentication: null,
  });
  expect(of('jt808')).toMatchObject({ port: null, udpPort: null, tlsPort: null });
  expect(of('osmand')).toMatchObject({ transport: 'http', models: [] });
  expect(of('teltonika').models).toContain('FMB920');
  await settled.close();

  const openTerminalPorts = () => ({ ports: { gt06: 40_123 }, udpPorts: { gt06: 40_124 }, tlsPorts: {} });
  const open = await World.open({ terminals }, { openTerminalPorts });
  const boss = await open.member('boss', 'operator');
  const now = await open.call('GET', '/api/v1/terminal-protocols', boss);
  expect(of('gt06', now.body.items)).toMatchObject({ port: 40_123, udpPort: 40_124, tlsPort: null });
  await open.close();
});
