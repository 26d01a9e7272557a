import type { ResourceType } from '../../db/entities/ledger.js';
import { batchSource, bonusSource } from './bonuses.js';
import { adjustmentSource, payInSource } from './funding.js';
import { payoutSource } from './payouts.js';
import { transferSource } from './transfers.js';
import type { OperationSource } from './types.js';

/**
 * Sources of all features that move money. If a source is missing, the audit reports transactions
 * and keys of unknown resources.
 */
export const SOURCES: readonly OperationSource[] = [
  transferSource,
  bonusSource,
  batchSource,
  payoutSource,
  payInSource,
  adjustmentSource,
];

const BY_TYPE = new Map<ResourceType, OperationSource>(
  SOURCES.map((source) => [source.resourceType, source]),
);

export function sourceOf(type: ResourceType): OperationSource | undefined {
  return BY_TYPE.get(type);
}
