import { describeEvents, type EventOf, flag, number } from './description.ts';
import { measures } from './said.ts';

export const fuelChange = describeEvents({
  record: 'FuelChange',
  prefix: 'FuelChange',
  about: 'The tank was filled, or lost more fuel than the engine burned.',
  since: 5,
  kinds: {
    refuelling: {
      meaning: 'The tank level rises by more than the minimum set for the vehicle.',
      words: {
        en: {
          name: 'Refuelling',
          hint: 'The tank is filled.',
          begin: ({ vehicle }) => `${vehicle} is being refuelled`,
          end: ({ vehicle, volume }) => `${vehicle} was refuelled${measures(volume)}`,
        },
        ru: {
          name: 'Заправка',
          hint: 'Бак заправляют.',
          begin: ({ vehicle }) => `${vehicle}: идёт заправка`,
          end: ({ vehicle, volume }) => `${vehicle}: заправка${measures(volume)}`,
        },
        de: {
          name: 'Betankung',
          hint: 'Der Tank wird gefüllt.',
          begin: ({ vehicle }) => `${vehicle} wird betankt`,
          end: ({ vehicle, volume }) => `${vehicle} wurde betankt${measures(volume)}`,
        },
        es: {
          name: 'Repostaje',
          hint: 'Se llena el depósito.',
          begin: ({ vehicle }) => `${vehicle} está repostando`,
          end: ({ vehicle, volume }) => `${vehicle} repostó${measures(volume)}`,
        },
        he: {
          name: 'תדלוק',
          hint: 'המכל מתודלק.',
          begin: ({ vehicle }) => `רכב ${vehicle} מתדלק`,
          end: ({ vehicle, volume }) => `רכב ${vehicle} תודלק${measures(volume)}`,
        },
      },
    },
    'fuel-drain': {
      meaning:
        'The tank level falls by more than the minimum set for the vehicle, beyond the consumption of the engine.',
      isUnwanted: true,
      words: {
        en: {
          name: 'Fuel drain',
          hint: 'Fuel leaves the tank that the engine did not burn.',
          begin: ({ vehicle, whileMoving, volume }) =>
            `Fuel is being drained from ${vehicle}${whileMoving ? ' while driving' : ''}${volume === null ? '' : `: ${volume} by now`}`,
          end: ({ vehicle, whileMoving, volume }) =>
            `Fuel was drained from ${vehicle}${whileMoving ? ' while driving' : ''}${measures(volume)}`,
        },
        ru: {
          name: 'Слив топлива',
          hint: 'Из бака уходит топливо, которое двигатель не сжёг.',
          begin: ({ vehicle, whileMoving, volume }) =>
            `${vehicle}: идёт слив топлива${whileMoving ? ' в движении' : ''}${volume === null ? '' : `: уже ${volume}`}`,
          end: ({ vehicle, whileMoving, volume }) =>
            `${vehicle}: слив топлива${whileMoving ? ' в движении' : ''}${measures(volume)}`,
        },
        de: {
          name: 'Kraftstoffentnahme',
          hint: 'Kraftstoff verlässt den Tank, den der Motor nicht verbrannt hat.',
          begin: ({ vehicle, whileMoving, volume }) =>
            `Aus ${vehicle} wird${whileMoving ? ' während der Fahrt' : ''} Kraftstoff entnommen${volume === null ? '' : `: bisher ${volume}`}`,
          end: ({ vehicle, whileMoving, volume }) =>
            `Aus ${vehicle} wurde${whileMoving ? ' während der Fahrt' : ''} Kraftstoff entnommen${measures(volume)}`,
        },
        es: {
          name: 'Descarga de combustible',
          hint: 'Sale del depósito combustible que el motor no quemó.',
          begin: ({ vehicle, whileMoving, volume }) =>
            `Se está extrayendo combustible de ${vehicle}${whileMoving ? ' en marcha' : ''}${volume === null ? '' : `: ${volume} hasta ahora`}`,
          end: ({ vehicle, whileMoving, volume }) =>
            `Se extrajo combustible de ${vehicle}${whileMoving ? ' en marcha' : ''}${measures(volume)}`,
        },
        he: {
          name: 'ריקון דלק',
          hint: 'דלק יוצא מהמכל בלי שהמנוע שרף אותו.',
          begin: ({ vehicle, whileMoving, volume }) =>
            `דלק נשאב מרכב ${vehicle}${whileMoving ? ' תוך כדי נסיעה' : ''}${volume === null ? '' : `: עד כה ${volume}`}`,
          end: ({ vehicle, whileMoving, volume }) =>
            `נשאב דלק מרכב ${vehicle}${whileMoving ? ' תוך כדי נסיעה' : ''}${measures(volume)}`,
        },
      },
    },
  },
  fields: {
    volumeL: number({
      about:
        'Litres added or removed, corrected for the consumption of the engine. While the event is in progress, the volume up to now.',
    }),
    levelBeforeL: number({ about: 'Litres in the tank before the change.' }),
    levelAfterL: number({ about: 'Litres in the tank after the change.' }),
    whileMoving: flag({ about: 'True if the vehicle was on a trip when the change began.' }),
  },
  // `settled`: the level is stable again.
  endReasons: ['settled', 'no-longer-watched'],
  isSummed: true,
});

/** The tank was filled, or fuel was removed that the engine did not burn. */
export type FuelChange = EventOf<typeof fuelChange>;
