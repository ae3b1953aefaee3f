import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_FRAME_BYTES } from './frame-builder.ts';
import { buildPacket, KIND, MAGIC, PART } from './packet.ts';
import { PlaybackReassembler, type StreamFrame, type StreamMessage } from './reassembler.ts';
import { StreamWriter } from './stream-writer.ts';

const PHONE = '13900000001';
const form = fc.constantFrom(6 as const, 10 as const);

const frame: fc.Arbitrary<StreamFrame> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('key' as const, 'predicted' as const, 'bidirectional' as const),
    codec: fc.constantFrom('h264' as const, 'h265' as const),
    timestampMs: fc.nat({ max: 2 ** 31 - 1 }),
    data: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  }),
  fc.record({
    kind: fc.constant('audio' as const),
    codec: fc.constantFrom('g711a' as const, 'aac' as const, 'other-8' as const),
    timestampMs: fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2030, 0, 1) }),
    data: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  }),
);
/** Frames whose times differ, as those of a stream do. */
const frames = fc
  .array(frame, { minLength: 1, maxLength: 12 })
  .map((list) => list.map((one, i) => ({ ...one, timestampMs: one.timestampMs + i * 2 ** 32 })));

/** Frames as packets of 7 bytes of payload, so that most have several. */
function packetsOf(list: readonly StreamFrame[], phoneForm: 6 | 10, firstSequence = 65_530, phone: string = PHONE) {
  const writer = new StreamWriter(phone, 3, { form: phoneForm, firstSequence, payloadBytes: 7 });
  return list.map((one) => writer.write(one));
}

function read(bytes: Buffer, cuts: readonly number[] = []) {
  const reassembler = new PlaybackReassembler();
  const messages: StreamMessage[] = [];
  let from = 0;
  for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)) {
    const chunk = Buffer.from(bytes.subarray(from, to));
    messages.push(...reassembler.push(chunk));
    chunk.fill(0xaa);
    from = to;
  }
  messages.push(...reassembler.end());
  return { messages, losses: reassembler.losses(), frames: framesOf(messages) };
}

function framesOf(messages: readonly StreamMessage[]): StreamFrame[] {
  return messages.flatMap((message) => (message.type === 'frame' ? [message.frame] : []));
}

const NO_LOSSES = {
  packetsLost: 0,
  packetsReordered: 0,
  packetsRepeated: 0,
  restarts: 0,
  framesLost: 0,
  packetsOfOthers: 0,
  bytesSkipped: 0,
};

describe('a stream that comes as it was sent', () => {
  test.each([
    ['2067eb783585', 6],
    ['2067eb783585', 10],
    ['a1b2c3d4e5f6', 6],
    ['ffffffffffff', 6],
    ['1234567890abcdef', 10],
  ] as const)('names its terminal by the hexadecimal digits %s in %i bytes', (number, phoneForm) => {
    fc.assert(
      fc.property(frames, (sent) => {
        const got = read(Buffer.concat(packetsOf(sent, phoneForm, 65_530, number).flat()));
        expect(got.messages[0]).toEqual({ type: 'source', terminalId: number, channel: 3 });
        expect(got.frames).toEqual(sent);
      }),
    );
  });

  test('gives its frames, whoever long its phone numbers are', () => {
    fc.assert(
      fc.property(frames, form, (sent, phoneForm) => {
        const packets = packetsOf(sent, phoneForm).flat();
        const got = read(Buffer.concat(packets));
        expect(got.messages[0]).toEqual({ type: 'source', terminalId: PHONE, channel: 3 });
        expect(got.frames).toEqual(sent);
        expect(got.losses).toEqual({ ...NO_LOSSES, packets: packets.length });
      }),
    );
  });

  test('is the same in any split', () => {
    fc.assert(
      fc.property(frames, form, fc.array(fc.nat(), { maxLength: 12 }), (sent, phoneForm, cuts) => {
        const bytes = Buffer.concat(packetsOf(sent, phoneForm).flat());
        expect(read(bytes, cuts)).toEqual(read(bytes));
      }),
    );
  });

  test('byte by byte is a split too', () => {
    fc.assert(
      fc.property(frames, form, (sent, phoneForm) => {
        const bytes = Buffer.concat(packetsOf(sent, phoneForm).flat());
        const everywhere = Array.from(bytes, (_, i) => i);
        expect(read(bytes, everywhere)).toEqual(read(bytes));
      }),
      { numRuns: runs(30) },
    );
  });

  test('by the layout of the standard, byte by byte', () => {
    const bytes = Buffer.from(
      '30316364' + // 01cd
        '81' + // version 2
        'e2' + // marker, 98: H.264
        '0007' + // number
        '013900000001' +
        '02' + // channel
        '00' + // a key frame, whole
        '0000018bcfe56800' + // 1,700,000,000,000 ms
        '0000' +
        '0028' +
        '0004' +
        '00000165',
      'hex',
    );
    expect(read(bytes).messages).toEqual([
      { type: 'source', terminalId: '13900000001', channel: 2 },
      {
        type: 'frame',
        frame: { kind: 'key', codec: 'h264', timestampMs: 1_700_000_000_000, data: Buffer.from('00000165', 'hex') },
      },
    ]);
  });

  test('data, which has no time, comes through', () => {
    const packet = {
      payloadType: 91,
      marker: true,
      sequence: 1,
      phone: PHONE,
      channel: 1,
      kind: KIND.data,
      part: PART.whole,
      timestampMs: 0,
      payload: Buffer.from('abc'),
    };
    for (const phoneForm of [6, 10] as const)
      expect(read(buildPacket(packet, phoneForm)).frames).toEqual([
        { kind: 'data', codec: 'other-91', timestampMs: 0, data: Buffer.from('abc') },
      ]);
  });
});

