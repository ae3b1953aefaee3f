import { describeEvents, durationMs, type EventOf } from './description.ts';
import { after, measures } from './said.ts';
import { TANK_LEVELS } from './tank-levels.ts';

export const stop = describeEvents({
  record: 'Stop',
  prefix: 'Stop',
  about: 'The vehicle stood between trips: `parking` with the ignition off or unknown, `idling` with it on.',
  since: 1,
  kinds: {
    parking: {
      meaning: 'The vehicle stands between trips with the ignition off or unknown.',
      words: {
        en: {
          name: 'Parking',
          hint: 'The vehicle stands with the ignition off.',
          begin: ({ vehicle }) => `${vehicle} parked`,
          end: (said) => `${said.vehicle} drove on${after(said, 'after parking for')}`,
        },
        ru: {
          name: 'Стоянка',
          hint: 'Машина стоит с выключенным зажиганием.',
          begin: ({ vehicle }) => `${vehicle}: стоянка`,
          end: (said) => `${said.vehicle}: конец стоянки${after(said, 'через')}`,
        },
        de: {
          name: 'Parken',
          hint: 'Das Fahrzeug steht mit ausgeschalteter Zündung.',
          begin: ({ vehicle }) => `${vehicle} parkt`,
          end: (said) => `${said.vehicle} ist weitergefahren${after(said, 'nach einer Parkzeit von')}`,
        },
        es: {
          name: 'Estacionamiento',
          hint: 'El vehículo está parado con el encendido apagado.',
          begin: ({ vehicle }) => `${vehicle} se ha estacionado`,
          end: (said) => `${said.vehicle} reanudó la marcha${after(said, 'tras estar estacionado')}`,
        },
        he: {
          name: 'חניה',
          hint: 'הרכב עומד וההצתה כבויה.',
          begin: ({ vehicle }) => `רכב ${vehicle} חונה`,
          end: (said) => `רכב ${said.vehicle} המשיך בנסיעה${after(said, 'לאחר חניה של')}`,
        },
      },
    },
    idling: {
      meaning: 'The vehicle stands between trips with the ignition on.',
      words: {
        en: {
          name: 'Idling',
          hint: 'The vehicle stands with the ignition on.',
          begin: ({ vehicle }) => `${vehicle} is idling`,
          end: (said) => `${said.vehicle} was idling${after(said, 'for')}`,
        },
        ru: {
          name: 'Холостой ход',
          hint: 'Машина стоит с включённым зажиганием.',
          begin: ({ vehicle }) => `${vehicle}: работа на холостом ходу`,
          end: (said) => `${said.vehicle}: холостой ход закончился${after(said, 'через')}`,
        },
        de: {
          name: 'Leerlauf',
          hint: 'Das Fahrzeug steht mit eingeschalteter Zündung.',
          begin: ({ vehicle }) => `${vehicle} steht im Leerlauf`,
          end: (said) => `${said.vehicle} stand im Leerlauf${measures(said.lasted)}`,
        },
        es: {
          name: 'Ralentí',
          hint: 'El vehículo está parado con el encendido puesto.',
          begin: ({ vehicle }) => `${vehicle} está en ralentí`,
          end: (said) => `${said.vehicle} estuvo en ralentí${after(said, 'durante')}`,
        },
        he: {
          name: 'מנוע פועל בעמידה',
          hint: 'הרכב עומד וההצתה דולקת.',
          begin: ({ vehicle }) => `רכב ${vehicle} עומד במנוע פועל`,
          end: (said) => `רכב ${said.vehicle} עמד במנוע פועל${after(said, 'במשך')}`,
        },
      },
    },
  },
  fields: {
    // The ignition may be on briefly while parking.
    idlingMs: durationMs({ about: 'How long the ignition was on during the stop.' }),
    ...TANK_LEVELS,
  },
  // `ignition`: continues as a stop of the other kind. `gap`: no data came for too long afterwards.
  endReasons: ['moved', 'ignition', 'gap', 'no-longer-watched'],
  isSummed: true,
});

/** The vehicle stood between trips: `parking` with the ignition off (or not known), `idling` with it on. */
export type Stop = EventOf<typeof stop>;
