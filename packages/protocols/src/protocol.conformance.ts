import {
  ALARMS,
  type AttributeValue,
  type CommandAbility,
  type CommandOrder,
  type Position,
  type TerminalId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CreateSimulator, Inbound, Protocol, Session } from './protocol.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

/** Any position that a vehicle could report, with attributes as the protocol names them. */
export function arbitraryPosition(
  attributes: fc.Arbitrary<Record<string, AttributeValue> | null> = fc.constant(null),
): fc.Arbitrary<Position> {
  const perhaps = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
  return fc.record({
    fixTimeMs: fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2099, 11, 31) }),
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    valid: fc.boolean(),
    speedKmh: perhaps(fc.double({ min: 0, max: 300, noNaN: true })),
    courseDeg: perhaps(fc.integer({ min: 0, max: 359 })),
    altitudeM: perhaps(fc.integer({ min: -400, max: 8800 })),
    satellites: perhaps(fc.integer({ min: 0, max: 40 })),
    ignition: perhaps(fc.boolean()),
    odometerM: perhaps(fc.integer({ min: 0, max: 2_000_000_000 })),
    supplyV: perhaps(fc.integer({ min: 0, max: 60_000 }).map((millivolts) => millivolts / 1000)),
    fuelL: perhaps(fc.integer({ min: 0, max: 6000 }).map((tenths) => tenths / 10)),
    // The gateway alone raises a conflict.
    alarms: fc.subarray(ALARMS.filter((alarm) => alarm !== 'terminal-conflict')),
    attributes,
  });
}

const NOTHING = Buffer.alloc(0);

/** A command of this type, with the largest parameters. */
function orderOf(ability: CommandAbility): CommandOrder {
  switch (ability.type) {
    case 'output-set':
      return { type: ability.type, parameters: { output: ability.outputs.max, on: true } };
    case 'interval-set':
      return { type: ability.type, parameters: { seconds: ability.seconds.max } };
    case 'text':
      // Some protocols carry commands of their own form alone.
      return { type: ability.type, parameters: { text: 'AT+GTRTO=gl300,1,,,,,,0001$' } };
    default:
      return { type: ability.type, parameters: {} };
  }
}

/** What the suite needs to know of a protocol's codec. */
export interface Conformance {
  protocol: Protocol;
  createSimulator: CreateSimulator;
  terminalId: TerminalId;
  positions: fc.Arbitrary<Position>;
  /**
   * The position as it comes out at the other end: without what the protocol can't carry. Left out, places and times
   * come out within a step of the wire, and what came out once comes out unchanged.
   */
  carried?(position: Position): Position;
  /** Half a step of the wire, where `carried` is left out. */
  resolution?: { degrees: number; seconds: number };
  /** Each packet names its terminal: there is nothing to say on connecting. */
  identifiesByData?: boolean;
  /** Each packet is of a terminal of its own: the session identifies none. */
  carriesSeveral?: boolean;
  /** The simulator sends several frames in a packet: a part of them may be whole. */
  hasSeveralFrames?: boolean;
  /** Bytes that a terminal may send for ever between frames, if any. */
  idleBytes?: readonly number[];
}