describe('a stream that does not', () => {
  test('packets that overtake others are put in their place, and counted', () => {
    fc.assert(
      fc.property(
        frames,
        form,
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 20 })), { maxLength: 8 }),
        (sent, phoneForm, moves) => {
          const packets = packetsOf(sent, phoneForm).flat();
          const order = packets.map((_, i) => i);
          for (const [which, by] of moves) {
            // The first one stays: what comes before it is not known to be missing.
            if (order.length < 3) continue;
            const from = 1 + (which % (order.length - 1));
            const [moved] = order.splice(from, 1);
            if (moved !== undefined) order.splice(Math.min(order.length, from + by), 0, moved);
          }
          const got = read(Buffer.concat(order.map((i) => packets[i] as Buffer)));
          expect(got.frames).toEqual(sent);
          let highest = -1;
          let late = 0;
          for (const i of order) {
            if (i < highest) late++;
            highest = Math.max(highest, i);
          }
          expect(got.losses).toEqual({ ...NO_LOSSES, packets: packets.length, packetsReordered: late });
        },
      ),
    );
  });

  test('frames without a missing packet come, the others do not, and what is missing is counted', () => {
    fc.assert(
      fc.property(frames, form, fc.array(fc.nat(), { maxLength: 6 }), (sent, phoneForm, lose) => {
        const packets = packetsOf(sent, phoneForm);
        const all = packets.flatMap((list, f) => list.map((bytes) => ({ bytes, frame: f })));
        const lost = new Set(lose.map((index) => index % all.length));
        const kept = all.map((_, i) => i).filter((i) => !lost.has(i));
        if (kept.length === 0) return;
        const got = read(Buffer.concat(kept.map((i) => all[i]?.bytes as Buffer)));
        const whole = sent.filter((_, f) => all.every((packet, i) => packet.frame !== f || !lost.has(i)));
        expect(got.frames).toEqual(whole);
        const [first = 0, last = 0] = [kept[0], kept.at(-1)];
        expect(got.losses.packetsLost).toBe([...lost].filter((i) => i > first && i < last).length);
        // Of a frame that nothing came of, only its packets are known to be missing.
        const partly = sent.filter((_, f) => {
          const own = all.map((packet, i) => (packet.frame === f ? i : -1)).filter((i) => i >= 0);
          return own.some((i) => lost.has(i)) && own.some((i) => !lost.has(i));
        });
        expect(got.losses.framesLost).toBe(partly.length);
      }),
    );
  });

  test('packets that come twice count once', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), (sent, twice) => {
        const packets = packetsOf(sent, 6).flat();
        const again = new Set(twice.map((index) => index % packets.length));
        const got = read(Buffer.concat(packets.flatMap((bytes, i) => (again.has(i) ? [bytes, bytes] : [bytes]))));
        expect(got.frames).toEqual(sent);
        expect(got.losses.packetsRepeated).toBe(again.size);
      }),
    );
  });

  test('a packet that is cut off takes nothing but itself', () => {
    fc.assert(
      fc.property(frames, form, fc.nat(), fc.nat(), (sent, phoneForm, which, cut) => {
        const packets = packetsOf(sent, phoneForm);
        const all = packets.flatMap((list, f) => list.map((bytes) => ({ bytes, frame: f })));
        // The first packet reports how long the phone numbers are.
        const at = 1 + (which % Math.max(1, all.length - 1));
        const damaged = all[at];
        if (damaged === undefined) return;
        const length = 4 + (cut % (damaged.bytes.length - 4));
        const bytes = Buffer.concat(
          all.map((packet, i) => (i === at ? packet.bytes.subarray(0, length) : packet.bytes)),
        );
        const got = read(bytes);
        expect(got.frames).toEqual(sent.filter((_, f) => f !== damaged.frame));
        expect(got.losses.bytesSkipped).toBe(length);
        expect(got.losses.packetsLost).toBe(at === all.length - 1 ? 0 : 1);
      }),
    );
  });

  test('another count that begins is no loss', () => {
    const sent = fc.sample(frames, { numRuns: 2, seed: 5 });
    const bytes = Buffer.concat([
      ...packetsOf(sent[0] ?? [], 6, 30_000).flat(),
      ...packetsOf(sent[1] ?? [], 6, 0).flat(),
    ]);
    const got = read(bytes);
    expect(got.frames).toEqual(sent.flat());
    expect(got.losses).toMatchObject({ packetsLost: 0, restarts: 1, framesLost: 0 });
  });

  test('packets of another terminal or channel are left out', () => {
    const [one = []] = fc.sample(frames, { numRuns: 1, seed: 6 });
    const other = new StreamWriter('13900000002', 3).write(one[0] as StreamFrame);
    const channel = new StreamWriter(PHONE, 4).write(one[0] as StreamFrame);
    const packets = packetsOf(one, 6).flat();
    const got = read(Buffer.concat([packets[0] as Buffer, ...other, ...channel, ...packets.slice(1)]));
    expect(got.frames).toEqual(one);
    expect(got.losses.packetsOfOthers).toBe(other.length + channel.length);
  });
});

