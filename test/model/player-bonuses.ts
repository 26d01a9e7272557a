import { randomUUID } from 'node:crypto';
import type { Played, Plays } from './generated.js';
import { assertSame, nthOf } from './reading.js';
import type { ModelWorld } from './world.js';

/** Near the largest amount that there is. */
const MOST = 2n ** 62n;

/** Plays bonuses, on the service and on the reference. */
export class BonusPlayer {
  private readonly sent: { readonly wanted: Played<'bonus'>; readonly key: string }[] = [];

  constructor(private readonly world: ModelWorld) {}

  readonly plays: Plays<'bonus' | 'bonus again'> = {
    bonus: (operation) => this.pay(operation, randomUUID()),
    'bonus again': async ({ nth, actor, more }) => {
      const sent = nthOf(this.sent, nth);
      if (sent === undefined) return;
      const { raw } = sent.wanted;
      // Less where more would be no amount any more.
      await this.pay({ ...sent.wanted, actor, raw: raw + (raw < MOST ? more : -more) }, sent.key);
    },
  };

  private async pay(wanted: Played<'bonus'>, key: string): Promise<void> {
    const { ledger } = this.world;
    const { actor, from, to, asset, raw, description, reference } = wanted;
    const alias = ledger.accounts[to]?.alias ?? null;
    const by = alias === null ? 'account_id' : wanted.by;
    const body = {
      source_account: this.world.idOf(from).id,
      recipient: by === 'alias' ? { alias } : { account_id: this.world.idOf(to).id },
      amount: { raw: raw.toString(), asset },
      description,
      reference,
    };
    const answer = await this.world.ask(actor, 'POST', '/v1/bonuses', { body, key });
    const made = (): string =>
      typeof answer.json.id === 'string' ? answer.json.id : 'the id of a new bonus';
    assertSame(answer, ledger.bonuses.pay({ ...wanted, by }, key, made));
    this.sent.push({ wanted, key });
    this.world.keys.push({ what: 'bonuses', key });
  }
}
