import type { ResourceType } from '../../db/entities/ledger.js';
import { batchSource, bonusSource } from './bonuses.js';
import { adjustmentSource, payInSource } from './funding.js';
import { payoutSource } from './payouts.js';
import { transferSource } from './transfers.js';
import type { OperationSource } from './types.js';

/** All features that move money. Without a source, postings and keys are findings. */
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
