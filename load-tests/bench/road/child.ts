import { type ChildProcess, fork } from 'node:child_process';

/** A message from a child process. */
interface TypedMessage {
  type: string;
}

/** A child process of the benchmark, which gets a task and sends messages. */
export interface Child<Message extends TypedMessage> {
  /** The next message, which must be of this type. @throws {Error} when the child failed, or sent another type */
  next<Type extends Message['type']>(type: Type): Promise<Extract<Message, { type: Type }>>;
  say(word: string): void;
  readonly pid: number;
  /** Ends it, whatever it does. */
  stop(): Promise<void>;
}

/** Starts a module of this folder as a process and hands it its task. */
export async function startChild<Task, Message extends TypedMessage>(
  module: string,
  task: Task,
  nodeOptions: readonly string[] = [],
): Promise<Child<Message>> {
  const child: ChildProcess = fork(new URL(module, import.meta.url), {
    serialization: 'advanced',
    // Those of this process, where it profiles, are for what is measured.
    execArgv: [...nodeOptions],
  });
  const messages: Message[] = [];
  let gone: Error | null = null;
  let wake: () => void = () => {};
  child.on('message', (message: Message) => {
    messages.push(message);
    wake();
  });
  const ended = new Promise<void>((resolve) =>
    child.on('exit', (code, signal) => {
      gone ??= new Error(`${module} ended (${signal ?? code})`);
      wake();
      resolve();
    }),
  );
  child.on('error', (error) => {
    gone = error;
    wake();
  });
  child.send({ task });
  return {
    pid: child.pid ?? 0,
    async next(type) {
      while (messages.length === 0) {
        if (gone) throw gone;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const message = messages.shift() as Message;
      if (message.type !== type) throw new Error(`${module}: ${JSON.stringify(message)} where ${type} was awaited`);
      return message as Extract<Message, { type: typeof type }>;
    },
    say: (word) => void child.send({ word }),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Inside the child: its task, and messages to and from its parent. */
export interface Parent<Task, Message extends TypedMessage> {
  task: Task;
  send(message: Message): void;
  /** Resolves when the parent has sent the command. */
  awaitCommand(word: string): Promise<void>;
}

/** Waits for the task. A child that its parent left ends too. */
export async function awaitTask<Task, Message extends TypedMessage>(): Promise<Parent<Task, Message>> {
  const words = new Map<string, PromiseWithResolvers<void>>();
  const wordOf = (word: string): PromiseWithResolvers<void> => {
    const known = words.get(word) ?? Promise.withResolvers<void>();
    words.set(word, known);
    return known;
  };
  const task = Promise.withResolvers<Task>();
  process.on('message', (message: { task: Task } | { word: string }) => {
    if ('task' in message) task.resolve(message.task);
    else wordOf(message.word).resolve();
  });
  process.on('disconnect', () => process.exit(0));
  return {
    task: await task.promise,
    send: (message) => void process.send?.(message),
    awaitCommand: (word) => wordOf(word).promise,
  };
}
