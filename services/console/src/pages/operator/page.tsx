import type { FunctionComponent } from 'preact';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { isOperator } from '../../rights.ts';
import { route, withQuery } from '../../router.ts';
import { user as me } from '../../session.ts';
import '../../style/list-page.css';
import '../../style/operator.css';
import { AuditTab } from './audit.tsx';
import { DeadLettersTab } from './dead-letters.tsx';
import { HealthTab } from './health.tsx';
import { JobsTab } from './jobs.tsx';
import { MapsTab } from './maps.tsx';
import { SessionsTab } from './sessions.tsx';
import { operatorWords } from './words.ts';

const TABS = ['health', 'sessions', 'audit', 'jobs', 'deadLetters', 'maps'] as const;
type Tab = (typeof TABS)[number];

const SCREENS: Record<Tab, { icon: IconName; Component: FunctionComponent; isForDealers?: true }> = {
  health: { icon: 'gauge', Component: HealthTab },
  sessions: { icon: 'user', Component: SessionsTab },
  audit: { icon: 'list', Component: AuditTab, isForDealers: true },
  jobs: { icon: 'refresh', Component: JobsTab, isForDealers: true },
  deadLetters: { icon: 'warning', Component: DeadLettersTab },
  maps: { icon: 'map', Component: MapsTab },
};

/** Operation of the service. Dealers see the audit trail and the jobs of their own organisation. */
export function OperatorPage() {
  const caller = me.value;
  if (!caller) return null;
  const tabs = TABS.filter((tab) => isOperator(caller) || SCREENS[tab].isForDealers);
  const wanted = route.value.query.get('tab');
  const tab = tabs.find((one) => one === wanted) ?? tabs[0] ?? 'audit';
  const { Component } = SCREENS[tab];
  return (
    <div class="operator">
      <nav class="tabs" aria-label={operatorWords().title}>
        {tabs.map((one) => (
          <a
            key={one}
            href={withQuery({ tab: one }, { path: '/operator', query: new URLSearchParams() })}
            aria-current={one === tab ? 'page' : undefined}
          >
            <Icon name={SCREENS[one].icon} /> {operatorWords().tabs[one]}
          </a>
        ))}
      </nav>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by keyboard. */}
      <div class="tab" tabIndex={0}>
        <Component />
      </div>
    </div>
  );
}
