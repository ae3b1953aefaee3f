import { Message } from '../../parts/message.tsx';
import { t } from '../../words/words.ts';
import { screenFor } from './panel-links.ts';

/** Shown while there are no vehicles. The suggested next step depends on the user's rights. */
export function NoVehicles() {
  const terminals = screenFor('/terminals');
  if (terminals === null) return <Message icon="truck" title={t().noVehicles} hint={t().noVehiclesHint} />;
  return (
    <Message icon="truck" title={t().noVehicles} hint={t().fleetMap.emptyHint}>
      <a class="button primary" href={terminals}>
        {t().fleetMap.toTerminals}
      </a>
    </Message>
  );
}
