import type { MaintenanceDue, MaintenancePlan } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import '../../style/manage.css';
import '../../style/maintenance.css';
import { describeError } from '../../errors.ts';
import { fleet, groups } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { mayMaintain } from '../../maintenance/counters.tsx';
import { maintenanceWords } from '../../maintenance/words.ts';
import { Icon } from '../../parts/icon.tsx';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { lazy } from '../../parts/loading/lazy.tsx';
import { Message } from '../../parts/message.tsx';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { api, user } from '../../session.ts';
import { t } from '../../words/words.ts';
import { vehicleWords } from '../vehicles/words.ts';
import { leftText, spanText } from './left.ts';
import { PlanPanel } from './plan-panel.tsx';
import { ServicePanel } from './service-panel.tsx';

interface Loaded {
  due: readonly MaintenanceDue[];
  plans: readonly MaintenancePlan[];
}

const ImportDialog = lazy(async () => (await import('../vehicles/import-dialog.tsx')).ImportDialog);

const REFRESH_MS = 15_000;

/** Due maintenance, its plans, and the services that were done. */
export function MaintenancePage() {
  const { query } = route.value;
  const loaded = useSignal<Loaded | null>(null);
  const error = useSignal<unknown>(null);
  const read = () =>
    readAll().then(
      (value) => {
        loaded.value = value;
        error.value = null;
      },
      (reason: unknown) => (error.value = reason),
    );
  useEffect(() => {
    void read();
    const timer = setInterval(() => {
      if (!document.hidden) void read();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  void fleet.version.value;
  const isPlans = query.get('view') === 'plans';
  const plan = query.get('plan');
  const vehicle = query.get('vehicle');
  const imported = query.get('import');
  const words = maintenanceWords();
  const maintains = user.value != null && mayMaintain(user.value);
  const isOpen = plan !== null || vehicle !== null;
  const close = () => navigate(withQuery({ plan: null, vehicle: null }));
  const done = () => {
    close();
    void read();
  };
  return (
    <div class={isOpen ? 'manage open' : 'manage'}>
      <div class="list">
        <div class="toolbar">
          <a class="button" href={withQuery({ view: null })} aria-current={isPlans ? undefined : 'page'}>
            {words.due}
          </a>
          <a class="button" href={withQuery({ view: 'plans' })} aria-current={isPlans ? 'page' : undefined}>
            {words.plans}
          </a>
          {maintains && (
            <span class="actions">
              <a class="button" href={withQuery({ import: '1' })}>
                <Icon name="upload" /> {vehicleWords().importCsv}
              </a>
              <a class="button primary" href={withQuery({ plan: 'new', vehicle: null })}>
                <Icon name="plus" /> {words.newPlan}
              </a>
            </span>
          )}
        </div>
        <Lists loaded={loaded} error={error} isPlans={isPlans} onRetry={() => void read()} maintains={maintains} />
      </div>
      {maintains && (imported === '1' || imported === 'readings') && (
        <ImportDialog
          subject={imported === '1' ? 'plans' : 'readings'}
          onClose={() => setQuery({ import: null })}
          onImported={() => void read()}
        />
      )}
      {plan !== null && <PlanPanel key={plan} id={plan === 'new' ? null : plan} onClose={close} onDone={done} />}
      {plan === null && vehicle !== null && (
        <ServicePanel
          key={vehicle}
          vehicleId={vehicle}
          plans={loaded.value?.plans ?? []}
          onClose={close}
          onRecorded={() => void read()}
        />
      )}
    </div>
  );
}

async function readAll(): Promise<Loaded> {
  const [due, plans] = await Promise.all([
    api.get('/api/v1/maintenance', { query: { limit: 1000 } }),
    api.get('/api/v1/maintenance-plans', { query: { limit: 1000 } }),
  ]);
  return { due: due.items, plans: plans.items };
}

function Lists(props: {
  loaded: Signal<Loaded | null>;
  error: Signal<unknown>;
  isPlans: boolean;
  maintains: boolean;
  onRetry: () => void;
}) {
  const { loaded, error, isPlans, maintains, onRetry } = props;
  const words = maintenanceWords();
  const { value } = loaded;
  if (value === null) {
    if (error.value === null) return <Message title={t().loading} />;
    return <Message icon="warning" title={describeError(error.value)} action={t().retry} onAction={onRetry} />;
  }
  if (value.plans.length === 0)
    return <Message icon="wrench" title={words.none} hint={maintains ? words.noneHint : words.noneHintReader} />;
  if (isPlans)
    return (
      <Table
        label={words.plans}
        rows={[...value.plans]}
        rowKey={({ id }) => id}
        columns={planColumns()}
        sorting={null}
        onSort={() => {}}
        onOpen={({ id }) => setQuery({ plan: id, vehicle: null })}
        currentKey={route.value.query.get('plan')}
      />
    );
  if (value.due.length === 0) return <Message icon="wrench" title={words.noVehicles} hint={words.noVehiclesHint} />;
  return (
    <Table
      label={words.due}
      rows={[...value.due]}
      rowKey={({ planId, vehicleId }) => `${planId} ${vehicleId}`}
      columns={dueColumns()}
      sorting={null}
      onSort={() => {}}
      onOpen={({ vehicleId }) => setQuery({ vehicle: vehicleId, plan: null })}
      currentKey={null}
    />
  );
}

function vehicleName(id: string): string {
  return fleet.vehicles[fleet.indexOf(id)]?.name ?? '–';
}

function dueColumns(): Column<MaintenanceDue>[] {
  const words = maintenanceWords();
  return [
    { key: 'vehicle', title: words.vehicle, cell: ({ vehicleId }) => vehicleName(vehicleId) },
    {
      key: 'stage',
      title: t().state,
      cell: ({ stage }) => (
        <span class={`chip ${{ ok: 'moving', warning: 'idling', due: 'offline' }[stage]}`}>{words.stages[stage]}</span>
      ),
    },
    { key: 'plan', title: words.plan, cell: ({ planName }) => planName },
    { key: 'left', title: words.left, cell: leftText },
    { key: 'dueAt', title: words.dueAt, cell: ({ dueAt }) => (dueAt === null ? '–' : formats().date(dueAt)) },
    { key: 'since', title: words.since, cell: ({ since }) => formats().date(since) },
  ];
}

function planColumns(): Column<MaintenancePlan>[] {
  const words = maintenanceWords();
  return [
    { key: 'name', title: t().name, cell: ({ name }) => name },
    {
      key: 'for',
      title: words.appliesTo,
      cell: ({ vehicleId, groupId }) =>
        vehicleId === null ? (groups.value.find(({ id }) => id === groupId)?.name ?? '–') : vehicleName(vehicleId),
    },
    { key: 'every', title: words.every, cell: ({ every, counterName }) => spanText(every, counterName) },
    { key: 'warning', title: words.warning, cell: ({ warning, counterName }) => spanText(warning, counterName) },
  ];
}
