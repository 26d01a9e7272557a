import type { Registry } from 'prom-client';
import { metersOf } from '../core/meters.js';
import { KEYRINGS, type Keyring, type KeyringName } from '../core/fingerprint.js';

/**
 * Registers which keys the process has: operators check this before a new key becomes the first.
 * (docs/operations/install.md, Keys)
 */
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
