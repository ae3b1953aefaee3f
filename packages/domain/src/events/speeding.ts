import type { GeofenceId } from '../ids.ts';
import { choice, describeEvents, type EventOf, id, nullable, number } from './description.ts';
import { after, inGeofence, labelled, measures } from './said.ts';

export const speeding = describeEvents({
  record: 'Speeding',
  prefix: 'Speeding',
  about: 'The vehicle exceeded a speed limit.',
  since: 1,
  kinds: {
    speeding: {
      meaning:
        'The vehicle exceeds its own speed limit, or that of a geofence around it, by more than the tolerance and for longer than the minimum time set there.',
      isUnwanted: true,
      words: {
        en: {
          name: 'Speeding',
          hint: 'Faster than the limit of the vehicle or of a geofence.',
          begin: (said) =>
            `${said.vehicle} is speeding${inGeofence(said, 'in')}${measures(said.speed, labelled('limit', said.limit))}`,
          end: (said) =>
            `${said.vehicle} was speeding${inGeofence(said, 'in')}${after(said, 'for')}${measures(said.speed && `up to ${said.speed}`, labelled('limit', said.limit))}`,
        },
        ru: {
          name: 'Превышение скорости',
          hint: 'Быстрее ограничения машины или геозоны.',
          begin: (said) =>
            `${said.vehicle}: превышение скорости${inGeofence(said, 'в геозоне')}${measures(said.speed, labelled('разрешено', said.limit))}`,
          end: (said) =>
            `${said.vehicle}: превышение скорости${inGeofence(said, 'в геозоне')} закончилось${after(said, 'через')}${measures(said.speed && `до ${said.speed}`, labelled('разрешено', said.limit))}`,
        },
        de: {
          name: 'Zu schnell',
          hint: 'Schneller als das Limit des Fahrzeugs oder eines Gebiets.',
          begin: (said) =>
            `${said.vehicle} fährt${inGeofence(said, 'in')} zu schnell${measures(said.speed, labelled('erlaubt', said.limit))}`,
          end: (said) =>
            `${said.vehicle} fuhr${inGeofence(said, 'in')}${said.lasted === null ? '' : ` ${said.lasted}`} zu schnell${measures(said.speed && `bis ${said.speed}`, labelled('erlaubt', said.limit))}`,
        },
        es: {
          name: 'Exceso de velocidad',
          hint: 'Más rápido que el límite del vehículo o de una geocerca.',
          begin: (said) =>
            `${said.vehicle} supera la velocidad${inGeofence(said, 'en')}${measures(said.speed, labelled('límite', said.limit))}`,
          end: (said) =>
            `${said.vehicle} superó la velocidad${inGeofence(said, 'en')}${after(said, 'durante')}${measures(said.speed && `hasta ${said.speed}`, labelled('límite', said.limit))}`,
        },
        he: {
          name: 'מהירות מופרזת',
          hint: 'מהר מהמגבלה של הרכב או של אזור.',
          begin: (said) =>
            `רכב ${said.vehicle} חורג מהמהירות${inGeofence(said, 'באזור')}${measures(said.speed, labelled('מותר', said.limit))}`,
          end: (said) =>
            `רכב ${said.vehicle} חרג מהמהירות${inGeofence(said, 'באזור')}${after(said, 'במשך')}${measures(said.speed && `עד ${said.speed}`, labelled('מותר', said.limit))}`,
        },
      },
    },
  },
  fields: {
    limitSource: choice(['vehicle', 'geofence'], { enumName: 'LimitSource' }),
    geofenceId: nullable(
      id<GeofenceId>({ about: 'The geofence that sets the limit. Null if the limit is that of the vehicle.' }),
    ),
    limitKmh: number(),
    peakKmh: number(),
    meanKmh: number({ about: 'Mean speed since the start, weighted by time.' }),
    distanceM: number(),
  },
  endReasons: ['slowed', 'left', 'limit-removed', 'geofence-deleted', 'geofence-changed', 'no-longer-watched'],
  isSummed: true,
});

/** The vehicle exceeded a speed limit. */
export type Speeding = EventOf<typeof speeding>;
