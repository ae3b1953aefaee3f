import type { Geozone, NewGeozone } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { geofences, loadGeofences } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { FilterBox } from '../../parts/filter-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { MapTool } from '../../parts/map-tool.tsx';
import { Message } from '../../parts/message.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { toast } from '../../parts/toast.tsx';
import { placed, VirtualList } from '../../parts/virtual-list.tsx';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { api, user } from '../../session.ts';
import { language, t } from '../../words/words.ts';
import { bodyOf, type Draft, draftOf, editableArea, newDraft, withArea } from './draft.ts';
import { GeofenceForm } from './form.tsx';
import { GeofenceMap } from './geofence-map.ts';
import { ImportPanel } from './import-panel.tsx';
import { categoriesOf, matches, mayDraw, NO_CATEGORY, WHOSE, whoseOf } from './whose.ts';
import '../../style/geofences.css';
import { geofenceWords } from './words.ts';

const ROW_REM = 3.75;
const MOST_UNDONE = 50;
/** Of a new geofence on the map. */
const DRAFT_ID = 'draft';

/** Geofences: a list beside the map, one of them drawn or edited. The address has the one and the search. */
export function GeofencesPage() {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<GeofenceMap | null>(null);
  const draft = useSignal<Draft | null>(null);
  /** The draft before it was changed; null: nothing is edited, or it is new. */
  const asRead = useRef<Draft | null>(null);
  const editedId = route.value.query.get('geofence');
  const all = geofences.value;
  const preview = useSignal<readonly Geozone[]>([]);
  const deleted = useSignal<NewGeozone | null>(null);
  /** Shapes that the present one took the place of, the last at the end. */
  const past = useSignal<readonly Draft[]>([]);

  useEffect(() => {
    if (container.current === null) return;
    const map = new GeofenceMap(container.current, {
      onSelect: (id) => {
        // What was drawn or changed is not thrown away by a click beside it.
        const isUnsaved = JSON.stringify(draft.peek()) !== JSON.stringify(asRead.current);
        if (id !== DRAFT_ID && !isUnsaved) open(id);
      },
      onDraw: (area) => {
        const present = draft.peek();
        if (present !== null) {
          if (present.geometry !== null) past.value = [...past.peek(), present].slice(-MOST_UNDONE);
          draft.value = withArea(present, area);
        }
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
    const isDrawable = present.geometry === null || area !== null;
    void view.current?.edit(isDrawable ? present.shape : null, area);
  };
  const read = async (id: string) => {
    try {
      const { body, etag } = await api.getTagged('/api/v1/geozones/{id}', { path: { id } });
      if (route.peek().query.get('geofence') !== id) return;
      asRead.current = draft.value = draftOf(body, etag);
      view.current?.fitTo(body);
      drawDraft();
    } catch (error) {
      toast(describeError(error), 'error');
      open(null);
    }
  };
  useEffect(() => {
    past.value = [];
    asRead.current = null;
    if (editedId === null || editedId === 'import') draft.value = null;
    else if (isShape(editedId)) draft.value = newDraft(editedId);
    else void read(editedId);
    drawDraft();
  }, [editedId]);
  // A polygon with holes stays where it is: its coordinates are typed.
  const present = draft.value;
  const isDrawn = present !== null && editableArea(present) !== null;
  const drawnId = isDrawn ? present.id : null;
  useEffect(() => {
    const typed = present !== null && !isDrawn ? previewOf(present) : [];
    const others = typed.length === 0 ? all : all.filter(({ id }) => id !== present?.id);
    void view.current?.show([...others, ...typed, ...preview.value], drawnId);
  }, [all, isDrawn, drawnId, present?.geometry, preview.value]);
  const undo = () => {
    const last = past.value.at(-1);
    if (last === undefined || present === null) return;
    past.value = past.value.slice(0, -1);
    draft.value = { ...present, geometry: last.geometry, radiusM: last.radiusM };
    drawDraft();
  };
  const restore = async (body: NewGeozone) => {
    deleted.value = null;
    try {
      const { id } = await api.post('/api/v1/geozones', { body });
      await loadGeofences();
      open(id);
    } catch (error) {
      toast(describeError(error), 'error');
    }
  };

  return (
    <div class="split">
      <GeofenceList all={all} editedId={editedId} deleted={deleted.value} onRestore={restore} />
      <div class="mapbox">
        <div class="canvas" ref={container} />
        {all.length > 0 && (
          <div class="tools">
            <MapTool icon="fit" label={geofenceWords().showAll} onClick={() => view.current?.fitAll()} />
          </div>
        )}
        <GeofenceForm
          key={`${editedId}`}
          draft={draft}
          onClose={() => open(null)}
          onReload={() => editedId !== null && void read(editedId)}
          onShape={drawDraft}
          onUndo={past.value.length === 0 ? null : undo}
          onEscape={() => view.current?.cancelDrawing() ?? false}
          onDeleted={(body) => {
            deleted.value = body;
          }}
        />
        {editedId === 'import' && (
          <ImportPanel
            onClose={() => open(null)}
            onPreview={(geofences) => {
              preview.value = geofences;
            }}
          />
        )}
      </div>
    </div>
  );
}

function open(id: string | null): void {
  navigate(withQuery({ geofence: id }));
}

function isShape(text: string): text is Draft['shape'] {
  return text === 'polygon' || text === 'circle' || text === 'line';
}

/** What the drawing tool can't show, as a geofence. */
function previewOf(draft: Draft): Geozone[] {
  const body = bodyOf(draft);
  return body === null ? [] : [{ ...body, id: draft.id ?? DRAFT_ID } as Geozone];
}

interface ListProps {
  all: readonly Geozone[];
  editedId: string | null;
  /** What can be restored. */
  deleted: NewGeozone | null;
  onRestore: (body: NewGeozone) => void;
}

function GeofenceList({ all, editedId, deleted, onRestore }: ListProps) {
  const { query } = route.value;
  const category = query.get('category') || null;
  const whose = WHOSE.find((one) => one === query.get('whose')) ?? null;
  const filter = { search: (query.get('q') ?? '').trim().toLowerCase(), category, whose };
  const found = all.filter((geofence) => matches(geofence, filter, user.value));
  const categories = categoriesOf(all, language.value);
  return (
    <section class="side" aria-label={t().pages.geofences}>
      <FilterBox kind="filters">
        <SearchField placeholder={t().name} value={route.value.query.get('q')} />
        <div class="row wraps narrowing">
          {(categories.length > 0 || category !== null) && (
            <select
              aria-label={geofenceWords().category}
              value={category ?? ''}
              onChange={(event) => setQuery({ category: event.currentTarget.value })}
            >
              <option value="">{geofenceWords().allCategories}</option>
              {categories.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
              <option value={NO_CATEGORY}>{geofenceWords().noCategory}</option>
            </select>
          )}
          {(whose !== null || all.some(({ properties }) => whoseOf(properties, user.value) !== 'own')) && (
            <select
              aria-label={geofenceWords().owner}
              value={whose ?? ''}
              onChange={(event) => setQuery({ whose: event.currentTarget.value })}
            >
              <option value="">{geofenceWords().allOwners}</option>
              {WHOSE.map((one) => (
                <option key={one} value={one}>
                  {geofenceWords().whose[one]}
                </option>
              ))}
            </select>
          )}
        </div>
        {mayDraw(user.value) && (
          <div class="row wraps">
            <button type="button" aria-pressed={editedId === 'polygon'} onClick={() => open('polygon')}>
              <Icon name="fence" /> {t().newPolygon}
            </button>
            <button type="button" aria-pressed={editedId === 'circle'} onClick={() => open('circle')}>
              <Icon name="circle" /> {t().newCircle}
            </button>
            <button type="button" aria-pressed={editedId === 'line'} onClick={() => open('line')}>
              <Icon name="track" /> {geofenceWords().newLine}
            </button>
          </div>
        )}
        <div class="row wraps">
          {mayDraw(user.value) && (
            <button type="button" aria-pressed={editedId === 'import'} onClick={() => open('import')}>
              <Icon name="upload" /> {geofenceWords().import}
            </button>
          )}
          <a class="button" href="/api/v1/geozones/export?all=true" download="">
            <Icon name="download" /> {geofenceWords().export}
          </a>
          <a
            class="button"
            href="/api/v1/geozones/export?all=true&format=kml"
            download=""
            aria-label={geofenceWords().exportKml}
            title={geofenceWords().exportKml}
          >
            KML
          </a>
          <a
            class="button"
            href="/api/v1/geozones/export?all=true&format=csv"
            download=""
            aria-label={geofenceWords().exportCsv}
            title={geofenceWords().exportCsv}
          >
            CSV
          </a>
        </div>
        {deleted !== null && (
          <div class="row wraps" role="status">
            <span>{geofenceWords().deletedNamed(deleted.properties.name)}</span>
            <button type="button" onClick={() => onRestore(deleted)}>
              {geofenceWords().undo}
            </button>
          </div>
        )}
      </FilterBox>
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
          rowRem={ROW_REM}
          row={(index) => {
            const { id, properties } = found[index] as Geozone;
            return (
              <li
                key={id}
                class="vehicle"
                {...placed(index, found.length, ROW_REM)}
                aria-current={id === editedId ? 'true' : undefined}
              >
                <button type="button" onClick={() => open(id)}>
                  <strong>
                    {properties.color !== null && <i class="fence-color" style={{ background: properties.color }} />}
                    <bdi>{properties.name}</bdi>
                  </strong>
                  <small class="end">
                    {properties.speedLimitKmh === null ? '' : formats().speed(properties.speedLimitKmh)}
                  </small>
                  <small>
                    {properties.category ?? t().shapes[properties.shape]} · {formats().area(properties.areaM2)}
                    {whoseOf(properties, user.value) === 'shared' && ` · ${geofenceWords().shared}`}
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
