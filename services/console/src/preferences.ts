import type { Preferences as StoredPreferences } from '@outrider/client';
import { effect, signal } from '@preact/signals';

export interface Preferences {
  /** Null: the browser's language. */
  language: string | null;
  theme: 'auto' | 'light' | 'dark';
  units: 'metric' | 'imperial';
  /** IANA name; null: the device's. */
  timeZone: string | null;
  favourites: readonly string[];
  clusters: boolean;
  /** Vehicles on the map have their own colours in place of those of their states. */
  vehicleColors: boolean;
  /** The list has one line per vehicle. */
  compactList: boolean;
  /** Columns of the list besides name and state; null: as many as it has space for. */
  listColumns: StoredPreferences['listColumns'];
  /** Name of one of the service's maps; null: the online map, otherwise a regional map, otherwise the world map. */
  map: string | null;
}

const KEY = 'outrider.preferences';
export const DEFAULT_PREFERENCES: Preferences = {
  language: null,
  theme: 'auto',
  units: 'metric',
  timeZone: null,
  favourites: [],
  clusters: true,
  vehicleColors: false,
  compactList: false,
  listColumns: null,
  map: null,
};

/** Parses the preferences that the browser stored. */
export function readPreferences(text: string | null): Preferences {
  try {
    return validPreferences(JSON.parse(text ?? '{}'));
  } catch {
    return DEFAULT_PREFERENCES;
  }
}

/** Replaces values of an unexpected type by their defaults, as after a change of version. */
export function validPreferences(value: unknown): Preferences {
  const stored = (value ?? {}) as Record<string, unknown>;
  const nullableText = (one: unknown) => (typeof one === 'string' ? one : null);
  return {
    language: nullableText(stored.language),
    theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'auto',
    units: stored.units === 'imperial' ? 'imperial' : 'metric',
    timeZone: validTimeZone(nullableText(stored.timeZone)),
    favourites: Array.isArray(stored.favourites) ? stored.favourites.filter((id) => typeof id === 'string') : [],
    clusters: stored.clusters !== false,
    vehicleColors: stored.vehicleColors === true,
    compactList: stored.compactList === true,
    listColumns: Array.isArray(stored.listColumns) ? stored.listColumns : null,
    map: nullableText(stored.map),
  };
}

function validTimeZone(zone: string | null): string | null {
  if (zone === null) return null;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return zone;
  } catch {
    return null;
  }
}

// Node has its own `localStorage`, which logs a warning.
const hasStorage = typeof document !== 'undefined';
export const preferences = signal<Preferences>(readPreferences(hasStorage ? localStorage.getItem(KEY) : null));

let listener: (part: Partial<Preferences>) => void = () => {};

/** Sets the listener for changes that the user makes. */
export function onPreferenceChange(to: (part: Partial<Preferences>) => void): void {
  listener = to;
}

export function change(part: Partial<Preferences>): void {
  preferences.value = { ...preferences.peek(), ...part };
  listener(part);
}

/** Stores preferences in the browser, and sets the theme for the styles. */
export function followPreferences(): void {
  effect(() => {
    localStorage.setItem(KEY, JSON.stringify(preferences.value));
    document.documentElement.dataset.theme = preferences.value.theme;
  });
}
