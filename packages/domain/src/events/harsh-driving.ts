import type { Alarm } from '../position.ts';
import { choice, describeEvents, type EventOf, nullable, number } from './description.ts';
import { measures, type Said } from './said.ts';

const MANOEUVRES = ['acceleration', 'braking', 'cornering'] as const;
export type Manoeuvre = (typeof MANOEUVRES)[number];

/** Names of the manoeuvres in one language, in the order of the parameters. */
const named =
  (...names: readonly [acceleration: string, braking: string, cornering: string]) =>
  ({ fields }: Said) =>
    names[MANOEUVRES.indexOf(fields.manoeuvre as Manoeuvre)] ?? names[1];
const english = named('Harsh acceleration', 'Harsh braking', 'Harsh cornering');
const russian = named('резкое ускорение', 'резкое торможение', 'резкий поворот');
const german = named('Starkes Beschleunigen', 'Starkes Bremsen', 'Scharfe Kurvenfahrt');
const spanish = named('Aceleración brusca', 'Frenazo', 'Giro brusco');
const hebrew = named('האצה חדה', 'בלימה חדה', 'פנייה חדה');

export const harshDriving = describeEvents({
  record: 'HarshDriving',
  prefix: 'HarshDriving',
  about:
    'Harsh acceleration, braking or cornering, reported by the terminal or derived from speeds and courses of positions.',
  since: 6,
  kinds: {
    'harsh-driving': {
      meaning:
        'Harsh acceleration, braking or cornering (`manoeuvre`), reported by the terminal, or derived from positions if the vehicle has a limit for it.',
      isUnwanted: true,
      words: {
        en: {
          name: 'Harsh driving',
          hint: 'Acceleration, braking or a bend beyond the limit of the vehicle, or of its terminal.',
          begin: (said) => `${english(said)} of ${said.vehicle}${measures(said.speed)}`,
          end: (said) => `${english(said)} of ${said.vehicle} is over`,
        },
        ru: {
          name: 'Резкое вождение',
          hint: 'Ускорение, торможение или поворот сверх предела машины или терминала.',
          begin: (said) => `${said.vehicle}: ${russian(said)}${measures(said.speed)}`,
          end: (said) => `${said.vehicle}: ${russian(said)}, закончилось`,
        },
        de: {
          name: 'Harte Fahrweise',
          hint: 'Beschleunigen, Bremsen oder eine Kurve über der Grenze des Fahrzeugs oder seines Terminals.',
          begin: (said) => `${german(said)} von ${said.vehicle}${measures(said.speed)}`,
          end: (said) => `${german(said)} von ${said.vehicle} ist vorbei`,
        },
        es: {
          name: 'Conducción brusca',
          hint: 'Aceleración, frenado o curva por encima del límite del vehículo o de su terminal.',
          begin: (said) => `${spanish(said)} de ${said.vehicle}${measures(said.speed)}`,
          end: (said) => `${spanish(said)} de ${said.vehicle}: terminó`,
        },
        he: {
          name: 'נהיגה חדה',
          hint: 'האצה, בלימה או פנייה מעבר לגבול של הרכב או של המסוף.',
          begin: (said) => `${hebrew(said)} של רכב ${said.vehicle}${measures(said.speed)}`,
          end: (said) => `${hebrew(said)} של רכב ${said.vehicle} הסתיימה`,
        },
      },
    },
  },
  fields: {
    manoeuvre: choice(MANOEUVRES),
    peakMps2: nullable(
      number({
        about:
          'Highest acceleration derived from positions, in m/s². Null if only the terminal reported the manoeuvre.',
      }),
    ),
  },
  subject: ['manoeuvre'],
  endReasons: ['cleared', 'no-longer-watched'],
  isSummed: true,
});

/** The vehicle was driven harshly, from the first record that reports or shows it to the first that does not. */
export type HarshDriving = EventOf<typeof harshDriving>;

/** The manoeuvre that an alarm reports; null where the alarm is about something else. */
export function manoeuvreOf(alarm: string): Manoeuvre | null {
  return MANOEUVRES.find((manoeuvre) => alarm === alarmOf(manoeuvre)) ?? null;
}

/** Adds harsh driving where `alarm` is requested: it used to be an alarm, and such clients still expect it. */
export function alsoHarsh<Kind extends string>(kinds: readonly Kind[]): readonly (Kind | 'harsh-driving')[] {
  return (kinds as readonly string[]).includes('alarm') ? [...kinds, 'harsh-driving'] : kinds;
}

/** The alarm by which a terminal reports the manoeuvre. */
export function alarmOf(manoeuvre: Manoeuvre): Alarm {
  return `harsh-${manoeuvre}`;
}
