import { asUuid } from '../../../src/core/ids.js';
import type { ScheduleState } from '../../../src/temporal/contracts.js';
import { runIfDue } from '../../../src/transfers/schedules/run.js';
import type { RequestOptions, TestAnswer } from '../../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  type Json,
  LEAST,
  transferBody,
  walk,
} from '../../helpers/bank.js';
import type { TestDatabase } from '../../helpers/database.js';
import { detailsOf, type TestTemporal, until } from '../../helpers/temporal.js';

const DAY_MS = 86_400_000;

export type WantedSchedule = Partial<Parameters<typeof transferBody>[0]> & {
  readonly starts_at?: unknown;
  readonly every?: unknown;
  readonly ends_at?: unknown;
  readonly max_runs?: unknown;
};

/** POST /v1/schedules: tomorrow and then daily, between new accounts, unless something else is wanted. */
export async function schedule(
  bank: Bank,
  wanted: WantedSchedule = {},
  options: RequestOptions = {},
): Promise<TestAnswer> {
  const {
    starts_at = new Date(bank.api.core.clock() + DAY_MS).toISOString(),
    every = DAILY,
    ...more
  } = wanted;
  const { ends_at, max_runs, ...transfer } = more;
  const from = transfer.from ?? (await bank.account({ funds: { COPM: 100n * LEAST } }));
  const to = transfer.to ?? (await bank.account());
  const body = {
    transfer: transferBody({ raw: LEAST, ...transfer, from, to }),
    ...{ starts_at, every, ends_at, max_runs },
  };
  return bank.request('POST', '/v1/schedules', { body, ...options });
}

export const DAILY = { unit: 'day', count: 1 } as const;

/** The Schedule, where nothing but 201 is right. */
export async function scheduled(bank: Bank, wanted: WantedSchedule = {}): Promise<Json> {
  return answered(await schedule(bank, wanted), 201).json;
}

/** Runs the workflow's activity until nothing is due. */
export async function runAll(bank: Bank, id: unknown): Promise<ScheduleState> {
  for (;;) {
    const state = await runIfDue(bank.api.core, asUuid(String(id)));
    if (state.dueInMs !== 0) return state;
  }
}

/** The transfers of a schedule, in the order of their runs. */
export async function transfersOf(bank: Bank, id: unknown): Promise<Json[]> {
  return (await walk(bank, `/v1/transfers?schedule=${String(id)}`)).reverse();
}

/** Moves a schedule into the past by this many days. */
export async function makeDue({ change }: TestDatabase, id: string, days: number): Promise<void> {
  const hours = 24 * days;
  await change(
    `UPDATE schedules SET created_at=created_at-INTERVAL ${hours} HOUR, starts_at=starts_at-INTERVAL ${hours} HOUR,
       next_run_at=next_run_at-INTERVAL ${hours} HOUR WHERE id=${idLiteral(id)}`,
  );
}

/** Resolves when the UI shows these words as the details of the workflow. */
export function untilShown(temporal: TestTemporal, id: string, words: RegExp): Promise<true> {
  return until(`the details show ${words.source}`, async () =>
    words.test(await detailsOf(temporal, id, 'schedule').catch(() => '')),
  );
}
