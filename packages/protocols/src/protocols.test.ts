import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { blankPosition } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { ATTRIBUTES } from './attributes.ts';
import { datagramProtocols, protocols, tcpProtocols } from './index.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
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

test('the common attributes are the table of docs/protocols.md', () => {
  const rows = Object.entries(ATTRIBUTES).map(([name, meaning]) => `| \`${name}\` | ${meaning} |\n`);
  expect(textOf('docs/protocols.md')).toContain(`| attribute | meaning |\n|---|---|\n${rows.join('')}\n`);
});

test('the commands of each protocol are the table of docs/protocols.md', () => {
  const rows = tcpProtocols.flatMap(({ name, commands = [] }) =>
    commands.map(({ type, how }) => `| \`${name}\` | \`${type}\` | ${how} |\n`),
  );
  expect(textOf('docs/protocols.md')).toContain(
    `| protocol | command | what is sent |\n|---|---|---|\n${rows.join('')}\n`,
  );
});

describe('the table of device fields in docs/protocols.md', () => {
  const table =
    textOf('docs/protocols.md').split('| protocol | attribute | device field |\n')[1]?.split('\n\n')[0] ?? '';
  const rows = [...table.matchAll(/^\| `([\w-]+)` \| `([\w<>]+)` \| (.+) \|$/gm)].map(
    ([, protocol = '', attribute = '']) => ({ protocol, attribute }),
  );
  const sourceOf = (protocol: string) => {
    const folder = new URL(`./${protocol}/`, import.meta.url);
    return readdirSync(folder)
      .filter((file) => !file.endsWith('.test.ts') && file !== 'simulator.ts')
      .map((file) => readFileSync(new URL(file, folder), 'utf8'))
      .join('\n');
  };
  /** Does the source give the attribute? Its number may be computed, as in a call of `setStates`. */
  const gives = (source: string, attribute: string) => {
    const [before = '', after] = attribute.split('<n>');
    return after === undefined
      ? new RegExp(`\\b${before}\\b`).test(source)
      : new RegExp(`${before}(\\d+|\\$\\{.+?\\})${after}(?![A-Za-z])${after === '' ? `|'${before}'` : ''}`).test(
          source,
        );
  };

  test('has each pair of a protocol and an attribute once', () => {
    const pairs = rows.map(({ protocol, attribute }) => `${protocol} ${attribute}`);
    expect(pairs.length).toBeGreaterThan(100);
    expect(pairs.filter((pair, index) => pairs.indexOf(pair) !== index)).toEqual([]);
  });

  test.each([...new Set(rows.map(({ protocol }) => protocol))])('%s: names what its codec gives', (name) => {
    const source = sourceOf(name);
    const named = rows.filter(({ protocol }) => protocol === name).map(({ attribute }) => attribute);
    expect(named.filter((attribute) => !Object.hasOwn(ATTRIBUTES, attribute))).toEqual([]);
    expect(named.filter((attribute) => !gives(source, attribute))).toEqual([]);
  });

  test.each(['jt808', 'omnicomm', 'wialon-ips', 'gt06'])('%s: lacks nothing that its codec gives', (name) => {
    const source = sourceOf(name);
    const named = rows.filter(({ protocol }) => protocol === name).map(({ attribute }) => attribute);
    // A word of the source itself.
    const given = Object.keys(ATTRIBUTES).filter((attribute) => attribute !== 'text' && gives(source, attribute));
    expect(given.filter((attribute) => !named.includes(attribute))).toEqual([]);
  });
});

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

  test('docker-compose.yml publishes the ports of UDP, and docs/protocols.md lists them', () => {
    const published = [...textOf('docker-compose.yml').matchAll(/^ {6}- "(\d+):\1\/udp"$/gm)].map(([, port]) =>
      Number(port),
    );
    const ports = datagramProtocols.map(({ defaultPort }) => defaultPort);
    expect(published.toSorted()).toEqual(ports.toSorted());
    const rows = datagramProtocols.map(
      ({ title, datagrams }) =>
        `| ${title} | ${datagrams.identification === 'each' ? 'each datagram' : 'its login, for the idle time'} |\n`,
    );
    expect(textOf('docs/protocols.md')).toContain(`| protocol | says who it is |\n|---|---|\n${rows.join('')}\n`);
  });

  test.each(datagramProtocols)('$name: over UDP each datagram is whole, cut off it is refused', (protocol) => {
    const terminalId = protocol.exampleId(25);
    const simulator = (protocol.datagrams.simulator ?? protocol.simulators[0])(terminalId);
    const create = protocol.datagrams.createSession ?? protocol.createSession;
    const hello = simulator.hello();
    const datagram = simulator.encode([blankPosition(NOW_MS, 1, 2)]);
    const read = (bytes: Buffer) => {
      const session = create();
      if (protocol.datagrams.identification === 'login') session.push(hello ?? datagram, NOW_MS);
      const messages = session.push(bytes, NOW_MS);
      return { messages, unfinished: session.dropUnfinished() };
    };
    const { messages, unfinished } = read(datagram);
    expect(unfinished).toBe(0);
    expect(messages.map(({ type }) => type)).toContain('positions');
    if (protocol.datagrams.identification === 'each')
      expect(messages[0]).toMatchObject({ type: 'identify', terminalId });
    for (let length = 1; length < datagram.length; length++) {
      const cut = read(datagram.subarray(0, length));
      const isRefused = cut.unfinished > 0 || cut.messages.some(({ type }) => type === 'refuse');
      // A datagram of several frames may be cut between two of them.
      expect(isRefused || cut.messages.length < messages.length, `${length} bytes`).toBe(true);
    }
  });

  test.each(tcpProtocols)('$name: its folder has a test that runs the conformance suite', ({ name }) => {
    const path = `packages/protocols/src/${name}/protocol.test.ts`;
    expect(existsSync(new URL(`../../../${path}`, import.meta.url)), path).toBe(true);
    expect(textOf(path)).toContain('describeProtocol(');
  });

  test.each(tcpProtocols)('$name: a session names the terminal that each of its simulators plays', (protocol) => {
    for (const number of [1, 25, 9001]) {
      const terminalId = protocol.exampleId(number);
      for (const create of protocol.simulators) {
        const simulator = create(terminalId);
        const first = simulator.hello() ?? simulator.encode([blankPosition(NOW_MS, 1, 2)]);
        const inbound = protocol.createSession().push(first, NOW_MS);
        expect(inbound[0]).toMatchObject({ type: expect.stringMatching(/^(identify|positions)$/), terminalId });
      }
    }
  });
});
