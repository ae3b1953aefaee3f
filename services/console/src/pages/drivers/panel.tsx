import { drivers } from '../../drivers/drivers.ts';
import { driverWords } from '../../drivers/words.ts';
import { Message } from '../../parts/message.tsx';
import { Panel } from '../../parts/panel.tsx';
import { route, withQuery } from '../../router.ts';
import { t } from '../../words/words.ts';
import { Assignments } from './assignments.tsx';
import { DayView } from './day-view.tsx';
import { DriverForm } from './form.tsx';
import { LicenceChip } from './licence.tsx';
import { ScoreView } from './score-view.tsx';

const TABS = ['day', 'score', 'details', 'assignments'] as const;

interface Props {
  /** Null: a new driver. */
  id: string | null;
  version: number;
  onClose: () => void;
  onSaved: (id: string | null) => void;
}

/** One driver: the day, settings, assignments. */
export function DriverPanel({ id, version, onClose, onSaved }: Props) {
  const { query } = route.value;
  const words = driverWords();
  const driver = id === null ? undefined : drivers.value?.find((each) => each.id === id);
  const title = id === null ? words.newDriver : (driver?.name ?? '');
  const tab = id === null ? 'details' : (TABS.find((one) => one === query.get('tab')) ?? 'day');
  return (
    <Panel
      kind="detail driver"
      label={title}
      onClose={onClose}
      head={
        <>
          <h2>
            <bdi>{title}</bdi>
          </h2>
          {driver !== undefined && <LicenceChip driver={driver} />}
        </>
      }
    >
      {id !== null && (
        <nav class="driver-tabs" aria-label={title}>
          {TABS.map((one) => (
            <a
              key={one}
              href={withQuery({ tab: one === 'day' ? null : one })}
              aria-current={one === tab ? 'page' : undefined}
            >
              {words.tabs[one]}
            </a>
          ))}
        </nav>
      )}
      {id !== null && driver === undefined ? (
        <Message
          icon={drivers.value === null ? 'driver' : 'warning'}
          title={drivers.value === null ? t().loading : words.gone}
        />
      ) : tab === 'assignments' ? (
        <Assignments driverId={id} version={version} />
      ) : tab === 'score' && driver !== undefined ? (
        <ScoreView driver={driver} />
      ) : tab === 'day' && driver !== undefined ? (
        <DayView driver={driver} />
      ) : (
        <DriverForm key={id ?? `new ${query.get('code')}`} id={id} code={query.get('code')} onSaved={onSaved} />
      )}
    </Panel>
  );
}
