import { degrees, describeEvents, durationMs, type EventOf, number } from './description.ts';
import { after, measures } from './said.ts';
import { TANK_LEVELS } from './tank-levels.ts';

export const trip = describeEvents({
  record: 'Trip',
  prefix: 'Trip',
  about: 'The vehicle was driving: from the first moving fix to the first standing one.',
  since: 1,
  kinds: {
    trip: {
      meaning:
        'The vehicle is driving: from the first moving fix to the first fix of the stop that ends the trip, or to a gap in the data.',
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
    startLatitude: degrees({ about: 'Place where the trip began, in both phases.' }),
    startLongitude: degrees(),
    // Includes the step from the last standing fix to the first moving one, at which the trip starts.
    distanceM: number({ about: 'Distance, from the odometer if the terminal has one.' }),
    movingMs: durationMs({ about: 'Time in motion. The vehicle stood for the rest of the trip.' }),
    idlingMs: durationMs({ about: 'Time standing with the ignition on.' }),
    maxKmh: number({ column: 'peak_kmh' }),
    meanKmh: number({ about: 'Mean speed: distance divided by the time since the start, including time standing.' }),
    ...TANK_LEVELS,
  },
  // `gap`: the vehicle was moving, then no data came for too long.
  endReasons: ['stopped', 'gap', 'no-longer-watched'],
  isSummed: true,
});

/** The vehicle was moving: from the first moving fix to the first that is not. */
export type Trip = EventOf<typeof trip>;
