import { Message } from '../../parts/message.tsx';
import { t } from '../../words/words.ts';
import { screenFor } from './panel-links.ts';

/** In place of what vehicles would show. What to do next depends on who may do it. */
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
