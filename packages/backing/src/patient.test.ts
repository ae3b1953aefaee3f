import { MemoryHub } from '@outrider/hub';
import {
  type Checkpoint,
  type CheckpointChange,
  CheckpointFencedError,
  type Checkpoints,
  DiskBusyError,
  DiskFullError,
  isDiskOutage,
} from '@outrider/log';
import { createLogger } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { expect, test } from 'vitest';
import { patientCheckpoints, patientHub } from './patient.ts';

const logger = createLogger('silent', 'json');

/** Checkpoints in memory whose server is away for the first calls, or whose answers get lost. */
class Unsteady implements Checkpoints {
  calls = 0;
  awayFor = 0;
  fenced = false;
  readonly saved: CheckpointChange[] = [];

  async #call<T>(work: () => T): Promise<T> {
    if (this.fenced) throw new CheckpointFencedError('test', 0);
    if (this.calls++ < this.awayFor) throw new Error('connection refused');
    return work();
  }
  load = () => this.#call((): Checkpoint | null => null);
  claim = () => this.#call((): Checkpoint | null => null);
  save = (_: string, __: number, change: CheckpointChange) =>
    this.#call(() => {
      this.saved.push({ ...change, changed: [...change.changed] });
    });
  close = async () => {};
}

test('a call waits until the server is back, and saves what it was given, once', async () => {
  const unsteady = new Unsteady();
  unsteady.awayFor = 3;
  const clock = new VirtualClock();
  const checkpoints = patientCheckpoints(unsteady, logger, undefined, clock);
  const change = { offsets: { telemetry: 7 }, changed: new Map([['a', Buffer.from('1')]]).entries() };
  const saved = checkpoints.save('test', 0, change);
  await clock.advance(100 + 200 + 399);
  expect(unsteady.calls).toBe(3);
  await clock.advance(1);
  await saved;
  expect(unsteady.calls).toBe(4);
  expect(unsteady.saved).toEqual([{ offsets: { telemetry: 7 }, changed: [['a', Buffer.from('1')]] }]);
});

test('in a file a disk that is full or busy is waited out, and nothing else', async () => {
  let failures: Error[] = [new DiskFullError('no room'), new DiskBusyError('no answer')];
  const unsteady = new Unsteady();
  const clock = new VirtualClock();
  const checkpoints = patientCheckpoints(
    Object.assign(unsteady, {
      claim: async () => {
        const failure = failures.shift();
        if (failure) throw failure;
        return null;
      },
    }),
    logger,
    isDiskOutage,
    clock,
  );
  const claimed = checkpoints.claim('test', 0);
  await clock.advance(300);
  expect(await claimed).toBe(null);
  expect(failures).toEqual([]);
  failures = [new Error('the file is no database')];
  await expect(checkpoints.claim('test', 0)).rejects.toThrow('no database');
});

test('that another has the partition is no outage', async () => {
  const unsteady = new Unsteady();
  unsteady.fenced = true;
  await expect(patientCheckpoints(unsteady, logger).claim('test', 0)).rejects.toThrow(CheckpointFencedError);
});

test('nothing waits after the end', async () => {
  const unsteady = new Unsteady();
  unsteady.awayFor = Number.POSITIVE_INFINITY;
  const clock = new VirtualClock();
  const checkpoints = patientCheckpoints(unsteady, logger, undefined, clock);
  const refused = expect(checkpoints.load('test', 0)).rejects.toThrow('connection refused');
  await checkpoints.close();
  await clock.advance(100);
  await refused;
});

test('latest positions wait for the hub; a person does not', async () => {
  const hub = new MemoryHub();
  let failures = 2;
  const away = async () => {
    if (failures-- > 0) throw new Error('connection refused');
  };
  const unsteady = Object.assign(Object.create(hub) as MemoryHub, {
    updateLatest: away,
    blockedUntil: async () => {
      throw new Error('connection refused');
    },
  });
  const clock = new VirtualClock();
  const patient = patientHub(unsteady, logger, clock);
  const updated = patient.updateLatest([]);
  await clock.advance(300);
  await updated;
  expect(failures).toBe(-1);
  await expect(patient.blockedUntil('x', 0)).rejects.toThrow('connection refused');
});
