import { computed, signal } from '@preact/signals';
import type { LayerSpecification, StyleSpecification } from 'maplibre-gl';
import { preferences } from '../preferences.ts';

type Rgb = [red: number, green: number, blue: number];

/** Colours of what the fleet layer draws, 0 to 1. */
export interface MapColors {
  /** In the order of `STATES`. */
  states: Rgb[];
  outline: Rgb;
  accent: Rgb;
}

interface Palette {
  sea: string;
  land: string;
  coast: string;
  border: string;
  city: string;
  halo: string;
  label: string;
  fence: string;
  states: readonly string[];
  outline: string;
  accent: string;
  /** Of a track, from slow to fast. */
  speeds: readonly string[];
}

const LIGHT: Palette = {
  sea: '#cfdfec',
  land: '#f4f3ef',
  coast: '#a9bccd',
  border: '#b3aec4',
  city: '#5b6577',
  halo: '#ffffff',
  label: '#16202e',
  fence: '#7a3fb0',
  states: ['#7b8597', '#0d7a3e', '#1f5fc4', '#b86700', '#5d6779'],
  outline: '#ffffff',
  accent: '#1456b8',
  speeds: ['#3b6fb6', '#1a8f6b', '#b08a00', '#d05a00', '#b3201c'],
};
const DARK: Palette = {
  sea: '#0c131c',
  land: '#1a222d',
  coast: '#33445a',
  border: '#46506a',
  city: '#94a3b8',
  halo: '#0c131c',
  label: '#e8edf4',
  fence: '#c79bff',
  states: ['#77859a', '#4cd38a', '#7db1ff', '#f3b14b', '#9aa7b8'],
  outline: '#0b1017',
  accent: '#7db1ff',
  speeds: ['#6fa8f0', '#45cfa0', '#e8c542', '#ff9747', '#ff7a70'],
};

const systemIsDark = signal(false);
if (typeof matchMedia !== 'undefined') {
  const query = matchMedia('(prefers-color-scheme: dark)');
  systemIsDark.value = query.matches;
  query.addEventListener('change', ({ matches }) => {
    systemIsDark.value = matches;
  });
}

export const isDark = computed(() => {
  const { theme } = preferences.value;
  return theme === 'dark' || (theme === 'auto' && systemIsDark.value);
});

export const palette = computed(() => (isDark.value ? DARK : LIGHT));

export const mapColors = computed<MapColors>(() => {
  const { states, outline, accent } = palette.value;
  return { states: states.map(rgbOf), outline: rgbOf(outline), accent: rgbOf(accent) };
});

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

/** Without a `glyphs` address MapLibre draws letters by itself, of every script. */
const FONT = ['Noto Sans Regular'];
/** An empty picture, as large as an arrow. */
export const ARROW_SPACE = 'arrow-space';
export const ARROW_SPACE_PX = 20;
const EMPTY: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] };

/** The map of the world and, above it, what the console draws by style: geofences, labels and clusters. */
export function styleOf(origin: string, colors: Palette): StyleSpecification {
  const data = (): { type: 'geojson'; data: GeoJSON.FeatureCollection; tolerance?: number } => ({
    type: 'geojson',
    data: EMPTY,
  });
  return {
    version: 8,
    sources: {
      world: {
        type: 'vector',
        tiles: [`${origin}/maps/world/{z}/{x}/{y}`],
        maxzoom: 6,
        attribution:
          'Natural Earth, <a href="https://www.geonames.org/" target="_blank" rel="noopener">GeoNames</a> (CC BY 4.0)',
      },
      // A circle is not to become an octagon.
      geofences: { ...data(), tolerance: 0.05 },
      track: data(),
      stops: data(),
      marker: data(),
      labels: data(),
      clusters: data(),
    },
    layers: layersOf(colors),
  };
}