describe('a stream that is none', () => {
  const HELD = 64 * 2 ** 14 + 3 * MAX_FRAME_BYTES + 2 ** 15;

  test('any mutation gives frames or nothing, the same in any split', () => {
    const mutation = fc.record({
      at: fc.nat(),
      kind: fc.constantFrom('change', 'insert', 'remove', 'cut'),
      bytes: fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.constant(new Uint8Array(MAGIC))),
    });
    fc.assert(
      fc.property(
        frames,
        form,
        fc.array(mutation, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (sent, phoneForm, mutations, cuts) => {
          let bytes: Buffer = Buffer.concat(packetsOf(sent, phoneForm).flat());
          for (const { at, kind, bytes: put } of mutations) {
            const place = at % (bytes.length + 1);
            const after = { change: place + put.length, insert: place, remove: place + put.length, cut: bytes.length };
            const middle = kind === 'change' || kind === 'insert' ? put : new Uint8Array();
            bytes = Buffer.concat([bytes.subarray(0, place), middle, bytes.subarray(after[kind])]);
          }
          expect(read(bytes, cuts)).toEqual(read(bytes));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('garbage is skipped, the same in any split', () => {
    const scraps = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(new Uint8Array(MAGIC), new Uint8Array([0x30, 0x31]), new Uint8Array([0x30])),
    );
    fc.assert(
      fc.property(fc.array(scraps, { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 8 }), (pieces, cuts) => {
        const bytes = Buffer.concat(pieces);
        expect(read(bytes, cuts)).toEqual(read(bytes));
      }),
      { numRuns: runs(500) },
    );
  });

  test('bytes without end are refused, whatever they are', () => {
    for (let byte = 0; byte < 256; byte++) {
      const reassembler = new PlaybackReassembler();
      let messages: StreamMessage[] = [];
      for (let fed = 0; fed < 100_000; fed += 10_000) {
        messages = messages.concat(reassembler.push(Buffer.alloc(10_000, byte)));
        expect(reassembler.heldBytes).toBeLessThan(HELD);
      }
      expect(messages).toMatchObject([{ type: 'refuse', reason: 'bad-frame' }]);
      expect(reassembler.end()).toEqual([]);
    }
  });

  test('frames without end are bounded, and so are packets out of turn', () => {
    const reassembler = new PlaybackReassembler();
    const packet = {
      payloadType: 98,
      marker: false,
      phone: PHONE,
      channel: 1,
      kind: KIND.key,
      timestampMs: 5,
      payload: Buffer.alloc(16 * 1024),
    };
    let most = 0;
    let got = 0;
    for (let i = 0; i < 3000; i++) {
      // Every second number is missing in the second half.
      const sequence = i < 1500 ? i : i + (i - 1500);
      const bytes = buildPacket({ ...packet, sequence, part: i === 0 ? PART.first : PART.middle }, 6);
      got += framesOf(reassembler.push(bytes)).length;
      most = Math.max(most, reassembler.heldBytes);
    }
    expect(got).toBe(0);
    expect(most).toBeLessThan(HELD);
    expect(reassembler.losses().framesLost).toBe(1);
    expect(reassembler.losses().packetsLost).toBeGreaterThan(1000);
  });
});
