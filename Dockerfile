# One image for every service: `--build-arg SERVICE=gateway`, or `-e SERVICE=…` when it runs. `outrider` is all of them in one process.
FROM node:26-bookworm-slim AS modules
WORKDIR /app
COPY . .
# Nothing is compiled: the services run from their sources. The image brings Node itself.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# The console is the one thing that is built; what builds it stays out of the image.
FROM node:26-bookworm-slim AS console
WORKDIR /app
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && node services/console/build/build.ts

FROM node:26-bookworm-slim
ARG SERVICE=outrider
# With an arena of the allocator per thread the service that has all in one process takes 50 MB more.
ENV MALLOC_ARENA_MAX=2 \
    NODE_ENV=production \
    SERVICE=${SERVICE} \
    DATA_DIR=/data \
    LOG_FORMAT=json
WORKDIR /app
COPY --from=modules /app /app
COPY --from=console /app/services/console/dist /app/services/console/dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
STOPSIGNAL SIGTERM
CMD ["sh", "-c", "exec node services/$SERVICE/src/main.ts"]
