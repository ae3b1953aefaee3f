import type { Geozone } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { geofences } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { type Draft, draftOf, editableArea, newDraft, withArea } from './draft.ts';
import { GeofenceForm } from './form.tsx';
import { GeofenceMap } from './geofence-map.ts';

const ROW_PX = 60;

/** Geofences: a list beside the map, one of them drawn or edited. The address has the one and the search. */
export function GeofencesPage() {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<GeofenceMap | null>(null);
  const draft = useSignal<Draft | null>(null);
  const editedId = route.value.query.get('geofence');
  const all = geofences.value;

  useEffect(() => {
    if (container.current === null) return;
    const map = new GeofenceMap(container.current, {
      onSelect: open,
      onDraw: (area) => {
        const present = draft.peek();
        if (present !== null) draft.value = withArea(present, area);
        drawDraft();
      },
    });
    view.current = map;
    return () => {
      view.current = null;
      map.destroy();
    };
  }, [draft]);
  const drawDraft = () => {
    const present = draft.peek();
    if (present === null) return void view.current?.edit(null, null);
    const area = editableArea(present);
    const isDrawable = present.shape !== 'line' && (present.geometry === null || area !== null);
    void view.current?.edit(isDrawable ? (present.shape as 'polygon' | 'circle') : null, area);
  };
  const read = async (id: string) => {
    try {
      const { body, etag } = await api.getTagged('/api/v1/geozones/{id}', { path: { id } });
      if (route.peek().query.get('geofence') !== id) return;
      draft.value = draftOf(body, etag);
      view.current?.fitTo(body);
      drawDraft();
    } catch (error) {
      toast(describeError(error), 'error');
      open(null);
    }
  };
  useEffect(() => {
    if (editedId === null) draft.value = null;
    else if (editedId === 'polygon' || editedId === 'circle') draft.value = newDraft(editedId);
    else void read(editedId);
    drawDraft();
  }, [editedId]);
  // A line and a polygon with holes stay where they are: only their numbers are edited.
  const present = draft.value;
  const drawnId = present !== null && editableArea(present) !== null ? present.id : null;
  useEffect(() => void view.current?.show(all, drawnId), [all, drawnId]);

  return (
    <div class="split">
      <GeofenceList all={all} editedId={editedId} />
      <div class="mapbox">
        <div class="canvas" ref={container} />
        <GeofenceForm
          key={`${editedId}`}
          draft={draft}
          onClose={() => open(null)}
          onReload={() => editedId !== null && void read(editedId)}
          onResize={drawDraft}
        />
      </div>
    </div>
  );
}

function open(id: string | null): void {
  navigate(withQuery({ geofence: id }));
}

function GeofenceList({ all, editedId }: { all: readonly Geozone[]; editedId: string | null }) {
  const search = (route.value.query.get('q') ?? '').trim().toLowerCase();
  const found = all.filter(({ properties }) => properties.name.toLowerCase().includes(search));
  return (
    <section class="side" aria-label={t().pages.geofences}>
      <search class="filters">
        <input
          type="search"
          aria-label={t().search}
          placeholder={t().name}
          value={route.value.query.get('q') ?? ''}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <div class="row">
          <button type="button" aria-pressed={editedId === 'polygon'} onClick={() => open('polygon')}>
            <Icon name="fence" /> {t().newPolygon}
          </button>
          <button type="button" aria-pressed={editedId === 'circle'} onClick={() => open('circle')}>
            <Icon name="circle" /> {t().newCircle}
          </button>
        </div>
      </search>
      {found.length === 0 ? (
        <Message
          icon="fence"
          title={all.length === 0 ? t().noGeofences : t().noGeofenceFound}
          {...(all.length === 0 ? { hint: t().noGeofencesHint } : {})}
        />
      ) : (
        <VirtualList
          label={t().pages.geofences}
          count={found.length}
          rowHeight={ROW_PX}
          row={(index, top) => {
            const { id, properties } = found[index] as Geozone;
            return (
              <li
                key={id}
                class="vehicle"
                style={{ insetBlockStart: `${top}px` }}
                aria-current={id === editedId ? 'true' : undefined}
              >
                <button type="button" onClick={() => open(id)}>
                  <strong>{properties.name}</strong>
                  <small class="end">
                    {properties.speedLimitKmh === null ? '' : formats().speed(properties.speedLimitKmh)}
                  </small>
                  <small>
                    {t().shapes[properties.shape]} · {formats().area(properties.areaM2)}
                  </small>
                </button>
              </li>
            );
          }}
        />
      )}
    </section>
  );
}
