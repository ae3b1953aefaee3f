# An image for each service, with the modules of that service alone: `--build-arg SERVICE=gateway`. `outrider` is all
# services in one process, and the only one that holds ClickHouse (chDB).

# The manifests without the sources: the modules are installed anew only when one of these changes.
FROM node:26-bookworm-slim AS manifests
WORKDIR /app
COPY . .
RUN mkdir /manifests \
  && find package.json package-lock.json .npmrc packages services -maxdepth 2 \
     \( -name 'package*.json' -o -name .npmrc \) -exec cp --parents {} /manifests \;

FROM node:26-bookworm-slim AS modules
ARG SERVICE=outrider
WORKDIR /app
COPY --from=manifests /manifests ./
# Nothing is compiled: the services run from their sources. The image brings Node itself.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --workspace="services/$SERVICE" \
  && if [ "$SERVICE" != outrider ]; then rm -rf node_modules/@chdb; fi

# The console is the only part that is built. The tools that build it stay out of the image.
FROM node:26-bookworm-slim AS console
WORKDIR /app
COPY --from=manifests /manifests ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node services/console/build/build.ts

FROM node:26-bookworm-slim
ARG SERVICE=outrider
# With one allocator arena per thread, all services in one process would take 50 MB more.
ENV MALLOC_ARENA_MAX=2 \
    NODE_ENV=production \
    SERVICE=${SERVICE} \
    DATA_DIR=/data \
    LOG_FORMAT=json
WORKDIR /app
COPY --from=modules /app ./
COPY . .
COPY --from=console /app/services/console/dist services/console/dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
STOPSIGNAL SIGTERM
CMD ["sh", "-c", "exec node services/$SERVICE/src/main.ts"]
