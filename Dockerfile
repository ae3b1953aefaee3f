# An image for each service, with the modules of that service alone: `--build-arg SERVICE=gateway`. `outrider` is all
# services in one process, and the only one that holds ClickHouse (chDB).

ARG NODE_IMAGE=node:26-bookworm-slim

# The manifests without the sources: the modules are installed anew only when one of these changes.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /app
COPY . .
RUN mkdir /manifests \
  && find package.json package-lock.json .npmrc packages services -maxdepth 2 \
     \( -name 'package*.json' -o -name .npmrc \) -exec cp --parents {} /manifests \;

FROM ${NODE_IMAGE} AS modules
ARG SERVICE=outrider
WORKDIR /app
COPY --from=manifests /manifests ./
# Nothing is compiled: the services run from their sources. The image brings Node itself. Nothing reads declarations and
# source maps of libraries at run time: they are a third of what is installed beside ClickHouse.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --workspace="services/$SERVICE" \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
  && if [ "$SERVICE" != outrider ]; then rm -rf node_modules/@chdb; fi

# The console is the only part that is built. The tools that build it stay out of the image.
FROM ${NODE_IMAGE} AS console
WORKDIR /app
COPY --from=manifests /manifests ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node services/console/build/build.ts

FROM ${NODE_IMAGE}
ARG SERVICE=outrider
# What the allocator gives back to the system: see services/outrider/src/allocator.ts.
ENV MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=131072 \
    MALLOC_TRIM_THRESHOLD_=131072 \
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
CMD ["sh", "-c", "exec node services/$SERVICE/src/main.ts start"]
