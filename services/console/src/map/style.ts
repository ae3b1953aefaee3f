import { computed, signal } from '@preact/signals';
import type { LayerSpecification, StyleSpecification } from 'maplibre-gl';
import { preferences } from '../preferences.ts';
import { GAP_KIND } from '../track/track.ts';

type Rgb = [red: number, green: number, blue: number];

/** Colours of the fleet layer, each component 0 to 1. */
export interface MapColors {
  /** In the order of `STATES`. */
  states: Rgb[];
  outline: Rgb;
  accent: Rgb;
  /** Colour of a vehicle that speeds or raises an alarm. */
  alert: Rgb;
}

export interface Palette {
  green: string;
  builtUp: string;
  building: string;
  road: string;
  majorRoad: string;
  roadEdge: string;
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
  /** Colours of a track, from slow to fast. */
  speeds: readonly string[];
  /** Colours of the vehicles in one replay, and of the lines in one chart. */
  series: readonly string[];
  gap: string;
  event: string;
}

const LIGHT: Palette = {
  green: '#d9e7cb',
  builtUp: '#ebe8e1',
  building: '#dad5ca',
  road: '#ffffff',
  majorRoad: '#fbe3ae',
  roadEdge: '#c9c1b0',
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
  series: ['#1456b8', '#b8480a', '#7a3fb0', '#0d7a3e', '#b01f6d', '#5e5a00'],
  gap: '#6b7688',
  event: '#b3201c',
};
const DARK: Palette = {
  green: '#1b2c24',
  builtUp: '#1e2733',
  building: '#293443',
  road: '#39445a',
  majorRoad: '#55566a',
  roadEdge: '#141b25',
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
  series: ['#7db1ff', '#ff9b5e', '#c79bff', '#4cd38a', '#ff86c2', '#d9d24a'],
  gap: '#8b98ab',
  event: '#ff8a80',
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
  const { states, outline, accent, event } = palette.value;
  return { states: states.map(rgbOf), outline: rgbOf(outline), accent: rgbOf(accent), alert: rgbOf(event) };
});

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

/** Without a `glyphs` address MapLibre draws letters of every script itself. */
const FONT = ['Noto Sans Regular'];
/** An empty image, as large as an arrow. */
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
      // With the default tolerance, a circle would become an octagon.
      geofences: { ...data(), tolerance: 0.05 },
      chosen: data(),
      track: data(),
      stops: data(),
      marks: data(),
      marker: data(),
      measure: data(),
      labels: data(),
      clusters: data(),
    },
    layers: layersOf(colors),
  };
}

/** Every layer with its paint; a change of the theme sets the paint again. */
export function layersOf(colors: Palette): LayerSpecification[] {
  return [
    ...worldLayers(colors),
    ...geofenceLayers(colors),
    ...trackLayers(colors),
    ...fleetLayers(colors),
    ...measureLayers(colors),
  ];
}

function textOf(colors: Palette) {
  return { 'text-color': colors.label, 'text-halo-color': colors.halo, 'text-halo-width': 1.5 };
}

function worldLayers(colors: Palette): LayerSpecification[] {
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
  ];
}

