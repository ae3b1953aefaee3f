import { describeEvents, type EventOf } from './description.ts';
import { after } from './said.ts';

export const offline = describeEvents({
  record: 'Offline',
  prefix: 'Offline',
  about: 'The terminal sent no data. `fixTime` is the time at which it was considered offline, or was online again.',
  since: 1,
  kinds: {
    offline: {
      meaning:
        'The terminal has sent nothing for longer than the offline time set for the vehicle, by the server clock.',
      isUnwanted: true,
      words: {
        en: {
          name: 'Offline',
          hint: 'Nothing comes from the terminal for longer than the vehicle allows.',
          begin: ({ vehicle }) => `${vehicle} went offline`,
          end: (said) => `${said.vehicle} is online again${after(said, 'after')}`,
        },
        ru: {
          name: 'Нет связи',
          hint: 'От терминала нет данных дольше, чем разрешено для машины.',
          begin: ({ vehicle }) => `${vehicle}: нет связи`,
          end: (said) => `${said.vehicle}: снова на связи${after(said, 'через')}`,
        },
        de: {
          name: 'Offline',
          hint: 'Vom Terminal kommt länger nichts, als beim Fahrzeug erlaubt ist.',
          begin: ({ vehicle }) => `${vehicle} ist offline`,
          end: (said) => `${said.vehicle} ist wieder online${after(said, 'nach')}`,
        },
        es: {
          name: 'Sin conexión',
          hint: 'No llega nada del terminal durante más tiempo del permitido.',
          begin: ({ vehicle }) => `${vehicle} está sin conexión`,
          end: (said) => `${said.vehicle} vuelve a estar en línea${after(said, 'tras')}`,
        },
        he: {
          name: 'מנותק',
          hint: 'לא מגיע דבר מהמסוף ברכב מעבר לזמן המותר.',
          begin: ({ vehicle }) => `רכב ${vehicle} לא מקוון`,
          end: (said) => `רכב ${said.vehicle} שוב מקוון${after(said, 'לאחר')}`,
        },
      },
    },
  },
  fields: {},
  endReasons: ['online', 'no-longer-watched'],
});

/**
 * No data came from the terminal. The event lasts from the last packet before to the first after, by the times at which
 * the gateway received them. It is detected by elapsed time, not by a fix: `fixTimeMs` is the moment at which the
 * vehicle counts as offline or as online again; place and `fromFixTimeMs` are those of the last fix before.
 */
export type Offline = EventOf<typeof offline>;
