import { runAlone } from '@outrider/backing';
import { service } from './service.ts';

await runAlone(service);
