import { httpProtocols, protocols, tcpProtocols } from '@outrider/protocols';
import type { Random } from '@outrider/simulator';
import type { ConversationEnd } from '../finding.ts';
import { cutsOf, mutate, noise } from '../mutate.ts';
import type { Target } from '../target.ts';
import { jsonTargets } from '../targets/json.ts';
import { streamTarget } from '../targets/media.ts';
import { osmandTarget } from '../targets/osmand.ts';
import { sessionTargets } from '../targets/sessions.ts';
import type { Conversation } from './conversation.ts';
import { DescribedRequests } from './described-requests.ts';
import { hostileRequest, requestBytes } from './http-attacks.ts';
import { liveAttack } from './websocket-attacks.ts';

/** Kinds of conversations: each has its line in the table. */
export const ATTACKS: readonly string[] = [
  ...protocols.map(({ name }) => `port ${name}`),
  'port video',
  'http by document',
  'http raw',
  'websocket',
];
export type Attack = string;

const TERMINAL_ENDS: readonly ConversationEnd[] = ['close', 'close', 'close', 'half-close', 'half-close', 'reset'];
/** Logging out is done by hand: what comes after it would all be refused. */
const LEFT_OUT = ['/auth/logout', '/metrics', '/health/live', '/health/ready'];

/** Who attacks REST: an account with rights of its own, and one that may see everything and changes nothing. */
export interface Credentials {
  dealerJwt: string;
  operatorJwt: string;
}

/** Makes conversations that no honest peer would have. */
export class Attacks {
  readonly #requests = new DescribedRequests(LEFT_OUT);

  /** Collects ids from an answer to {@link next}: later requests use them. */
  learn({ chunks }: Conversation, answer: Buffer): void {
    const [, asked = ''] = chunks[0]?.toString('latin1').split(' ', 2) ?? [];
    this.#requests.learn(asked, answer.toString('latin1'));
  }

  next(attack: Attack, credentials: Credentials, random: Random): Conversation {
    const { dealerJwt, operatorJwt } = credentials;
    switch (attack) {
      case 'http by document': {
        const readsOnly = random.next() < 0.2;
        const request = this.#requests.next(random, readsOnly);
        if (random.next() < 0.97) request.headers.Authorization = `JWT ${readsOnly ? operatorJwt : dealerJwt}`;
        request.headers.Connection = 'close';
        return {
          port: 'http',
          kind: attack,
          ends: random.next() < 0.95 ? 'answer' : 'reset',
          chunks: [requestBytes(request, random)],
        };
      }
      case 'http raw': {
        const authorization = `Authorization: JWT ${dealerJwt}`;
        const plain = () => {
          const request = this.#requests.next(random, false);
          request.headers.Authorization = `JWT ${dealerJwt}`;
          return requestBytes(request, random);
        };
        const bytes = hostileRequest(plain(), plain(), authorization, random);
        return {
          port: random.next() < 0.85 ? 'http' : 'osmand',
          kind: attack,
          ends: someEnd(random),
          chunks: cut(bytes, random),
        };
      }
      case 'websocket':
        return {
          port: 'http',
          kind: attack,
          ends: someEnd(random),
          chunks: liveAttack(dealerJwt, random).flatMap((bytes) => cut(bytes, random)),
        };
      case 'port osmand': {
        const [first = '', contentType = '', ...body] = mutated(osmandTarget, random).toString('latin1').split('\n');
        const line = first.replace(' ', ' /?').replace('/?/', '/');
        return httpConversation('osmand', line, [`Content-Type: ${contentType}`], body.join('\n'), random);
      }
      case 'port video':
        return {
          port: 'video',
          kind: attack,
          ends: random.pick(TERMINAL_ENDS),
          chunks: cut(mutated(streamTarget, random), random),
        };
      default: {
        const port = attack.slice('port '.length);
        const ofJson = jsonTargets.find(({ name }) => name === `decoder ${port}`);
        if (ofJson) {
          const [topic = '', ...body] = mutated(ofJson, random).toString('latin1').split('\n');
          return httpConversation(port, `POST /?${topic}`, [`X-Limit-U: ${topic}`], body.join('\n'), random);
        }
        const target = sessionTargets.find(({ name }) => name === `decoder ${port}`);
        if (!target) throw new Error(`nobody speaks to port ${port}`);
        const bytes = random.next() < 0.05 ? noise(4096, random) : mutated(target, random);
        return { port, kind: attack, ends: random.pick(TERMINAL_ENDS), chunks: cut(bytes, random) };
      }
    }
  }
}

/**
 * The terminals of the seeds: each has a vehicle, so that what is well-formed is taken and stored. Protocols that
 * identify terminals by IMEI share one.
 */
export const VICTIMS: readonly string[] = [
  ...new Set<string>([...tcpProtocols.map((protocol) => protocol.exampleId(1)), 'phone-1']),
];

/** Ports that take HTTP of terminals. */
export const HTTP_PORTS: ReadonlySet<string> = new Set(httpProtocols.map(({ name }) => name));

/** A request to such a port. `line` lacks the version; all is in Latin-1. */
function httpConversation(
  port: string,
  line: string,
  headers: readonly string[],
  body: string,
  random: Random,
): Conversation {
  const head = [`${line} HTTP/1.1`, 'Host: a', 'Connection: close', ...headers, `Content-Length: ${body.length}`];
  return {
    port,
    kind: `port ${port}`,
    ends: random.next() < 0.9 ? 'answer' : 'reset',
    chunks: cut(Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1'), random),
  };
}

function mutated(target: Target, random: Random): Buffer {
  const seeds = target.seeds(random);
  return mutate(random.pick(seeds), random.pick(seeds), target, random);
}

function someEnd(random: Random): ConversationEnd {
  return random.pick<ConversationEnd>(['close', 'close', 'close', 'close', 'half-close', 'reset', 'silence']);
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const cuts = random.next() < 0.5 ? [] : cutsOf(bytes.length, random);
  const chunks: Buffer[] = [];
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    if (to > from) chunks.push(bytes.subarray(from, to));
    from = to;
  }
  return chunks;
}
