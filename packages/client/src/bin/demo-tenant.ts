import { MoneyClient } from '../client.js';
import { UsageError } from './program.js';

/** A tenant of the demo world, from its file. (docs/demo-world.md) */
export class DemoTenant {
  /** A client with every scope and role. */
  readonly owner: MoneyClient;

  private constructor(
    private readonly baseUrl: string,
    private readonly tokens: Readonly<Record<string, unknown>>,
    private readonly accounts: Readonly<Record<string, unknown>>,
  ) {
    this.owner = this.as('owner');
  }

  static from(world: unknown, name: string): DemoTenant {
    const { base_url: baseUrl, tenants } = record(world);
    const { tokens, accounts } = record(record(tenants)[name]);
    if (typeof baseUrl !== 'string' || tokens === undefined)
      throw new UsageError(`the demo world has no tenant ${name}`);
    return new DemoTenant(baseUrl, record(tokens), record(accounts));
  }

  /** Returns a client of another member, such as `approver`. */
  as(member: string): MoneyClient {
    const token = this.tokens[member];
    if (typeof token !== 'string')
      throw new UsageError(`this tenant has no token ${member}: use --tenant acme`);
    return new MoneyClient({ baseUrl: this.baseUrl, token });
  }

  /** The id of an account, by its name in the demo world. */
  account(name: string): string {
    const { id } = record(this.accounts[name]);
    if (typeof id !== 'string')
      throw new UsageError(`this tenant has no account ${name}: use --tenant acme`);
    return id;
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
