import kafkajs from 'kafkajs';
import Connection from 'kafkajs/src/network/connection.js';

const LENGTH_BYTES = 4;

const opening = new WeakMap<Connection, Promise<boolean>>();
const open = Connection.prototype.connect;

/**
 * A connection of the library opens one socket after the other. Two defects of its `connect` left it without answers
 * until the process ended:
 *
 * - Of an answer that was cut off it kept the first part, and took the beginning of what the next socket brings for the
 *   rest. What it then took for a length might be anything, such as a gigabyte to wait for.
 * - Each request that found it closed opened a socket of its own. A request went to one of them, and was lost when
 *   another one failed.
 */
Connection.prototype.connect = function connect(this: Connection): Promise<boolean> {
  if (this.isConnected()) return Promise.resolve(true);
  const already = opening.get(this);
  if (already) return already;
  // It may still receive what the other end had sent.
  this.socket?.destroy();
  this.chunks = [];
  this.bytesBuffered = 0;
  this.bytesNeeded = LENGTH_BYTES;
  const opened = open.call(this);
  const ended = new Promise<never>((_, reject) => {
    // Later than the error, if there is one. Without one the library would wait for ever.
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
