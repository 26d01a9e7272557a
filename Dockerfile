# One image for every process: the API, the migrations and the operators' command line.
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
COPY migrations ./migrations
RUN npx tsc --rootDir . --outDir dist --incremental false \
 && npm prune --omit=dev --ignore-scripts

FROM node:20-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build --chown=node:node /app/package.json ./
COPY --from=build --chown=node:node /app/node_modules ./node_modules
COPY --from=build --chown=node:node /app/dist ./dist
USER node
EXPOSE 8080 9090
CMD ["node", "--enable-source-maps", "--max-semi-space-size=64", "dist/src/server.js"]
