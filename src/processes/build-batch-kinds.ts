import type { BatchKinds } from '../batches/kind.js';
import { BONUS_BATCHES } from '../batches/kinds/bonus.js';
import { payoutBatches } from '../batches/kinds/payout.js';
import type { ServiceConfig } from '../config/config.js';
import type { Core } from './build-core.js';

/** Builds the kinds of batches for APIs and workers. */
export function buildBatchKinds(
  {
    PAYOUT_RAILS: routes,
    PAYOUT_RAIL_TERMS: terms,
  }: Pick<ServiceConfig, 'PAYOUT_RAILS' | 'PAYOUT_RAIL_TERMS'>,
  { encryptionKeys }: Pick<Core, 'encryptionKeys'>,
): BatchKinds {
  return {
    bonus: BONUS_BATCHES,
    payout: payoutBatches({ rails: { routes, terms }, encryptionKeys }),
  };
}
