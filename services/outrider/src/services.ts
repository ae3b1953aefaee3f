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
 * All services, in the order in which one process starts them: readers of the log, workers, servers for users, and last
 * the ports of terminals. They are stopped in reverse order.
 */
export const SERVICES = ALL as unknown as readonly Service[];

type Together<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer All) => void
  ? All
  : never;
/** Environment variables of all services, besides those of their stores. The most common ones come first. */
export const SERVICE_SETTINGS = Object.assign(
  {},
  api.settings,
  ...SERVICES.map(({ settings }) => settings),
) as Together<(typeof ALL)[number]['settings']>;
