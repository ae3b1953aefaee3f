/** With `PROPERTY_SEED`, properties are held against the same inputs each time; without, each run has its own, and tells which where one fails. */
const { PROPERTY_SEED } = process.env;
if (PROPERTY_SEED !== undefined) {
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ seed: Number(PROPERTY_SEED) });
}

export {};
