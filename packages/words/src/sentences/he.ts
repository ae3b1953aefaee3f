import { after, measures, type Said } from '@outrider/domain/said';
import type { SentenceWords } from './words.ts';

const licence = ({ driver, licenceExpiresOn, isExpired }: Said) =>
  `רישיון הנהיגה של ${driver ?? 'נהג'} ${isExpired ? 'פג' : 'עומד לפוג'}${measures(licenceExpiresOn && `יום אחרון ${licenceExpiresOn}`)}`;

export const he: SentenceWords = {
  licenceExpiry: licence,
  otherSentences: {
    begin: ({ vehicle, kind }) => `רכב ${vehicle}: ${kind}: התחלה`,
    end: (said) => `רכב ${said.vehicle}: ${said.kind}: סיום${after(said, 'לאחר')}`,
  },
  threshold: {
    above: (max) => `מעל ${max}`,
    below: (min) => `מתחת ל-${min}`,
    inside: (min, max) => `בין ${min} ל-${max}`,
    outside: (min, max) => `מחוץ לטווח ${min} עד ${max}`,
    other: 'מעבר לסף',
  },
  durationUnits: ['ימים', 'שע׳', 'דק׳', 'שנ׳'],
};
