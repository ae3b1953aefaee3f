import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { geofences } from '../../fleet/store.ts';
import { CancelButton } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { t } from '../../words/words.ts';
import { type Draft, newDraft, withArea } from '../geofences/draft.ts';
import { GeofenceMap } from '../geofences/geofence-map.ts';
import type { Question } from './state.ts';
import { reportWords } from './words.ts';

type Shape = NonNullable<Question['shape']>;

interface Props {
  shape: Shape | null;
  onDrawn: (shape: Shape) => void;
  onClose: () => void;
}

/** Dialog that draws the shape for a report about the past. It is not saved as a geofence. */
export function ShapeDialog({ onDrawn, onClose }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<GeofenceMap | null>(null);
  const draft = useSignal<Draft>(newDraft('polygon'));
  useEffect(() => {
    if (container.current === null) return;
    const map = new GeofenceMap(container.current, {
      onSelect: () => {},
      onDraw: (area) => {
        draft.value = withArea(draft.peek(), area);
      },
    });
    view.current = map;
    void map.show(geofences.peek(), null);
    void map.edit('polygon', null);
    return () => {
      view.current = null;
      map.destroy();
    };
  }, [draft]);
  const begin = (kind: 'polygon' | 'circle') => {
    draft.value = newDraft(kind);
    void view.current?.edit(kind, null);
  };
  const { shape, geometry } = draft.value;
  const take = () => {
    const drawn = shapeOfDraft(draft.peek());
    if (drawn === null) return;
    onDrawn(drawn);
    onClose();
  };
  return (
    <Dialog title={reportWords().drawShape} isWide onClose={onClose}>
      <div class="actions">
        {(['polygon', 'circle'] as const).map((kind) => (
          <button key={kind} type="button" aria-pressed={shape === kind} onClick={() => begin(kind)}>
            <Icon name={kind === 'circle' ? 'circle' : 'fence'} /> {t().shapes[kind]}
          </button>
        ))}
      </div>
      <p role="status">{shape === 'circle' ? t().drawCircle : t().drawPolygon}</p>
      <div class="shape-map mapbox">
        <div class="canvas" ref={container} />
      </div>
      <div class="actions">
        <button type="button" class="primary" disabled={geometry === null} onClick={take}>
          {reportWords().takeShape}
        </button>
        <CancelButton onClick={onClose} />
      </div>
    </Dialog>
  );
}

function shapeOfDraft({ shape, geometry, radiusM }: Draft): Shape | null {
  if (geometry?.type === 'Point')
    return {
      type: 'Feature',
      geometry,
      properties: { shape: 'circle', radiusM: Number(radiusM), minDwellSeconds: 0 },
    };
  if (geometry?.type !== 'Polygon' || shape !== 'polygon') return null;
  return { type: 'Feature', geometry, properties: { shape: 'polygon', minDwellSeconds: 0 } };
}
