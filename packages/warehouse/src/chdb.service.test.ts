import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { reportsConformance } from './reports.conformance.ts';
import { warehouseConformance } from './warehouse.conformance.ts';
import { openWarehouse } from './warehouse.ts';

const folder = mkdtempSync(join(tmpdir(), 'outrider-warehouse-'));
warehouseConformance('chDB', () => openWarehouse({ path: folder }));
reportsConformance('chDB', () => openWarehouse({ path: folder }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
