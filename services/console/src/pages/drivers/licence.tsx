import type { Driver } from '@outrider/client';
import { driverWords } from '../../drivers/words.ts';
import { formats } from '../../format.ts';

/** The state of a licence with its date; nothing if no date is entered. */
export function LicenceChip({
  driver: { licence, licenceExpiresOn },
  hasDate = false,
}: {
  driver: Pick<Driver, 'licence' | 'licenceExpiresOn'>;
  hasDate?: boolean;
}) {
  if (licence === 'unknown' || licenceExpiresOn === null) return null;
  const { licences, licenceUntil } = driverWords();
  const date = formats().calendarDate(licenceExpiresOn);
  return (
    <span class={`chip licence-${licence}`} title={licenceUntil(date)}>
      {hasDate ? `${licences[licence]} · ${date}` : licences[licence]}
    </span>
  );
}
