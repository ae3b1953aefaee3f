import { randomBytes } from 'node:crypto';
import type { ImportRun } from './import-run.ts';
import type { TraccarFleet } from './traccar-fleet.ts';
import type { SourceUser, TraccarSource } from './traccar-source.ts';

const PASSWORD_BYTES = 24;

/** Imports accounts and what they may see, but no administrators: the operator adds these. */
export async function importUsers(run: ImportRun, source: TraccarSource, fleet: TraccarFleet): Promise<void> {
  const users = await source.list<SourceUser>('users').catch(() => null);
  if (users === null) return run.say('skipped', 'accounts', 'Traccar shows them to administrators alone');
  const known = new Map<string, { id: string; groupIds: readonly string[] }>();
  for await (const user of run.all((page) => run.client.get('/api/v1/users', page))) known.set(user.login, user);
  for (const user of users) {
    const login = user.login || user.email;
    const what = `account ${login}`;
    if (user.administrator) {
      run.say('skipped', what, 'an administrator of Traccar: make such accounts by hand');
      continue;
    }
    if (user.disabled) {
      run.say('skipped', what, 'it is disabled');
      continue;
    }
    const groupIds = await groupsOf(user, login, run, source, fleet);
    const here = known.get(login);
    if (here === undefined) {
      // A random password that nobody knows: Traccar has only hashes, so the operator sets another one.
      const password = randomBytes(PASSWORD_BYTES).toString('base64url');
      const body = { login, name: user.name || login, password, groupIds };
      await run.make(what, () => run.client.post('/api/v1/users', { body }));
      continue;
    }
    const missing = groupIds.filter((id) => !here.groupIds.includes(id));
    await run.addToGroups(what, missing, (id) =>
      run.call(() => run.client.put('/api/v1/vehicle-groups/{id}/users/{userId}', { path: { id, userId: here.id } })),
    );
  }
}

/** Groups here that correspond to an account's rights. Vehicles granted individually get their own group. */
async function groupsOf(
  { id }: SourceUser,
  login: string,
  run: ImportRun,
  source: TraccarSource,
  fleet: TraccarFleet,
): Promise<string[]> {
  const { groupIds, deviceIds } = await source.grants(id);
  const single = fleet.devices.filter(
    (device) => deviceIds.includes(device.id) && fleet.chain(device.groupId).every((each) => !groupIds.includes(each)),
  );
  const ids = groupIds.flatMap((groupId) => fleet.groupId(groupId) ?? []);
  if (single.length === 0) return ids;
  const own = await fleet.group(`Traccar: ${login}`);
  if (own === null) return ids;
  for (const device of single) {
    const vehicle = fleet.vehicleOf(device.id);
    if (vehicle !== undefined && !run.isDryRun)
      await run.attempt(`device ${device.name} for ${login}`, () => fleet.putVehicle(own, vehicle));
  }
  return [...ids, own];
}
