import { readFileSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';
import { z } from 'zod';
import { CURRENT_VERSION } from '../core/versions.js';

export function packageVersion(): string {
  const file = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(file)).version;
}

/** What runs here, as labels, so that monitoring sees which processes run which version. */
export function buildInfo(registry: Registry): void {
  new Gauge({
    name: 'build_info',
    help: 'Always 1; labels: the package version, the newest API version and the Node version',
    labelNames: ['version', 'api_version', 'node'] as const,
    registers: [registry],
  }).set({ version: packageVersion(), api_version: CURRENT_VERSION, node: process.versions.node }, 1);
}
