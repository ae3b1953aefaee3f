import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { AddressedCommand, CommandOutcome, TerminalId } from '@outrider/domain';
import { type Hub, serveTerminalCommands } from '@outrider/hub';
import { jt808, type Session } from '@outrider/protocols';

/** A gateway as plain as can be: every terminal is let in, and commands of the hub go to it. */
export async function startPlainGateway(hub: Hub) {
  const connected = new Map<TerminalId, (addressed: AddressedCommand) => Promise<CommandOutcome>>();
  const sockets = new Set<Socket>();
  const presence = await serveTerminalCommands(
    hub,
    {
      online: () => connected.keys(),
      has: (terminalId) => connected.has(terminalId),
      deliver: (addressed) => connected.get(addressed.terminalId)?.(addressed) ?? null,
    },
    (error) => {
      throw error;
    },
  );
  const server = createServer((socket) => {
    const session: Session = jt808.createSession({ secret: 'a secret of the tests' });
    const waiting = new Map<number, (outcome: CommandOutcome) => void>();
    let terminalId: TerminalId | null = null;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      for (const finish of waiting.values()) finish({ outcome: 'offline' });
      if (terminalId === null) return;
      connected.delete(terminalId);
      presence.went(terminalId);
    });
    socket.on('data', (chunk: Buffer) => {
      for (const inbound of session.push(chunk, Date.now())) {
        if (inbound.type === 'identify') {
          terminalId = inbound.terminalId;
          connected.set(terminalId, ({ command, timeoutMs }) => {
            const sent = session.command?.(command);
            if (!sent) return Promise.resolve({ outcome: 'unsupported' });
            socket.write(sent.bytes);
            return new Promise((resolve) => {
              const timer = setTimeout(() => resolve({ outcome: 'unanswered' }), timeoutMs);
              waiting.set(sent.correlation, (outcome) => {
                clearTimeout(timer);
                resolve(outcome);
              });
            });
          });
          presence.came(terminalId);
          if (inbound.accept) socket.write(inbound.accept);
        } else if (inbound.type === 'reply') socket.write(inbound.bytes);
        else if (inbound.type === 'positions' && inbound.ack) socket.write(inbound.ack);
        else if (inbound.type === 'answer')
          waiting.get(inbound.correlation)?.({ outcome: 'answered', answer: inbound.answer });
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await presence.close();
    },
  };
}
