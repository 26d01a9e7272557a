import assert from 'node:assert/strict';
import type { Account } from '../../src/db/entities/parties.js';
import { request, type TestApi } from '../support/api.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
  transferBody,
  withQuery,
} from '../support/bank.js';
import { assertLedgerSound } from '../support/world.js';

interface FollowingStorm {
  readonly api: TestApi;
  /** Where other processes are that write too. */
  readonly others: readonly string[];
  readonly writers: number;
  /** Transfers of each writer. */
  readonly transfers: number;
}

/**
 * Readers follow a tenant's log upward while writers write through several processes. Each sees every event once, in the
 * order of the sequence, without a gap at any moment: what has been passed by never appears later.
 */
export async function followingStorm({
  api,
  others,
  writers,
  transfers,
}: FollowingStorm): Promise<string> {
  const bank = await openBank(api);
  const parties: Account[] = [];
  for (let index = 0; index < 8; index += 1)
    parties.push(await bank.account({ funds: { COPM: 10_000n * LEAST } }));
  const baseUrls = [api.baseUrl, ...others];
  const made = new Map<string, Json>();
  const write = async (_: unknown, writer: number): Promise<void> => {
    for (let count = 0; count < transfers; count += 1) {
      const from = parties[(writer + count) % parties.length]!;
      const to = parties[(writer + count + 1 + (count % (parties.length - 1))) % parties.length]!;
      const body = transferBody({ from, to, raw: LEAST });
      const { token } = bank;
      const answer = await request(
        baseUrls[(writer + count) % baseUrls.length]!,
        'POST',
        '/v1/transfers',
        {
          token,
          body,
        },
      );
      const transfer = answered(answer, 201).json;
      made.set(text(transfer.id), transfer);
    }
  };
  let isOver = false;
  const readers = [1, 7, 100].map((limit) => follow(bank, limit, () => isOver));
  await Promise.all(Array.from({ length: writers }, write)).finally(() => (isOver = true));
  assert.equal(made.size, writers * transfers);
  for (const seen of await Promise.all(readers)) {
    assert.deepEqual(
      seen.map(({ sequence }) => sequence),
      Array.from(seen, (_, index) => index + 1),
    );
    const objects = new Map(
      seen.map(({ data }) => [text(object(object(data).object).id), object(data).object]),
    );
    assert.deepEqual(objects, made);
  }
  await assertLedgerSound(api.core.database);
  return `3 readers followed the log of ${writers} writers over ${baseUrls.length} process(es): ${made.size} events, each once, no gap`;
}

/** Until the writers are through and nothing more comes. */
async function follow(bank: Bank, limit: number, isOver: () => boolean): Promise<Json[]> {
  const seen: Json[] = [];
  const path = `/v1/events?order=asc&limit=${limit}`;
  let cursor: string | null = null;
  for (;;) {
    const wasOver = isOver();
    const page: Json = answered(
      await bank.get(cursor === null ? path : withQuery(path, `cursor=${cursor}`)),
      200,
    ).json;
    const items = list(page.items);
    seen.push(...items);
    cursor = text(page.next_cursor);
    if (wasOver && items.length === 0) return seen;
  }
}
