import { deviceModelsOf, isoTime } from '@outrider/domain';
import type { Sightings, UnknownDevice, UnknownTerminal } from '@outrider/hub';
import { allProtocols, protocols } from '@outrider/protocols';
import { z } from 'zod';
import { paging, readCursor, timeOut, writeCursor } from '../../fields/fields.ts';
import { pageOf } from '../../http/whole-list.ts';
import { callsOf, type Route } from '../../route.ts';

const { get } = callsOf('Vehicles');

const port = z.int().nullable();
const TerminalProtocolsOut = z
  .strictObject({
    host: z.string().nullable().meta({
      description: 'Host name or address to which terminals must connect. Null: the same that the caller uses.',
    }),
    items: z.array(
      z.strictObject({
        name: z.string().meta({ description: 'Name of the protocol, as in `terminalAccess.protocol` of a vehicle.' }),
        title: z.string(),
        transport: z.enum(['tcp', 'http', 'mqtt']),
        port: port.meta({ description: 'Port for this protocol. Null if the gateway does not listen for it.' }),
        udpPort: port.meta({ description: 'UDP port. Null if there is none.' }),
        tlsPort: port.meta({ description: 'Port with TLS. Null if there is none.' }),
        authentication: z
          .string()
          .nullable()
          .meta({ description: 'Secret that a terminal can send besides its id. Null if the protocol has none.' }),
        help: z.string().meta({ description: 'What the terminal id is, and how to set up a terminal. Markdown.' }),
        exampleId: z.string().meta({ description: 'Example of a terminal id.' }),
        models: z.array(z.string()).meta({
          description:
            'Possible values of `deviceModel` of a vehicle: models whose data differs in meaning from that of other models.',
        }),
      }),
    ),
  })
  .meta({
    id: 'TerminalProtocols',
    examples: [
      {
        host: 'gps.example.com',
        items: [
          {
            name: 'teltonika',
            title: 'Teltonika Codec 8, 8 Extended, 16',
            transport: 'tcp',
            port: 5027,
            udpPort: 5027,
            tlsPort: null,
            authentication: null,
            help: 'The terminal id is the IMEI.',
            exampleId: '356307042440000',
            models: ['FMB120', 'FMB640', 'FMB920'],
          },
        ],
      },
    ],
  });

const UnknownTerminalOut = z
  .strictObject({
    terminalId: z.string().nullable().meta({
      description:
        'Id of the terminal. Null if the device was refused before it sent an id; one such device is listed per protocol and address.',
    }),
    protocol: z.string().meta({ description: 'Protocol of the port that it connected to.' }),
    transport: z.enum(['tcp', 'udp', 'http']).nullable().meta({ description: 'Null if it was not recorded.' }),
    address: z.string(),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Reason of the last refusal, as in the metrics. Null if it was not recorded.' }),
    detail: z.string().nullable().meta({ description: 'The reason in words.' }),
    receivedBytes: z.int().nullable().meta({
      description: 'Number of bytes received in its last connection, datagram or request. Null if it was not recorded.',
    }),
    firstBytes: z.string().nullable().meta({
      description:
        'The first 256 of these bytes in hexadecimal. They may contain a password. Null if they were not recorded.',
    }),
    guesses: z
      .array(
        z.strictObject({
          protocol: z.string(),
          title: z.string(),
          port: port.meta({ description: 'Port for this protocol. Null if the gateway does not listen for it.' }),
          terminalId: z
            .string()
            .nullable()
            .meta({ description: 'Id of the terminal. Null if the bytes do not contain it.' }),
        }),
      )
      .meta({ description: 'Protocols that match the bytes of a device that did not send an id.' }),
    firstSeen: timeOut,
    lastSeen: timeOut,
    attempts: z.int(),
  })
  .meta({
    id: 'UnknownTerminal',
    examples: [
      {
        terminalId: '356307042441013',
        protocol: 'teltonika',
        transport: 'tcp',
        address: '203.0.113.5',
        reason: 'unknown-terminal',
        detail: 'no vehicle has terminal "356307042441013"',
        receivedBytes: 17,
        firstBytes: '000f333536333037303432343431303133',
        guesses: [],
        firstSeen: '2026-01-15T11:00:00.000Z',
        lastSeen: '2026-01-15T12:00:00.000Z',
        attempts: 7,
      },
    ],
  });
