import { after, measures, type Said } from '@outrider/domain/said';
import type { SentenceWords } from './words.ts';

const licence = ({ driver, licenceExpiresOn, isExpired }: Said) =>
  `Der Führerschein von ${driver ?? 'einem Fahrer'} ${isExpired ? 'ist abgelaufen' : 'läuft bald ab'}${measures(licenceExpiresOn && `letzter Tag ${licenceExpiresOn}`)}`;

export const de: SentenceWords = {
  licenceExpiry: licence,
  otherSentences: {
    begin: ({ vehicle, kind }) => `${vehicle}: ${kind} hat begonnen`,
    end: (said) => `${said.vehicle}: ${said.kind} ist zu Ende${after(said, 'nach')}`,
  },
  threshold: {
    above: (max) => `über ${max}`,
    below: (min) => `unter ${min}`,
    inside: (min, max) => `zwischen ${min} und ${max}`,
    outside: (min, max) => `nicht zwischen ${min} und ${max}`,
    other: 'jenseits des Grenzwerts',
  },
  durationUnits: ['d', 'h', 'min', 's'],
};
