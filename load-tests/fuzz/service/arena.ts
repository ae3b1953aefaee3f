import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logIn } from '../../../services/outrider/src/service.fixture.ts';
import { openRest, type RestClient } from '../../bench/road/definitions.ts';
import { ADMIN_LOGIN, ADMIN_PASSWORD, type Service, startService } from '../../bench/road/service.ts';
import { type Credentials, VICTIMS } from './attacks.ts';
import { GOOD_TERMINALS, GoodClients } from './good-clients.ts';

const DEALER_PASSWORD = 'the password of who attacks';
/** pino's numbers. */
const ERROR_LEVEL = 50;
/** Each is one finding, however often it is said. */
const MOST_ERRORS = 200;

/** A service to be attacked, with honest clients beside. */
export interface Arena {
  service: Service;
  /** Where its data is, also when it has ended. */
  folder: string;
  good: GoodClients;
  /** Output that no peer may cause: errors, and lines that are not of its logger. */
  errors: string[];
  /** How it ended, once it has. */
  end: { said: string | null };
  /** By vehicle's id, whose terminal it has. */
  terminalOf: ReadonlyMap<string, string>;
  credentials(): Promise<Credentials>;
  /** Stops it as Ctrl-C does. @throws {Error} when it ends badly */
  stop(): Promise<void>;
  /** Ends it whatever it does, and removes its data. */
  clear(): Promise<void>;
}

/** Starts one with nothing but the vehicles of honest and hostile terminals. */
export async function openArena(): Promise<Arena> {
  const folder = await mkdtemp(join(tmpdir(), 'outrider-fuzz-'));
  const errors: string[] = [];
  let unfinished = '';
  const service = await startService(
    // Passwords are tried as often as anybody likes, so that no honest client is blocked by its address.
    {
      DATA_DIR: join(folder, 'data'),
      LIMIT_FAILED_LOGINS_PER_MINUTE: '1000000000',
      REPORT_MAX_MB: '32',
      REPORT_QUOTA_MB: '128',
    },
    (text) => {
      const lines = `${unfinished}${text}`.split('\n');
      unfinished = lines.pop() ?? '';
      for (const line of lines) if (isError(line) && errors.length < MOST_ERRORS) errors.push(line);
    },
  );
  const end: Arena['end'] = { said: null };
  void service.ended.then((said) => {
    end.said = said;
  });
  const rest = await openRest(service);
  const terminalOf = new Map<string, string>();
  const goodIds: string[] = [];
  for (const terminalId of GOOD_TERMINALS) {
    const { id } = (await rest.post('/api/v1/vehicles', { name: `Good ${terminalId}`, terminalId })) as { id: string };
    goodIds.push(id);
    terminalOf.set(id, terminalId);
  }
  const createDealer = dealerMaker(service, rest);
  let dealer = await createDealer();
  for (const terminalId of VICTIMS) {
    // Any protocol may speak for it: the first valid packet would bind it to its own otherwise.
    const vehicle = {
      name: `Victim ${terminalId}`,
      terminalId,
      dealerId: dealer.id,
      terminalAccess: { protocol: 'any' },
    };
    const { id } = (await rest.post('/api/v1/vehicles', vehicle)) as { id: string };
    terminalOf.set(id, terminalId);
  }
  const good = new GoodClients(service, rest.jwt, goodIds);
  await good.open();
  return {
    service,
    folder,
    good,
    errors,
    end,
    terminalOf,
    async credentials() {
      // A session of its own: whatever becomes of it, the honest ones go on. An account that was changed is followed by
      // another.
      const operatorJwt = await logIn(service.ports.http, ADMIN_LOGIN, ADMIN_PASSWORD);
      const dealerJwt = await logIn(service.ports.http, dealer.login, DEALER_PASSWORD).catch(async () => {
        dealer = await createDealer();
        return logIn(service.ports.http, dealer.login, DEALER_PASSWORD);
      });
      return { operatorJwt, dealerJwt };
    },
    async stop() {
      good.close();
      rest.close();
      await service.stop();
    },
    async clear() {
      good.close();
      rest.close();
      if (end.said === null) await service.stop().catch(() => {});
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function dealerMaker({ ports }: Service, rest: RestClient): () => Promise<{ login: string; id: string }> {
  let number = 0;
  return async () => {
    const login = `attacker-${ports.http}-${++number}`;
    const account = {
      login,
      name: 'Attacker',
      password: DEALER_PASSWORD,
      role: 'dealer',
      apiAccess: true,
      services: ['video'],
    };
    const { id } = (await rest.post('/api/v1/users', account)) as { id: string };
    return { login, id };
  };
}

function isError(line: string): boolean {
  if (line.trim() === '') return false;
  try {
    return (JSON.parse(line) as { level: number }).level >= ERROR_LEVEL;
  } catch {
    // A stack trace, or a warning of the runtime.
    return true;
  }
}

/** Open sockets of a process; null on systems without `/proc`. */
export async function openSockets(pid: number): Promise<number | null> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => null);
  if (names === null) return null;
  const targets = await Promise.all(names.map((name) => readlink(join(folder, name)).catch(() => '')));
  return targets.filter((target) => target.startsWith('socket:')).length;
}