const seenCursor = z.tuple([z.number(), z.string()]);

/** Calls for people who install terminals. */
export const terminalRoutes: Route[] = [
  get('/api/v1/terminal-protocols', {
    operationId: 'listTerminalProtocols',
    summary: 'List the protocols of terminals, with the ports to connect to and how to set up a terminal.',
    answers: { 200: { description: 'All protocols that the service supports.', body: TerminalProtocolsOut } },
    async handle(_, { terminals }) {
      const { host, ports, udpPorts, tlsPorts } = terminals();
      const items = allProtocols.map((protocol) => ({
        name: protocol.name,
        title: protocol.title,
        transport: 'createSession' in protocol ? 'tcp' : 'settingPrefix' in protocol ? 'http' : 'mqtt',
        port: ports[protocol.name] ?? null,
        udpPort: udpPorts[protocol.name] ?? null,
        tlsPort: tlsPorts[protocol.name] ?? null,
        authentication: protocol.secret,
        help: protocol.help,
        exampleId: protocol.exampleId(0),
        models: [...deviceModelsOf(protocol.name)],
      }));
      return { status: 200, body: { host, items } };
    },
  }),
  get('/api/v1/unknown-terminals', {
    operationId: 'listUnknownTerminals',
    summary: 'List terminals and devices that were refused, the most recently seen first.',
    description:
      'For operators only. A terminal is listed if it has no vehicle, or if it did not meet the `terminalAccess` of its vehicle: then `reason` is `wrong-protocol`, `wrong-network`, `wrong-certificate` or `wrong-secret`, and its bytes are not recorded. A device whose data does not match the protocol of the port is listed by its address, with its first bytes and the protocols that match them.',
    query: z.object(paging),
    answers: { 200: pageOf(UnknownTerminalOut) },
    problems: ['forbidden'],
    async handle({ query }, { access, terminals }) {
      const after = readCursor(seenCursor, query.cursor);
      const refused = [
        ...(await access.vehicles.unknownTerminals()).map(terminalSeen),
        ...(await access.vehicles.unknownDevices()).map(deviceSeen),
      ];
      const left = refused
        .toSorted((a, b) => b.lastSeenMs - a.lastSeenMs || (a.key < b.key ? -1 : 1))
        .filter(
          ({ lastSeenMs, key }) =>
            after === null || lastSeenMs < after[0] || (lastSeenMs === after[0] && key > after[1]),
        );
      const page = left.slice(0, query.limit);
      const last = left.length > page.length ? page.at(-1) : undefined;
      const { ports } = terminals();
      const items = page.map(({ terminalId, protocol, address, contact, guesses, ...seen }) => ({
        terminalId,
        protocol,
        transport: contact?.transport ?? null,
        address,
        reason: contact?.reason ?? null,
        detail: contact?.detail ?? null,
        receivedBytes: contact?.receivedBytes || null,
        firstBytes: contact?.firstBytes || null,
        guesses: guesses.map((guess) => ({
          protocol: guess.protocol,
          title: protocols.find(({ name }) => name === guess.protocol)?.title ?? guess.protocol,
          port: ports[guess.protocol] ?? null,
          terminalId: guess.terminalId,
        })),
        firstSeen: isoTime(seen.firstSeenMs),
        lastSeen: isoTime(seen.lastSeenMs),
        attempts: seen.attempts,
      }));
      return { status: 200, body: { items, nextCursor: last ? writeCursor([last.lastSeenMs, last.key]) : null } };
    },
  }),
];

/** A row of the list; the key orders terminals that were last seen at the same time. */
interface Seen extends Omit<UnknownTerminal, 'terminalId'>, Pick<UnknownDevice, 'guesses'> {
  key: string;
  terminalId: string | null;
}

function terminalSeen(terminal: UnknownTerminal): Seen {
  return { ...terminal, key: `terminal ${terminal.terminalId}`, guesses: [] };
}

function deviceSeen(device: UnknownDevice & Sightings): Seen {
  return { ...device, key: `address ${device.protocol} ${device.address}`, terminalId: null };
}
