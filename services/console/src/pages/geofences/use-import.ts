import { ApiError, type Geozone } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { loadGeofences } from '../../fleet/store.ts';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { featureOf, type ImportItem, questionOf } from './import.ts';
import { geofenceWords } from './words.ts';

export interface ImportProps {
  onClose: () => void;
  /** Shows the shapes that would be imported on the map. */
  onPreview: (geofences: readonly Geozone[]) => void;
}

interface Row extends ImportItem {
  isWanted: boolean;
}

/** Loads a file, runs a dry run after each change of the choice, and imports it. */
export function useImport({ onClose, onPreview }: ImportProps) {
  const rows = useSignal<readonly Row[]>([]);
  const error = useSignal<unknown>(null);
  const isChecked = useSignal(false);
  const isBusy = useSignal(false);
  const file = useSignal<File | null>(null);
  const sizes = useSignal({ radiusM: 100, widthM: 50 });
  const wanted = rows.value.flatMap((row, index) => (row.isWanted && row.feature !== null ? [index] : []));
  const collection = () => ({
    type: 'FeatureCollection' as const,
    features: wanted.map((index) => featureOf(rows.value[index] as Row)),
  });

  /** Parses the file. After a change of sizes it is parsed again, keeping names and choices. */
  const read = async (chosen: File, signal: AbortSignal) => {
    try {
      const answer = await api.send('post', '/api/v1/geozones/read-file', {
        query: questionOf(chosen.name, sizes.value),
        body: new Blob([chosen], { type: 'application/octet-stream' }),
        signal,
      });
      const { items } = (await answer.json()) as { items: ImportItem[] };
      rows.value = items.map((item, index) => {
        const { isWanted = item.feature !== null, name = item.name } = rows.peek()[index] ?? {};
        return { ...item, name, isWanted };
      });
      error.value = items.length === 0 ? new SyntaxError(geofenceWords().emptyFile) : null;
    } catch (reason) {
      if (signal.aborted) return;
      rows.value = [];
      const detail = reason instanceof ApiError ? reason.problem.detail : null;
      error.value = detail ? new SyntaxError(geofenceWords().unreadable(detail)) : reason;
    }
  };
  const send = async (dryRun: 'true' | 'false') => {
    const done = await api.send('post', '/api/v1/geozones/import', {
      query: { dryRun },
      headers: { 'Idempotency-Key': dryRun === 'true' ? undefined : crypto.randomUUID() },
      body: collection(),
    });
    return done.json() as Promise<{ created: number; updated: number; unchanged: number }>;
  };
  // After a change of the choice, the preview is updated at once and the dry run follows.
  useEffect(() => {
    isChecked.value = false;
    const ownerId = '';
    onPreview(
      collection().features.map(
        ({ geometry, properties }, index) =>
          ({ type: 'Feature', id: `import-${index}`, geometry, properties: { ...properties, ownerId } }) as Geozone,
      ),
    );
    if (wanted.length === 0) return;
    const timer = setTimeout(() => {
      send('true').then(
        () => {
          error.value = null;
          isChecked.value = true;
        },
        (reason: unknown) => {
          error.value = reason;
        },
      );
    }, 400);
    return () => clearTimeout(timer);
  }, [rows.value]);
  useEffect(() => {
    const chosen = file.value;
    if (chosen === null) return;
    const ending = new AbortController();
    void read(chosen, ending.signal);
    return () => ending.abort();
  }, [file.value, sizes.value]);
  useEffect(() => () => onPreview([]), []);

  const run = async () => {
    isBusy.value = true;
    try {
      const { created, updated } = await send('false');
      await loadGeofences();
      toast(geofenceWords().imported(created + updated));
      onClose();
    } catch (reason) {
      error.value = reason;
    } finally {
      isBusy.value = false;
    }
  };
  const problemsOf = (index: number) => {
    const row = rows.value[index] as Row;
    if (row.unsupported !== null) return [geofenceWords().unsupported(row.unsupported)];
    if (!(error.value instanceof ApiError)) return [];
    const prefix = `/features/${wanted.indexOf(index)}/`;
    const own = (error.value.problem.errors ?? []).filter(({ pointer }) => `${pointer ?? ''}/`.startsWith(prefix));
    return own.map(({ detail }) => detail);
  };
  const change = (index: number, part: Partial<Row>) => {
    rows.value = rows.value.map((row, at) => (at === index ? { ...row, ...part } : row));
  };
  return { file, sizes, rows, wanted, change, problemsOf, error, isReady: isChecked.value && !isBusy.value, run };
}
