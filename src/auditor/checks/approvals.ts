import { groupBy } from '../../core/collections.js';
import { uuid } from '../../db/columns.js';
import { type Approval, approvals } from '../../db/entities/approvals.js';
import { columnList } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import type { Check } from '../run.js';
import { sourceOf } from '../sources/index.js';
import { ROWS_A_SLICE, walk, whereAll } from '../walk.js';

/** Every approval belongs to an operation that exists. How many an operation has is checked with the operation. */
export const approvalChecks: Check = {
  tables: ['approvals'],
  run: async (audit) => {
    // An approval of a missing operation belongs to no tenant.
    if (audit.tenantId !== undefined) return;
    await walk<Approval>(
      audit,
      ROWS_A_SLICE,
      async (reader, after) => {
        const conditions = after === undefined ? [] : [`id>${uuid.literal(after.id)}`];
        const rows = await reader.query(
          `SELECT ${columnList(approvals)} FROM approvals FORCE INDEX (PRIMARY)${whereAll(conditions)}
           ORDER BY id LIMIT ${ROWS_A_SLICE}`,
        );
        return rows.map((row) => parseRow(approvals, row));
      },
      async (reader, slice) => {
        audit.counted('approvals', slice.length);
        for (const [type, own] of groupBy(slice, (approval) => approval.resourceType)) {
          const known = await sourceOf(type)?.expectations(
            reader,
            own.map(({ resourceId }) => resourceId),
          );
          for (const { id, resourceId } of own)
            if (known?.has(resourceId) !== true)
              audit.report('approval_resource', `approval ${id}`, `there is no ${type} ${resourceId}`);
        }
      },
    );
  },
};
