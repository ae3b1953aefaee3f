import { setImmediate } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import type { GeofenceItem } from '@outrider/access';
import { Faults } from '@outrider/access/faults';
import { Problem } from '@outrider/access/problem';
import { SYSTEM_CLOCK, verticesOf } from '@outrider/domain';
import { FileError, readPlaces } from '@outrider/geo/files';
import { z } from 'zod';
import { parseJson, validate } from '../http/input.ts';
import { shapeOf } from './geojson.ts';
import type { GeometryAnswer, GeometryTask, PlacesFile } from './geometry-messages.ts';
import { collectionOf, readFeature } from './geozone-reading.ts';

/** Time after which a task yields to others. */
const TURN_MS = 20;
/** Points in one part of a response: receiving it blocks the requesting thread for some milliseconds. */
const PART_POINTS = 10_000;
/** Shapes of a file in one part of a response. */
const PART_ITEMS = 200;
const SKIPPED = Symbol('no geofence');
const Collection = collectionOf(z.unknown());

if (parentPort === null) throw new Error('this is the thread that checks geometries');
const port = parentPort;
const answer = (message: GeometryAnswer) => port.postMessage(message);

port.on('message', (task: GeometryTask) => {
  const { id } = task;
  work(task).catch((error: unknown) => {
    if (error instanceof Problem) {
      const { kind, message: detail, errors } = error;
      answer({ id, problem: { kind, detail, errors } });
    } else answer({ id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  });
});

async function work(task: GeometryTask): Promise<void> {
  const { id } = task;
  if ('feature' in task) return answer({ id, shape: shapeOf(task.feature) });
  if ('file' in task) {
    const read = readFile(task.file);
    for (let from = 0; from < read.length; from += PART_ITEMS)
      answer({ id, read: read.slice(from, from + PART_ITEMS) });
    return check(id, task.isChecked ? read.map(({ feature }) => feature ?? SKIPPED) : []);
  }
  const { features } = validate(Collection, parseJson(new TextDecoder().decode(task.collection)), 'body');
  return check(id, features);
}

/** @throws {Problem} when it is not such a file */
function readFile({ format, bytes, defaults }: PlacesFile) {
  try {
    return readPlaces(format, new TextDecoder().decode(bytes), defaults);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new Problem('invalid-request', error.message, { errors: [{ pointer: '', detail: error.message }] });
  }
}

async function check(id: number, features: readonly unknown[]): Promise<void> {
  const faults = new Faults();
  let items: GeofenceItem[] = [];
  let points = 0;
  let turnEndsMs = SYSTEM_CLOCK.steadyMs() + TURN_MS;
  for (const [index, feature] of features.entries()) {
    if (SYSTEM_CLOCK.steadyMs() > turnEndsMs) {
      await setImmediate();
      turnEndsMs = SYSTEM_CLOCK.steadyMs() + TURN_MS;
    }
    // A file may hold features that cannot be geofences; a collection may not.
    const item = feature === SKIPPED ? null : readFeature(index, feature, faults);
    if (item === null) continue;
    items.push(item);
    points += 1 + verticesOf(item.fields.shape);
    if (points < PART_POINTS) continue;
    answer({ id, items });
    items = [];
    points = 0;
  }
  answer({ id, items });
  answer({ id, wrong: faults.listed, wrongCount: faults.count });
}
