import { groupBy } from '../../core/collections.js';
import { approvals } from '../../db/entities/approvals.js';
import type { Check } from '../run.js';
import { sourceOf } from '../sources/index.js';
import { ROWS_A_SLICE, walkTable } from '../walk.js';

/** Every approval belongs to an operation that exists. How many an operation has is checked with the operation. */
export const approvalChecks: Check = {
  tables: ['approvals'],
  run: async (audit) => {
    // An approval of a missing operation belongs to no tenant.
    if (audit.tenantId !== undefined) return;
    await walkTable(audit, approvals, ROWS_A_SLICE, async (reader, slice) => {
      audit.counted('approvals', slice.length);
      for (const [type, own] of groupBy(slice, (approval) => approval.resourceType)) {
        const ids = own.map(({ resourceId }) => resourceId);
        const known = await sourceOf(type)?.owners(reader, ids);
        for (const { id, resourceId } of own)
          if (known?.has(resourceId) !== true)
            audit.report(
              'approval_resource',
              `approval ${id}`,
              `there is no ${type} ${resourceId}`,
            );
      }
    });
  },
};
