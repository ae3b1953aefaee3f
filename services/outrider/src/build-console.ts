import { buildConsole } from './console-build.ts';

/** Runs before `npm start` and `npm run demo`. The service starts even with an older console or without one. */
await buildConsole((text) => process.stdout.write(text));
