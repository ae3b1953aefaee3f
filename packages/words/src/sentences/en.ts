import { after, measures, type Said } from '@outrider/domain/said';
import type { SentenceWords } from './words.ts';

const licence = ({ driver, licenceExpiresOn, isExpired }: Said) =>
  `The driving licence of ${driver ?? 'a driver'} ${isExpired ? 'has expired' : 'expires soon'}${measures(licenceExpiresOn && `last day ${licenceExpiresOn}`)}`;

export const en: SentenceWords = {
  licenceExpiry: licence,
  otherSentences: {
    begin: ({ vehicle, kind }) => `${vehicle}: ${kind} began`,
    end: (said) => `${said.vehicle}: ${said.kind} ended${after(said, 'after')}`,
  },
  threshold: {
    above: (max) => `above ${max}`,
    below: (min) => `below ${min}`,
    inside: (min, max) => `between ${min} and ${max}`,
    outside: (min, max) => `not between ${min} and ${max}`,
    other: 'beyond its threshold',
  },
  durationUnits: ['d', 'h', 'min', 's'],
};
