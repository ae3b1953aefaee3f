import type { VehicleId } from '@outrider/domain';
import { isTimeZone } from '@outrider/reports';
import { LANGUAGES, type Language } from '@outrider/words';
import { z } from 'zod';
import { id, idOut } from '../../fields/fields.ts';
import { callsOf, type Route } from '../../route.ts';

const { get, patch } = callsOf('Users');

const MAX_FAVOURITES = 1000;

const language = z.enum(LANGUAGES as [Language, ...Language[]]);
const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'It must be a time zone of the IANA database, such as Europe/Berlin.');

const FIELDS = {
  language: language.nullable().meta({
    description: 'Language of the console, of reports and of messages. Null: the language of the browser.',
    examples: ['en'],
  }),
  browserLanguage: language.nullable().meta({
    description: 'Language of the browser, set by the console. Reports and messages use it if `language` is null.',
    examples: ['en'],
  }),
  browserTimeZone: timeZone.nullable().meta({
    description: 'Time zone of the device, set by the console. Messages use it if `timeZone` is null.',
    examples: ['Europe/Berlin'],
  }),
  theme: z.enum(['auto', 'light', 'dark']),
  units: z.enum(['metric', 'imperial']),
  timeZone: timeZone.nullable().meta({
    description: 'Time zone of the console and of messages. Null: the time zone of the device.',
    examples: ['Europe/Berlin'],
  }),
  favourites: z.array(id<VehicleId>()).max(MAX_FAVOURITES).meta({
    description: 'Vehicles that the user marked as favourites, in their order. May contain deleted vehicles.',
  }),
  clusters: z.boolean().meta({ description: 'Whether many vehicles at one place are drawn as a single marker.' }),
  vehicleColors: z.boolean().meta({
    description: 'Whether maps draw vehicles in their own colours, surrounded by the colours of their states.',
  }),
  compactList: z.boolean().meta({ description: 'Whether the list beside the map shows each vehicle on one line.' }),
  listColumns: z
    .array(z.enum(['plate', 'driver', 'groups', 'speed', 'fuel', 'contact']))
    .max(6)
    .nullable()
    .meta({
      description:
        'What the list beside the map shows of each vehicle besides its name and state. Null: as much as there is space for.',
      examples: [['driver', 'contact']],
    }),
  map: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .nullable()
    .meta({
      description:
        'Name of a map of `/maps`, or `online`. Null: the online map; if there is none, the first map of a region, otherwise the map of the world.',
      examples: ['region'],
    }),
};
type Preferences = z.output<z.ZodObject<typeof FIELDS>>;

const DEFAULTS: Preferences = {
  language: null,
  browserLanguage: null,
  browserTimeZone: null,
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
const EXAMPLE: Preferences = { ...DEFAULTS, language: 'en', theme: 'dark', timeZone: 'Europe/Berlin' };
const PreferencesOut = z
  .strictObject({ ...FIELDS, favourites: z.array(idOut) })
  .meta({ id: 'Preferences', examples: [EXAMPLE] });

/** Stored preferences, field by field. A value that this version does not accept is replaced by the default. */
function preferencesOf(stored: object | null): Preferences {
  const known = Object.entries(stored ?? {}).filter(
    ([name, value]) => name in FIELDS && FIELDS[name as keyof typeof FIELDS].safeParse(value).success,
  );
  return { ...DEFAULTS, ...Object.fromEntries(known) };
}

export const preferenceRoutes: Route[] = [
  get('/api/v1/me/preferences', {
    operationId: 'getMyPreferences',
    summary: 'Get the caller’s preferences for the console: language, time zone, units, theme and map.',
    answers: {
      200: { description: 'All preferences; those that were never set have their defaults.', body: PreferencesOut },
    },
    async handle(_, { access }) {
      return { status: 200, body: preferencesOf(await access.preferences()) };
    },
  }),
  patch('/api/v1/me/preferences', {
    operationId: 'changeMyPreferences',
    summary: 'Change the caller’s preferences for the console (JSON merge patch).',
    body: z
      .strictObject(FIELDS)
      .partial()
      .meta({ id: 'PreferencesPatch', examples: [{ theme: 'dark', timeZone: 'Europe/Berlin' }] }),
    answers: { 200: { description: 'All preferences after the change.', body: PreferencesOut } },
    async handle({ body }, { access }) {
      const changed = await access.changePreferences((stored) => ({ ...preferencesOf(stored), ...body }));
      return { status: 200, body: changed };
    },
  }),
];
