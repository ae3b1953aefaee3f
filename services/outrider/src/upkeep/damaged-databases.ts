import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLite files of the service. */
const FILES = ['registry.sqlite', 'log.sqlite', 'checkpoints.sqlite'];
/** Result codes of SQLite (https://www.sqlite.org/rescode.html). */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);

/** Whether an error reports a damaged SQLite file. It does not say which file. */
export function isDamage(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { errcode } = each as { errcode?: unknown };
    if (typeof errcode === 'number' && DAMAGED.has(errcode & 0xff)) return true;
  }
  return false;
}

/** Structurally damaged files of a folder, each with the first fault that SQLite finds. */
export function damagedDatabases(folder: string): string[] {
  return FILES.map((name) => join(folder, name)).flatMap((path) => {
    const finding = existsSync(path) ? findingIn(path) : null;
    return finding === null ? [] : [`${path} is damaged (${finding}): restore it from a backup of DATA_DIR`];
  });
}

function findingIn(path: string): string | null {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const finding = String(database.prepare('PRAGMA quick_check(1)').get()?.quick_check);
      return finding === 'ok' ? null : finding;
    } finally {
      database.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}
