# One image for every process: the API, the worker, the support desk, the migrations and the operators' command line.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY migrations ./migrations
COPY activities ./activities
COPY workflows ./workflows
COPY src ./src
COPY scripts/build.mjs scripts/build-site.ts ./scripts/
COPY scripts/lib ./scripts/lib
COPY scripts/docs ./scripts/docs
COPY docs ./docs
RUN npm run build \
 && npm prune --omit=dev --ignore-scripts

FROM node:24.21.0-bookworm-slim
# The authorities to trust when Temporal is reached over TLS; Node has its own list.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build --chown=node:node /app/package.json ./
COPY --from=build --chown=node:node /app/node_modules ./node_modules
COPY --from=build --chown=node:node /app/dist ./dist
# Where the command line keeps its sessions; a new volume takes over these permissions.
RUN install --directory --owner=node --group=node --mode=0700 /app/sessions
# The user `node`, which the base image has for this.
USER 1000:1000
EXPOSE 8070 8080 9090
CMD ["node", "--enable-source-maps", "--max-semi-space-size=64", "dist/src/processes/api.js"]
