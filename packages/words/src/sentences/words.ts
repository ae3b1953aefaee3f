import type { EventSentences, Said } from '@outrider/domain/said';

/** What sentences about events say in one language, beside what is described with each kind of event. */
export interface SentenceWords {
  /** That a driving licence expires: it has no end. */
  licenceExpiry: (said: Said) => string;
  /** Of a kind that is not known here. */
  otherSentences: EventSentences;
  threshold: {
    above: (max: string) => string;
    below: (min: string) => string;
    inside: (min: string, max: string) => string;
    outside: (min: string, max: string) => string;
    other: string;
  };
  /** Days, hours, minutes, seconds. */
  durationUnits: readonly [string, string, string, string];
}
