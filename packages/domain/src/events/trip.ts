import { degrees, describeEvents, durationMs, type EventOf, number } from './description.ts';
import { after, measures } from './said.ts';
import { TANK_LEVELS } from './tank-levels.ts';

export const trip = describeEvents({
  record: 'Trip',
  prefix: 'Trip',
  about: 'The vehicle was on its way: from the first fix that moves to the first that does not.',
  since: 1,
  kinds: {
    trip: {
      meaning:
        'It is on its way: from the first fix that moves to the first of the stop that ends it, or to a gap in the data.',
      words: {
        en: {
          name: 'Trip',
          hint: 'Begins when the vehicle moves off, ends when it stops for long.',
          begin: ({ vehicle }) => `${vehicle} began a trip`,
          end: (said) =>
            said.distance === null
              ? `${said.vehicle} ended a trip${after(said, 'of')}`
              : `${said.vehicle} ended a trip of ${said.distance}${after(said, 'in')}`,
        },
        ru: {
          name: 'Поездка',
          hint: 'Начинается с движением, заканчивается длительной остановкой.',
          begin: ({ vehicle }) => `${vehicle}: начало поездки`,
          end: (said) => `${said.vehicle}: поездка окончена${measures(said.distance, said.lasted)}`,
        },
        de: {
          name: 'Fahrt',
          hint: 'Beginnt mit der Abfahrt und endet, wenn das Fahrzeug länger steht.',
          begin: ({ vehicle }) => `${vehicle} ist losgefahren`,
          end: (said) => `${said.vehicle} hat eine Fahrt beendet${measures(said.distance, said.lasted)}`,
        },
        es: {
          name: 'Viaje',
          hint: 'Empieza cuando el vehículo arranca y termina cuando se detiene un rato largo.',
          begin: ({ vehicle }) => `${vehicle} inició un viaje`,
          end: (said) => `${said.vehicle} terminó un viaje${measures(said.distance, said.lasted)}`,
        },
        he: {
          name: 'נסיעה',
          hint: 'מתחיל כשהרכב יוצא לדרך ומסתיים כשהוא עוצר לזמן ארוך.',
          begin: ({ vehicle }) => `רכב ${vehicle} התחיל נסיעה`,
          end: (said) => `רכב ${said.vehicle} סיים נסיעה${measures(said.distance, said.lasted)}`,
        },
      },
    },
  },
  fields: {
    startLatitude: degrees({ about: 'Where it began, in either phase.' }),
    startLongitude: degrees(),
    // Includes the step from the last standing fix to the first moving one, at which the trip starts.
    distanceM: number({ about: 'By the odometer where the terminal has one.' }),
    movingMs: durationMs({ about: 'How long it moved; the rest of the trip it stood.' }),
    idlingMs: durationMs({ about: 'How long it stood with the ignition on.' }),
    maxKmh: number({ column: 'peak_kmh' }),
    meanKmh: number({ about: 'Distance over the time since the start, standing included.' }),
    ...TANK_LEVELS,
  },
  // `gap`: the vehicle was moving, then no data came for too long.
  endReasons: ['stopped', 'gap', 'no-longer-watched'],
  isSummed: true,
});

/** The vehicle was moving: from the first moving fix to the first that is not. */
export type Trip = EventOf<typeof trip>;
