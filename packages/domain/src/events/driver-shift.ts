import { describeEvents, type EventOf } from './description.ts';
import { after } from './said.ts';

export const driverShift = describeEvents({
  record: 'DriverShift',
  prefix: 'Shift',
  about: 'A driver was identified in the vehicle by the code that its terminal sent.',
  since: 5,
  kinds: {
    'driver-shift': {
      meaning:
        'A driver is identified by the code that the terminal sends, until the card is removed, another driver is identified, or the vehicle stands for a long time.',
      words: {
        en: {
          name: 'Driver shift',
          hint: 'A driver’s card or key is read, or taken away.',
          begin: ({ vehicle }) => `A driver got into ${vehicle}`,
          end: (said) => `The shift of a driver in ${said.vehicle} ended${after(said, 'after')}`,
        },
        ru: {
          name: 'Смена водителя',
          hint: 'Прочитана карта или ключ водителя, либо они убраны.',
          begin: ({ vehicle }) => `${vehicle}: начало смены водителя`,
          end: (said) => `${said.vehicle}: конец смены водителя${after(said, 'через')}`,
        },
        de: {
          name: 'Fahrerschicht',
          hint: 'Die Karte oder der Schlüssel eines Fahrers wird gelesen oder entfernt.',
          begin: ({ vehicle }) => `Eine Fahrerschicht in ${vehicle} hat begonnen`,
          end: (said) => `Eine Fahrerschicht in ${said.vehicle} ist zu Ende${after(said, 'nach')}`,
        },
        es: {
          name: 'Turno de conductor',
          hint: 'Se lee o se retira la tarjeta o la llave de un conductor.',
          begin: ({ vehicle }) => `Comenzó un turno de conductor en ${vehicle}`,
          end: (said) => `Terminó un turno de conductor en ${said.vehicle}${after(said, 'tras')}`,
        },
        he: {
          name: 'משמרת נהג',
          hint: 'כרטיס או מפתח של נהג נקרא או הוסר.',
          begin: ({ vehicle }) => `החלה משמרת נהג ברכב ${vehicle}`,
          end: (said) => `הסתיימה משמרת נהג ברכב ${said.vehicle}${after(said, 'לאחר')}`,
        },
      },
    },
  },
  fields: {},
  requires: ['driverCode'],
  subject: ['driverCode'],
  // `card-removed`: the terminal reports that no card is inserted. `parked`: the vehicle stood.
  endReasons: ['card-removed', 'other-driver', 'parked', 'no-longer-watched'],
});

/**
 * A driver drove the vehicle, identified by the code that its terminal sent. The shift lasts from the first record with
 * the code to the record that contradicts it, or to the last record of the shift where the vehicle then stood for too
 * long.
 */
export type DriverShift = EventOf<typeof driverShift>;
