import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { protocols, tcpProtocols } from './index.ts';

const textOf = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** The table of `docs/protocols.md`. */
function protocolTable(): string {
  const rows = protocols.map(({ title, name, settingPrefix, defaultPort, acknowledgement, secret, help }) =>
    [
      '',
      title,
      `\`${name}\``,
      defaultPort,
      `\`${settingPrefix}_PORT\``,
      acknowledgement,
      secret ?? 'none',
      help,
      '',
    ].join(' | '),
  );
  return rows.map((row) => `${row.trim()}\n`).join('');
}

describe('the list of protocols', () => {
  test.each(['name', 'title', 'settingPrefix', 'defaultPort'] as const)('has each %s once', (field) => {
    expect(new Set(protocols.map((each) => each[field])).size).toBe(protocols.length);
  });

  test('is the table of docs/protocols.md; paste the expected rows there', () => {
    expect(textOf('docs/protocols.md')).toContain(`|---|---|---|---|---|---|---|\n${protocolTable()}\n`);
  });

  test.each(protocols)('$name: docker-compose.yml publishes its port', ({ defaultPort }) => {
    expect(textOf('docker-compose.yml')).toContain(`      - "${defaultPort}:${defaultPort}"\n`);
  });

  test.each(tcpProtocols)('$name: its folder has a test that runs the conformance suite', ({ name }) => {
    const path = `packages/protocols/src/${name}/protocol.test.ts`;
    expect(existsSync(new URL(`../../../${path}`, import.meta.url)), path).toBe(true);
    expect(textOf(path)).toContain('describeProtocol(');
  });

  test.each(tcpProtocols)('$name: a session identifies the terminal that each of its simulators plays', (protocol) => {
    for (const number of [1, 25, 9001]) {
      const terminalId = protocol.exampleId(number);
      for (const create of protocol.simulators) {
        const hello = create(terminalId).hello();
        const inbound = hello === null ? [] : protocol.createSession().push(hello, Date.UTC(2026, 0, 1));
        expect(inbound[0]).toMatchObject({ type: 'identify', terminalId });
      }
    }
  });
});
