import { service as api } from '@outrider/api/service';
import { service as archiver } from '@outrider/archiver/service';
import type { Service } from '@outrider/backing';
import { service as forwarder } from '@outrider/forwarder/service';
import { service as gateway } from '@outrider/gateway/service';
import { service as notifier } from '@outrider/notifier/service';
import { service as reporter } from '@outrider/reporter/service';
import { service as recalculator } from '@outrider/rules/recalculation';
import { service as rules } from '@outrider/rules/service';
import { service as video } from '@outrider/video/service';

const ALL = [archiver, rules, recalculator, video, reporter, forwarder, api, notifier, gateway] as const;

/**
 * Every service, in the order in which one process starts them: readers of the log, workers, servers for people, and
 * the ports of terminals last. It stops them in the reverse order.
 */
export const SERVICES = ALL as unknown as readonly Service[];

type Together<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer All) => void
  ? All
  : never;
/** What all services read from the environment, beside what their stores do: first what people set first. */
export const SERVICE_SETTINGS = Object.assign(
  {},
  api.settings,
  ...SERVICES.map(({ settings }) => settings),
) as Together<(typeof ALL)[number]['settings']>;
