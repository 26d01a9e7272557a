import assert from 'node:assert/strict';
import { newId, type Uuid } from '../../src/core/ids.js';
import { systemClock, toRfc3339 } from '../../src/core/instant.js';
import { SIMULATED } from '../../src/payouts/rails/rail.js';
import { SimulatedRail } from '../../src/payouts/rails/simulated.js';
import { type Ran, run } from '../ops/ops.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { accountNumber, DOCUMENT, HOLDER } from '../payouts/support.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { LEAST, openBank } from '../helpers/bank.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';

/** The output of `restore status`. */
interface Shown {
  readonly id: string;
  readonly ledger: string;
  readonly rails_queried_at: string | null;
  readonly earlier_not_asked: readonly string[];
}

/** A database that maria puts back, and leo finishes, by their commands. */
export class RestoredService {
  private constructor(
    readonly db: TestDatabase,
    readonly api: TestApi,
    readonly people: SignedInPeople,
  ) {}

  static async open(): Promise<RestoredService> {
    const db = await testDatabase();
    const api = await startTestApi(db);
    await (await openBank(api)).account({ funds: { COPM: LEAST } });
    const people = new SignedInPeople(db);
    await people.signIn('maria', ['manage']);
    await people.signIn('leo', ['manage']);
    return new RestoredService(db, api, people);
  }

  async stop(): Promise<void> {
    await this.api.stop();
    this.people.remove();
  }

  /** Declares the commits from now on lost. */
  begin(): Promise<Ran> {
    const lost = ['--to', toRfc3339(systemClock()), '--skip', '10'];
    return this.done('restore', 'begin', '--reason', 'a test', ...lost, '--as', 'maria');
  }

  /** Begins a restore of which nothing is lost. */
  beginWithoutLoss(reason: string): Promise<Ran> {
    return this.done('restore', 'begin', '--reason', reason, '--nothing-lost', '--as', 'maria');
  }

  finish(...more: readonly string[]): Promise<Ran> {
    return this.people.ops('restore', 'finish', '--as', 'leo', ...more);
  }

  async done(...args: readonly string[]): Promise<Ran> {
    const ran = await this.people.ops(...args);
    assert.equal(ran.code, 0, ran.stderr);
    return ran;
  }

  async shown(): Promise<Shown> {
    const { stdout } = await run(
      'src/ops/main.js',
      ['restore', 'status', '--json'],
      this.people.env,
    );
    return JSON.parse(stdout) as Shown;
  }

  /** The rail has an order under this key that the database does not have. */
  async paidThere(key: Uuid = newId()): Promise<Uuid> {
    const destination = {
      ...{
        type: 'bank_account' as const,
        country: 'CO',
        bankCode: '0007',
        accountType: 'savings' as const,
        accountNumber: accountNumber(),
      },
      ...{ holderName: HOLDER, holderDocument: DOCUMENT },
    };
    const order = {
      key,
      amount: { raw: LEAST, asset: 'COPM' as const },
      destination,
      description: null,
    };
    await new SimulatedRail(this.db.database, systemClock, SIMULATED).submit(order);
    return key;
  }
}

/** The payouts of what the command lists. */
export function idsOf({ stdout }: Ran): string[] {
  return (JSON.parse(stdout) as { payout_id: string }[]).map(({ payout_id: id }) => id);
}