/** Every layer with its paint; a change of the theme sets the paint again. */
export function layersOf(colors: Palette): LayerSpecification[] {
  const text = { 'text-color': colors.label, 'text-halo-color': colors.halo, 'text-halo-width': 1.5 };
  return [
    { id: 'sea', type: 'background', paint: { 'background-color': colors.sea } },
    { id: 'land', type: 'fill', source: 'world', 'source-layer': 'land', paint: { 'fill-color': colors.land } },
    { id: 'coast', type: 'line', source: 'world', 'source-layer': 'land', paint: { 'line-color': colors.coast } },
    {
      id: 'borders',
      type: 'line',
      source: 'world',
      'source-layer': 'borders',
      paint: { 'line-color': colors.border, 'line-dasharray': [3, 2] },
    },
    {
      id: 'geofence-areas',
      type: 'fill',
      source: 'geofences',
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': colors.fence, 'fill-opacity': 0.12 },
    },
    {
      id: 'geofence-edges',
      type: 'line',
      source: 'geofences',
      paint: { 'line-color': colors.fence, 'line-width': 1.5, 'line-opacity': 0.8 },
    },
    {
      id: 'cities',
      type: 'symbol',
      source: 'world',
      'source-layer': 'cities',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': ['interpolate', ['linear'], ['get', 'population'], 5000, 11, 5_000_000, 16],
        'symbol-sort-key': ['-', 0, ['get', 'population']],
        'text-padding': 6,
      },
      paint: { 'text-color': colors.city, 'text-halo-color': colors.halo, 'text-halo-width': 1 },
    },
    {
      id: 'geofence-names',
      type: 'symbol',
      source: 'geofences',
      minzoom: 10,
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': 12,
        'text-padding': 4,
        'text-variable-anchor': ['bottom', 'left', 'right', 'top'],
        'text-radial-offset': 0.8,
      },
      paint: { ...text, 'text-color': colors.fence },
    },
    {
      id: 'track-lines',
      type: 'line',
      source: 'track',
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': byNumber('kind', colors.speeds), 'line-width': 4 },
    },
    {
      id: 'track-stops',
      type: 'circle',
      source: 'stops',
      paint: {
        'circle-color': colors.states[2] ?? '',
        'circle-radius': 6,
        'circle-stroke-color': colors.outline,
        'circle-stroke-width': 2,
      },
    },
    {
      id: 'track-marker',
      type: 'circle',
      source: 'marker',
      paint: {
        'circle-color': colors.accent,
        'circle-radius': 9,
        'circle-stroke-color': colors.outline,
        'circle-stroke-width': 3,
      },
    },
    {
      id: 'vehicle-names',
      type: 'symbol',
      source: 'labels',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': 12,
        'text-variable-anchor': ['top', 'bottom', 'left', 'right'],
        'text-radial-offset': 1,
        'text-max-width': 12,
        'text-padding': 2,
        // Keeps the place of the arrow free of names.
        'icon-image': ARROW_SPACE,
        'icon-allow-overlap': true,
        'text-optional': true,
      },
      paint: text,
    },
    {
      id: 'cluster-circles',
      type: 'circle',
      source: 'clusters',
      paint: {
        'circle-color': byNumber('state', colors.states),
        'circle-radius': ['interpolate', ['linear'], ['sqrt', ['get', 'count']], 1, 9, 30, 30],
        'circle-stroke-color': colors.outline,
        'circle-stroke-width': 2,
        'circle-opacity': 0.92,
      },
    },
    {
      id: 'cluster-counts',
      type: 'symbol',
      source: 'clusters',
      filter: ['>', ['get', 'count'], 1],
      layout: {
        'text-field': ['get', 'label'],
        'text-font': FONT,
        'text-size': 12,
        'text-allow-overlap': true,
        'text-ignore-placement': true,
      },
      paint: { 'text-color': colors.outline },
    },
  ];
}

/** The colour whose place in the list a property holds. */
function byNumber(property: string, colors: readonly string[]): never {
  const cases = colors.flatMap((color, number) => [number, color]);
  return ['match', ['get', property], ...cases, colors[0] ?? ''] as never;
}
