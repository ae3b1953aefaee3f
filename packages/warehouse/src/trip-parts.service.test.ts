import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openChdb } from './engines/chdb.ts';
import { tripPartsConformance } from './trip-parts.conformance.ts';

const folder = mkdtempSync(join(tmpdir(), 'outrider-trip-parts-'));
tripPartsConformance('chDB', () => openChdb(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
