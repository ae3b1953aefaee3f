import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { addDays, dateOf, dayStart } from '../../days.ts';
import { readDriverScore, readVehicleScore } from '../../drivers/eco-driving.ts';
import { ecoWords } from '../../drivers/eco-words.ts';
import { ScoreChip } from '../../drivers/score-chip.tsx';
import { live } from '../../live/live.ts';
import { Icon } from '../../parts/icon.tsx';
import { useFresh } from '../../parts/loading/fresh.ts';
import { preferences } from '../../preferences.ts';

const DAYS = 7;

/** Recent driving score of the vehicle's current driver, or else of all its drivers. Empty without any trip. */
export function ScoreLine({ vehicleId, driverId }: { vehicleId: string; driverId: string | null }) {
  const { timeZone } = preferences.value;
  const today = dateOf(Date.now(), timeZone);
  const from = dayStart(addDays(today, 1 - DAYS), timeZone).toISOString();
  const to = dayStart(addDays(today, 1), timeZone).toISOString();
  const score = useFresh<number | null>(null, [vehicleId, driverId]);
  const tripsEnded = useSignal(0);
  useSignalEffect(() => {
    const event = live.event.value;
    if (event?.vehicleId === vehicleId && event.kind === 'trip' && event.phase === 'end')
      tripsEnded.value = tripsEnded.peek() + 1;
  });
  useEffect(() => {
    const ending = new AbortController();
    const range = { from, to };
    const reading =
      driverId === null
        ? readVehicleScore(vehicleId, range, ending.signal)
        : readDriverScore(driverId, range, ending.signal);
    reading.then(
      (read) => {
        if (!ending.signal.aborted) score.value = read.score;
      },
      // The score is optional, and the panel shows other errors.
      () => {},
    );
    return () => ending.abort();
  }, [vehicleId, driverId, from, to, tripsEnded.value]);
  if (score.value === null) return null;
  const words = ecoWords();
  const href =
    driverId === null
      ? `/reports?kind=eco-driving&vehicle=${vehicleId}&range=last7days`
      : `/drivers?driver=${driverId}&tab=score`;
  return (
    <p class="score-line">
      <Icon name="chart" />
      <a href={href}>{`${words.score} · ${words.lastDays(DAYS)}`}</a>
      <ScoreChip score={score.value} />
    </p>
  );
}
