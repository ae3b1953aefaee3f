import type { MapFile } from '@outrider/client';
import { formats } from '../../format.ts';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { Message } from '../../parts/message.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { operatorWords } from './words.ts';

const STATE_CHIPS: Record<MapFile['state'], string> = {
  served: 'moving',
  new: 'idling',
  hidden: 'offline',
  refused: 'offline',
  unreadable: 'blocked',
};

/** Map files in the folders, and the state of each. */
export function MapsTab() {
  const words = operatorWords();
  const list = usePages((_, signal) => api.get('/api/v1/operator/maps', { signal }), []);
  const columns: Column<MapFile>[] = [
    { key: 'file', title: words.file, cell: ({ file }) => file },
    { key: 'name', title: t().name, cell: ({ name }) => name },
    {
      key: 'state',
      title: t().state,
      cell: ({ state }) => (
        <span class={`chip ${STATE_CHIPS[state]}`} title={words.mapHints[state]}>
          {words.mapStates[state]}
        </span>
      ),
    },
    { key: 'size', title: words.size, cell: ({ bytes }) => formats().bytes(bytes), isNumber: true },
    {
      key: 'zoom',
      title: words.zoom,
      cell: ({ minZoom, maxZoom }) => (minZoom === null ? '' : `${minZoom}–${maxZoom}`),
    },
    {
      key: 'attribution',
      title: words.attribution,
      cell: ({ attribution }) => attribution && withoutTags(attribution),
    },
  ];
  return (
    <>
      <p>{words.mapsHint}</p>
      <Paged list={list} empty={<Message icon="map" title={words.noMaps} />}>
        {(items) => (
          <Table
            label={words.tabs.maps}
            columns={columns}
            rows={items}
            rowKey={({ file, state }) => `${file} ${state}`}
          />
        )}
      </Paged>
      {(list.items.value ?? []).some(({ state }) => state !== 'served') && (
        <ul class="hints">
          {[...new Set((list.items.value ?? []).map(({ state }) => state))]
            .filter((state) => state !== 'served')
            .map((state) => (
              <li key={state}>
                <b>{words.mapStates[state]}</b>: {words.mapHints[state]}
              </li>
            ))}
        </ul>
      )}
    </>
  );
}

/** Removes HTML tags: attributions are often links, of which only the text is shown. */
function withoutTags(html: string): string {
  return new DOMParser().parseFromString(html, 'text/html').body.textContent ?? '';
}
