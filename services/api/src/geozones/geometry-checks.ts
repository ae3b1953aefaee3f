import { Worker } from 'node:worker_threads';
import type { Faults, GeofenceItem } from '@outrider/access';
import { Problem } from '@outrider/access';
import type { Shape } from '@outrider/domain';
import type { FileItem } from '@outrider/geo/files';
import type { Logger } from '@outrider/runtime';
import { type GeozoneFeature, shapeOf } from './geojson.ts';
import type { GeometryAnswer, GeometryTask, PlacesFile } from './geometry-messages.ts';

/** Up to this many points, a check takes less time than passing it to the thread. */
const FEW_POINTS = 500;
/** Limit of the thread's JavaScript heap: several times what the largest collection takes. */
const MAX_HEAP_MB = 1024;

type Part = { id: number } & ({ items: GeofenceItem[] } | { read: FileItem[] });

interface Asked {
  take(part: Part): void;
  settle(answer: Exclude<GeometryAnswer, Part>): void;
  reject(error: Error): void;
}

/**
 * Checks geometries in a separate thread, so that no geometry, however large or contrived, blocks the thread that
 * handles calls. Tasks share that thread. It is started by the first task that needs it. If it dies, such as for lack
 * of memory, its tasks fail and the next task starts another.
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
   * Converts a feature to a shape.
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
   * @param bytes JSON in UTF-8; transferred to the thread
   * @param faults receives what is wrong with the features
   * @throws {Problem} when it is not such a collection
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
   * Reads the places and geofences of a file.
   *
   * @param file its bytes are transferred to the thread
   * @param faults receives what is wrong with its geofences; null: they are not checked
   * @throws {Problem} when it is not such a file
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

  /** Ends the thread; pending tasks fail. */
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
      this.#logger.error({ err: error }, 'geometry check thread failed');
    });
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#failAll(
        new Problem('unavailable', 'The geometries could not be checked. Try again with fewer at a time.', {
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
