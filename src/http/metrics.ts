import { readFileSync } from 'node:fs';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { KEYRINGS, type Keyring, type KeyringName } from '../core/fingerprint.js';
import { metersOf } from '../core/meters.js';
import { CURRENT_VERSION } from '../core/api-version.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export function httpMetrics(registry: Registry) {
  const { counter, histogram } = metersOf(registry);
  return {
    durations: histogram(
      'http_request_duration_seconds',
      'Time from request to answer, by route template',
      SECONDS,
      ['method', 'route', 'status'],
    ),
    faults: counter('http_faults_total', 'Requests that failed because of a fault of the service'),
    errors: counter('http_errors_total', 'Error answers, by code', ['code']),
  };
}
export type HttpMetrics = ReturnType<typeof httpMetrics>;

/** Operators check this before a new key becomes the first. (docs/operations/install.md, Keys) */
export function keyringMetrics(
  registry: Registry,
  rings: Partial<Readonly<Record<KeyringName, Keyring>>>,
): void {
  const gauge = metersOf(registry).gauge(
    'keyring_keys',
    'Keys the process has; used: for new values; known: only to read existing ones',
    ['keyring', 'id', 'use'],
  );
  for (const keyring of KEYRINGS)
    for (const [place, { id }] of (rings[keyring] ?? []).entries())
      gauge.set({ keyring, id, use: place === 0 ? 'used' : 'known' }, 1);
}

export function packageVersion(): string {
  const file = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(file)).version;
}

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
