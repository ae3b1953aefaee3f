import type { GeofenceId } from '../ids.ts';
import { describeEvents, type EventOf, id } from './description.ts';
import { after } from './said.ts';

export const geofenceVisit = describeEvents({
  record: 'GeofenceVisit',
  prefix: 'Visit',
  about: 'The vehicle was inside a geofence. `begin` is the entry, `end` the exit.',
  since: 1,
  kinds: {
    'geofence-visit': {
      meaning:
        'The vehicle is inside a geofence that watches it. `begin` is the entry, `end` the exit. The visit also ends when the geofence is changed or deleted.',
      words: {
        en: {
          name: 'Geofence',
          hint: 'Begins when a vehicle enters a geofence, ends when it leaves.',
          begin: ({ vehicle, geofence }) => `${vehicle} entered ${geofence ?? 'a geofence'}`,
          end: (said) =>
            said.reason === null
              ? `${said.vehicle} left ${said.geofence ?? 'a geofence'}${after(said, 'after')}`
              : `The visit of ${said.vehicle} to ${said.geofence ?? 'a geofence'} ended: ${said.reason}`,
        },
        ru: {
          name: 'Геозона',
          hint: 'Начинается при въезде в геозону, заканчивается при выезде.',
          begin: ({ vehicle, geofence }) => `${vehicle}: въезд в геозону${geofence === null ? '' : ` ${geofence}`}`,
          end: (said) =>
            said.reason === null
              ? `${said.vehicle}: выезд из геозоны${said.geofence === null ? '' : ` ${said.geofence}`}${after(said, 'через')}`
              : `${said.vehicle}: посещение геозоны${said.geofence === null ? '' : ` ${said.geofence}`} прервано: ${said.reason}`,
        },
        de: {
          name: 'Gebiet',
          hint: 'Beginnt, wenn ein Fahrzeug in ein Gebiet fährt, und endet, wenn es dieses verlässt.',
          begin: ({ vehicle, geofence }) => `${vehicle} ist in ${geofence ?? 'ein Gebiet'} eingefahren`,
          end: (said) =>
            said.reason === null
              ? `${said.vehicle} hat ${said.geofence ?? 'ein Gebiet'}${after(said, 'nach')} verlassen`
              : `Der Besuch von ${said.vehicle} in ${said.geofence ?? 'einem Gebiet'} ist zu Ende: ${said.reason}`,
        },
        es: {
          name: 'Geocerca',
          hint: 'Empieza cuando un vehículo entra en una geocerca y termina cuando sale.',
          begin: ({ vehicle, geofence }) => `${vehicle} entró en ${geofence ?? 'una geocerca'}`,
          end: (said) =>
            said.reason === null
              ? `${said.vehicle} salió de ${said.geofence ?? 'una geocerca'}${after(said, 'tras')}`
              : `La visita de ${said.vehicle} a ${said.geofence ?? 'una geocerca'} terminó: ${said.reason}`,
        },
        he: {
          name: 'אזור',
          hint: 'מתחיל כשרכב נכנס לאזור ומסתיים כשהוא יוצא.',
          begin: ({ vehicle, geofence }) => `רכב ${vehicle} נכנס לאזור${geofence === null ? '' : ` ${geofence}`}`,
          end: (said) =>
            said.reason === null
              ? `רכב ${said.vehicle} יצא מאזור${said.geofence === null ? '' : ` ${said.geofence}`}${after(said, 'לאחר')}`
              : `הביקור של רכב ${said.vehicle} באזור${said.geofence === null ? '' : ` ${said.geofence}`} הסתיים: ${said.reason}`,
        },
      },
    },
  },
  fields: { geofenceId: id<GeofenceId>() },
  endReasons: ['left', 'geofence-deleted', 'geofence-changed', 'no-longer-watched'],
});

/** The vehicle was inside a geofence: its `begin` is the entry, its `end` the exit. */
export type GeofenceVisit = EventOf<typeof geofenceVisit>;