/** What every protocol over TCP promises; each codec's test runs it. */
export function describeProtocol(name: string, conformance: Conformance): void {
  const { protocol, createSimulator, terminalId, carried, resolution, identifiesByData = false } = conformance;
  const { carriesSeveral = false } = conformance;
  const maxLength = Math.min(6, createSimulator(terminalId).maxPositionsPerPacket);
  const packets = fc.array(fc.array(conformance.positions, { minLength: 1, maxLength }), {
    minLength: 1,
    maxLength: 3,
  });

  const talk = (sent: readonly Position[][]) => {
    const simulator = createSimulator(terminalId);
    const hello = simulator.hello();
    return Buffer.concat([...(hello === null ? [] : [hello]), ...sent.map((positions) => simulator.encode(positions))]);
  };
  const listen = (bytes: Buffer, session: Session = protocol.createSession()) =>
    session.push(Buffer.from(bytes), NOW_MS);

  describe(`${name} keeps what every protocol promises`, () => {
    const received = (sent: readonly Position[][]) => {
      const [first, ...others] = listen(talk(sent));
      expect(first).toMatchObject({ type: carriesSeveral ? 'positions' : 'identify', terminalId });
      const data = carriesSeveral && first !== undefined ? [first, ...others] : others;
      return data
        .filter((inbound) => inbound.type !== 'positions' || inbound.positions.length > 0)
        .map((inbound) => (inbound.type === 'positions' ? inbound.positions : inbound)) as Position[][];
    };

    test.runIf(carried)('positions come out as they went in, save for what the protocol cannot carry', () => {
      fc.assert(
        fc.property(packets, (sent) => {
          const expected = sent.map((positions) => positions.map((position) => carried?.(position)));
          expect(received(sent)).toEqual(expected);
        }),
      );
    });

    test.runIf(resolution)('places and times come out within a step; what came out once does not change', () => {
      const { degrees, seconds } = resolution ?? { degrees: 0, seconds: 0 };
      fc.assert(
        fc.property(packets, (sent) => {
          const once = received(sent);
          expect(once.map((positions) => positions.length)).toEqual(sent.map((positions) => positions.length));
          for (const [index, position] of once.flat().entries()) {
            const { fixTimeMs, latitude, longitude, valid } = sent.flat()[index] as Position;
            expect(Math.abs(position.fixTimeMs - fixTimeMs)).toBeLessThanOrEqual(seconds * 1000);
            expect(position.valid).toBe(valid);
            if (!valid) continue;
            expect(Math.abs(position.latitude - latitude)).toBeLessThanOrEqual(degrees);
            expect(Math.abs(position.longitude - longitude)).toBeLessThanOrEqual(degrees);
          }
          expect(received(once)).toEqual(once);
        }),
      );
    });

    test('every position has all fields in the declared order', () => {
      fc.assert(
        fc.property(packets, (sent) => {
          for (const inbound of listen(talk(sent)))
            for (const position of inbound.type === 'positions' ? inbound.positions : [])
              expect(Object.keys(position).join()).toBe(
                'fixTimeMs,latitude,longitude,valid,speedKmh,courseDeg,altitudeM,satellites,ignition,odometerM,supplyV,fuelL,alarms,attributes',
              );
        }),
      );
    });

    test('the terminal gets an answer when it is accepted, and an acknowledgement of every durable packet', () => {
      fc.assert(
        fc.property(packets, (sent) => {
          const session = protocol.createSession();
          const simulator = createSimulator(terminalId);
          const hello = simulator.hello();
          if (hello !== null) {
            const [identify] = listen(hello, session);
            if (identify?.type !== 'identify') throw new Error(`not identified: ${JSON.stringify(identify)}`);
            expect(simulator.receive(identify.accept ?? Buffer.alloc(0))).toEqual([{ type: 'welcome' }]);
          }

          const acks: Buffer[] = [];
          for (const positions of sent)
            for (const inbound of listen(simulator.encode(positions), session))
              if (inbound.type === 'positions' && inbound.ack !== null) acks.push(inbound.ack);
          if (simulator.isUnacknowledged) {
            expect(acks).toEqual([]);
            return;
          }
          expect(acks.length).toBeGreaterThanOrEqual(sent.length);
          const bytes = Buffer.concat(acks);
          const replies = [...bytes].flatMap((byte) => simulator.receive(Buffer.from([byte])));
          expect(replies).toEqual(sent.map(() => ({ type: 'ack' })));
        }),
      );
    });

    test.skipIf(carriesSeveral)('a terminal that is rejected learns of it', () => {
      const simulator = createSimulator(terminalId);
      const first = simulator.hello() ?? simulator.encode(fc.sample(conformance.positions, { numRuns: 1, seed: 3 }));
      const [identify] = listen(first);
      if (identify?.type !== 'identify') throw new Error('not identified');
      const replies = identify.reject === null ? [] : simulator.receive(identify.reject);
      expect(replies.filter((reply) => reply.type === 'welcome')).toEqual([]);
      if (identify.reject !== null) expect(replies).toMatchObject([{ type: 'refused' }]);
    });

    test.each(protocol.commands ?? [])(
      'the terminal gets the command $type, and its answer is known by it',
      (ability) => {
        const session = protocol.createSession();
        const simulator = createSimulator(terminalId);
        const [position] = fc.sample(conformance.positions, { numRuns: 1, seed: 5 });
        const said = (inbound: Inbound) =>
          inbound.type === 'identify' ? inbound.accept : inbound.type === 'positions' ? inbound.ack : null;
        expect(session.command?.(orderOf(ability))).toBeNull();
        for (const bytes of [simulator.hello(), simulator.encode(position === undefined ? [] : [position])])
          for (const inbound of bytes === null ? [] : listen(bytes, session))
            simulator.receive(said(inbound) ?? NOTHING);
        for (const isDone of [true, false]) {
          const sent = session.command?.(orderOf(ability));
          const [command] = simulator.receive(sent?.bytes ?? NOTHING);
          if (command?.type !== 'command') throw new Error(`no command: ${JSON.stringify(command)}`);
          expect(command.text).not.toBe('');
          const answer = command.answer(isDone);
          const answers = (answer === null ? [] : listen(answer, session)).filter(({ type }) => type === 'answer');
          // A terminal may say nothing about what it does not do.
          if (!isDone && answer === null) continue;
          expect(answers).toMatchObject([
            { correlation: sent?.correlation, answer: { type: 'acknowledged', result: isDone ? 'done' : 'failed' } },
          ]);
        }
      },
    );

    test('any split of the bytes gives the same messages, and nothing is kept of a chunk', () => {
      fc.assert(
        fc.property(packets, fc.array(fc.nat(), { maxLength: 12 }), (sent, cuts) => {
          const bytes = talk(sent);
          const whole = listen(bytes);
          const session = protocol.createSession();
          const pieces: Inbound[] = [];
          let from = 0;
          for (const to of [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b)) {
            const chunk = Buffer.from(bytes.subarray(from, to));
            pieces.push(...session.push(chunk, NOW_MS));
            chunk.fill(0xaa);
            from = to;
          }
          expect(pieces).toEqual(whole);
        }),
      );
    });

    test('byte by byte is a split too', () => {
      const bytes = talk(fc.sample(packets, { numRuns: 1, seed: 7 })[0] ?? []);
      const session = protocol.createSession();
      const pieces = [...bytes].flatMap((byte) => session.push(Buffer.from([byte]), NOW_MS));
      expect(pieces).toEqual(listen(bytes));
    });

    test('an unfinished packet gives nothing', () => {
      fc.assert(
        fc.property(packets, fc.nat(), (sent, cut) => {
          const before = talk(sent.slice(0, -1));
          const bytes = talk(sent);
          const unfinished = bytes.subarray(0, before.length + (cut % (bytes.length - before.length)));
          const taken = listen(unfinished);
          if (conformance.hasSeveralFrames) expect(taken).toEqual(listen(bytes).slice(0, taken.length));
          else expect(taken).toEqual(listen(before));
        }),
      );
    });

    test('an unfinished packet that is dropped leaves no trace', () => {
      fc.assert(
        fc.property(packets, fc.nat(), (sent, cut) => {
          const session = protocol.createSession();
          const simulator = createSimulator(terminalId);
          listen(simulator.hello() ?? Buffer.alloc(0), session);
          const bytes = simulator.encode(sent[0] ?? []);
          listen(bytes.subarray(0, 1 + (cut % (bytes.length - 1))), session);
          session.dropUnfinished();
          expect(session.dropUnfinished()).toBe(0);
          const whole = listen(bytes, session);
          expect(whole.filter(({ type }) => type === 'refuse')).toEqual([]);
          expect(whole.some((inbound) => inbound.type === 'positions')).toBe(true);
        }),
      );
    });

    test.skipIf(identifiesByData || carriesSeveral)(
      'data before the terminal said who it is ends the connection',
      () => {
        fc.assert(
          fc.property(conformance.positions, (position) => {
            const replies = listen(createSimulator(terminalId).encode([position]));
            expect(replies).toMatchObject([{ type: 'refuse', reason: 'not-identified' }]);
          }),
        );
      },
    );

    test('any mutation decodes or is refused, and after a refusal comes nothing', () => {
      const mutation = fc.record({
        at: fc.nat(),
        kind: fc.constantFrom('change', 'insert', 'remove', 'cut'),
        bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
      });
      fc.assert(
        fc.property(packets, fc.array(mutation, { minLength: 1, maxLength: 4 }), (sent, mutations) => {
          let bytes = talk(sent);
          for (const { at, kind, bytes: put } of mutations) {
            const place = at % (bytes.length + 1);
            const after = { change: place + put.length, insert: place, remove: place + put.length, cut: bytes.length };
            const middle = kind === 'change' || kind === 'insert' ? put : new Uint8Array();
            bytes = Buffer.concat([bytes.subarray(0, place), middle, bytes.subarray(after[kind])]);
          }
          expectOrderly(bytes);
        }),
        { numRuns: runs(400) },
      );
    });

    test('garbage is refused or ignored, before and after the identification', () => {
      const hello = createSimulator(terminalId).hello() ?? Buffer.alloc(0);
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (garbage, identified) => {
          expectOrderly(identified ? Buffer.concat([hello, garbage]) : Buffer.from(garbage));
        }),
        { numRuns: runs(400) },
      );
    });

    test('bytes without end are refused within the bound of a frame', () => {
      const hello = createSimulator(terminalId).hello() ?? Buffer.alloc(0);
      const packet = createSimulator(terminalId).encode(fc.sample(conformance.positions, { numRuns: 1, seed: 3 }));
      for (let byte = 0; byte < 256; byte++) {
        if (conformance.idleBytes?.includes(byte)) continue;
        for (const begun of [Buffer.alloc(0), hello, Buffer.concat([hello, packet.subarray(0, -1)])]) {
          const session = protocol.createSession();
          const reported = listen(begun, session);
          const chunk = Buffer.alloc(1000, byte);
          for (let fed = 0; fed <= protocol.maxFrameBytes + chunk.length; fed += chunk.length)
            reported.push(...session.push(chunk, NOW_MS));
          expect(reported.at(-1), `0x${byte.toString(16)} after ${begun.length} bytes`).toMatchObject({
            type: 'refuse',
          });
        }
      }
    });

    function expectOrderly(bytes: Buffer): void {
      const session = protocol.createSession();
      const reported = listen(bytes, session);
      const refusals = reported.filter((inbound) => inbound.type === 'refuse');
      expect(refusals.length).toBeLessThanOrEqual(1);
      if (refusals.length === 0) return;
      expect(reported.at(-1)).toBe(refusals[0]);
      expect(listen(talk([]), session)).toEqual([]);
    }
  });
}
