import kafkajs from 'kafkajs';
import Connection from 'kafkajs/src/network/connection.js';

const LENGTH_BYTES = 4;

const opening = new WeakMap<Connection, Promise<boolean>>();
const open = Connection.prototype.connect;

/**
 * Fixes the `connect` of the library's connections, each of which opens one socket after the other. Two defects left a
 * connection without responses until the process ended:
 * - It kept the first part of a truncated response, and took the beginning of the next socket's data for the rest. It
 *   could then read any bytes as a length, and wait for a gigabyte.
 * - Each request that found it closed opened a socket of its own. A request went to one of them, and was lost when
 *   another one failed.
 */
Connection.prototype.connect = function connect(this: Connection): Promise<boolean> {
  if (this.isConnected()) return Promise.resolve(true);
  const already = opening.get(this);
  if (already) return already;
  // The old socket may still receive data that the peer had sent.
  this.socket?.destroy();
  this.chunks = [];
  this.bytesBuffered = 0;
  this.bytesNeeded = LENGTH_BYTES;
  const opened = open.call(this);
  const ended = new Promise<never>((_, reject) => {
    // Runs after the handler of the error, if there is one. Without one, the library would wait for ever.
    this.socket?.once('close', () =>
      setImmediate(() =>
        reject(new kafkajs.KafkaJSConnectionError('closed before it was open', { broker: this.broker })),
      ),
    );
  });
  const either = Promise.race([opened, ended]).finally(() => opening.delete(this));
  opening.set(this, either);
  return either;
};
