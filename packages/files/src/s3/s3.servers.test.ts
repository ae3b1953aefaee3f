import { randomUUID } from 'node:crypto';
import { filesConformance } from '../files.conformance.ts';
import { openS3 } from '../index.ts';

const { S3_URL } = process.env;
if (!S3_URL) throw new Error('S3_URL is not set: npm run test:servers');

filesConformance('S3_URL', async () => {
  const url = new URL(S3_URL);
  url.pathname += `/outrider-tests/${randomUUID()}`;
  const open = () => openS3({ url: url.href, partBytes: 5 * 1024 ** 2 });
  const files = open();
  return {
    open: async () => open(),
    async remove() {
      for await (const { id } of files.list()) await files.delete(id);
    },
  };
});
