import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { scrollList } from './probe.ts';

const MAPLIBRE = dirname(fileURLToPath(import.meta.resolve('maplibre-gl')));
const BESIDE = 'http://beside.invalid';

export interface Place {
  latitude: number;
  longitude: number;
}

/** Results of a page without the console, in milliseconds. */
export interface PlainMap {
  /** From the request for MapLibre's script to an empty map. */
  startMs: number;
  /** Redrawing an empty map, from the request to the frame. */
  empty: number[];
  /** The frame alone, without the wait for it: scripts and drawing. */
  emptyFrame: number[];
  /** From new positions of all vehicles to the frame, by `setData` of a GeoJSON source and a circle layer. */
  geojson: number[];
  /** Between the frames of a plain list that is scrolled beside the map. */
  scrolling: number[];
}

/** Measures the time between frames of a page that has only a list without text, which is scrolled; in milliseconds. */
export async function measureEmptyPage(page: Page, frames: number): Promise<number[]> {
  await page.setContent('<div class="rows" style="overflow: auto; block-size: 90vh"><p style="block-size: 100000px">');
  return page.evaluate(`(${scrollList.toString()})('.rows', ${frames})` as unknown as () => Promise<number[]>);
}

/** Measures MapLibre alone, in a separate page: the time on the same machine without the console's layer. */
export async function measurePlainMap(
  page: Page,
  places: readonly Place[],
  rounds: number,
  frames: number,
): Promise<PlainMap> {
  await page.route(`${BESIDE}/**`, (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: '<div id="map"></div>' });
    const type = pathname.endsWith('.css') ? 'text/css' : 'text/javascript';
    return route.fulfill({ contentType: type, path: `${MAPLIBRE}${pathname}` });
  });
  await page.goto(`${BESIDE}/`);
  const maps = await page.evaluate(measureInPage, { places: [...places], rounds, origin: BESIDE });
  await page.evaluate(addPlainList, places.length);
  const scrolling = await page.evaluate(
    `(${scrollList.toString()})('.rows', ${frames})` as unknown as () => Promise<number[]>,
  );
  return { ...maps, scrolling };
}

/** A list as large as the console's, in front of the map, of plain text. */
function addPlainList(count: number): void {
  const rows = document.createElement('div');
  rows.className = 'rows';
  Object.assign(rows.style, { position: 'fixed', inset: '190px auto 0 0', width: '352px', overflow: 'auto' });
  rows.style.background = '#fff';
  for (let nth = 1; nth <= Math.min(count, 2000); nth += 1) {
    const row = document.createElement('p');
    Object.assign(row.style, { height: '60px', margin: '0', contain: 'strict' });
    row.textContent = `Vehicle ${nth}, moving, 32 km/h`;
    rows.append(row);
  }
  document.body.append(rows);
}

interface Task {
  places: Place[];
  rounds: number;
  origin: string;
}

async function measureInPage({ places, rounds, origin }: Task): Promise<Omit<PlainMap, 'scrolling'>> {
  const container = document.getElementById('map') as HTMLElement;
  Object.assign(container.style, { position: 'fixed', inset: '0' });
  const startedMs = performance.now();
  const maplibre = await import(`${origin}/maplibre-gl.mjs`);
  maplibre.setWorkerUrl(`${origin}/maplibre-gl-worker.mjs`);
  const collection = (round: number) => ({
    type: 'FeatureCollection',
    features: places.map(({ latitude, longitude }) => ({
      type: 'Feature',
      properties: {},
      geometry: { type: 'Point', coordinates: [longitude + round * 0.0004, latitude + round * 0.0004] },
    })),
  });
  const longitudes = places.map(({ longitude }) => longitude);
  const latitudes = places.map(({ latitude }) => latitude);
  const bounds = [Math.min(...longitudes), Math.min(...latitudes), Math.max(...longitudes), Math.max(...latitudes)];
  const background = { id: 'land', type: 'background', paint: { 'background-color': '#eee' } };
  const map = new maplibre.Map({
    container,
    bounds,
    fadeDuration: 0,
    style: { version: 8, sources: {}, layers: [background] },
  });
  await map.once('load');
  const startMs = performance.now() - startedMs;
  const gl = map.getCanvas().getContext('webgl2') as WebGL2RenderingContext;
  const finish = () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  const empty: number[] = [];
  const emptyFrame: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const beganMs = performance.now();
    map.triggerRepaint();
    await map.once('render');
    finish();
    empty.push(performance.now() - beganMs);
    await frame();
    const frameMs = performance.now();
    map.redraw();
    finish();
    emptyFrame.push(performance.now() - frameMs);
  }

  map.addSource('vehicles', { type: 'geojson', data: collection(0) });
  map.addLayer({ id: 'vehicles', type: 'circle', source: 'vehicles', paint: { 'circle-radius': 6 } });
  await map.once('idle');
  const geojson: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const beganMs = performance.now();
    map.getSource('vehicles').setData(collection(round));
    // Waits until all tiles have the new data, and a frame with them is drawn.
    await map.once('idle');
    finish();
    geojson.push(performance.now() - beganMs);
  }
  return { startMs, empty, emptyFrame, geojson };
}
