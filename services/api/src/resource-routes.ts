import type { ProblemKind } from '@outrider/access';
import type { ApiKeyScope } from '@outrider/domain';
import type { z } from 'zod';
import { pageReply } from './fields/fields.ts';
import { etagOf } from './http/input.ts';
import { answerList, pageOf, pageOrWhole } from './http/whole-list.ts';
import { type Answer, type AuthorizedContext, callsOf, type GroupName, type Reply, type Route } from './route.ts';

/** Documented headers of a response with one item of a collection. */
export const ENTITY_HEADERS = { ETag: 'Version of the object, for `If-Match`.' };

interface Versioned {
  id: string;
  version: number;
}

/** Properties of a collection, common to all of its calls. */
export interface ResourceOptions<Shown, Id extends z.ZodObject> {
  group: GroupName;
  path: string;
  /** Used in operation ids: `addDriver`, `listDrivers`. */
  operations: readonly [one: string, many: string];
  /** Used in sentences: `Get one driver.` */
  noun: string;
  /** Parameter of the path that identifies the item. */
  params: Id;
  body: z.ZodType;
  show(shown: Shown, context: AuthorizedContext): unknown;
  /** The object that holds the id and the version. */
  entityOf(shown: Shown): Versioned;
  /** Scope that an API key needs for all calls; default: see {@link Route}. */
  scope?: ApiKeyScope | null;
}

/** Documentation of one call. */
interface Call {
  summary: string;
  description?: string;
  /** Problems beyond those that every call of this kind can return. */
  problems?: readonly ProblemKind[];
}

type ListQuery = z.ZodObject & z.ZodType<{ limit: number; cursor?: string | undefined }>;

interface ListCall<Shown, Q extends ListQuery> extends Call {
  query: Q;
  /** For a list that is also available as a whole: number of items read together. */
  atOnce?: number;
  page(query: z.output<Q>, context: AuthorizedContext): Promise<{ items: readonly Shown[]; next: unknown }>;
}
interface AddCall<Shown, B extends z.ZodType> extends Call {
  body: B;
  /** Schema of the response, if it has more than those of other calls. */
  answered?: z.ZodType;
  add(body: z.output<B>, context: AuthorizedContext): Promise<Shown>;
}
interface GetCall<Shown, Id> extends Partial<Call> {
  get(params: Id, context: AuthorizedContext): Shown | Promise<Shown>;
}
interface ChangeCall<Shown, Id, B extends z.ZodType> extends Call {
  body: B;
  /** As in {@link AddCall}. */
  answered?: z.ZodType;
  change(params: Id, body: z.output<B>, context: AuthorizedContext): Promise<Shown>;
}
interface RemoveCall<Id> extends Call {
  remove(params: Id, context: AuthorizedContext): Promise<void>;
}

/**
 * Standard calls of a collection: list, add, get, change (a merge patch) and delete. Versions are sent as ETags, and
 * changes take `If-Match`.
 */
export class ResourceRoutes<Shown, Id extends z.ZodObject> {
  readonly #options: ResourceOptions<Shown, Id>;
  readonly #calls: ReturnType<typeof callsOf>;
  /** Documented response with one item. */
  readonly one: Answer;

  constructor(options: ResourceOptions<Shown, Id>) {
    this.#options = options;
    this.#calls = callsOf(options.group);
    this.one = {
      description: `The current state of the ${options.noun}.`,
      body: options.body,
      headers: ENTITY_HEADERS,
    };
  }

  list<Q extends ListQuery>({ page, atOnce, ...call }: ListCall<Shown, Q>): Route {
    const { path, operations, body, show } = this.#options;
    const ofPage = pageOf(body);
    const reply = async (query: z.output<Q>, context: AuthorizedContext): Promise<Reply> =>
      pageReply(await page(query, context), (item) => show(item, context));
    const [described, answer]: [Answer, typeof reply] =
      atOnce === undefined
        ? [ofPage, reply]
        : [
            pageOrWhole(ofPage, body),
            (query, context) => answerList(query, context, (asked) => reply(asked, context), atOnce),
          ];
    return this.#calls.get(path, {
      operationId: `list${operations[1]}`,
      ...this.#scope(),
      ...call,
      answers: { 200: described },
      handle: ({ query }, context) => answer(query, context),
    });
  }

  add<B extends z.ZodType>({ add, answered, ...call }: AddCall<Shown, B>): Route {
    const { path, operations, noun, body } = this.#options;
    return this.#calls.post(path, {
      operationId: `add${operations[0]}`,
      ...this.#scope(),
      ...call,
      answers: { 201: { description: `The new ${noun}.`, body: answered ?? body, headers: ENTITY_HEADERS } },
      handle: async (input, context) => this.reply(201, await add(input.body as z.output<B>, context), context),
    });
  }

  get({ get, ...call }: GetCall<Shown, z.output<Id>>): Route {
    const { operations, noun, params } = this.#options;
    return this.#calls.get(this.#onePath(), {
      operationId: `get${operations[0]}`,
      summary: `Get one ${noun}.`,
      ...this.#scope(),
      ...call,
      params,
      answers: { 200: this.one },
      problems: ['not-found', ...(call.problems ?? [])],
      handle: async (input, context) => this.reply(200, await get(input.params as z.output<Id>, context), context),
    });
  }

  change<B extends z.ZodType>({ change, answered, ...call }: ChangeCall<Shown, z.output<Id>, B>): Route {
    const { operations, params } = this.#options;
    return this.#calls.patch(this.#onePath(), {
      operationId: `change${operations[0]}`,
      ...this.#scope(),
      ...call,
      params,
      conditional: true,
      answers: { 200: answered === undefined ? this.one : { ...this.one, body: answered } },
      problems: ['not-found', ...(call.problems ?? []), 'stale'],
      handle: async (input, context) =>
        this.reply(200, await change(input.params as z.output<Id>, input.body as z.output<B>, context), context),
    });
  }

  remove({ remove, ...call }: RemoveCall<z.output<Id>>): Route {
    const { operations, noun, params } = this.#options;
    return this.#calls.remove(this.#onePath(), {
      operationId: `delete${operations[0]}`,
      ...this.#scope(),
      ...call,
      params,
      conditional: true,
      answers: { 204: { description: `The ${noun} is deleted.` } },
      problems: ['not-found', ...(call.problems ?? []), 'stale'],
      handle: async (input, context) => {
        await remove(input.params as z.output<Id>, context);
        return { status: 204 };
      },
    });
  }

  /** Response with one item. */
  reply(status: number, shown: Shown, context: AuthorizedContext): Reply {
    const { path, show, entityOf } = this.#options;
    const headers = entityHeaders(status, path, entityOf(shown));
    return { status, body: show(shown, context), headers };
  }

  #onePath(): string {
    const [name] = Object.keys(this.#options.params.shape);
    return `${this.#options.path}/{${name}}`;
  }

  #scope(): { scope?: ApiKeyScope | null } {
    const { scope } = this.#options;
    return scope === undefined ? {} : { scope };
  }
}

/**
 * Headers of a response with one item: its version, and its location if it was added (201).
 *
 * @param collection path that precedes its id
 */
export function entityHeaders(status: number, collection: string, { id, version }: Versioned): Record<string, string> {
  return { etag: etagOf(version), ...(status === 201 ? { location: `${collection}/${id}` } : {}) };
}
