import { readFileSync } from 'node:fs';
import type { Registry } from 'prom-client';
import { metersOf } from '../core/meters.js';
import { z } from 'zod';
import { CURRENT_VERSION } from '../core/versions.js';

export function packageVersion(): string {
  const file = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(file)).version;
}

/** Registers the version as labels, so that monitoring shows which processes run which version. */
export function buildInfo(registry: Registry): void {
  metersOf(registry)
    .gauge(
      'build_info',
      'Always 1; labels: the package version, the newest API version and the Node version',
      ['version', 'api_version', 'node'],
    )
    .set(
      { version: packageVersion(), api_version: CURRENT_VERSION, node: process.versions.node },
      1,
    );
}
