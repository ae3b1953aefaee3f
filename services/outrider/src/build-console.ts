import { buildConsole } from './console-build.ts';

/** Before `npm start` and `npm run demo`. The service starts in any case: without the console, or with an older one. */
await buildConsole((text) => process.stdout.write(text));