function geofenceLayers(colors: Palette): LayerSpecification[] {
  const text = textOf(colors);
  return [
    {
      id: 'geofence-areas',
      type: 'fill',
      source: 'geofences',
      paint: { 'fill-color': ownColor(colors.fence), 'fill-opacity': 0.12 },
    },
    {
      id: 'geofence-edges',
      type: 'line',
      source: 'geofences',
      paint: { 'line-color': ownColor(colors.fence), 'line-width': 1.5, 'line-opacity': 0.8 },
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
  ];
}

function trackLayers(colors: Palette): LayerSpecification[] {
  const text = textOf(colors);
  return [
    {
      id: 'track-chosen',
      type: 'line',
      source: 'chosen',
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': colors.label, 'line-width': 10, 'line-opacity': 0.35 },
    },
    {
      id: 'track-gaps',
      type: 'line',
      source: 'track',
      filter: ['==', ['get', 'kind'], GAP_KIND],
      paint: { 'line-color': colors.gap, 'line-width': 2, 'line-dasharray': [2, 3] },
    },
    {
      id: 'track-lines',
      type: 'line',
      source: 'track',
      filter: ['!=', ['get', 'kind'], GAP_KIND],
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': byNumber('kind', trackColors(colors)), 'line-width': 4 },
    },
    {
      id: 'track-stops',
      type: 'circle',
      source: 'stops',
      paint: {
        'circle-color': colors.states[2] ?? '',
        'circle-radius': 7,
        'circle-stroke-color': colors.outline,
        'circle-stroke-width': 2,
      },
    },
    {
      id: 'track-marks',
      type: 'circle',
      source: 'marks',
      paint: {
        'circle-color': colors.event,
        'circle-radius': 5,
        'circle-stroke-color': colors.outline,
        'circle-stroke-width': 2,
      },
    },
    {
      id: 'track-stop-texts',
      type: 'symbol',
      source: 'stops',
      layout: {
        'text-field': ['get', 'label'],
        'text-font': FONT,
        'text-size': 12,
        'text-variable-anchor': ['left', 'right', 'top', 'bottom'],
        'text-radial-offset': 0.9,
        'text-padding': 3,
      },
      paint: text,
    },
    {
      id: 'track-marker',
      type: 'circle',
      source: 'marker',
      paint: {
        'circle-color': byNumber('number', colors.series),
        'circle-radius': 9,
        'circle-stroke-color': colors.outline,
        'circle-stroke-width': 3,
      },
    },
    {
      id: 'track-marker-names',
      type: 'symbol',
      source: 'marker',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': 13,
        'text-variable-anchor': ['top', 'bottom', 'left', 'right'],
        'text-radial-offset': 1.2,
        'text-allow-overlap': true,
      },
      paint: text,
    },
  ];
}

function fleetLayers(colors: Palette): LayerSpecification[] {
  const text = textOf(colors);
  return [
    {
      id: 'vehicle-names',
      type: 'symbol',
      source: 'labels',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': 12,
        'text-variable-anchor': ['top', 'bottom', 'left', 'right'],
        // Beyond the space of the vehicle's own arrow, which would otherwise collide with the name.
        'text-radial-offset': 1.4,
        'text-max-width': 12,
        'text-padding': 2,
      },
      paint: text,
    },
    // Keeps names away from all arrows: MapLibre places the symbols of upper layers first.
    {
      id: 'vehicle-spaces',
      type: 'symbol',
      source: 'labels',
      layout: { 'icon-image': ARROW_SPACE, 'icon-allow-overlap': true, 'icon-padding': 0 },
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

function measureLayers({ accent, outline }: Palette): LayerSpecification[] {
  return [
    {
      id: 'measure-line',
      type: 'line',
      source: 'measure',
      paint: { 'line-color': accent, 'line-width': 2, 'line-dasharray': [3, 2] },
    },
    {
      id: 'measure-points',
      type: 'circle',
      source: 'measure',
      filter: ['==', ['geometry-type'], 'Point'],
      paint: { 'circle-color': accent, 'circle-radius': 4, 'circle-stroke-color': outline, 'circle-stroke-width': 2 },
    },
  ];
}

/** The lowest of the console's own layers: base maps are drawn below it. */
export const LOWEST_OWN_LAYER = 'geofence-areas';
export const WORLD_LAYERS = ['sea', 'land', 'coast', 'borders', 'cities'] as const;

/** Colours by kind of a track line: speed classes, then vehicles. */
function trackColors({ speeds, series }: Palette): string[] {
  return [...speeds, ...series];
}

/** Kind of a track line for a vehicle, by its number in the replay. */
export function vehicleKind(number: number): number {
  return LIGHT.speeds.length + number;
}

/** A geofence's own colour, or the given default. */
function ownColor(color: string): never {
  return ['coalesce', ['get', 'color'], color] as never;
}

/** Colour by its index in the list, which a property holds. */
function byNumber(property: string, colors: readonly string[]): never {
  const cases = colors.flatMap((color, number) => [number, color]);
  return ['match', ['get', property], ...cases, colors[0] ?? ''] as never;
}
