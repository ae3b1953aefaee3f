import { Worker } from 'node:worker_threads';
import type { Faults, GeofenceItem } from '@outrider/access';
import { Problem } from '@outrider/access';
import type { Shape } from '@outrider/domain';
import type { FileItem } from '@outrider/geo/files';
import type { Logger } from '@outrider/runtime';
import { type GeozoneFeature, shapeOf } from './geojson.ts';
import type { GeometryAnswer, GeometryTask, PlacesFile } from './geometry-messages.ts';

/** Up to this many points a check takes less time than to ask another thread for it. */
const FEW_POINTS = 500;
/** Of the thread's JavaScript heap: some times what the largest collection takes. */
const MAX_HEAP_MB = 1024;

type Part = { id: number } & ({ items: GeofenceItem[] } | { read: FileItem[] });

interface Asked {
  take(part: Part): void;
  settle(answer: Exclude<GeometryAnswer, Part>): void;
  reject(error: Error): void;
}

/**
 * Checks geometries in a thread of its own, so that no geometry, however large or contrived, keeps the thread that
 * answers calls. Tasks take turns there. The thread begins with the first task that needs it; where it ends, as out of
 * memory, its tasks fail and the next begins another.
 */
export class GeometryChecks {
  readonly #logger: Pick<Logger, 'error'>;
  readonly #asked = new Map<number, Asked>();
  #worker: Worker | null = null;
  #lastId = 0;

  constructor(logger: Pick<Logger, 'error'>) {
    this.#logger = logger;
  }

  /**
   * The shape that a feature draws.
   *
   * @throws {Problem} with everything that is wrong with it
   */
  async shapeOf(feature: GeozoneFeature): Promise<Shape> {
    if (pointsOf(feature) <= FEW_POINTS) return shapeOf(feature);
    const answer = await this.#ask(
      (id) => [{ id, feature }, []],
      () => {},
    );
    if (!('shape' in answer)) throw new Error('no shape came of a feature');
    return answer.shape;
  }

  /**
   * The geofences of a FeatureCollection.
   *
   * @param bytes JSON in UTF-8; given away
   * @param faults is given what is wrong with the features
   * @throws {Problem} when it is no such collection
   */
  async itemsOf(bytes: ArrayBuffer, faults: Faults): Promise<GeofenceItem[]> {
    const items: GeofenceItem[] = [];
    const answer = await this.#ask(
      (id) => [{ id, collection: bytes }, [bytes]],
      (part) => 'items' in part && items.push(...part.items),
    );
    if ('wrong' in answer) faults.addAll(answer.wrong, answer.wrongCount);
    return items;
  }

  /**
   * What a file with places draws.
   *
   * @param file its bytes are given away
   * @param faults is given what is wrong with its geofences; null: nobody asks
   * @throws {Problem} when it is no such file
   */
  async readFile(file: PlacesFile, faults: Faults | null): Promise<{ read: FileItem[]; items: GeofenceItem[] }> {
    const items: GeofenceItem[] = [];
    const read: FileItem[] = [];
    const answer = await this.#ask(
      (id) => [{ id, file, isChecked: faults !== null }, [file.bytes]],
      (part) => ('items' in part ? items.push(...part.items) : read.push(...part.read)),
    );
    if ('wrong' in answer) faults?.addAll(answer.wrong, answer.wrongCount);
    return { read, items };
  }

  /** Ends the thread; what was asked fails. */
  close(): void {
    const worker = this.#worker;
    this.#worker = null;
    worker?.terminate().catch(() => {});
    this.#failAll(new Error('the service stops'));
  }

  #ask(
    taskOf: (id: number) => [GeometryTask, ArrayBuffer[]],
    take: Asked['take'],
  ): Promise<Exclude<GeometryAnswer, Part>> {
    const id = ++this.#lastId;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { take, settle: resolve, reject });
      worker.ref();
      worker.postMessage(...taskOf(id));
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./geometry-worker.ts', import.meta.url), {
      name: 'geometry',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    worker.on('message', (answer: GeometryAnswer) => {
      const asked = this.#asked.get(answer.id);
      if (asked === undefined) return;
      if ('items' in answer || 'read' in answer) {
        asked.take(answer);
        return;
      }
      this.#asked.delete(answer.id);
      // A thread without work does not keep the process alive.
      if (this.#asked.size === 0) worker.unref();
      if ('problem' in answer) {
        const { kind, detail, errors } = answer.problem;
        asked.reject(new Problem(kind, detail, { errors }));
      } else if ('failure' in answer) asked.reject(new Error(`geometries could not be checked: ${answer.failure}`));
      else asked.settle(answer);
    });
    worker.on('error', (error) => {
      this.#logger.error({ err: error }, 'the thread that checks geometries failed');
    });
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#failAll(
        new Problem('unavailable', 'The geometries could not be checked; try again, with fewer at a time.', {
          headers: { 'retry-after': '5' },
        }),
      );
    });
    return worker;
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
  }
}

function pointsOf({ geometry }: GeozoneFeature): number {
  if (geometry.type === 'Polygon') return geometry.coordinates.reduce((sum, ring) => sum + ring.length, 0);
  if (geometry.type === 'MultiPolygon') return geometry.coordinates.flat().reduce((sum, ring) => sum + ring.length, 0);
  return geometry.type === 'LineString' ? geometry.coordinates.length : 1;
}
