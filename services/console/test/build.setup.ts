import { buildConsole } from '../../outrider/src/console-build.ts';

/** Runs once, before the tests in a browser begin: builds of several files at once would take each other's time. */
export default async () => {
  let output = '';
  const isBuilt = await buildConsole((text) => {
    output += text;
  });
  if (!isBuilt) throw new Error(output);
};
