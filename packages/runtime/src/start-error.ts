/** Reason why a process cannot start, in words that an operator can act on: printed without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}

/** A sentence for an error that an operator can act on; the stack for any other error, which is a bug. */
export function explainStart(error: unknown): string {
  if (error instanceof StartError) return error.message;
  const { code, port, address, syscall, message, stack } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  if (code === 'EADDRINUSE')
    return `port ${port} is in use by another program: stop it, or set another port (see docs/configuration.md)`;
  if (code === 'EACCES' && syscall === 'listen')
    return `this account may not listen on port ${port}: set a port above 1023`;
  if (code === 'EADDRNOTAVAIL') return `HOST ${address} is not an address of this machine`;
  return stack ?? message ?? String(error);
}
