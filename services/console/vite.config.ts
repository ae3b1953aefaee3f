import { join } from 'node:path';
import { defineConfig } from 'vite';

/**
 * The running service to which `npm run dev -w @outrider/console` forwards everything that is not part of the console.
 */
const SERVICE = process.env.OUTRIDER_URL ?? 'http://localhost:8080';

export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    // Inlined styles and images would need a wider content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
    modulePreload: { polyfill: false },
    // Servers know the type of `.js`, but MapLibre's worker is an `.mjs` file.
    rolldownOptions: {
      input: {
        index: join(import.meta.dirname, 'index.html'),
        // The page of share links.
        share: join(import.meta.dirname, 'share.html'),
        // A service worker keeps its address, else browsers would keep the old one for good.
        sw: join(import.meta.dirname, 'src/installed/service-worker.ts'),
      },
      output: {
        entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
        assetFileNames: ({ names }) =>
          names[0]?.endsWith('.mjs') ? 'assets/[name]-[hash].js' : 'assets/[name]-[hash][extname]',
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/auth', '/service', '/maps', '/docs']
        .map((path) => [path, { target: SERVICE }])
        .concat([['/live', { target: SERVICE, ws: true }]] as never),
    ),
  },
});
