import type { EventType } from '../follow.js';
import type { MoneyClient } from '../client.js';
import { pause } from '../pause.js';
import type { DemoTenant } from './demo-tenant.js';
import { UsageError } from './program.js';

export interface Triggered {
  /** Subject of the event. */
  readonly resource: string;
  /** Note for the person who waits for the event. */
  readonly note?: string;
}
type Trigger = (tenant: DemoTenant) => Promise<Triggered>;

const COPM = (raw: bigint) => ({ raw, asset: 'COPM' as const });
/** The account `guarded` needs an approval from this amount on. */
const GUARDED = 1_000_000n;
const SMALL = 150_000n;
/** More than the demo world's bruno ever receives. */
const HUGE = 1_000_000_000n;
const READY_POLL_MS = 250;
const READY_TRIES = 120;

/** How to cause each event in the demo world. */
export const TRIGGERS: Readonly<Record<EventType, Trigger>> = {
  'transfer.completed': async (tenant) => resourceOf(await transfer(tenant, 'treasury', SMALL)),
  'transfer.rejected': async (tenant) => {
    const { id } = await transfer(tenant, 'guarded', GUARDED);
    return resourceOf(
      await tenant.as('approver').rejectTransfer(id, { reason: 'money-trigger asked for it' }),
    );
  },
  'transfer.expired': async (tenant) => ({
    ...resourceOf(await transfer(tenant, 'guarded', GUARDED)),
    note: 'Nobody approves it; in the demo world that takes 60 seconds.',
  }),
  'payout.approved': async (tenant) => resourceOf(await payout(tenant, 'treasury', SMALL, '00')),
  'payout.completed': async (tenant) => resourceOf(await payout(tenant, 'treasury', SMALL, '00')),
  'payout.failed': async (tenant) => resourceOf(await payout(tenant, 'treasury', SMALL, '01')),
  'payout.returned': async (tenant) => resourceOf(await payout(tenant, 'treasury', SMALL, '05')),
  'payout.rejected': async (tenant) => {
    const { id } = await payout(tenant, 'guarded', GUARDED, '00');
    return resourceOf(
      await tenant.as('approver').rejectPayout(id, { reason: 'money-trigger asked for it' }),
    );
  },
  'payout.canceled': async (tenant) => {
    const { id } = await payout(tenant, 'guarded', GUARDED, '00');
    return resourceOf(await tenant.owner.cancelPayout(id));
  },
  'bonus_batch.ready': (tenant) => batch(tenant, 'treasury', SMALL),
  'bonus_batch.rejected': (tenant) => batch(tenant, 'treasury', 1n),
  'bonus_batch.completed': (tenant) => executeBatch(tenant, 'treasury', SMALL),
  'bonus_batch.partially_failed': (tenant) => executeBatch(tenant, 'bruno', HUGE),
  'payout_batch.ready': (tenant) => payoutBatch(tenant, 'treasury', SMALL),
  'payout_batch.rejected': (tenant) => payoutBatch(tenant, 'treasury', 1n),
  'payout_batch.completed': (tenant) => executePayoutBatch(tenant, 'treasury', SMALL),
  'payout_batch.partially_failed': (tenant) => executePayoutBatch(tenant, 'bruno', HUGE),
  'account.verified': verifyAccount,
};

function resourceOf({ id }: { readonly id: string }): Triggered {
  return { resource: id };
}

function transfer(
  tenant: DemoTenant,
  from: string,
  raw: bigint,
): ReturnType<MoneyClient['createTransfer']> {
  return tenant.owner.createTransfer({
    source_account: tenant.account(from),
    destination: { type: 'account', account_id: tenant.account('ana') },
    amount: COPM(raw),
    description: 'money-trigger',
  });
}

/** The end of the account number determines what the simulated rail does. (docs/guides/payouts.md) */
function payout(
  tenant: DemoTenant,
  from: string,
  raw: bigint,
  ending: string,
): ReturnType<MoneyClient['createPayout']> {
  return tenant.owner.createPayout({
    source_account: tenant.account(from),
    destination: {
      type: 'bank_account',
      country: 'CO',
      bank_code: '007',
      account_type: 'savings',
      account_number: `45678912340${ending}`,
      holder_name: 'Luz Rojas',
      holder_document: '79456123',
    },
    amount: COPM(raw),
    description: 'money-trigger',
  });
}

/** A file with one row to ana. An amount below the minimum makes the file invalid. */
async function batch(tenant: DemoTenant, from: string, raw: bigint): Promise<Triggered> {
  const csv = `recipient,amount,asset,description\n${tenant.account('ana')},${raw},COPM,money-trigger\n`;
  return resourceOf(
    await tenant.owner.uploadBonusBatch({
      source_account: tenant.account(from),
      description: 'money-trigger',
      file: new Blob([csv], { type: 'text/csv' }),
    }),
  );
}

async function executeBatch(tenant: DemoTenant, from: string, raw: bigint): Promise<Triggered> {
  const { resource } = await batch(tenant, from, raw);
  await untilReady(resource, () => tenant.owner.getBonusBatch(resource));
  return resourceOf(await tenant.owner.executeBonusBatch(resource));
}

/** A file with one row to a bank account. An amount below the minimum makes the file invalid. */
async function payoutBatch(tenant: DemoTenant, from: string, raw: bigint): Promise<Triggered> {
  const csv = `country,bank_code,account_type,account_number,holder_name,holder_document,amount,asset
CO,007,savings,4567891234000,Luz Rojas,79456123,${raw},COPM
`;
  return resourceOf(
    await tenant.owner.uploadPayoutBatch({
      source_account: tenant.account(from),
      description: 'money-trigger',
      file: new Blob([csv], { type: 'text/csv' }),
    }),
  );
}

/** A member other than the uploader executes the batch. */
async function executePayoutBatch(
  tenant: DemoTenant,
  from: string,
  raw: bigint,
): Promise<Triggered> {
  const { resource } = await payoutBatch(tenant, from, raw);
  await untilReady(resource, () => tenant.owner.getPayoutBatch(resource));
  return resourceOf(await tenant.as('approver').executePayoutBatch(resource));
}

async function untilReady(
  id: string,
  read: () => Promise<{ readonly status: string }>,
): Promise<void> {
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    if ((await read()).status === 'ready') return;
    await pause(READY_POLL_MS);
  }
  throw new UsageError(`the batch ${id} is not validated: does the worker run?`);
}

/** Only the first declaration emits an event, and one account of the demo world has none yet. */
async function verifyAccount(tenant: DemoTenant): Promise<Triggered> {
  const id = tenant.account('carla');
  const { verified_at: at } = await tenant.owner.getAccount(id);
  if (at !== null)
    throw new UsageError(
      'every account of the demo world is verified by now: run npm start -- --fresh',
    );
  const { account_id: resource } = await tenant.owner.declareVerification(id, {
    type: 'person',
    legal_name: 'Carla Gómez',
    document_type: 'CC',
    document_number: '1012345678',
    country: 'CO',
  });
  return { resource };
}
