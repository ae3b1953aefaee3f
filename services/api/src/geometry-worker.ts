import { setImmediate } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import type { GeofenceItem } from '@outrider/access';
import { Faults, Problem } from '@outrider/access';
import { verticesOf } from '@outrider/domain';
import { z } from 'zod';
import { shapeOf } from './geojson.ts';
import type { GeometryAnswer, GeometryTask } from './geometry-messages.ts';
import { collectionOf, readFeature } from './geozone-collection.ts';
import { parseJson, validate } from './input.ts';

/** After this time, other tasks get their turn. */
const TURN_MS = 20;
/** Points in one part of an answer: taking it in keeps the thread that asked for some milliseconds. */
const PART_POINTS = 10_000;
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
  const { features } = validate(Collection, parseJson(new TextDecoder().decode(task.collection)), 'body');
  const faults = new Faults();
  let items: GeofenceItem[] = [];
  let points = 0;
  let turnEndsMs = performance.now() + TURN_MS;
  for (const [index, feature] of features.entries()) {
    if (performance.now() > turnEndsMs) {
      await setImmediate();
      turnEndsMs = performance.now() + TURN_MS;
    }
    const item = readFeature(index, feature, faults);
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
