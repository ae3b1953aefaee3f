import { ALARMED, SPEEDING } from '../../fleet/fleet.ts';
import { fleet } from '../../fleet/store.ts';
import { t } from '../../words/words.ts';

/** Says that a vehicle speeds, or that its terminal raises an alarm, as long as that lasts. */
export function Trouble({ index }: { index: number }) {
  void fleet.version.value;
  const trouble = fleet.trouble[index] ?? 0;
  return (
    <>
      {(trouble & SPEEDING) !== 0 && <span class="chip troubled">{t().events.speeding}</span>}
      {(trouble & ALARMED) !== 0 && <span class="chip troubled">{t().events.alarm}</span>}
    </>
  );
}
