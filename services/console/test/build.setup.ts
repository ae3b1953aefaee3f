import { buildConsole } from '../../outrider/src/console-build.ts';

/** Runs once, before the browser tests begin: builds of several files at once would slow each other down. */
export default async () => {
  let output = '';
  const isBuilt = await buildConsole((text) => {
    output += text;
  });
  if (!isBuilt) throw new Error(output);
};
