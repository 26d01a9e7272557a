import { listFeeSchedules, removeFeeSchedule, setFeeSchedule } from '../../accounts/fee.js';
import { EXAMPLE_ASSET } from '../../core/amount.js';
import { FEE_OPERATIONS, feeKeyOf, type FeeScheduleRow } from '../../db/entities/parties.js';
import { command, group, query } from '../command.js';
import { OpsError } from '../failures.js';
import { findTenant } from '../finding.js';
import { asset, oneOf, option, raw, tenant } from '../inputs.js';
import { feeRefundCommand } from './fee-refunds.js';
import type { Fields } from '../output.js';

function feeFields(schedule: FeeScheduleRow): Fields {
  const { flatRaw, basisPoints, floorRaw, capRaw } = schedule;
  const { tenantId: _, ...of } = feeKeyOf(schedule);
  const { asset } = of;
  return {
    ...of,
    flat: { raw: flatRaw, asset },
    basis_points: basisPoints.toString(),
    floor: { raw: floorRaw, asset },
    cap: capRaw === null ? null : { raw: capRaw, asset },
  };
}

const operation = option(`<operation> ${FEE_OPERATIONS.join(', ')}`, oneOf(FEE_OPERATIONS));

export const feeCommands = group('fees that a tenant charges on top of its operations', {
  set: command({
    summary:
      'set the fee of an operation in an asset, in place of any other; flat + basis points, at least floor, at most cap',
    examples: [
      `fees set --tenant acme --operation payout --asset ${EXAMPLE_ASSET} --basis-points 10 --floor 100 --cap 500000`,
      `fees set --tenant acme --operation bonus --asset ${EXAMPLE_ASSET} --flat 25000`,
    ],
    input: {
      tenant,
      operation,
      asset,
      flat: option(
        "<raw> a fixed part, in the asset's smallest unit (default: 0)",
        raw.prefault('0'),
      ),
      basisPoints: option(
        '<points> a share of the amount, in hundredths of a percent (default: 0)',
        raw.prefault('0'),
      ),
      floor: option('<raw> never less than this (default: 0)', raw.prefault('0')),
      cap: option('<raw> never more than this (default: no cap)', raw.optional()),
    },
    needs: 'manage',
    run: async (
      { database, clock, actor, output },
      { tenant, flat: flatRaw, basisPoints, floor: floorRaw, cap, ...of },
    ) => {
      const { id: tenantId } = await findTenant(database.reader, tenant);
      const capRaw = cap ?? null;
      const schedule = { tenantId, ...of, flatRaw, basisPoints, floorRaw, capRaw };
      await setFeeSchedule(database, clock, schedule, actor());
      output.one(feeFields(schedule));
    },
  }),
  list: query({
    summary: 'what a tenant charges; anything not listed is free',
    examples: ['fees list --tenant acme'],
    input: { tenant },
    run: async ({ database, output }, { tenant }) => {
      const { id } = await findTenant(database.reader, tenant);
      output.list(
        (await listFeeSchedules(database.reader, id)).map(feeFields),
        `${tenant} charges nothing.`,
      );
    },
  }),
  remove: command({
    summary: 'make an operation in an asset free from now on',
    examples: [`fees remove --tenant acme --operation payout --asset ${EXAMPLE_ASSET}`],
    input: { tenant, operation, asset },
    needs: 'manage',
    run: async ({ database, clock, actor, output }, { tenant, ...of }) => {
      const { id } = await findTenant(database.reader, tenant);
      const removed = await removeFeeSchedule(database, clock, { tenantId: id, ...of }, actor());
      if (!removed) throw new OpsError(`${tenant} has no fee on ${of.operation} in ${of.asset}`);
      output.one({ removed: true, ...of });
    },
  }),
  refund: feeRefundCommand,
});
