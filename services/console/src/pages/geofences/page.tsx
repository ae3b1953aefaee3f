import type { Geozone, NewGeozone } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { geofences, loadGeofences } from '../../fleet/store.ts';
import { MapTool } from '../../parts/map-tool.tsx';
import { toast } from '../../parts/toast.tsx';
import { route } from '../../router.ts';
import { api } from '../../session.ts';
import { bodyOf, type Draft, draftOf, editableArea, newDraft, withArea } from './draft.ts';
import { GeofenceForm } from './form.tsx';
import { GeofenceMap } from './geofence-map.ts';
import { ImportPanel } from './import-panel.tsx';
import { GeofenceList, open } from './list.tsx';
import '../../style/geofences.css';
import { geofenceWords } from './words.ts';

const MOST_UNDONE = 50;
/** Id of a new geofence on the map. */
const DRAFT_ID = 'draft';

/** Manages the map and the geofence that is drawn or edited on it. */
function useDrawing(editedId: string | null) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<GeofenceMap | null>(null);
  const draft = useSignal<Draft | null>(null);
  /** The unchanged draft; null: nothing is edited, or the geofence is new. */
  const asRead = useRef<Draft | null>(null);
  /** Previous shapes for undo, the latest last. */
  const past = useSignal<readonly Draft[]>([]);

  useEffect(() => {
    if (container.current === null) return;
    const map = new GeofenceMap(container.current, {
      onSelect: (id) => {
        // A click beside the shape must not discard unsaved changes.
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
  const undo = () => {
    const last = past.value.at(-1);
    const present = draft.peek();
    if (last === undefined || present === null) return;
    past.value = past.value.slice(0, -1);
    draft.value = { ...present, geometry: last.geometry, radiusM: last.radiusM };
    drawDraft();
  };
  return { container, view, draft, drawDraft, read, undo: past.value.length === 0 ? null : undo };
}

/**
 * Page of geofences: a list beside the map, one geofence drawn or edited. The address has that geofence and the search.
 */
export function GeofencesPage() {
  const editedId = route.value.query.get('geofence');
  const { container, view, draft, drawDraft, read, undo } = useDrawing(editedId);
  const all = geofences.value;
  const preview = useSignal<readonly Geozone[]>([]);
  const deleted = useSignal<NewGeozone | null>(null);

  // A polygon with holes cannot be edited by drawing: its coordinates are typed.
  const present = draft.value;
  const isDrawn = present !== null && editableArea(present) !== null;
  const drawnId = isDrawn ? present.id : null;
  useEffect(() => {
    const typed = present !== null && !isDrawn ? previewOf(present) : [];
    const others = typed.length === 0 ? all : all.filter(({ id }) => id !== present?.id);
    void view.current?.show([...others, ...typed, ...preview.value], drawnId);
  }, [all, isDrawn, drawnId, present?.geometry, preview.value]);
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
          onUndo={undo}
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

function isShape(text: string): text is Draft['shape'] {
  return text === 'polygon' || text === 'circle' || text === 'line';
}

/** Geofence to display in place of a shape that the drawing tool cannot show. */
function previewOf(draft: Draft): Geozone[] {
  const body = bodyOf(draft);
  return body === null ? [] : [{ ...body, id: draft.id ?? DRAFT_ID } as Geozone];
}
