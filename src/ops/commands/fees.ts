import type { z } from 'zod';
import { listFeeSchedules, removeFeeSchedule, setFeeSchedule } from '../../operations/fees.js';
import { type Amount, ASSET_NAMES, EXAMPLE_ASSET, formatAmount } from '../../core/amount.js';
import { counted, groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import type { Adjustment } from '../../db/entities/operations.js';
import { FEE_OPERATIONS, feeKeyOf, type FeeScheduleRow } from '../../db/entities/parties.js';
import {
  approveRefund,
  planRefund,
  readProposedRefund,
  proposeRefund,
  type RefundMoves,
} from '../../funding/fee-refunds.js';
import { type AuthorisedOps, command, managerCommand, query } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import type { Resolved } from '../lookups.js';
import { PROGRAM } from '../help.js';
import {
  amount,
  askedReason,
  asset,
  assetName,
  flag,
  oneOf,
  option,
  reasonOf,
  tenant,
  wholeNumber,
} from '../inputs.js';
import { time } from '../times.js';
import type { Fields } from '../fields.js';
import { capitalised } from '../output.js';

const MAX_REFUND_REASON = 110;
const input = {
  tenant,
  reference: option('<reference> your own name for the refund: letters, digits, - and _, up to 24'),
  operation: option(`<operation> ${FEE_OPERATIONS.join(', ')}`, oneOf(FEE_OPERATIONS).optional()),
  asset: option(`<asset> ${ASSET_NAMES}`, assetName.optional()),
  from: option('<time> the first moment at which the wrong schedule applied', time.optional()),
  to: option('<time> the last moment; of a date, its beginning', time.optional()),
  reason: askedReason('; whoever paid reads it with the movement', MAX_REFUND_REASON),
  approve: flag('post what another person proposed under the reference'),
};
type Input = Resolved<z.infer<z.ZodObject<typeof input>>>;

const feeRefundCommand = command({
  summary: 'return what a wrong schedule overcharged: one person proposes, another posts',
  explanation: `
  fees set …                                           correct the schedule first: refunds follow the present schedule
  fees refund --tenant T --reference R --operation O --asset A --from TIME --to TIME --reason TEXT
                                                       proposes the difference for each operation of that time
  fees refund --tenant T --reference R --approve       a second person posts it

The account that received the fees pays the refunds; if its balance is too low, nothing is refunded. Each refund is an adjustment
named fee-refund:<operation>. No operation is refunded twice. Repeating an interrupted command continues it. Proposing again
replaces rejected refunds, and adds what has changed since.`,
  examples: [
    `fees refund --tenant acme --reference fees-118 --operation transfer --asset ${EXAMPLE_ASSET} --from 2026-11-22T09:00:00Z --to 2026-11-22T11:30:00Z --reason 'charged twice the price'`,
    'fees refund --tenant acme --reference fees-118 --approve --as leo',
  ],
  input,
  needs: {
    anyOf: ['adjustment.propose', 'adjustment.approve'],
    for: ({ approve }) => (approve ? 'adjustment.approve' : 'adjustment.propose'),
  },
  check: ({ approve, ...given }) => {
    const { operation, asset, from, to, reason } = given;
    const named = [operation, asset, from, to].filter((one) => one !== undefined).length;
    if (approve ? named > 0 || reason !== undefined : named < 4)
      throw new UsageError(
        'give --approve alone, or --operation, --asset, --from, --to and --reason',
      );
  },
  run: (ops, given, tenantName) =>
    given.approve ? post(ops, given) : propose(ops, given, tenantName),
});

async function propose(ops: AuthorisedOps, given: Input, tenantName: string): Promise<void> {
  const { tenant, reference, operation, asset, from, to, reason } = given;
  if (operation === undefined || asset === undefined || from === undefined || to === undefined)
    return;
  const tenantId = tenant.id;
  const why = await reasonOf(reason, ops.output, MAX_REFUND_REASON);
  const request = { tenantId, operation, asset, from, to, reference, reason: why };
  const plan = await planRefund(ops.database.reader, request);
  if (countOf(plan.moves) > 0) {
    await ops.output.confirm(`Propose to ${described(plan.moves)}`);
    await proposeRefund(ops, request, plan, await ops.by(), stepsOf(ops, 'Proposing'));
  }
  const total: Amount = { raw: plan.totalRaw, asset };
  const left = { refunded_before: plan.refundedBefore, closed_accounts: plan.closed };
  ops.output.one({ reference, operations: plan.operations, total, ...left });
  if (plan.operations + countOf(plan.moves) > 0)
    ops.output.say(
      `A second person posts it: ${PROGRAM} fees refund --tenant ${tenantName} --reference ${reference} --approve`,
    );
}

async function post(
  ops: AuthorisedOps,
  { tenant: { id: tenantId }, reference }: Input,
): Promise<void> {
  const moves = await readProposedRefund(ops.database.reader, tenantId, reference);
  if (countOf(moves) > 0) {
    await ops.output.confirm(capitalised(described(moves)));
    const refund = { tenantId, reference };
    await approveRefund(ops, refund, moves, await ops.by(), stepsOf(ops, 'Posting'));
  }
  ops.output.one({ reference, posted: moves.toPayers.length });
  if (countOf(moves) === 0)
    ops.output.say('Nothing was changed: the reference has no proposal, or it was posted before.');
}

function stepsOf({ output }: AuthorisedOps, what: string): Parameters<typeof approveRefund>[4] {
  return {
    assertStillAuthorised: output.assertStillAuthorised,
    onProgress: (done, all) => output.progress(what, done, all),
  };
}

type Moves = RefundMoves<Pick<Adjustment, 'asset' | 'raw'>>;

function countOf({ taken, toPayers, returned }: Moves): number {
  return taken.length + toPayers.length + returned.length;
}

function described({ taken, toPayers, returned }: Moves): string {
  const parts = [
    taken.length > 0 && `take ${sumsOf(taken)} out of the fee accounts`,
    toPayers.length > 0 &&
      `give ${sumsOf(toPayers)} back for ${counted(toPayers.length, 'operation')}`,
    returned.length > 0 && `put ${sumsOf(returned)} back into the fee accounts`,
  ];
  return parts.filter((part) => part !== false).join(', and ');
}

function sumsOf(moves: Moves['taken']): string {
  const sums = Array.from(
    groupBy(moves, ({ asset }) => asset),
    ([asset, own]) => formatAmount({ raw: own.reduce((sum, { raw }) => sum + raw, 0n), asset }),
  );
  return sums.join(' and ');
}

function feeFields(schedule: FeeScheduleRow): Fields {
  const { flatRaw, basisPoints, floorRaw, capRaw } = schedule;
  const { tenantId: _, ...key } = feeKeyOf(schedule);
  const { asset } = key;
  return {
    ...key,
    flat: { raw: flatRaw, asset },
    basis_points: basisPoints.toString(),
    floor: { raw: floorRaw, asset },
    cap: capRaw === null ? null : { raw: capRaw, asset },
  };
}

const operation = option(`<operation> ${FEE_OPERATIONS.join(', ')}`, oneOf(FEE_OPERATIONS));

async function findSchedule(
  { database }: AuthorisedOps,
  tenantId: Uuid,
  { operation, asset }: Pick<FeeScheduleRow, 'operation' | 'asset'>,
): Promise<FeeScheduleRow | undefined> {
  const all = await listFeeSchedules(database.reader, tenantId);
  return all.find((one) => one.operation === operation && one.asset === asset);
}

export const feeCommands = {
  set: managerCommand({
    summary:
      'set the fee of an operation in an asset, in place of any other; flat + basis points, at least floor, at most cap',
    examples: [
      `fees set --tenant acme --operation payout --asset ${EXAMPLE_ASSET} --basis-points 10 --floor 1.00 --cap 5,000`,
      `fees set --tenant acme --operation bonus --asset ${EXAMPLE_ASSET} --flat 250.00`,
    ],
    input: {
      tenant,
      operation,
      asset,
      flat: option('<amount> a fixed part (default: 0)', amount.prefault('0')),
      basisPoints: option(
        '<points> a share of the amount, in hundredths of a percent (default: 0)',
        wholeNumber(0, 10_000).prefault('0'),
      ),
      floor: option('<amount> never less than this (default: 0)', amount.prefault('0')),
      cap: option('<amount> never more than this (default: no cap)', amount.optional()),
    },
    run: async (ops, { tenant, flat, basisPoints, floor, cap, ...key }) => {
      const { id: tenantId } = tenant;
      const { asset } = key;
      const schedule = {
        tenantId,
        ...key,
        flatRaw: flat(asset),
        basisPoints: BigInt(basisPoints),
        floorRaw: floor(asset),
        capRaw: cap?.(asset) ?? null,
      };
      const before = await findSchedule(ops, tenantId, key);
      if (before !== undefined)
        await ops.output.confirmChange(
          `Change the fee on ${key.operation} in ${key.asset} of ${tenant.name}`,
          feeFields(before),
          feeFields(schedule),
          'it applies from the next operation on',
        );
      await setFeeSchedule(ops, schedule, ops.actor());
      ops.output.one(feeFields(schedule));
    },
  }),
  list: query({
    summary: 'what a tenant charges; anything not listed is free',
    examples: ['fees list --tenant acme'],
    input: { tenant },
    run: async ({ database, output }, { tenant }, tenantName) => {
      const schedules = await listFeeSchedules(database.reader, tenant.id);
      output.list(schedules.map(feeFields), `${tenantName} charges nothing.`);
    },
  }),
  remove: managerCommand({
    summary: 'make an operation in an asset free from now on',
    examples: [`fees remove --tenant acme --operation payout --asset ${EXAMPLE_ASSET}`],
    input: { tenant, operation, asset },
    run: async (ops, { tenant, ...key }, tenantName) => {
      const before = await findSchedule(ops, tenant.id, key);
      if (before !== undefined)
        await ops.output.confirmChange(
          `Remove the fee on ${key.operation} in ${key.asset} of ${tenantName}`,
          feeFields(before),
          { flat: null, basis_points: null, floor: null, cap: null },
          'it is free from now on',
        );
      const removed = await removeFeeSchedule(ops, { tenantId: tenant.id, ...key }, ops.actor());
      if (!removed)
        throw new OpsError(`${tenantName} has no fee on ${key.operation} in ${key.asset}`);
      ops.output.one({ removed: true, ...key });
    },
  }),
  refund: feeRefundCommand,
};
